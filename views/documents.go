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

// DocumentsPage is the list of documents as it was asked for.
//
// Counts are of the whole library or namespace, whatever the list is narrowed to.
type DocumentsPage struct {
	Documents []corpus.Document
	Counts    corpus.Counts
	Semantic  bool          // whether vectors are made
	EmbedTime time.Duration // that the missing ones will take; 0: it is not known
	More      bool          // there are documents behind those listed
	Query     DocumentsQuery
	Samples   bool
	MaxFile   int64            // bytes that a file may have that is added
	Watched   []corpus.Watched // folders that programs follow, if the page is to show them
	Folders   bool             // the user may have folders followed
	Followed  []FollowedFolder // that this server follows, if the user may see them
	Deleted   string           // id of a document that was just deleted and can come back
	Now       time.Time
}

// DocumentsQuery is what a list of documents was asked for.
type DocumentsQuery struct {
	Text      string
	Kind      string // the name of a format, or empty
	State     string // "ready", "working", "failed" or empty
	Namespace string
	Sort      string // "", "oldest" or "title"
	Limit     int
}

// DocumentsStep is how many documents the list begins with, and how many more it shows each time.
// It is a choice.
const DocumentsStep = 50

// Encode returns the query as an address's query, with one part changed; empty values are left out.
//
// changes are names and values in turn. An empty query is the empty text, without a question mark. The limit is in it
// only if it is not the usual one, so that addresses stay short.
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

// url is the address of the list with one part of the query changed.
func (q DocumentsQuery) url(changes ...string) string { return "/documents" + q.Encode(changes...) }

// narrowed reports whether the list shows only some of the documents.
func (q DocumentsQuery) narrowed() bool {
	return q.Text != "" || q.Kind != "" || q.State != "" || q.Namespace != ""
}

// action is the address of what can be done to a document; the list comes back as it was.
//
// what is the end of an address of the API, such as retry; the query comes along so that the form is led back.
func (q DocumentsQuery) action(d corpus.Document, what string) string {
	return "/documents/" + url.PathEscape(d.ID) + "/" + what + q.Encode()
}

// folderName is the last part of a path of any system.
func folderName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// rowID is the id of a document's row, which the stream of changes redraws.
func rowID(d corpus.Document) string { return "doc-" + d.ID }

// working reports whether a document is still on its way into the library.
func working(d corpus.Document) bool {
	return d.State == corpus.StateQueued || d.State == corpus.StateParsing || d.State == corpus.StateIndexing
}

// stateText says how far a document is: "Reading page 12 of 80".
//
// A document of one page has no progress worth telling.
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

// vectorsText says how far the vectors of a document are: "Semantic index: 192 of 640 passages".
func vectorsText(ctx context.Context, d corpus.Document) string {
	if p := d.Progress; p.Stage == "embedding" && p.Total > 0 {
		return vectorsOf.Count(ctx, p.Total, p.Done)
	}
	return txtVectorsComing.In(ctx)
}

// vectorsLeft says how many vectors are to be made, and how long that takes; 0: it is not known.
//
// From an hour and a half on it counts in hours, which is a choice.
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

// needsOCR reports whether a document, or pages of it, are pictures that nothing could read.
func needsOCR(d corpus.Document) bool {
	return d.State == corpus.StateFailed && d.Error != nil && d.Error.Code == corpus.NeedsOCR ||
		d.State == corpus.StateReady && d.MetaText(corpus.MetaUnread) != ""
}

// canRetry reports whether there is something to try again.
//
// It shows a button; whether the document can be tried again is decided when that is pressed.
func canRetry(d corpus.Document) bool {
	return d.State == corpus.StateFailed || d.State == corpus.StateCancelled || d.Semantic == corpus.SemanticFailed ||
		needsOCR(d)
}

// retryText is what the button says that tries it.
func retryText(d corpus.Document) locale.Text {
	if needsOCR(d) {
		return txtReadAgain
	}
	return txtRetryWork
}

// measured reports whether it is known how far a document is.
func measured(d corpus.Document) bool { return working(d) && d.Progress.Total > 1 }

// tags3 returns a document's own tags, at most three.
//
// Meta is what a user sent, so tags may be a list, a text or something else, which is left out.
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

// named is the line under a document's title: where the file is, unless that says the same.
func named(d corpus.Document) string {
	if d.Path == documentTitle(d) {
		return ""
	}
	return d.Path
}

// sorted says for a screen reader which column the list is ordered by.
func (q DocumentsQuery) sorted(column string) string {
	switch {
	case column == "title" && q.Sort == "title", column == "added" && q.Sort == "oldest":
		return "ascending"
	case column == "added" && q.Sort == "":
		return "descending"
	}
	return "none"
}

// dateOrder is what a click on the date's column does next, and the arrow for the present order.
func (q DocumentsQuery) dateOrder() (next, arrow string) {
	switch q.Sort {
	case "":
		return "oldest", " ↓"
	case "oldest":
		return "", " ↑"
	}
	return "", ""
}

// empty reports whether the page is one that offers ways to begin.
func (p DocumentsPage) empty() bool { return p.Counts.Documents == 0 && !p.Query.narrowed() }

// summary says how much the library holds.
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
