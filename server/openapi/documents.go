package openapi

import (
	"net/http"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/extract"
	"github.com/footnote/footnote/server/api"
	"github.com/footnote/footnote/server/httpio"
)

// The patterns of namespaces and states are explicit, since a query parameter is no struct field with tags.
func documentRoutes() []Operation {
	return []Operation{
		// The same address accepts JSON and a form with unrelated fields; both create documents.
		route("POST /documents", "Add files or a web page").
			says(`Each file is accepted or rejected on its own. If all files are rejected, the response has the highest
			status of their reasons. A document is included in answers as soon as it is ready. Send namespace and meta
			before the files they apply to. A rejected request creates no documents. A file with the bytes of an
			existing document returns that document (duplicate_of) and replaces its meta if meta is given. A JSON body
			adds a web page, which is fetched once; meta.source_url of the document is its URL. Adding the same page
			again creates a new version of its document.`).
			takes(api.NewPage{}, `{"url":"https://example.org/terms"}`).
			takesForm(httpio.TypeMultipart,
				formField("namespace", patterned(`^[\w.-]{0,128}$`), `The namespace of the files; "default" if empty.`),
				formField("meta", textSchema(), "Metadata of the files, a JSON object: author, date, tags and so on."),
				needed("files", &jsonschema.Schema{
					Type: "array", MinItems: wholeNumber(to(1)),
					Items: &jsonschema.Schema{Type: "string", Format: "binary"},
				}, "The files: "+extract.Formats.Labels("or")+".")).
			fails(chat.CodeTooMany, chat.CodeDiskFull).
			also(taken...).also(refused()...).
			sends("For a form: a page that lists the rejected files, if others were accepted.", httpio.TypeHTML),
		route("POST /documents/samples", "Add the sample documents").
			says("Existing sample documents are unchanged.").
			fails(chat.CodeNotFound, chat.CodeTooMany, chat.CodeDiskFull).
			also(taken...),
		route("GET /documents", "List documents").
			with(
				query("namespace", textOf(128), "Only documents in this namespace."),
				query("state", patterned(`^(?:(?:queued|parsing|indexing|ready|failed|cancelled)?(?:,|$))*$`),
					`Only in these states, separated by commas: queued, parsing, indexing, ready, failed, cancelled.`),
				query("sort", oneOrNone("newest", "oldest", "title"), "The sort order.")).
			with(pageParams("A search term for titles and file names.", "50")...).
			gives("A page of documents.", api.DocumentList{}),
		route("GET /documents/:id", "Get a document").
			gives("The document.", api.DocumentInfo{}),
		route("DELETE /documents/:id", "Delete a document").
			says("Deleted immediately; can be restored for one minute.").
			empty("The document was deleted.").
			redirects(documentsPage),
		route("GET /documents/:id/text", "Get a document's text").
			says("The extracted text. All offsets in the API refer to it, in characters from 0.").
			fails(chat.CodeConflict).
			sends("The text.", httpio.TypeText),
		route("GET /documents/:id/file", "Download a document's file").
			says("Always sent as an attachment.").
			sends("The file.", "*/*").
			also(outcome{http.StatusPartialContent, "The requested range.", nil, "*/*"}).
			ends(http.StatusNotModified, "The client's cached version is current.", nil).
			ends(http.StatusPreconditionFailed, "The file has changed.", nil).
			also(outcome{http.StatusRequestedRangeNotSatisfiable, "Invalid range.", nil, httpio.TypeText}),
		route("GET /documents/:id/events", "Stream a document's state").
			says(`Sends a document event for each change. The last event is document_done, when the document is ready,
			failed or cancelled.`).
			fails(chat.CodeTooMany).
			streams("The event stream."),
		route("GET /documents/:id/pages/:page", "Get a page as an image").
			says(`Renders pages of PDF files and images and, with FOOTNOTE_OFFICE_PAGES, printed pages of Office files.
			The first page of an Office file takes several seconds. A page that exceeds the rendering limits on time
			or memory fails with undrawable. For some minutes it can be requested only at half the width or less.`).
			with(
				query("width", wholeSchema(100, api.MaxPageWidth, "1000"), "The width, in pixels."),
				query("dpr", &jsonschema.Schema{Type: "number", Minimum: to(0.5), Maximum: to(4)},
					"The device pixel ratio."),
				query("v", textSchema(),
					"The beginning of the document's sha256. With it the response can be cached permanently.")).
			fails(chat.CodeConflict, chat.CodeUndrawable, chat.CodeUnavailable).
			sends("The image.", "image/png").
			ends(http.StatusNotModified, "The client's cached version is current.", nil),
		route("POST /documents/:id/cancel", "Cancel the import of a document").
			fails(chat.CodeConflict).
			gives("The document.", api.DocumentInfo{}).
			redirects(documentsPage),
		route("POST /documents/:id/retry", "Retry the import of a document").
			says(`For documents that failed or were canceled, whose embedding failed, or that have scanned pages without
			text (meta.unread).`).
			fails(chat.CodeConflict).
			gives("The document.", api.DocumentInfo{}).
			redirects(documentsPage),
		route("POST /documents/:id/restore", "Restore a recently deleted document").
			fails(chat.CodeConflict).
			gives("The document.", api.DocumentInfo{}).
			redirects(documentsPage),
		route("GET /watched", "List watched folders").
			says(`Returns the latest report of each folder by footnote watch or the setting watch, with the excluded
			files and the reasons. Reports expire after a week without a scan.`).
			gives("The folders, sorted by path.", api.WatchedList{}),
		route("PUT /watched", "Report a watched folder").
			says("Replaces the previous report for the folder and namespace. The documents page shows it.").
			takes(api.WatchedFolder{}, `{
				"folder": "/home/ada/papers", "files": 120, "more": 0,
				"left_out": [{"path": "films/roof.mov", "reason": "Files that end with .mov can't be read."}]
			}`).
			empty("The report was stored."),
		route("GET /places", "List connected sources").
			says(`Web pages, file servers, mailbox folders and so on, each with its state and the time and changes of
			the last sync.`).
			gives("The connected sources, sorted by name.", api.PlaceList{}),
		route("POST /places", "Connect a source").
			says(`GET /places/kinds lists the settings of each kind. The connection is tested first, which takes up to a
			minute; if the test fails, nothing is stored. The first sync then runs in the background.`).
			takes(api.NewPlace{}, `{
				"kind": "webpages", "schedule": "day",
				"settings": {"urls": "https://example.org/terms\nhttps://example.org/prices"}
			}`).
			fails(chat.CodeNotFound, chat.CodeConflict, chat.CodeTooMany, chat.CodeDiskFull).
			ends(http.StatusCreated, "The source is connected.", api.FollowedPlace{}).
			redirects(placesPage),
		// The kinds depend on the program, so clients read their settings here.
		route("GET /places/kinds", "List kinds of sources").
			gives("The kinds of sources and their settings.", api.PlaceKinds{}),
		route("GET /places/:id", "Get a connected source").
			gives("The connected source.", api.FollowedPlace{}),
		route("PATCH /places/:id", "Update, pause or resume a connected source").
			says("Omitted fields and empty secrets are unchanged. New settings are tested first.").
			takes(api.PlaceChange{}, `{"paused":true}`).
			fails(chat.CodeConflict).
			gives("The updated source.", api.FollowedPlace{}).
			redirects(placesPage),
		route("DELETE /places/:id", "Disconnect a source").
			says("Runs in the background. Documents that the user added are always kept.").
			with(query("documents", oneOf("keep", "delete"), "Whether to keep or delete the source's documents.")).
			fails(chat.CodeConflict).
			empty("The source is being disconnected.").
			redirects(placesPage),
		route("POST /places/:id/look", "Sync a source now").
			fails(chat.CodeConflict).
			ends(http.StatusAccepted, "The sync is queued.", api.FollowedPlace{}).
			redirects(placesPage),
		route("GET /places/:id/items", "List the items of a source").
			says("Returns each item with its document, or the reason why it has none.").
			with(query("state", oneOf("refused"), "Only rejected items."), limitParam("100"), cursorParam).
			gives("The items, sorted by key.", api.PlaceItems{}),
	}
}
