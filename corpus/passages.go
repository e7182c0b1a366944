package corpus

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
)

// Passage sizes in tokens.
const (
	// Embedding models have a context window of 256 to 512 tokens, and a passage should have one subject.
	enoughTokens = 240 // a passage of this size ends with its block
	maxTokens    = 400 // maximum, except for headings above the first block; a longer block is split
	scrapTokens  = 90  // a remainder below this size joins the previous passage

	maxHeadedTokens = maxTokens + scrapTokens // maximum of a passage that begins with headings
)

// sectionJoint separates the headings of Passage.Section.
const sectionJoint = " › "

// Split splits a document into passages, see Passage. A block that is too long is split between sentences or rows,
// a sentence that is too long between words. A heading belongs to the text below it. If a table continues in
// another passage, its header row is added to the section. Split is deterministic: the same input has the same
// passages and IDs.
func Split(docID, sha256 string, e Extracted) []Passage {
	s := splitter{docID: docID, sha256: sha256, text: walker{text: e.Text}}
	for _, b := range e.Blocks {
		s.addBlock(b)
	}
	s.flushPassage()
	return s.out
}

// splitter builds passages in sequence from blocks in order. A passage is open while cur.Tokens is above 0.
type splitter struct {
	docID, sha256 string
	text          walker
	out           []Passage
	cur           Passage // Tokens 0: no passage is open
	bare          bool    // cur has only headings
	level         int     // of the last heading in cur
	fresh         bool    // the previous passage is of another section: cur may not join it
}

// addBlock adds a block to the open passage, or closes that first if it is full. The limit is higher while a
// passage has only headings, so that no passage is only a heading.
func (s *splitter) addBlock(b Block) {
	body := s.text.sliceRunes(b.Start, b.End)
	n := text.Tokens(body)
	if b.Kind == BlockHeading {
		s.addHeading(b, body, n)
		return
	}
	if n > maxTokens {
		s.splitLong(b, body)
		return
	}
	full := s.cur.Tokens >= enoughTokens || s.cur.Tokens+n > maxTokens
	if s.bare {
		full = s.cur.Tokens+n > maxHeadedTokens
	}
	if full {
		s.flushPassage()
	}
	s.extendPassage(b, b.Start, b.End, n, "")
}

// addHeading begins a passage at a heading, and joins consecutive headings of increasing level.
func (s *splitter) addHeading(b Block, title string, n int) {
	above := s.bare && b.Level > s.level // the heading directly above joins this one
	if !above && (b.Level <= 2 || s.bare || s.cur.Tokens >= enoughTokens) || s.cur.Tokens+n > maxTokens {
		s.flushPassage()
	}
	if b.Level <= 2 {
		s.fresh = true
	}
	if n > maxTokens {
		s.splitLong(b, title)
		return
	}
	if s.cur.Tokens == 0 {
		s.bare = true
	}
	s.level = b.Level
	s.extendPassage(b, b.Start, b.End, n, title)
}

// splitLong splits a block into pieces of at most maxTokens. It closes the open passage first, unless that has only
// headings. The header row of a split table is added to the section, so that each row can be understood by itself.
func (s *splitter) splitLong(b Block, body string) {
	if s.cur.Tokens > 0 && !s.bare {
		s.flushPassage()
	}
	header, _, _ := strings.Cut(body, "\n")
	pieces := walker{text: body}
	start, end, tokens, first := -1, 0, 0, true
	cut := func() {
		if start < 0 {
			return
		}
		if s.cur.Tokens+tokens > maxHeadedTokens {
			s.flushPassage()
		}
		s.extendPassage(b, b.Start+start, b.Start+end, tokens, "")
		if b.Kind == BlockTable && !first && b.Columns == "" {
			s.cur.Section = joinSection(s.cur.Section, shortenRunes(header, 80))
		}
		s.flushPassage()
		start, tokens, first = -1, 0, false
	}
	for _, r := range sentenceUnits(body) {
		n := text.Tokens(pieces.sliceRunes(r[0], r[1]))
		if start >= 0 && (tokens >= enoughTokens || tokens+n > maxTokens) {
			cut()
		}
		if start < 0 {
			start = r[0]
		}
		end, tokens = r[1], tokens+n
	}
	cut()
}

// extendPassage adds [start, end) of b to the open passage. title is the text of a heading, which names the section
// until a block below it does.
func (s *splitter) extendPassage(b Block, start, end, tokens int, title string) {
	section := joinSection(joinSection(strings.Join(b.Headings, sectionJoint), title), b.Columns)
	if s.cur.Tokens == 0 {
		s.cur = Passage{Start: start, FirstBlock: b.ID, Page: b.Page, Section: section}
	} else if s.bare {
		s.cur.Section = section
	}
	if title == "" {
		s.bare = false
	}
	s.cur.End, s.cur.LastBlock = end, b.ID
	s.cur.Tokens += max(tokens, 1)
}

// flushPassage closes the open passage. A short remainder at the end of a section joins the previous passage.
func (s *splitter) flushPassage() {
	if s.cur.Tokens == 0 {
		return
	}
	if n := len(s.out); n > 0 && !s.fresh && s.cur.Tokens < scrapTokens && s.out[n-1].Tokens+s.cur.Tokens <= maxTokens {
		last := &s.out[n-1]
		last.End, last.LastBlock = s.cur.End, s.cur.LastBlock
		last.Tokens += s.cur.Tokens
		s.sealPassage(last)
	} else {
		s.cur.DocumentID, s.cur.Ordinal = s.docID, n
		s.sealPassage(&s.cur)
		s.out = append(s.out, s.cur)
	}
	s.cur, s.bare, s.fresh, s.level = Passage{}, false, false, 0
}

// sealPassage sets ID and text of a passage. The ID is derived from document, version and range, so that the same
// bytes always have the same passages.
func (s *splitter) sealPassage(p *Passage) {
	p.ID = passageID(s.docID, s.sha256, p.Start, p.End)
	p.Text = s.text.sliceRunes(p.Start, p.End)
}

// passageID returns 128 bits of a hash as 22 URL-safe characters. The zero bytes separate the parts of the hash
// input.
func passageID(docID, version string, start, end int) string {
	b := make([]byte, 0, 160)
	b = append(b, docID...)
	b = append(b, 0)
	b = append(b, version...)
	b = append(b, 0)
	b = strconv.AppendInt(b, int64(start), 10)
	b = append(b, '-')
	b = strconv.AppendInt(b, int64(end), 10)
	sum := sha256.Sum256(b)
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// maxUnit is the maximum length of a unit in runes: below maxTokens even if each rune is a token.
const maxUnit = 360

// sentenceUnits returns the rune ranges of the statements and rows of s; longer ones are split between words.
func sentenceUnits(s string) [][2]int {
	var out [][2]int
	var runes []rune
	for _, r := range text.Statements(s, maxUnit) {
		if r[1]-r[0] <= maxUnit {
			out = append(out, r)
			continue
		}
		if runes == nil {
			runes = []rune(s)
		}
		for from := r[0]; from < r[1]; {
			to := min(from+maxUnit, r[1])
			if to < r[1] {
				for back := to; back > from+maxUnit/2; back-- {
					if runes[back] == ' ' || runes[back] == '\n' {
						to = back
						break
					}
				}
			}
			out = append(out, [2]int{from, to})
			for from = to; from < r[1] && (runes[from] == ' ' || runes[from] == '\n'); from++ {
			}
		}
	}
	return out
}

// walker slices a text by rune offsets. Offsets close to the previous ones are fast.
type walker struct {
	text        string
	runes, byte int
}

// sliceRunes returns the text between two rune offsets.
func (w *walker) sliceRunes(start, end int) string {
	from := w.byteAt(start)
	to := w.byteAt(end)
	return w.text[min(from, to):to]
}

// byteAt returns the byte offset of a rune. It scans from the previous position, which is close if the text is read
// in order.
func (w *walker) byteAt(rune int) int {
	for w.runes < rune && w.byte < len(w.text) {
		_, size := utf8.DecodeRuneInString(w.text[w.byte:])
		w.byte += size
		w.runes++
	}
	for w.runes > rune && w.byte > 0 {
		_, size := utf8.DecodeLastRuneInString(w.text[:w.byte])
		w.byte -= size
		w.runes--
	}
	return w.byte
}

// joinSection appends a heading to a heading path.
func joinSection(path, name string) string {
	if path == "" || name == "" {
		return path + name
	}
	return path + sectionJoint + name
}

// shortenRunes returns the first n runes of s, with an ellipsis if it is longer.
func shortenRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return strings.TrimRight(s[:i], " ") + "…"
		}
		n--
	}
	return s
}

// AnalysePassages returns the index terms of a document's passages.
func AnalysePassages(title, lang string, passages []Passage) []Terms {
	return slices.AppendSeq(make([]Terms, 0, len(passages)), analysedTerms(title, lang, passages))
}

// TermsOf returns the index terms of a passage; the analyser must be of the document's language.
func TermsOf(a *text.Analyser, title, section, body string) Terms {
	return Terms{Title: a.Line(joinSection(title, section)), Body: a.Line(body)}
}

// analysedTerms yields the terms of passages in sequence: all of them would take as much memory as the text.
func analysedTerms(title, lang string, passages []Passage) iter.Seq[Terms] {
	return func(yield func(Terms) bool) {
		a := text.NewAnalyser(lang)
		for _, p := range passages {
			if !yield(TermsOf(a, title, p.Section, p.Text)) {
				return
			}
		}
	}
}

// Cut returns a part of a passage: [start, end), rune offsets in the document's text, limited to the passage. A
// citation of one sentence is such a part. It keeps the ID of the whole passage, which is the ID in the stores.
// section is its section.
func (p Passage) Cut(start, end int, section string) Passage {
	start, end = max(start, p.Start), min(end, p.End)
	block := p.BlockAt(start)
	runes := []rune(p.Text)
	from := min(start-p.Start, len(runes))
	p.Text = string(runes[from:min(max(end-p.Start, from), len(runes))])
	p.Start, p.End, p.Part, p.Section = start, end, true, section
	p.FirstBlock, p.LastBlock = block, block
	return p
}

// PassagesAt returns the passage at each of the rune offsets in a document's text; the zero Passage where there is
// none.
func (l *Library) PassagesAt(ctx context.Context, s chat.Scope, id string, offsets []int) ([]Passage, error) {
	passages, err := l.cfg.Documents.Passages(ctx, s, id, 0, -1)
	if err != nil {
		return nil, fmt.Errorf("read passages: %w", err)
	}
	out := make([]Passage, len(offsets))
	for i, at := range offsets {
		if p := passageAt(passages, at); p >= 0 {
			out[i] = passages[p]
		}
	}
	return out, nil
}
