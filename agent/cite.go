package agent

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"footnote/chat"
	"footnote/corpus"
)

// maxStray bounds how many numbers without a passage are told.
const maxStray = 5

// citer turns the model's numbers into footnotes: numbers in order of first appearance, each with words that stand in
// the stored text. One goroutine uses it at a time.
type citer struct {
	sources *sources
	texts   *texts
	runID   string
	judge   *corpus.Judge
	numbers map[[3]int]int // source, start, end → number
	list    []chat.Citation
	from    []int // the source of each citation
	stray   []int // numbers that the model wrote and that no passage has, each once
}

func newCiter(s *sources, t *texts, runID string) *citer {
	return &citer{sources: s, texts: t, runID: runID, judge: corpus.NewJudge(), numbers: map[[3]int]int{}}
}

// strayNotes tells which of the model's numbers were left out.
func (c *citer) strayNotes() []string {
	var out []string
	for _, n := range c.stray {
		out = append(out, fmt.Sprintf("The model wrote the footnote [%d], but no passage has that number: it was left out.", n))
	}
	return out
}

// reset frees all numbers.
func (c *citer) reset() {
	clear(c.numbers)
	c.list, c.from, c.stray = nil, nil, nil
}

// cite returns the footnote for source n that quotes its words, or what bears a claim out when there are none, and the new citation if it
// is one. A number without a passage has none.
func (c *citer) cite(ctx context.Context, n int, claim, words string) (number int, fresh *chat.Citation, err error) {
	src, ok := c.sources.at(n)
	if !ok {
		if len(c.stray) < maxStray && !slices.Contains(c.stray, n) {
			c.stray = append(c.stray, n)
		}
		return 0, nil, nil
	}
	found, ok := wordsOf(src, words)
	claimed := ""
	if !ok {
		found, claimed, err = c.quote(ctx, src, cmp.Or(claim, words))
	}
	if err != nil || found.check == chat.CheckNotFound {
		return 0, nil, err
	}
	key := [3]int{n, found.start, found.end}
	if number, ok := c.numbers[key]; ok {
		return number, nil, nil
	}
	at, err := c.texts.place(ctx, src, found)
	if err != nil {
		return 0, nil, err
	}
	number = len(c.list) + 1
	c.list = append(c.list, chat.Citation{
		Number: number, DocumentID: src.document.ID, ChunkID: src.passage.ID, BlockID: at.Block,
		Title: src.document.DisplayTitle(), Filename: src.document.Filename, SourceURL: src.document.SourceURL(), Section: at.Section, Page: at.Page, Quote: found.quote, Claimed: claimed,
		Start: found.start, End: found.end, Boxes: at.Boxes,
		URL:   "/d/" + url.PathEscape(src.document.ID) + "?c=" + c.runID + "." + strconv.Itoa(number),
		Check: found.check, Score: found.score, SHA256: src.document.SHA256,
	})
	c.from = append(c.from, n)
	c.numbers[key] = number
	return number, &c.list[number-1], nil
}

// wordsOf finds words of a source that are named exactly.
func wordsOf(src source, words string) (found place, ok bool) {
	at := strings.Index(src.passage.Text, words)
	if words == "" || at < 0 {
		return place{}, false
	}
	start := src.passage.Start + utf8.RuneCountInString(src.passage.Text[:at])
	return place{start: start, end: start + utf8.RuneCountInString(words), quote: words, check: chat.CheckVerified, score: 1}, true
}

// quote finds the words of a source that back a claim: those the model gave, else the passage's best-matching sentence.
func (c *citer) quote(ctx context.Context, src source, claim string) (found place, claimed string, err error) {
	for i, given := range src.quotes {
		if last := i == len(src.quotes)-1; !last && !c.judge.Supports(claim, given) {
			continue
		}
		if found, err = c.texts.locate(ctx, src, given); err != nil {
			return place{}, "", err
		}
		if found.check != chat.CheckNotFound {
			if found.quote != given {
				claimed = given
			}
			return found, claimed, nil
		}
	}
	start, end, score := c.judge.Quote(src.passage.Text, claim)
	runes := []rune(src.passage.Text)
	if start < 0 || end > len(runes) || start >= end {
		start, end = 0, len(runes)
	}
	if start == end {
		return place{check: chat.CheckNotFound}, "", nil
	}
	return place{
		start: src.passage.Start + start, end: src.passage.Start + end, quote: string(runes[start:end]), check: chat.CheckVerified,
		score: min(1, max(0, score)),
	}, "", nil
}

// claimBefore is the sentence that a marker at the end of text stands behind: the one it is in, or the one that just ended. Of one with
// other footnotes it is what stands behind them, if that is more than a few words.
func claimBefore(text string) string {
	if len(text) > 800 {
		cut := len(text) - 800
		for cut < len(text) && !utf8.RuneStart(text[cut]) {
			cut++
		}
		text = text[cut:]
	}
	if at := footnote.FindAllStringIndex(text, -1); at != nil {
		if own := text[at[len(at)-1][1]:]; contentWords(own) >= minPart && !strings.ContainsAny(own, "\n") {
			text = own
		}
	}
	text = strings.TrimSpace(withoutMarkers(text))
	runes := []rune(text)
	end := len(runes)
	for end > 0 && (isStop(runes[end-1]) || unicode.IsSpace(runes[end-1])) { // of a leader too
		end--
	}
	start := end
	for start > 0 {
		r := runes[start-1]
		if r == '\n' || strings.ContainsRune("。！？", r) || isStop(r) && start < end && unicode.IsSpace(runes[start]) && !abbreviated(runes[:start-1]) {
			break
		}
		start--
	}
	return strings.TrimLeft(strings.TrimSpace(string(runes[start:])), "#-*> |")
}

var footnote = regexp.MustCompile(`\[\d{1,3}\]`)

func isStop(r rune) bool { return strings.ContainsRune(".!?:;。！？", r) }

// abbreviated reports whether a full stop after these runes belongs to a short word like "p" or "No", or a list's number.
func abbreviated(before []rune) bool {
	n := 0
	for n < len(before) && n < 4 && (unicode.IsLetter(before[len(before)-1-n]) || unicode.IsDigit(before[len(before)-1-n])) {
		n++
	}
	if n == 0 || n >= 4 {
		return false
	}
	word := string(before[len(before)-n:])
	return n == 1 || unicode.IsUpper(before[len(before)-n]) && n <= 2 || strings.EqualFold(word, "vs") || strings.EqualFold(word, "etc")
}
