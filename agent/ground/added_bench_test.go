package ground

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// BenchmarkAddedFootnotes writes an answer of 10,000 words, without and with
// added footnotes, with 60 passages that were read. No sentence is copied, or every tenth one.
func BenchmarkAddedFootnotes(b *testing.B) {
	s := NewSources()
	doc := corpus.Document{ID: "d", Title: "Minutes"}
	var copies []string
	for i := range 60 {
		var text strings.Builder
		for k := range 20 {
			fmt.Fprintf(&text, "The committee approved item %d of list %d after a long debate about its costs. ", k, i)
		}
		copies = append(copies, fmt.Sprintf("The committee approved item 7 of list %d after a long debate about its "+
			"costs. ", i))
		s.Number(corpus.Passage{ID: fmt.Sprint("p", i), DocumentID: "d", Start: 10_000 * i, Text: text.String()}, doc)
	}
	for _, every := range []int{0, 10} {
		var answer []string
		for i := range 600 {
			said := fmt.Sprintf("Member %d of the council spoke for %d minutes and then moved to close the whole "+
				"debate. ", i, i%50)
			if every > 0 && i%every == 0 {
				said = copies[i/every%len(copies)]
			}
			if i%8 == 7 {
				said = strings.TrimSpace(said) + "\n\n"
			}
			answer = append(answer, strings.SplitAfter(said, " ")...)
		}
		for _, adds := range []bool{false, true} {
			b.Run(fmt.Sprintf("copied=%d/adds=%v", every, adds), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					cite := NewCiter(s, NewTexts(noPages{}, chat.Scope{}), "r")
					w := NewWriter(func(context.Context, ...chat.Payload) error { return nil }, cite, false)
					if adds {
						w.AddFootnotes(NewEvidence(s, cite, chat.RunRequest{Message: "What did they say?"}))
					}
					for _, piece := range answer {
						if err := w.Write(b.Context(), piece); err != nil {
							b.Fatal(err)
						}
					}
					if _, err := w.Finish(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
