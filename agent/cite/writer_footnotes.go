package cite

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/footnote/footnote/text/lazy"
)

// citedWords are the words that a footnote quotes; empty: the words that support the sentence.
type citedWords struct {
	words   string
	matched []string // the words that the question contains
	added   bool     // added by the program, not the model
}

// Quote adds a footnote to a passage, by its number, with the words that the model quotes. matched are those of them
// that the question contains.
func (w *Writer) Quote(ctx context.Context, passage int, words string, matched []string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	if err := w.rewriteRaw(ctx, true); err != nil { // text before a footnote can't be the start of a marker
		return err
	}
	return w.writeFootnotes(ctx, []int{passage}, citedWords{words: words, matched: matched})
}

var openNumber = lazy.Regexp(`\[\d{0,2}$`)

// wouldJoin reports whether two texts, after the marker between them is removed, would form a footnote or a run of
// backticks. Without a space between them the page would render something that neither text contains.
func wouldJoin(before, after string) bool {
	return openNumber().MatchString(before) ||
		strings.HasPrefix(after, "`") && (strings.HasSuffix(before, "`") || strings.HasSuffix(before, "\\"))
}

// writeFootnotes writes the footnotes of one marker, for its words, or without any for the sentence before it.
// Numbers without a passage are dropped. The claim is parsed once for all numbers of a marker. If no number is left,
// the space before the marker is removed too.
func (w *Writer) writeFootnotes(ctx context.Context, numbers []int, of citedWords) error {
	if slices.ContainsFunc(numbers, func(n int) bool { _, ok := w.cite.sources.At(n); return ok }) {
		if err := w.addFootnotes(ctx, numbers); err != nil {
			return err
		}
	}
	claim, seen, written := "", map[int]bool{}, false
	for _, n := range numbers {
		if w.plain || w.isRefusal {
			break
		}
		if claim == "" && of.words == "" {
			claim = claimBefore(w.text.String())
		}
		number, err := w.citePassage(ctx, n, claim, of)
		if err != nil {
			return err
		}
		if number == 0 || seen[number] {
			continue
		}
		seen[number], written = true, true
		w.text.WriteString("[" + strconv.Itoa(number) + "]")
		w.added.from = w.text.Len()
	}
	if text := w.text.String(); !written && strings.HasSuffix(text, " ") && w.stored < len(text) {
		w.text.Reset()
		w.text.WriteString(text[:len(text)-1])
		w.added.from, w.added.seen = min(w.added.from, len(text)-1), min(w.added.seen, len(text)-1)
		if w.raw != "" && !strings.ContainsRune(" .,;:!?)\n", rune(w.raw[0])) {
			w.text.WriteByte(' ')
		}
	}
	if !written {
		w.known = false // without the marker the line may start like a fence
		if before := w.text.String()[w.line:]; wouldJoin(before, w.raw) {
			w.text.WriteByte(' ')
		}
	}
	return nil
}

// citePassage returns the number of the footnote to a passage, 0 for none, and queues its citation if it is new.
func (w *Writer) citePassage(ctx context.Context, n int, claim string, of citedWords) (number int, err error) {
	number, fresh, err := w.cite.citeSource(ctx, n, claim, of.words)
	if err != nil {
		return 0, fmt.Errorf("cite passage %d: %w", n, err)
	}
	if fresh != nil {
		fresh.Matched, fresh.Added = of.matched, of.added
		w.queued = append(w.queued, *fresh)
	}
	return number, nil
}
