package cite

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/support"
	"github.com/footnote/footnote/text"
)

// maxStray bounds how many numbers without a passage are told.
const maxStray = 5

// Citer turns the model's numbers into footnotes: numbers in order of first appearance, each with words that stand in
// the stored text. One goroutine uses it at a time. Its numbers go with the answer's text: when that is reset, they
// begin at 1 again.
type Citer struct {
	sources *Sources
	texts   *Texts
	runID   string
	// compares words; shared by all that check the answer, because it remembers what it has read
	Judge         *support.Judge
	numbers       map[[3]int]int // source, start, end → number
	Citations     []chat.Citation
	SourceNumbers []int // the source of each citation
	StrayNumbers  []int // numbers that the model wrote and that no passage has, each once
}

// NewCiter makes the citer of a run, whose id stands in the links of its citations.
func NewCiter(s *Sources, t *Texts, runID string) *Citer {
	return &Citer{sources: s, texts: t, runID: runID, Judge: support.NewJudge(), numbers: map[[3]int]int{}}
}

// StrayNotes tells which of the model's numbers were left out.
func (c *Citer) StrayNotes() []string {
	var out []string
	for _, n := range c.StrayNumbers {
		out = append(
			out, fmt.Sprintf("The model wrote the footnote [%d], but no passage has that number: it was left out.", n),
		)
	}
	return out
}

// resetNumbers frees all numbers.
func (c *Citer) resetNumbers() {
	clear(c.numbers)
	c.Citations, c.SourceNumbers, c.StrayNumbers = nil, nil, nil
}

// ByModel returns how many footnotes the model placed.
func (c *Citer) ByModel() int {
	n := 0
	for _, cite := range c.Citations {
		if !cite.Added {
			n++
		}
	}
	return n
}

// citeSource returns the footnote for source n that quotes its words, or what bears a claim out when there are none,
// and the new citation if it is one. A number without a passage has none. A footnote is a source with a range of its
// text: the same words cited twice are one footnote. An error is one of the store; a number that no passage has is
// dropped and remembered as a stray one. The blocks of the document are read only for a new footnote, for its place.
func (c *Citer) citeSource(
	ctx context.Context, n int, claim, words string,
) (number int, added *chat.Citation, err error) {
	src, ok := c.sources.At(n)
	if !ok {
		if len(c.StrayNumbers) < maxStray && !slices.Contains(c.StrayNumbers, n) {
			c.StrayNumbers = append(c.StrayNumbers, n)
		}
		return 0, nil, nil
	}
	found, ok := wordsOf(src, words)
	claimed := ""
	if !ok {
		found, claimed, err = c.quoteClaim(ctx, src, cmp.Or(claim, words))
	}
	if err != nil || found.Check == chat.CheckNotFound {
		return 0, nil, err
	}
	key := [3]int{n, found.Start, found.End}
	if number, ok := c.numbers[key]; ok {
		return number, nil, nil
	}
	at, err := c.texts.Place(ctx, src, found)
	if err != nil {
		return 0, nil, err
	}
	number = len(c.Citations) + 1
	c.Citations = append(c.Citations, chat.Citation{
		Number: number, DocumentID: src.Document.ID, ChunkID: src.Passage.ID, BlockID: at.Block,
		Title: src.Document.DisplayTitle(), Filename: src.Document.Filename, SourceURL: src.Document.SourceURL(),
		Section: at.Section, Page: at.Page, Place: at.Label, Quote: found.Quote, Claimed: claimed,
		Start: found.Start, End: found.End, Boxes: at.Boxes,
		URL:   chat.Link{Document: src.Document.ID, Citation: chat.CitationName(c.runID, number)}.String(),
		Check: found.Check, Score: found.score, SHA256: src.Document.SHA256,
	})
	c.SourceNumbers = append(c.SourceNumbers, n)
	c.numbers[key] = number
	return number, &c.Citations[number-1], nil
}

// wordsOf finds words of a source that are named exactly. Such words are those of a model that quotes by rule
// (llm.Quoted); the first place in the passage is taken.
func wordsOf(src Source, words string) (found QuoteSpan, ok bool) {
	at := strings.Index(src.Passage.Text, words)
	if words == "" || at < 0 {
		return QuoteSpan{}, false
	}
	start := src.Passage.Start + utf8.RuneCountInString(src.Passage.Text[:at])
	return QuoteSpan{
		Start: start, End: start + utf8.RuneCountInString(words), Quote: words, Check: chat.CheckVerified, score: 1,
	}, true
}

// quoteClaim finds the words of a source that back a claim: those the model gave, else the passage's best-matching
// sentence. Words that the model gave are looked for in the whole document, the passage first. score is 1 for words
// that stand there exactly, 0.85 for those that stand there approximately, and else how much of the claim the sentence
// holds. If the model gave several quotes from one source, the one is tried that resembles the claim; the last is tried
// in any case. The 0.85 of approximate quotes is the least likeness at which a quote counts as found
// (chat.CheckApproximate).
func (c *Citer) quoteClaim(ctx context.Context, src Source, claim string) (found QuoteSpan, claimed string, err error) {
	for i, given := range src.Quotes {
		if last := i == len(src.Quotes)-1; !last && !c.Judge.Resembles(claim, "", given) {
			continue
		}
		if found, err = c.texts.Locate(ctx, src, given); err != nil {
			return QuoteSpan{}, "", err
		}
		if found.Check != chat.CheckNotFound {
			if found.Quote != given {
				claimed = given
			}
			return found, claimed, nil
		}
	}
	start, end, score := c.Judge.Quote(src.Passage.Text, claim)
	runes := []rune(src.Passage.Text)
	if start < 0 || end > len(runes) || start >= end {
		start, end = 0, len(runes)
	}
	if start == end {
		return QuoteSpan{Check: chat.CheckNotFound}, "", nil
	}
	return QuoteSpan{
		Start: src.Passage.Start + start, End: src.Passage.Start + end, Quote: string(runes[start:end]),
		Check: chat.CheckVerified,
		score: min(1, max(0, score)),
	}, "", nil
}

// claimBefore returns the sentence that a marker at the end of a text belongs to: the unfinished one, or the one that
// just ended. What a few words behind a colon say begins before it, and a formula belongs to the sentence before it. If
// that sentence has earlier footnotes, only the words after them count, unless they are just a few. It looks back over
// at most 800 bytes, since it is asked at every marker while the answer streams. Formulas are masked first, since a
// full stop in one ends no sentence.
func claimBefore(said string) string {
	if len(said) > 800 {
		cut := len(said) - 800
		for cut < len(said) && !utf8.RuneStart(said[cut]) {
			cut++
		}
		said = said[cut:]
	}
	if at := footnotesIn(said); at != nil {
		if own := said[at[len(at)-1][1]:]; CountContentWords(own) >= minPart && !strings.ContainsAny(own, "\n") {
			said = own
		}
	}
	said = strings.TrimSpace(WithoutMarkers(said))
	runes, masked := []rune(said), []rune(text.MaskFormulas(said))
	start := sentenceStart(masked, len(masked))
	for start > 0 && isFormula(string(runes[start:])) {
		start = sentenceStart(masked, start)
	}
	return strings.TrimLeft(strings.TrimSpace(string(runes[start:])), "#-*> |")
}

// sentenceStart is where the sentence begins that ends at a place. Whether a colon or semicolon begins a sentence
// depends on how much follows it: minTail content words.
func sentenceStart(runes []rune, end int) int {
	for end > 0 && (isStop(runes[end-1]) || unicode.IsSpace(runes[end-1])) { // of a leader too
		end--
	}
	start := end
	for start > 0 {
		r := runes[start-1]
		if r == '\n' || strings.ContainsRune("。！？", r) ||
			isStop(r) && start < end && unicode.IsSpace(runes[start]) && !isAbbreviation(runes[:start-1]) &&
				(!strings.ContainsRune(":;", r) || CountContentWords(string(runes[start:end])) >= minTail) {
			break
		}
		start--
	}
	return start
}

// isStop reports whether a sentence, or the lead of one, may end with r.
func isStop(r rune) bool { return strings.ContainsRune(".!?:;。！？", r) }

// isAbbreviation reports whether a full stop after these runes belongs to a short word like "p" or "No", or a list's
// number. It errs towards abbreviation for short words, which makes a claim longer by a sentence and loses none.
func isAbbreviation(before []rune) bool {
	n := 0
	for n < len(before) && n < 4 &&
		(unicode.IsLetter(before[len(before)-1-n]) || unicode.IsDigit(before[len(before)-1-n])) {
		n++
	}
	if n == 0 || n >= 4 {
		return false
	}
	word := string(before[len(before)-n:])
	return n == 1 || unicode.IsUpper(before[len(before)-n]) && n <= 2 || strings.EqualFold(word, "vs") ||
		strings.EqualFold(word, "etc")
}
