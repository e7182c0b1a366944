package main_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus/extract/pdf/pdftest"
)

// A numbered item is found by its number, and is quoted by itself with that number, in each format.
func TestANumberedItemIsFoundAndQuotedByItsNumber(t *testing.T) {
	t.Parallel()
	rules := []string{
		"Visitors sign the book at the gate.", "Dogs are kept on a lead.", "No fire is lit in the yard.",
		"The well is covered at night.",
	}
	var lines, items []string
	for i, rule := range rules {
		lines = append(lines, fmt.Sprintf("%d. %s", i+1, rule))
		items = append(items, "<li>"+rule)
	}
	list := strings.Join(lines, "\n")
	for _, f := range []file{
		{"rules.md", "# Rules of the mill\n\n" + list + "\n"},
		{"rules.txt", "Rules of the mill\n=================\n\n" + list + "\n"},
		{"rules.html", "<!doctype html><title>Rules of the mill</title><h1>Rules of the mill</h1><ol>" +
			strings.Join(items, "") + "</ol>"},
		{"rules.pdf", string(pdftest.Document("", pdftest.Sheet{
			Content: pdftest.At(50, 740, 24, "F", "Rules of the mill") + pdftest.Para(50, 700, lines...),
		}))},
	} {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, newDir(t))
			s.add(f)
			r := s.send("POST", "/agent/chat", `{"message":"What does rule 3 say?","citation_style":"numeric"}`)
			const want = "> 3. No fire is lit in the yard. [1]"
			got := loose[struct{ Response string }](t, r.body)
			if r.status != http.StatusOK || !strings.Contains(got.Response, want) {
				t.Errorf("%d %q; want %d and %q in it", r.status, got.Response, http.StatusOK, want)
			}
		})
	}
}
