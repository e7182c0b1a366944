package corpus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/search"
	"github.com/footnote/footnote/text/locale"
)

// ReadRunes is the default size in runes of one part of a document returned by Read: some 2,000 words of English.
const ReadRunes = 12000

const (
	minReadRunes = 500
	maxReadRunes = 100000
	maxOutline   = 200
)

// Read returns a part of a document. It returns chat.CodeConflict with a reason if the document is not ingested,
// and chat.CodeNotFound for a part after the last.
func (l *Library) Read(ctx context.Context, s chat.Scope, r ReadRequest) (Reading, error) {
	if r.Part < 0 || r.MaxRunes < 0 {
		return Reading{}, invalidError("The page must be 1 or more.")
	}
	// Clamp the size instead of rejecting it, since it may come from a model.
	size := min(max(cmp.Or(r.MaxRunes, ReadRunes), minReadRunes), maxReadRunes)
	d, err := l.Find(ctx, s, r.Document)
	if err != nil {
		return Reading{}, err
	}
	passages, err := l.cfg.Documents.Passages(ctx, s, d.ID, 0, -1)
	if err != nil {
		return Reading{}, fmt.Errorf("read passages: %w", err)
	}
	if len(passages) == 0 {
		return Reading{Document: d}, notReady(d)
	}
	blocks, err := l.cfg.Documents.Blocks(ctx, s, d.ID)
	if err != nil {
		return Reading{}, fmt.Errorf("read blocks: %w", err)
	}
	reading := Reading{Document: d, Outline: listHeadings(blocks, passages)}
	order := passages
	if r.Focus != "" {
		// With a focus only relevant passages are read. Parts are in order of relevance; within a part the passages
		// are in document order.
		if order, err = l.focusPassages(ctx, s, d.ID, r.Focus, passages); err != nil {
			return Reading{}, err
		}
		if reading.Focused = len(order) > 0; !reading.Focused {
			order = passages
		}
	}
	pages := cutParts(order, size)
	reading.Part, reading.Parts = max(r.Part, 1), len(pages)
	if r.Holding != "" {
		// An unknown passage, such as one of an older version, selects the first part.
		reading.Part = 1 + max(0, slices.IndexFunc(pages, func(page []Passage) bool {
			return slices.ContainsFunc(page, func(p Passage) bool { return p.ID == r.Holding })
		}))
	}
	if reading.Part > reading.Parts {
		return Reading{}, &chat.Error{Code: chat.CodeNotFound,
			Message: locale.Say("“{1}” has no part {2}. The last part is {3}.", d.Title, r.Part, reading.Parts)}
	}
	reading.Passages = slices.Clone(pages[reading.Part-1])
	// endPages sets LastPage in the clone.
	if err := (locator{l}).endPages(ctx, s, d.ID, blocks, reading.Passages); err != nil {
		return Reading{}, err
	}
	slices.SortFunc(reading.Passages, func(a, b Passage) int { return a.Ordinal - b.Ordinal })
	return reading, nil
}

// notReady returns the error for a document without content, with the reason.
func notReady(d Document) error {
	switch d.State {
	case StateFailed:
		var detail locale.Message
		if d.Error != nil {
			detail = locale.Say(" {1}", d.Error.Detail)
		}
		return &chat.Error{Code: chat.CodeConflict, Message: locale.Say(
			"“{1}” could not be imported.{2}", d.Title, detail,
		)}
	case StateCancelled:
		return &chat.Error{
			Code: chat.CodeConflict,
			Message: locale.Say(
				"The import of “{1}” was canceled. Try again on the documents page.", d.Title,
			),
		}
	default:
		return &chat.Error{
			Code: chat.CodeConflict, Message: locale.Say(
				"“{1}” is still being imported. Try again in a moment.", d.Title,
			),
		}
	}
}

// mostFocused is the limit of the search for passages relevant to a focus.
const mostFocused = 50

// focusPassages returns the passages relevant to a question, best first, each followed by its neighbours for
// context.
func (l *Library) focusPassages(
	ctx context.Context, s chat.Scope, id, question string, passages []Passage,
) ([]Passage, error) {
	found, err := l.Search(ctx, s, Query{Text: question, Limit: mostFocused, Documents: []string{id}})
	if err != nil {
		return nil, fmt.Errorf("focus: %w", err)
	}
	taken := make(map[int]bool)
	var out []Passage
	for _, r := range found.Results {
		at := r.Passage.Ordinal
		// The passage itself comes first, so that a part cut here contains it.
		for _, i := range []int{at, at - 1, at + 1} {
			if i >= 0 && i < len(passages) && !taken[i] {
				taken[i] = true
				out = append(out, passages[i])
			}
		}
	}
	return out, nil
}

// cutParts splits passages into parts of at most size runes, in order. A part has at least one passage.
func cutParts(passages []Passage, size int) [][]Passage {
	var pages [][]Passage
	from, runes := 0, 0
	for i, p := range passages {
		n := p.End - p.Start
		// A passage longer than size is a part by itself.
		if i > from && runes+n > size {
			pages = append(pages, passages[from:i])
			from, runes = i, 0
		}
		runes += n
	}
	return append(pages, passages[from:])
}

// listHeadings returns at most maxOutline headings. Beyond that limit it drops the deepest levels first.
func listHeadings(blocks []Block, passages []Passage) []OutlineItem {
	deepest := 6
	// Reduce the depth until the headings fit; if level 1 alone has too many, the first maxOutline are returned.
	for ; deepest > 1; deepest-- {
		n := 0
		for _, b := range blocks {
			if b.Kind == BlockHeading && b.Level <= deepest {
				n++
			}
		}
		if n <= maxOutline {
			break
		}
	}
	var out []OutlineItem
	for _, b := range blocks {
		if b.Kind == BlockHeading && b.Level <= deepest && len(out) < maxOutline {
			out = append(
				out, OutlineItem{Title: textAt(passages, b.Start, b.End), Level: b.Level, BlockID: b.ID, Page: b.Page},
			)
		}
	}
	return out
}

// textAt returns the text of a range of a document, up to the end of the passage that contains start.
func textAt(passages []Passage, start, end int) string {
	i := passageAt(passages, start)
	if i < 0 {
		return ""
	}
	p := passages[i]
	w := walker{text: p.Text}
	return w.sliceRunes(start-p.Start, min(end, p.Start+utf8.RuneCountInString(p.Text))-p.Start)
}

// passageAt returns the index of the passage that contains an offset, or -1.
func passageAt(passages []Passage, at int) int {
	i := sort.Search(len(passages), func(i int) bool { return passages[i].End > at })
	if i == len(passages) || passages[i].Start > at {
		return -1
	}
	return i
}

// ReadPage is the OCR result of a page. Package pdf builds blocks from it as for a page with text.
type ReadPage struct {
	Number        int // from 1
	Turn          int // clockwise rotation in quarter turns that makes the text upright
	Width, Height int // of the upright picture, in pixels
	Lines         []ReadLine
}

// ReadLine is a line of recognised text.
type ReadLine struct {
	Words []ReadWord
	Size  float64 // height in pixels from the top of the tallest letter to the bottom of the lowest
}

// ReadWord is a recognised word with its box in pixels from the top left. The box is empty if the position is
// unknown: models return only text.
type ReadWord struct {
	Text           string
	X0, Y0, X1, Y1 float64
}

// MetaTurned is the metadata key of the pages that OCR rotated: clockwise quarter turns by page number. The viewer
// renders these pages rotated.
const MetaTurned = "turned"

// TurnOf returns the clockwise rotation for rendering page n, in quarter turns.
func (d Document) TurnOf(n int) int {
	turned, _ := d.Meta[MetaTurned].(map[string]any)
	quarters, _ := turned[strconv.Itoa(n)].(float64)
	return int(quarters) & 3
}

// MetaUnread is the metadata key of the scanned pages that OCR could not read: "pages 3, 7".
const MetaUnread = "unread"

// SearchMode selects the indexes that answer a query. The empty mode is hybrid.
type SearchMode string

// The search modes. Hybrid falls back to lexical if there are no vectors.
const (
	ModeHybrid   SearchMode = "hybrid"
	ModeLexical  SearchMode = "lexical"
	ModeSemantic SearchMode = "semantic"
)

// MostResults is the maximum number of passages that a search returns.
const MostResults = 100

// Query is a search query. Double quotes in Text mark exact phrases.
type Query struct {
	Text      string
	Limit     int // passages, 1–MostResults; 0 means 5
	Mode      SearchMode
	MinScore  float64  // 0–1, on Result.Similarity; ignored with a note while there are no vectors
	Documents []string // only in these; empty: anywhere in scope
	Filter    *Filter  // only documents it selects; nil: all
	// reranks the results with the Reranker; a semantic search has its final order already
	Rerank  bool
	Cosines bool // set cosine and similarity of each result, if there are vectors
	// Typing marks the text as incomplete: the last word may be a prefix. Passages with the words in sequence rank
	// first. Passages with only some of the words are returned only if no passage has them all.
	Typing bool
	// Places adds rows, cells and lines to Result.Place, which requires the blocks of the documents found.
	Places bool
}

// Results are the passages found, best first. An empty result is not an error; a note may give the reason.
type Results struct {
	Results []Result
	Notes   []string // for people and models: "semantic search is off", "did you mean …"
	Partial bool     // an index failed or timed out: a retry may find more
	// Corrected maps probable typos to the words that were added to the query: typed → used.
	Corrected map[string]string
	// Guessed has the words of Corrected whose correction counts only beside another word of the query.
	Guessed map[string]bool
}

// Result is a passage found, with its document. The viewer highlights the matches of Snippet.
type Result struct {
	Passage  Passage
	Document Document
	// 0–1: the similarity in semantic mode, the reranker's score if reranked, else the fused score of search.Fuse
	Score float64
	// Cosine is the cosine similarity of passage and query, -1 to 1. It is nil if unknown: without vectors, and for
	// a passage found only by lexical search unless Query.Cosines or Query.Rerank is set.
	Cosine *float64
	// Similarity is search.Scale.Similarity of the cosine, 0–1: from 0.7 on the passage probably answers the query,
	// with any embedder. It is set if Cosine is set.
	Similarity *float64
	Doubt      float64 // search.Scale.Doubt of the query, 0–1
	Snippet    search.Snippet
	// Place is the location of the best matches for display: see Place.Label. Without Query.Places it is pages
	// only.
	Place string
	Page  int    // page of the best matches; 0 in a document without pages
	Block string // ID of their block
}

// ReadRequest is a request for a part of a document.
type ReadRequest struct {
	Document string // ID, title or file name (resolved in scope: exact ID, else unique best match)
	Focus    string // read passages relevant to this first; empty: from the start
	Part     int    // of reading pages, from 1; 0 means 1
	MaxRunes int    // 0 means ReadRunes
	Holding  string // ID of a passage: selects the part that contains it, instead of Part
}

// Reading is a part of a document. Its passages are in document order, also when a focus selected them.
type Reading struct {
	Document Document
	Passages []Passage
	Outline  []OutlineItem
	Part     int // number of this part
	Parts    int // number of parts
	Focused  bool
}

// OutlineItem is a heading of a document.
type OutlineItem struct {
	Title   string
	Level   int
	BlockID string
	Page    int
}

// GrepRequest is a request for exact matches.
type GrepRequest struct {
	Pattern   string // RE2 regular expression; matched literally if it does not compile
	Documents []string
	Max       int // matches, 1–100; 0 means 20
}

// Match is an exact match.
type Match struct {
	Document   Document
	PassageID  string
	BlockID    string
	Page       int
	Section    string
	Start, End int    // rune offsets in the document's text
	Line       string // the line around it, shortened to 300 runes
}

// Grepped is the result of a grep.
type Grepped struct {
	Matches   []Match
	Literal   bool // the pattern did not compile and was matched literally
	More      bool // there were more than Max
	Documents int  // number of documents searched
}

const (
	defaultMatches = 20
	maxMatches     = 100
	maxPattern     = 1000 // bytes
	maxProgram     = 5000 // instructions of the compiled pattern
	grepTime       = 4 * time.Second
	maxLine        = 300 // runes around a match
)

// Grep finds matches of a regular expression in the text of documents, newest documents first. It ignores case,
// unless the pattern contains (?-i). More is set if there are more matches than requested or if the timeout
// expired. Grep scans full texts without an index, so a timeout of 4 s limits it. It returns chat.CodeInvalid for
// an unusable pattern.
func (l *Library) Grep(ctx context.Context, s chat.Scope, g GrepRequest) (Grepped, error) {
	// 0 is the default, not an error.
	if g.Max < 0 || g.Max > maxMatches {
		return Grepped{}, invalidError("The number of matches must be between 1 and 100.")
	}
	if g.Max == 0 {
		g.Max = defaultMatches
	}
	pattern, literal, err := compilePattern(g.Pattern)
	if err != nil {
		return Grepped{}, err
	}
	out := Grepped{Literal: literal}
	work, stop := context.WithTimeout(ctx, grepTime)
	defer stop()
	err = l.grepDocuments(work, s, g, pattern, &out)
	// The internal timeout expired, not the caller's: return the matches so far and set More.
	if errors.Is(work.Err(), context.DeadlineExceeded) && ctx.Err() == nil {
		out.More, err = true, nil
	}
	return out, err
}

// grepDocuments searches the documents in sequence, newest first, until it has enough matches.
func (l *Library) grepDocuments(
	ctx context.Context, s chat.Scope, g GrepRequest, pattern *regexp.Regexp, out *Grepped,
) error {
	f := Filter{IDs: g.Documents, Limit: 200}
	for {
		docs, next, err := l.cfg.Documents.List(ctx, s, f)
		if err != nil {
			return fmt.Errorf("list documents: %w", err)
		}
		for _, d := range docs {
			// The document has no text yet.
			if d.Passages == 0 {
				continue
			}
			if err := l.grepOne(ctx, s, d, pattern, g.Max, out); err != nil || out.More {
				return err
			}
		}
		if f.Cursor = next; next == "" {
			return nil
		}
	}
}

// compilePattern compiles a pattern as RE2, or literally if it is not valid RE2. It returns chat.CodeInvalid if the
// compiled program is too large. RE2 runs in time linear in the text, so only the program's size needs a limit.
// Flag m makes ^ and $ match at line ends.
func compilePattern(pattern string) (re *regexp.Regexp, literal bool, err error) {
	if strings.TrimSpace(pattern) == "" {
		return nil, false, invalidError("The pattern is empty. Enter the exact words to find.")
	}
	if len(pattern) > maxPattern {
		return nil, false,
			invalidError(fmt.Sprintf("The pattern exceeds the limit of %d bytes.", maxPattern))
	}
	// Limit the compiled size, not the length: "(a{500}){2}" compiles to a thousand instructions.
	if parsed, err := syntax.Parse(pattern, syntax.Perl); err == nil {
		program, err := syntax.Compile(parsed.Simplify())
		if err == nil && len(program.Inst) > maxProgram {
			return nil, false, invalidError("The pattern is too complex. Use fewer or smaller repetitions.")
		}
		if re, err := regexp.Compile("(?im)" + pattern); err == nil {
			return re, false, nil
		}
	}
	// A query such as "f(x" is meant literally; Literal reports this to the caller.
	re, err = regexp.Compile("(?i)" + regexp.QuoteMeta(strings.ToValidUTF8(pattern, "")))
	if err != nil {
		return nil, true, invalidError("Unsupported pattern. Enter plain words.")
	}
	return re, true, nil
}

// grepOne adds the matches of one document, or none if it was deleted meanwhile. Matches are in order, so rune
// offsets are counted in one pass over the text.
func (l *Library) grepOne(
	ctx context.Context, s chat.Scope, d Document, pattern *regexp.Regexp, limit int, out *Grepped,
) error {
	body, err := l.cfg.Documents.Text(ctx, s, d.ID)
	if err != nil {
		if chat.CodeOf(err) == chat.CodeNotFound {
			return nil // deleted meanwhile
		}
		return fmt.Errorf("read text: %w", err)
	}
	out.Documents++
	first, runes, bytes := len(out.Matches), 0, 0
	for at := 0; at <= len(body) && ctx.Err() == nil; {
		loc := pattern.FindStringIndex(body[at:])
		if loc == nil {
			break
		}
		start, end := at+loc[0], at+loc[1]
		at = end
		if start == end { // an empty match shows nothing
			_, size := utf8.DecodeRuneInString(body[at:])
			at += max(size, 1)
			continue
		}
		// One match beyond the limit sets More.
		if len(out.Matches) == limit {
			out.More = true
			break
		}
		// Count only the runes between two matches.
		runes += utf8.RuneCountInString(body[bytes:start])
		bytes = start
		out.Matches = append(out.Matches, Match{
			Document: d, Start: runes, End: runes + utf8.RuneCountInString(body[start:end]),
			Line: lineAround(body, start, end),
		})
	}
	if len(out.Matches) == first {
		return ctx.Err()
	}
	return l.placeMatches(ctx, s, d, out.Matches[first:])
}

// placeMatches sets passage, section, block and page of the matches. The page is that of the matched words, since a
// block may span pages.
func (l *Library) placeMatches(ctx context.Context, s chat.Scope, d Document, matches []Match) error {
	passages, err := l.cfg.Documents.Passages(ctx, s, d.ID, 0, -1)
	if err != nil {
		return fmt.Errorf("read passages: %w", err)
	}
	blocks, err := l.cfg.Documents.Blocks(ctx, s, d.ID)
	if err != nil {
		return fmt.Errorf("read blocks: %w", err)
	}
	b := 0
	for i := range matches {
		m := &matches[i]
		if p := passageAt(passages, m.Start); p >= 0 {
			m.PassageID, m.Section, m.Page = passages[p].ID, passages[p].Section, passages[p].Page
		}
		for b < len(blocks) && blocks[b].End <= m.Start {
			b++
		}
		// The block's page is its first; pageOf returns that of the matched words.
		if b < len(blocks) {
			m.BlockID = blocks[b].ID
			if m.Page, err = (locator{l}).pageOf(ctx, s, d.ID, blocks, b, m.Start, m.End); err != nil {
				return err
			}
		}
	}
	return nil
}

// lineAround returns the line around body[start:end], at most maxLine runes with the match in the middle.
func lineAround(body string, start, end int) string {
	from := strings.LastIndexByte(body[:start], '\n') + 1
	to := len(body)
	if i := strings.IndexByte(body[end:], '\n'); i >= 0 {
		to = end + i
	}
	if utf8.RuneCountInString(body[from:to]) <= maxLine {
		return strings.TrimSpace(strings.ReplaceAll(body[from:to], "\n", " "))
	}
	// The text before the match gets half of the remaining runes; the text after it gets the rest.
	before := lastRunes(body[from:start], max(0, maxLine-utf8.RuneCountInString(body[start:end]))/2)
	match := shortenRunes(body[start:end], maxLine)
	after := shortenRunes(body[end:to], max(0, maxLine-utf8.RuneCountInString(before)-utf8.RuneCountInString(match)))
	if len(before) < start-from {
		before = "…" + before
	}
	return strings.TrimSpace(strings.ReplaceAll(before+match+after, "\n", " "))
}

// lastRunes returns the last n runes of s.
func lastRunes(s string, n int) string {
	i := len(s)
	for ; i > 0 && n > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return s[i:]
}
