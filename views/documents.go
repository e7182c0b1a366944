package views

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text/locale"
)

// DocumentsPage is the document list for a query.
//
// Counts cover the whole library or namespace, regardless of the query's filters.
type DocumentsPage struct {
	Documents []corpus.Document
	Counts    corpus.Counts
	Semantic  bool          // whether embeddings are computed
	EmbedTime time.Duration // estimated time for the missing ones; 0: unknown
	More      bool          // more documents follow
	Query     DocumentsQuery
	Samples   bool
	MaxFile   int64            // maximum size of a file in bytes
	Watched   []corpus.Watched // folders of watch programs, if the page may show them
	Folders   bool             // the user may choose folders
	Followed  []FollowedFolder // folders that this server follows, if the user may see them
	Deleted   string           // id of a deleted document that can be restored
	Now       time.Time
}

// DocumentsQuery is the filter, order and limit of a document list.
type DocumentsQuery struct {
	Text      string
	Kind      string // the name of a format, or empty
	State     string // "ready", "working", "failed" or empty
	Namespace string
	Sort      string // "", "oldest" or "title"
	Limit     int
}

// DocumentsStep is the number of documents on the first page of the list, and of those that each further page adds.
const DocumentsStep = 50

// Encode returns the query as an encoded URL query with one parameter changed. Empty values are left out.
//
// changes are alternating names and values. An empty query is encoded as the empty string, without a question mark.
// The limit is encoded only if it differs from the default, which keeps URLs short.
func (q DocumentsQuery) Encode(changes ...string) string {
	v := url.Values{}
	set := func(name, value string) {
		v.Del(name)
		if value != "" {
			v.Set(name, value)
		}
	}
	set("q", q.Text)
	set("kind", q.Kind)
	set("state", q.State)
	set("namespace", q.Namespace)
	set("sort", q.Sort)
	if q.Limit > DocumentsStep {
		set("limit", strconv.Itoa(q.Limit))
	}
	for i := 0; i+1 < len(changes); i += 2 {
		set(changes[i], changes[i+1])
	}
	if len(v) == 0 {
		return ""
	}
	return "?" + v.Encode()
}

// url returns the list's URL with one parameter of the query changed.
func (q DocumentsQuery) url(changes ...string) string { return "/documents" + q.Encode(changes...) }

// narrowed reports whether the query filters the list.
func (q DocumentsQuery) narrowed() bool {
	return q.Text != "" || q.Kind != "" || q.State != "" || q.Namespace != ""
}

// action returns the URL of an action on a document. The response redirects to the same list.
//
// what is the end of an API path, such as /retry. The encoded query is appended for the redirect.
func (q DocumentsQuery) action(d corpus.Document, what string) string {
	return "/documents/" + url.PathEscape(d.ID) + what + q.Encode()
}

// folderName returns the last segment of a path of any operating system.
func folderName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// rowID is the element id of a document's row. The stream of changes replaces the row by this id.
func rowID(d corpus.Document) string { return "doc-" + d.ID }

// working reports whether a document is queued or being parsed or indexed.
func working(d corpus.Document) bool {
	return d.State == corpus.StateQueued || d.State == corpus.StateParsing || d.State == corpus.StateIndexing
}

// stateText returns the text of a document's state: "Reading page 12 of 80".
//
// A document of one page has no page progress.
func stateText(ctx context.Context, d corpus.Document) string {
	p := d.Progress
	switch d.State {
	case corpus.StateQueued:
		return txtQueued.In(ctx)
	case corpus.StateParsing:
		if p.Total > 1 {
			return readingPage.Say(ctx, p.Done, p.Total)
		}
		return txtParsing.In(ctx)
	case corpus.StateIndexing:
		if p.Total > 1 {
			return indexingOf.Count(ctx, p.Total, p.Done)
		}
		return txtIndexing.In(ctx)
	case corpus.StateReady:
		return txtReady.In(ctx)
	case corpus.StateFailed:
		if needsOCR(d) {
			return txtNeedsOCR.In(ctx)
		}
		return txtFailed.In(ctx)
	case corpus.StateCancelled:
		return txtCancelled.In(ctx)
	}
	return string(d.State)
}

// vectorsText returns the progress of a document's embeddings: "Semantic index: 192 of 640 passages".
func vectorsText(ctx context.Context, d corpus.Document) string {
	if p := d.Progress; p.Stage == "embedding" && p.Total > 0 {
		return vectorsOf.Count(ctx, p.Total, p.Done)
	}
	return txtVectorsComing.In(ctx)
}

// vectorsLeft returns the number of embeddings still to compute and the estimated time left. A left of 0 means that
// the time is unknown.
//
// From 90 minutes on the time is in hours.
func vectorsLeft(ctx context.Context, passages int, left time.Duration) string {
	s := vectorsToGo.Count(ctx, passages)
	switch minutes := int(left.Round(time.Minute).Minutes()); {
	case left == 0:
		return s
	case minutes < 1:
		return andThen.Say(ctx, s, txtMomentLeft)
	case minutes < 90:
		return andThen.Say(ctx, s, minutesLeft.Count(ctx, minutes))
	default:
		return andThen.Say(ctx, s, hoursLeft.Count(ctx, int(left.Round(time.Hour).Hours())))
	}
}

// needsOCR reports whether a document, or some of its pages, are images without extracted text.
func needsOCR(d corpus.Document) bool {
	return d.State == corpus.StateFailed && d.Error != nil && d.Error.Code == corpus.NeedsOCR ||
		d.State == corpus.StateReady && d.MetaText(corpus.MetaUnread) != ""
}

// canRetry reports whether the page offers a retry.
//
// It only controls the button. The retry's handler validates the request again.
func canRetry(d corpus.Document) bool {
	return d.State == corpus.StateFailed || d.State == corpus.StateCancelled || d.Semantic == corpus.SemanticFailed ||
		needsOCR(d)
}

// retryText returns the label of the retry button.
func retryText(d corpus.Document) locale.Text {
	if needsOCR(d) {
		return txtReadAgain
	}
	return txtRetryWork
}

// measured reports whether the document's progress is known.
func measured(d corpus.Document) bool { return working(d) && d.Progress.Total > 1 }

// tags3 returns at most three of a document's own tags.
//
// Meta is user input, so tags may be a list, a string or another type, which is ignored.
func tags3(d corpus.Document) []string {
	var out []string
	switch list := d.Meta["tags"].(type) {
	case []any:
		for _, tag := range list {
			if text, ok := tag.(string); ok && text != "" && len(out) < 3 {
				out = append(out, clipped(text, 24))
			}
		}
	case string:
		if list != "" {
			out = append(out, clipped(list, 24))
		}
	}
	return out
}

// named returns the line under a document's title: its path, or nothing if the path equals the title.
func named(d corpus.Document) string {
	if d.Path == documentTitle(d) {
		return ""
	}
	return d.Path
}

// sorted returns a column's aria-sort value.
func (q DocumentsQuery) sorted(column string) string {
	switch {
	case column == "title" && q.Sort == "title", column == "added" && q.Sort == "oldest":
		return "ascending"
	case column == "added" && q.Sort == "":
		return "descending"
	}
	return "none"
}

// dateOrder returns the next order for a click on the date column, and the arrow of the current order.
func (q DocumentsQuery) dateOrder() (next, arrow string) {
	switch q.Sort {
	case "":
		return "oldest", " ↓"
	case "oldest":
		return "", " ↑"
	}
	return "", ""
}

// empty reports whether the library is empty, so that the page shows how to begin.
func (p DocumentsPage) empty() bool { return p.Counts.Documents == 0 && !p.Query.narrowed() }

// summary returns the library's counts of documents, pages and passages.
func (p DocumentsPage) summary(ctx context.Context) string {
	if p.Counts.Documents == 0 {
		return ""
	}
	s := locale.Digits(ctx, p.Counts.Documents)
	if p.Counts.Pages > 0 {
		s += " · " + pages.Count(ctx, p.Counts.Pages)
	}
	if p.Counts.Passages > 0 {
		s += " · " + passages.Count(ctx, p.Counts.Passages)
	}
	return s
}

// The text of the documents' pages. Handlers use the exported texts.
var (
	// The head of the panel beside an answer.
	txtWordForWord  = locale.T("Exact match")
	txtNearly       = locale.T("Approximate match")
	txtQuoteMissing = locale.T("Quote not found in the document. Nothing is highlighted.")
	txtChangedGone  = locale.T("Document changed. The quote is not in the current version.")
	txtChangedSame  = locale.T("Document changed. The quote is still in the current version.")
	txtPreviousCite = locale.T("Previous citation")
	txtNextCite     = locale.T("Next citation")
	txtWhole        = locale.T("Open full document")
	txtCloseSource  = locale.T("Close source")
	txtStrip        = locale.T("Citations in this document")
	txtMap          = locale.T("Citation positions in the document")
	txtPagesRegion  = locale.T("Document pages")
	txtTextRegion   = locale.T("Document text")
	txtOutline      = locale.T("Outline")
	txtOriginal     = locale.T("Original")
	txtDownload     = locale.T("Download original")
	txtAskAbout     = locale.T("Ask about this")
	txtCitedFor     = locale.T("Cited in answer to")
	txtEarlier      = locale.T("Previous part")
	LaterPart       = locale.T("Next part")
	txtEarlierPages = locale.T("Previous pages")
	txtLaterPages   = locale.T("Next pages")
	txtPage         = locale.T("Page")
	txtLeftOut      = locale.T("Not imported:")
	txtViews        = locale.T("View")
	txtViewText     = locale.T("Text")
	txtViewPages    = locale.T("Pages")
	txtPartOf       = locale.T("Part of")
	txtFilesInside  = locale.T("Contains:")
	txtHiddenParts  = locale.T("Hidden in the original:")
	txtGo           = locale.T("Go")
	QueuedNow       = locale.T("This document is queued for import. Check back shortly.")
	ReadingNow      = locale.T("This document is being imported. Check back shortly.")
	Replacing       = locale.T("A new version is being imported. This is the previous version.")
	CancelledNow    = locale.T("The import of this document was canceled. Retry it on the documents page.")
	NoContent       = locale.T("This document contains no text.")
	CiteGone        = locale.T("Citation not found. Its answer was deleted, or the URL is incorrect. Nothing " +
		"is highlighted.")
	NotOnPages            = locale.T("Passage not found in the page view. Showing the text instead.")
	PassageGone           = locale.T("Passage not found. The document may have changed. Nothing is highlighted.")
	txtAddFiles           = locale.T("Add files")
	txtAddFolder          = locale.T("Add folder")
	txtSearchDocs         = locale.T("Search titles and file names")
	txtAllKinds           = locale.T("All types")
	txtKind               = locale.T("Type")
	txtFilter             = locale.T("Filter")
	txtState              = locale.T("Status")
	txtAll                = locale.T("All")
	txtReady              = locale.T("Ready")
	txtWorking            = locale.T("Processing")
	txtFailed             = locale.T("Failed")
	txtQueued             = locale.T("Queued")
	txtCancelled          = locale.T("Canceled")
	txtParsing            = locale.T("Reading")
	txtIndexing           = locale.T("Indexing")
	txtNameColumn         = locale.T("Name")
	txtTags               = locale.T("Tags")
	txtPages              = locale.T("Pages")
	txtSize               = locale.T("Size")
	txtAdded              = locale.T("Added")
	txtActions            = locale.T("Actions")
	txtCancelWork         = locale.T("Cancel")
	txtRetryWork          = locale.T("Retry")
	txtReadAgain          = locale.T("Import again")
	txtNeedsOCR           = locale.T("OCR required")
	txtUnreadPages        = locale.T("Not imported (OCR required):")
	txtNoneMatch          = locale.T("No documents match. Change the search or filter.")
	txtShowAllDocs        = locale.T("Show all documents")
	txtDeletedDoc         = locale.T("Deleted. You can undo this for a minute.")
	txtVectorsComing      = locale.T("Semantic index pending")
	txtMomentLeft         = locale.T("less than a minute left")
	txtVectorsFailed      = locale.T("Semantic indexing failed. Keyword search still works.")
	txtNamespace          = locale.T("Namespace")
	txtLeftOutOf          = locale.T("Not imported from folder")
	txtLookedAt           = locale.T("checked")
	txtFile               = locale.T("File")
	txtWhyLeft            = locale.T("Reason")
	txtUploadTitle        = locale.T("Upload")
	txtUploadAlready      = locale.T("Already in library")
	txtUploadWaiting      = locale.T("Waiting")
	txtUploadLeft         = locale.T("about {time} left")
	txtUploadCount        = locale.T("Uploading {done} of {all}")
	txtUploadReading      = locale.T("Importing: {done} of {all} ready")
	txtUploadEnd          = locale.T("{done} of {all} ready")
	txtUploadMore         = locale.T("{n} more")
	txtUploadKinds        = locale.T("Supported formats:")
	txtUploadChecking     = locale.T("Checking file")
	txtUploadLeftOne      = locale.T("1 file skipped: {kinds}")
	txtUploadLeftMany     = locale.T("{n} files skipped: {kinds}")
	txtUploadNoEnding     = locale.T("without an extension")
	txtUploadOtherEndings = locale.T("{n} other types")
	txtUploadGone         = locale.T("Deleted")
	txtUploadOf           = locale.T("{done} of {all}")
	txtUploadStopped      = locale.T("Canceled")
	txtToDocuments        = locale.T("Show documents")
	txtDeletedNamed       = locale.T("Deleted “{name}”")
	txtActionFailed       = locale.T("Action failed. Reload the page and try again.")
)
