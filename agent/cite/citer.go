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

// maxStray limits the number of reported stray numbers.
const maxStray = 5

// Citer converts the model's passage numbers to footnotes, numbered by first appearance, each with a quote from the
// stored text. It is not safe for concurrent use. Its numbers belong to the answer's text: a reset of that restarts
// them at 1.
type Citer struct {
	sources *Sources
	texts   *Texts
	runID   string
	// compares words; shared by all checks of the answer, because it caches parsed texts
	Judge         *support.Judge
	numbers       map[[3]int]int // source, start, end → footnote number
	Citations     []chat.Citation
	SourceNumbers []int // source number of each citation
	StrayNumbers  []int // numbers in the model's text without a passage, deduplicated
}

// NewCiter returns the citer of a run. The run's id is part of its citations' links.
func NewCiter(s *Sources, t *Texts, runID string) *Citer {
	return &Citer{sources: s, texts: t, runID: runID, Judge: support.NewJudge(), numbers: map[[3]int]int{}}
}

// StrayNotes returns a note for each number that was left out because it has no passage.
func (c *Citer) StrayNotes() []string {
	var out []string
	for _, n := range c.StrayNumbers {
		out = append(
			out, fmt.Sprintf("The model wrote the footnote [%d], but no passage has that number: it was left out.", n),
		)
	}
	return out
}

// resetNumbers discards all footnotes and restarts the numbering.
func (c *Citer) resetNumbers() {
	clear(c.numbers)
	c.Citations, c.SourceNumbers, c.StrayNumbers = nil, nil, nil
}

// ByModel returns the number of footnotes that the model placed.
func (c *Citer) ByModel() int {
	n := 0
	for _, cite := range c.Citations {
		if !cite.Added {
			n++
		}
	}
	return n
}

// citeSource returns the footnote for source n, and its citation if it is new. The footnote quotes words, if they
// are in the passage, else the text that supports the claim. Footnotes are deduplicated by source and range of text.
// A number without a passage is recorded as a stray number, and the result is 0. An error is one of the store. The
// document's blocks are read only for a new footnote, for its location.
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

// wordsOf finds the first exact occurrence of words in a source. Such words come from a model that quotes by rule
// (llm.Quoted).
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

// quoteClaim finds the words of a source that support a claim: the model's quotes, else the passage's best-matching
// sentence. Of several quotes it tries those that resemble the claim, and the last one in any case. A quote is
// searched for in the passage, then in the whole document. score is 1 for an exact quote, and 0.85 for an
// approximate one, the minimum similarity for a match (chat.CheckApproximate). For a best-matching sentence it is
// the share of the claim that the sentence contains.
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

// claimBefore returns the sentence before a marker at the end of a text: the unfinished one, or the one that just
// ended. A sentence includes the lead before a colon if only a few words follow that, and a formula belongs to the
// sentence before it. After an earlier footnote in the sentence, only the words after that count, unless they are
// just a few. It looks back at most 800 bytes, since it runs at every marker while the answer streams. Formulas are
// masked first, since a full stop in one ends no sentence.
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

// sentenceStart returns the start of the sentence that ends at an index. A colon or semicolon separates sentences
// only if at least minTail content words follow it.
func sentenceStart(runes []rune, end int) int {
	for end > 0 && (isStop(runes[end-1]) || unicode.IsSpace(runes[end-1])) { // also after a lead
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

// isStop reports whether r may end a sentence or a lead.
func isStop(r rune) bool { return strings.ContainsRune(".!?:;。！？", r) }

// isAbbreviation reports whether a full stop after these runes belongs to a short word like "p" or "No", or to a
// list's number. In doubt a short word is an abbreviation, which extends a claim by a sentence and loses none.
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
