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

// Sizes of passages in tokens.
const (
	// Embedding models read 256 to 512 tokens at once, and a passage should be about one thing.
	enoughTokens = 240 // a passage of so many ends with its block
	maxTokens    = 400 // a passage has at most so many, but for headings above its first block; a longer block is cut
	scrapTokens  = 90  // a rest of so few joins the passage before it

	maxHeadedTokens = maxTokens + scrapTokens // of a passage that begins with headings
)

// sectionJoint separates the headings of Passage.Section.
const sectionJoint = " › "

// Split cuts a document into passages, as Passage promises. A block that is too long is cut between sentences or rows,
// a sentence that is too long between words. A heading belongs to what is below it. Where a table goes on in another
// passage, its header row ends the section's name. It depends on nothing but its arguments: reading a file again gives
// the same passages with the same ids.
func Split(docID, sha256 string, e Extracted) []Passage {
	s := splitter{docID: docID, sha256: sha256, text: walker{text: e.Text}}
	for _, b := range e.Blocks {
		s.addBlock(b)
	}
	s.flushPassage()
	return s.out
}

// splitter builds one passage at a time. Blocks come in order; a passage is open while Tokens is above 0.
type splitter struct {
	docID, sha256 string
	text          walker
	out           []Passage
	cur           Passage // Tokens 0: none is begun
	bare          bool    // cur is headings only
	level         int     // of the last heading in cur
	fresh         bool    // the passage before cur is of another section: cur may not join it
}

// addBlock puts a block into the passage at work, or ends that first when it is full. What is full depends on whether
// it holds anything but headings yet: headings alone take more, so that no passage is only a heading.
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

// addHeading begins a passage at a heading that stands above what was read, and joins headings that follow one another.
func (s *splitter) addHeading(b Block, title string, n int) {
	above := s.bare && b.Level > s.level // a heading right above this one goes with it
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

// splitLong cuts a block into pieces of at most maxTokens. What stands before it stays apart, but for headings. The
// rest of a table gets its header row into the section's name, so that a row can be understood without the first part.
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

// extendPassage adds [start, end) of b to the passage at work. title is the text of a heading, which names the section
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

// flushPassage ends the passage at work. A scrap at the end of a section joins the passage before it.
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

// sealPassage gives a passage its id and its text. The id follows from document, version and place, so that the same
// bytes always have the same passages.
func (s *splitter) sealPassage(p *Passage) {
	p.ID = passageID(s.docID, s.sha256, p.Start, p.End)
	p.Text = s.text.sliceRunes(p.Start, p.End)
}

// passageID returns 128 bits of a hash as 22 characters that are safe in an address. The zero bytes keep two ids with
// different parts from being the same text.
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

// maxUnit is the longest piece that units returns, in runes: even of signs that are a token each it is less than
// maxTokens.
const maxUnit = 360

// sentenceUnits returns the rune ranges of the statements and rows of s, those that are too long cut between words.
// Offsets are runes of s.
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

// walker slices a text by rune offsets. Offsets near the last ones are found fast.
type walker struct {
	text        string
	runes, byte int
}

// sliceRunes is the text between two rune offsets.
func (w *walker) sliceRunes(start, end int) string {
	from := w.byteAt(start)
	to := w.byteAt(end)
	return w.text[min(from, to):to]
}

// byteAt is where a rune begins, in bytes. It walks from the last place asked for, which is near in a text read in
// order.
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

// joinSection adds a heading to a path of headings.
func joinSection(path, name string) string {
	if path == "" || name == "" {
		return path + name
	}
	return path + sectionJoint + name
}

// shortenRunes returns the first n runes of s, with an ellipsis if that is not all.
func shortenRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return strings.TrimRight(s[:i], " ") + "…"
		}
		n--
	}
	return s
}

// AnalysePassages returns the terms of a document's passages.
func AnalysePassages(title, lang string, passages []Passage) []Terms {
	return slices.AppendSeq(make([]Terms, 0, len(passages)), analysedTerms(title, lang, passages))
}

// TermsOf makes the terms of a passage of a document with that title, with an analyser of the document's language.
func TermsOf(a *text.Analyser, title, section, body string) Terms {
	return Terms{Title: a.Line(joinSection(title, section)), Body: a.Line(body)}
}

// analysedTerms yields the terms of passages one after the other: all at once would take as much memory as the text.
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

// Cut is a part of a passage as a passage of its own: [start, end), rune offsets in the document's text, as far as the
// passage holds them. It keeps the id. section names what stands there. A citation of one sentence is one. The id is
// that of the whole passage, which is what stores know.
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

// PassagesAt returns, for each of some rune offsets in a document's text, the passage that holds it; one without an id
// where none does.
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
