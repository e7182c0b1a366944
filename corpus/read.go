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
)

// ReadRunes is the size in runes of one part of a document that Read returns unless it is asked for another: some
// 2,000 words of English.
const ReadRunes = 12000

const (
	minReadRunes = 500
	maxReadRunes = 100000
	maxOutline   = 200
)

// Read returns a part of a document. It fails with chat.CodeConflict for a document that is not read in, in a sentence
// that says why, and with chat.CodeNotFound for a part behind the last.
func (l *Library) Read(ctx context.Context, s chat.Scope, r ReadRequest) (Reading, error) {
	if r.Part < 0 || r.MaxRunes < 0 {
		return Reading{}, invalidError("Reading pages are counted from 1.")
	}
	// A size out of range is taken as the nearest one, since a model may ask for anything.
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
		// With a focus only what bears on it is read, cut into parts in the order of its worth; within a part the
		// text's order is kept.
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
		// A passage that is not among them, as one of an older version, leads to the first part.
		reading.Part = 1 + max(0, slices.IndexFunc(pages, func(page []Passage) bool {
			return slices.ContainsFunc(page, func(p Passage) bool { return p.ID == r.Holding })
		}))
	}
	if reading.Part > reading.Parts {
		return Reading{}, &chat.Error{Code: chat.CodeNotFound,
			Message: fmt.Sprintf("“%s” has no part %d: its last one is %d.", d.Title, r.Part, reading.Parts)}
	}
	reading.Passages = slices.Clone(pages[reading.Part-1])
	// endPages writes the last page of each passage into the clone.
	if err := l.endPages(ctx, s, d.ID, blocks, reading.Passages); err != nil {
		return Reading{}, err
	}
	slices.SortFunc(reading.Passages, func(a, b Passage) int { return a.Ordinal - b.Ordinal })
	return reading, nil
}

// notReady says why a document has nothing to read.
func notReady(d Document) error {
	switch d.State {
	case StateFailed:
		detail := ""
		if d.Error != nil {
			detail = " " + d.Error.Detail
		}
		return &chat.Error{Code: chat.CodeConflict, Message: "“" + d.Title + "” could not be read in." + detail}
	case StateCancelled:
		return &chat.Error{
			Code:    chat.CodeConflict,
			Message: "“" + d.Title + "” was cancelled before it was read in. Try it again from the documents page.",
		}
	default:
		return &chat.Error{
			Code: chat.CodeConflict, Message: "“" + d.Title + "” is still being read in. Try again in a moment.",
		}
	}
}

// mostFocused is how many passages that bear on a question are read first.
const mostFocused = 50

// focusPassages returns the passages that bear on a question, best first, each followed by its neighbours. Neighbours
// are what a passage can't be understood without.
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
		// The passage itself goes first, so that a part that is cut here has at least that one.
		for _, i := range []int{at, at - 1, at + 1} {
			if i >= 0 && i < len(passages) && !taken[i] {
				taken[i] = true
				out = append(out, passages[i])
			}
		}
	}
	return out, nil
}

// cutParts cuts passages into pages of at most size runes; a page has at least one passage. The order of the passages
// stays.
func cutParts(passages []Passage, size int) [][]Passage {
	var pages [][]Passage
	from, runes := 0, 0
	for i, p := range passages {
		n := p.End - p.Start
		// A passage longer than a part is a part by itself.
		if i > from && runes+n > size {
			pages = append(pages, passages[from:i])
			from, runes = i, 0
		}
		runes += n
	}
	return append(pages, passages[from:])
}

// listHeadings lists the headings, at most maxOutline: the deepest levels go first when there are more.
func listHeadings(blocks []Block, passages []Passage) []OutlineItem {
	deepest := 6
	// Level by level until they are few enough; if even those of level 1 are too many, the first maxOutline are named.
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

// textAt returns a range of a document's text from its passages, as far as one of them holds it.
func textAt(passages []Passage, start, end int) string {
	i := passageAt(passages, start)
	if i < 0 {
		return ""
	}
	p := passages[i]
	w := walker{text: p.Text}
	return w.sliceRunes(start-p.Start, min(end, p.Start+utf8.RuneCountInString(p.Text))-p.Start)
}

// passageAt returns the index of the passage that holds an offset, or -1.
func passageAt(passages []Passage, at int) int {
	i := sort.Search(len(passages), func(i int) bool { return passages[i].End > at })
	if i == len(passages) || passages[i].Start > at {
		return -1
	}
	return i
}

// ReadPage is the text that was recognised in the picture of a page. Package pdf makes blocks of it as of a page with
// text.
type ReadPage struct {
	Number        int // from 1
	Turn          int // quarters clockwise by which the picture was turned, so that its text is upright
	Width, Height int // of the upright picture, in pixels
	Lines         []ReadLine
}

// ReadLine is a line of a picture.
type ReadLine struct {
	Words []ReadWord
	Size  float64 // of its letters, from the top of the tallest to the bottom of the lowest, in pixels
}

// ReadWord is a word of a picture and where it stands, in pixels from the top left. A word whose box is empty has no
// place: models say what a page says, and not where.
type ReadWord struct {
	Text           string
	X0, Y0, X1, Y1 float64
}

// MetaTurned is the key of Meta under which a reader of pictures says which pages it turned to read them: the quarters,
// clockwise, by the number of the page. They are drawn so.
const MetaTurned = "turned"

// TurnOf is by how many quarters, clockwise, page n is turned when it is drawn.
func (d Document) TurnOf(n int) int {
	turned, _ := d.Meta[MetaTurned].(map[string]any)
	quarters, _ := turned[strconv.Itoa(n)].(float64)
	return int(quarters) & 3
}

// MetaUnread is the key of Meta under which a reader says which pages of a file are pictures that nothing could read:
// "pages 3, 7".
const MetaUnread = "unread"

// SearchMode says which indexes answer a query. The empty mode is hybrid.
type SearchMode string

// The search modes. Hybrid falls back to lexical while there are no vectors.
const (
	ModeHybrid   SearchMode = "hybrid"
	ModeLexical  SearchMode = "lexical"
	ModeSemantic SearchMode = "semantic"
)

// MostResults is how many passages a search returns at most.
const MostResults = 100

// Query is a search. A text may hold exact phrases in double quotes.
type Query struct {
	Text      string
	Limit     int // passages, 1–MostResults; 0 means 5
	Mode      SearchMode
	MinScore  float64  // 0–1, on Result.Similarity; ignored with a note while there are no vectors
	Documents []string // only in these; empty: anywhere in scope
	Filter    *Filter  // only documents it selects; nil: all
	// the results are put in order once more, by a closer look at each; a search by meaning has its order already
	Rerank  bool
	Cosines bool // each result has its cosine and its similarity, where there are vectors
	// Typing says that somebody is still typing the text. Its last word may be the beginning of one; passages that hold
	// the words in a row come first, and those with some of the words only if none has them all.
	Typing bool
	// Places has Result.Place say rows, cells and lines too, for which the blocks of the documents found are read.
	Places bool
}

// Results are the passages found, best first. An empty result is no error; a note may say why.
type Results struct {
	Results []Result
	Notes   []string // for people and models: "semantic search is off", "did you mean …"
	Partial bool     // an index did not answer: the same search may find more in a moment
	// Corrected holds the words that were added for likely typing errors: typed → used.
	Corrected map[string]string
}

// Result is a passage found, with its document. Its Snippet's matches are what a page marks.
type Result struct {
	Passage  Passage
	Document Document
	// 0–1: the similarity in semantic mode, what the second look came to when reranked, else what search.Fuse made of
	// words and meaning
	Score float64
	// Cosine is how near the passage is to the query in meaning, -1 to 1. It is nil where that is not known: without
	// vectors, and, unless Query.Cosines or Query.Rerank asked for all of them, for a passage that was found by its
	// words alone.
	Cosine *float64
	// Similarity is search.Scale.Similarity of the cosine, 0–1: from 0.7 on the passage probably answers, whatever the
	// embedder. It is set where Cosine is.
	Similarity *float64
	Doubt      float64 // search.Scale.Doubt of the query, 0–1
	Snippet    search.Snippet
	// Place is where the best words stand, in words: see Place.Label. Without Query.Places it says pages only.
	Place string
	Page  int    // that the best words of the passage stand on; 0 in a document without pages
	Block string // that they stand in
}

// ReadRequest asks for a part of a document.
type ReadRequest struct {
	Document string // id, title or file name (resolved in scope: exact id, else unique best match)
	Focus    string // read the parts that bear on this first; empty: from the start
	Part     int    // of reading pages, from 1; 0 means 1
	MaxRunes int    // 0 means ReadRunes
	Holding  string // id of a passage: the reading page that has it, instead of Part
}

// Reading is a part of a document as passages, in document order. Passages stand in the order of the document also when
// they were chosen by a focus.
type Reading struct {
	Document Document
	Passages []Passage
	Outline  []OutlineItem
	Part     int // this reading page
	Parts    int // how many there are
	Focused  bool
}

// OutlineItem is a heading.
type OutlineItem struct {
	Title   string
	Level   int
	BlockID string
	Page    int
}

// GrepRequest asks for exact matches.
type GrepRequest struct {
	Pattern   string // RE2, or taken literally when it does not compile
	Documents []string
	Max       int // matches, 1–100; 0 means 20
}

// Match is one exact match.
type Match struct {
	Document   Document
	PassageID  string
	BlockID    string
	Page       int
	Section    string
	Start, End int    // rune offsets in the document's text
	Line       string // the sentence or line around it
}

// Grepped is the result of a grep.
type Grepped struct {
	Matches   []Match
	Literal   bool // the pattern did not compile and was taken literally
	More      bool // there were more than Max
	Documents int  // how many were looked through
}

const (
	defaultMatches = 20
	maxMatches     = 100
	maxPattern     = 1000 // bytes
	maxProgram     = 5000 // instructions of the compiled pattern
	grepTime       = 4 * time.Second
	maxLine        = 300 // runes around a match
)

// Grep finds exact matches in the text of documents, newest documents first. Case does not matter, unless the pattern
// says (?-i). More is set when there are more matches than asked for, or when looking took too long. It reads whole
// texts, for which there is no index; the time is bounded instead. It fails with chat.CodeInvalid for a pattern that
// can't be used.
func (l *Library) Grep(ctx context.Context, s chat.Scope, g GrepRequest) (Grepped, error) {
	// 0 is no mistake: it stands for a number that was left out.
	if g.Max < 0 || g.Max > maxMatches {
		return Grepped{}, invalidError("Ask for 1 to 100 matches.")
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
	// Our own time has run out, not the caller's: what was found by then is an answer, and More says that it is not
	// all.
	if errors.Is(work.Err(), context.DeadlineExceeded) && ctx.Err() == nil {
		out.More, err = true, nil
	}
	return out, err
}

// grepDocuments looks through the documents one after the other, newest first, until there are enough matches.
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
			// Such a document has no text yet, so that it isn't read.
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

// compilePattern reads a pattern as RE2, or literally when it is none. One that would cost too much fails with
// chat.CodeInvalid. RE2 takes time that is linear in the text, so that no pattern can hang; only its size has to be
// bounded. "m" lets ^ and $ stand for lines.
func compilePattern(pattern string) (re *regexp.Regexp, literal bool, err error) {
	if strings.TrimSpace(pattern) == "" {
		return nil, false, invalidError("The pattern is empty. Give the exact words to look for.")
	}
	if len(pattern) > maxPattern {
		return nil, false,
			invalidError(fmt.Sprintf("The pattern is longer than %d bytes. Give a shorter one.", maxPattern))
	}
	// The compiled size is what counts: "(a{500}){2}" is a short pattern of a thousand instructions.
	if parsed, err := syntax.Parse(pattern, syntax.Perl); err == nil {
		program, err := syntax.Compile(parsed.Simplify())
		if err == nil && len(program.Inst) > maxProgram {
			return nil, false, invalidError("The pattern is too complex. Use fewer or smaller repetitions.")
		}
		if re, err := regexp.Compile("(?im)" + pattern); err == nil {
			return re, false, nil
		}
	}
	// Whoever asks for "f(x" means these characters, and Literal tells that they were taken so.
	re, err = regexp.Compile("(?i)" + regexp.QuoteMeta(strings.ToValidUTF8(pattern, "")))
	if err != nil {
		return nil, true, invalidError("The pattern can't be used. Give plain words.")
	}
	return re, true, nil
}

// grepOne adds the matches of one document. One that went away meanwhile has none. Offsets are counted in runes as the
// matches come, which are in order, so that the text is walked through once.
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
		// One more than asked for was found, which is all that More says.
		if len(out.Matches) == limit {
			out.More = true
			break
		}
		// Only what lies between two matches is counted, not the text from its beginning.
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

// placeMatches adds to matches where they stand. The page is that of the match's own words, where the block may go on
// to the next page.
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
		// The block's page is where it begins; pageOf finds that of the match's own words.
		if b < len(blocks) {
			m.BlockID = blocks[b].ID
			if m.Page, err = l.pageOf(ctx, s, d.ID, blocks, b, m.Start, m.End); err != nil {
				return err
			}
		}
	}
	return nil
}

// lineAround returns the line that holds body[start:end], at most maxLine runes of it with the match in the middle.
func lineAround(body string, start, end int) string {
	from := strings.LastIndexByte(body[:start], '\n') + 1
	to := len(body)
	if i := strings.IndexByte(body[end:], '\n'); i >= 0 {
		to = end + i
	}
	if utf8.RuneCountInString(body[from:to]) <= maxLine {
		return strings.TrimSpace(strings.ReplaceAll(body[from:to], "\n", " "))
	}
	// Half of what the match leaves goes before it. What stands behind it has the rest.
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
