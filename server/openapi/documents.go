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
		route("POST /documents", "Add files, or a page of the web").
			says(`Each file is taken or listed with the reason why not; the others go on. When none is taken, the
			status is that of the reason, the highest one if there are several. Ask at once: a document counts as soon
			as it is ready. namespace and meta come before the files they are meant for. A request that is refused
			leaves no new document behind. A file whose bytes are there already is that document (duplicate_of), which
			takes over the meta if meta is given. JSON names a page of the web, which is fetched once: it becomes a
			document whose meta.source_url is its address, and a page that was added before becomes another version of
			its document.`).
			takes(api.NewPage{}, `{"url":"https://example.org/terms"}`).
			takesForm(httpio.TypeMultipart,
				formField("namespace", patterned(`^[\w.-]{0,128}$`), `Where to put the files; "default" if empty.`),
				formField("meta", textSchema(), "A JSON object about the files: author, date, tags and so on."),
				needed("files", &jsonschema.Schema{
					Type: "array", MinItems: wholeNumber(to(1)),
					Items: &jsonschema.Schema{Type: "string", Format: "binary"},
				}, "The files: "+extract.Formats.Labels("or")+".")).
			fails(chat.CodeTooMany, chat.CodeDiskFull).
			also(taken...).also(refused()...).
			sends("For a form: the page of files that were not taken, beside others that were.", httpio.TypeHTML),
		route("POST /documents/samples", "Add the sample documents").
			says("Once: what is there already stays.").
			fails(chat.CodeNotFound, chat.CodeTooMany, chat.CodeDiskFull).
			also(taken...),
		route("GET /documents", "List documents").
			with(
				query("namespace", textOf(128), "Only of this namespace."),
				query("state", patterned(`^(?:(?:queued|parsing|indexing|ready|failed|cancelled)?(?:,|$))*$`),
					`Only in these states, separated by commas: queued, parsing, indexing, ready, failed, cancelled.`),
				query("sort", oneOrNone("newest", "oldest", "title"), "The order.")).
			with(pageParams("Part of a title or file name.", "50")...).
			gives("One page of them.", api.DocumentList{}),
		route("GET /documents/:id", "Get a document's state").
			gives("The document.", api.DocumentInfo{}),
		route("DELETE /documents/:id", "Delete a document").
			says("It is gone at once and can be brought back for a minute.").
			empty("Done.").
			redirects("The page of documents, for a form."),
		route("GET /documents/:id/text", "Get a document's text").
			says("The one text that all offsets count in, as characters from 0.").
			fails(chat.CodeConflict).
			sends("The text.", httpio.TypeText),
		route("GET /documents/:id/file", "Get the file itself").
			says("Always as an attachment.").
			sends("The file.", "*/*").
			also(outcome{http.StatusPartialContent, "The part that was asked for.", nil, "*/*"}).
			ends(http.StatusNotModified, "It is what the reader has.", nil).
			ends(http.StatusPreconditionFailed, "It changed.", nil).
			also(outcome{http.StatusRequestedRangeNotSatisfiable, "It has no such part.", nil, httpio.TypeText}),
		route("GET /documents/:id/events", "Follow a document").
			says(`A document event with the document at each change, and document_done, the last, when it is ready,
			failed or cancelled.`).
			fails(chat.CodeTooMany).
			streams("The events."),
		route("GET /documents/:id/pages/:page", "Get a page as a picture").
			says(`Pages are those of a PDF or a picture and, with FOOTNOTE_OFFICE_PAGES, those of an Office file as it
			is printed, which takes seconds the first time. A page that takes too much time or memory to draw is
			undrawable. It is not tried again for some minutes, but for a picture of at most half the width.`).
			with(
				query("width", wholeSchema(100, api.MaxPageWidth, "1000"), "How wide, in pixels."),
				query("dpr", &jsonschema.Schema{Type: "number", Minimum: to(0.5), Maximum: to(4)},
					"Pixels of the screen to one of width."),
				query("v", textSchema(),
					"The beginning of the document's sha256: the picture may then be kept for good.")).
			fails(chat.CodeConflict, chat.CodeUndrawable, chat.CodeUnavailable).
			sends("The picture.", "image/png").
			ends(http.StatusNotModified, "It is what the reader has.", nil),
		route("POST /documents/:id/cancel", "Stop the work on a document").
			fails(chat.CodeConflict).
			gives("The document.", api.DocumentInfo{}).
			redirects("The page of documents, for a form."),
		route("POST /documents/:id/retry", "Try a document again").
			says(`One that failed or was stopped, one whose vectors failed, or one with pages that are pictures and
			unread (meta.unread).`).
			fails(chat.CodeConflict).
			gives("The document.", api.DocumentInfo{}).
			redirects("The page of documents, for a form."),
		route("POST /documents/:id/restore", "Bring back a document that was just deleted").
			fails(chat.CodeConflict).
			gives("The document.", api.DocumentInfo{}).
			redirects("The page of documents, for a form."),
		route("GET /watched", "List the folders that programs follow").
			says(`Each with the files that it leaves out, and why: what footnote watch, or the setting watch, told of
			it. A folder that was not looked at for a week is gone.`).
			gives("The folders, by path.", api.WatchedList{}),
		route("PUT /watched", "Tell of a folder that is followed").
			says("In the place of what was told of that folder in that namespace. The documents page shows it.").
			takes(api.WatchedFolder{}, `{
				"folder": "/home/ada/papers", "files": 120, "more": 0,
				"left_out": [{"path": "films/roof.mov", "reason": "Files that end with .mov can't be read."}]
			}`).
			empty("Done."),
		route("GET /places", "List places that are followed").
			says(`Web pages, servers of files, mail folders and so on: each with its state, when it was looked at, and
			what that changed.`).
			gives("The places, by name.", api.PlaceList{}),
		route("POST /places", "Follow a place").
			says(`Its settings are those that GET /places/kinds lists. The place is reached with them first, which
			takes up to a minute; if that fails, nothing is kept. Then it is looked at in the background.`).
			takes(api.NewPlace{}, `{
				"kind": "webpages", "schedule": "day",
				"settings": {"urls": "https://example.org/terms\nhttps://example.org/prices"}
			}`).
			fails(chat.CodeNotFound, chat.CodeConflict, chat.CodeTooMany, chat.CodeDiskFull).
			ends(http.StatusCreated, "It is followed.", api.FollowedPlace{}).
			redirects(placesPage),
		// The kinds depend on the program, so clients read their settings here.
		route("GET /places/kinds", "List kinds of places").
			gives("The kinds and their settings.", api.PlaceKinds{}),
		route("GET /places/:id", "Get a place").
			gives("The place.", api.FollowedPlace{}),
		route("PATCH /places/:id", "Change, pause or resume a place").
			says("What is left out stays, and so does a secret that is empty. Other settings are tried first.").
			takes(api.PlaceChange{}, `{"paused":true}`).
			fails(chat.CodeConflict).
			gives("As it is now.", api.FollowedPlace{}).
			redirects(placesPage),
		route("DELETE /places/:id", "Stop following a place").
			says("In the background. Documents that the user added stay in any case.").
			with(query("documents", oneOf("keep", "delete"), "What becomes of the place's documents.")).
			fails(chat.CodeConflict).
			empty("It is not followed any more.").
			redirects(placesPage),
		route("POST /places/:id/look", "Look at a place now").
			fails(chat.CodeConflict).
			ends(http.StatusAccepted, "It is looked at as soon as a worker is free.", api.FollowedPlace{}).
			redirects(placesPage),
		route("GET /places/:id/items", "List what a place has").
			says("Each item with its document, or why it has none.").
			with(query("state", oneOf("refused"), "Only those that were refused."), limitParam("100"), cursorParam).
			gives("The items, by key.", api.PlaceItems{}),
	}
}
