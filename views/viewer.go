package views

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// Span is [Start, End), rune offsets in a document's text. The zero Span is none.
type Span struct{ Start, End int }

// isEmpty reports whether the span covers nothing.
func (s Span) isEmpty() bool { return s.End <= s.Start }

// holdsPlace reports whether the span covers a place.
func (s Span) holdsPlace(at int) bool { return s.Start <= at && at < s.End }

// Viewer is a document, or a part of it around a place, with what is marked in it.
//
// It has Sheets or Blocks, not both. All places are rune offsets in the text that is shown, which for a drawn Office
// file is that of its pages.
type Viewer struct {
	Document corpus.Document
	Panel    bool // beside an answer, not as a page
	Notice   string
	Outline  []OutlineEntry
	Current  string // id of the heading the marked place is under
	Passage  Span
	Quote    Span
	Also     []Span // marked like the quote, in order
	Cited    *Cited // nil: no citation is shown
	Map      []MapCell

	HasPages          bool   // it can be shown as it is printed
	Drawn             bool   // and is
	TextURL, PagesURL string // of the two views, with the same mark

	Parent     *corpus.Document  // that it was inside; nil: none that is there
	Inside     []corpus.Document // made of the files inside it, the first of them
	MoreInside int

	Text   []rune         // of the blocks shown
	Offset int            // of Text in the document's text
	Blocks []corpus.Block // of a document without pages
	Next   int            // where the block after the last shown one starts; 0 at the end
	Sheets []Sheet        // of a document with pages
	Pages  PageRange

	Earlier, Later string // addresses of the parts before and behind the one shown; empty at the ends
}

// PageRange is which of a document's pages are shown, from 1.
type PageRange struct{ From, To, All int }

// OutlineEntry is a heading of a document.
type OutlineEntry struct {
	ID    string // of its block
	Title string
	Level int // from 1
	URL   string
}

// MapCell is a piece of the strip that shows where in the document the citations lie.
type MapCell struct{ Cited, Now bool }

// Cited is a citation and its answer.
//
// Marked decides what is said of the quote: words that are not there are never shown as if they were.
type Cited struct {
	chat.Citation
	Question  string
	SessionID string
	RunID     string
	Here      []chat.Citation // all of this answer in this document, this one included
	Before    *chat.Citation  // the one before it in the answer, nil at the beginning
	After     *chat.Citation  // nil at the end
	Changed   bool            // the document is not the version that was cited
	Marked    bool            // its words stand in the document as it is now
	Doubted   bool            // the answer's sentence is not supported by them
}

// answerURL leads back to the answer.
func (c *Cited) answerURL() string {
	return "/c/" + url.PathEscape(c.SessionID) + "#" + turnID(c.RunID)
}

// where says what was checked, and where the words are.
func (c *Cited) where(ctx context.Context) string {
	at := placeText(ctx, placeAndSection(c.PlaceWords(), c.Section))
	switch {
	case c.Check == chat.CheckNotFound || c.Quote == "":
		return txtQuoteMissing.In(ctx)
	// That a document changed is said before anything of the words, since it explains them.
	case !c.Marked && c.Changed:
		return txtChangedGone.In(ctx)
	case c.Changed:
		return txtChangedSame.In(ctx)
	case !c.Marked:
		return txtQuoteMissing.In(ctx)
	case c.Check == chat.CheckApproximate:
		return joinDot(txtNearly.In(ctx), at)
	default:
		return joinDot(txtWordForWord.In(ctx), at)
	}
}

// joinDot puts two parts of a line together.
func joinDot(what, where string) string {
	if where == "" {
		return what
	}
	return what + " · " + where
}

// check is the check to show: what was verified once counts only while its words are there.
func (c *Cited) check() chat.Check {
	if !c.Marked && !c.Changed {
		return chat.CheckNotFound
	}
	return c.Check
}

// unmarked returns the words to show beside the document because they can't be marked in it.
func (c *Cited) unmarked() string {
	switch {
	case c.Marked && c.Check == chat.CheckApproximate:
		return c.Claimed
	case c.Marked:
		return ""
	case c.Quote != "":
		return c.Quote
	default:
		return c.Claimed
	}
}

// stripLabel is a short name for where a citation is.
func stripLabel(ctx context.Context, c chat.Citation) string {
	if place := c.PlaceWords(); place != "" {
		return clipped(placeText(ctx, place), 24)
	}
	section := c.Section
	if i := strings.LastIndex(section, " › "); i >= 0 {
		section = section[i+len(" › "):]
	}
	return clipped(section, 24)
}

// clipped is at most n runes of a text, with a sign that there was more.
func clipped(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return strings.TrimSpace(string(runes[:n-1])) + "…"
}

// counts says how large the document is and how often it is cited, for the panel's head.
func (v *Viewer) counts(ctx context.Context) string {
	var parts []string
	if v.Document.Pages > 0 {
		parts = append(parts, pagesWord(ctx, v.Document))
	}
	if v.Cited != nil && len(v.Cited.Here) > 0 {
		parts = append(parts, timesCited.Count(ctx, len(v.Cited.Here)))
	}
	if len(parts) == 0 {
		parts = append(parts, v.Document.Filename)
	}
	return strings.Join(parts, " · ")
}

// wholeURL is the page of this document at the same place.
func (v *Viewer) wholeURL() string {
	link := chat.Link{Document: v.Document.ID}
	if v.Drawn {
		return v.PagesURL
	}
	if v.Cited != nil {
		return citeURL(v.Cited.Citation)
	}
	if len(v.Sheets) > 0 {
		link.Page, link.Fragment = v.Pages.From, sheetID(v.Pages.From)
	} else if len(v.Blocks) > 0 && (!v.Passage.isEmpty() || !v.Quote.isEmpty()) {
		link.At = v.Blocks[0].ID
	}
	return link.String()
}

// askURL opens a new question about the document.
func (v *Viewer) askURL(ctx context.Context) string {
	return "/?q=" + url.QueryEscape(askAbout.Say(ctx, documentTitle(v.Document))+" ")
}

// fileURL is where a document's original is.
func fileURL(d corpus.Document) string { return "/documents/" + url.PathEscape(d.ID) + "/file" }

// textRange returns a range of the document's text, as far as it is shown.
//
// It is empty for a range that is not shown at all.
func (v *Viewer) textRange(start, end int) string {
	start, end = max(start-v.Offset, 0), min(end-v.Offset, len(v.Text))
	if start >= end {
		return ""
	}
	return string(v.Text[start:end])
}

// group is a run of blocks that belong in one element: a list's items, else a single block.
type group struct {
	list    bool
	ordered bool
	blocks  []numberedBlock
}

// numberedBlock knows where the next block begins.
type numberedBlock struct {
	corpus.Block
	next  int
	plain bool // too large to draw: only its text is shown
}

// groups puts the items of one list together.
//
// Items on two pages are two lists, so that each page stands by itself.
func (v *Viewer) groups() []group {
	var out []group
	for i, b := range v.Blocks {
		next := v.Next
		if i+1 < len(v.Blocks) {
			next = v.Blocks[i+1].Start
		}
		nb := numberedBlock{b, next, tooLarge(b)}
		if b.Kind != corpus.BlockList || nb.plain {
			out = append(out, group{blocks: []numberedBlock{nb}})
			continue
		}
		if n := len(
			out,
		); n > 0 && out[n-1].list && out[n-1].blocks[0].Page == b.Page &&
			(b.Level > 1 || out[n-1].ordered == (b.Ordinal > 0)) {
			out[n-1].blocks = append(out[n-1].blocks, nb)
			continue
		}
		out = append(out, group{list: true, ordered: b.Ordinal > 0, blocks: []numberedBlock{nb}})
	}
	return out
}

// marked reports whether a block holds some of the quote.
func (v *Viewer) marked(b corpus.Block) bool {
	return !v.Quote.isEmpty() && b.Start < v.Quote.End && v.Quote.Start < b.End
}

// indent returns the class that indents an outline entry: it counts the levels above its own that occur in the outline.
func (v *Viewer) indent(level int) string {
	seen := []int{}
	for _, e := range v.Outline {
		if !slices.Contains(seen, e.Level) && e.Level < level {
			seen = append(seen, e.Level)
		}
	}
	return "level-" + strconv.Itoa(min(len(seen)+1, 4))
}
