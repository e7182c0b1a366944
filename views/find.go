package views

import (
	"context"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// Found is what a search over conversations, documents' names and passages gave. Without a query it is what is newest.
type Found struct {
	Query     string
	Sessions  []chat.Session
	Documents []corpus.Document
	Passages  []corpus.Result
	Notes     []string // on the search for passages
	More      bool     // there is more than the list shows
	Now       time.Time
	// Looked through: all conversations, and all documents, of which Unread have no text yet and only names.
	AllSessions, AllDocuments, Unread int
}

// count is how much was found.
func (f Found) count() int { return len(f.Sessions) + len(f.Documents) + len(f.Passages) }

// looked says what a search looked through, or would look through.
func (f Found) looked(ctx context.Context) string {
	all := andThen.Say(ctx, conversations.Count(ctx, f.AllSessions), documents.Count(ctx, f.AllDocuments))
	if f.Unread > 0 {
		all += " (" + byNameOnly.Count(ctx, f.Unread) + ")"
	}
	if f.Query == "" {
		return all
	}
	return lookedThrough.Say(ctx, all)
}

// nothing says that nothing has the words.
//
// The query is cut at 80 characters, which is a choice.
func (f Found) nothing(ctx context.Context) string {
	return nothingHas.Say(ctx, visible(clipped(f.Query, 80)))
}

// askThis names the link that asks what was searched for.
func (f Found) askThis(ctx context.Context) string {
	return txtAskThis.Say(ctx, visible(clipped(f.Query, 80)))
}

// foundPassage is a passage with a link to its best words.
//
// Without matches the link leads to the passage as a whole. Matches are rune ranges in the snippet.
func foundPassage(r corpus.Result) hit {
	link := chat.Link{Document: r.Document.ID, Passage: r.Passage.ID, Fragment: chat.FragmentCited}
	// Offsets of a snippet count from its passage, those of a link from the document's beginning.
	if len(r.Snippet.Matches) > 0 {
		link.Start, link.End = r.Passage.Start+r.Snippet.Start, r.Passage.Start+r.Snippet.End
	}
	return hit{
		URL: link.String(), Title: documentTitle(r.Document), Kind: fileKind(r.Document.Filename, r.Document.MIME),
		Loc:     sourcePlace(r.Document.Title, r.Place, r.Passage.Section),
		Snippet: cutSpans(visible(r.Snippet.Text), r.Snippet.Matches),
	}
}
