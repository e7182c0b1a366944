package office_test

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/footnote/footnote/chat"
)

// folded is the letters and digits of a text, small.
func folded(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}

// TestMarksOnDrawnPagesAreTheQuotes takes quotes at random out of real manuals that LibreOffice saved as Office files.
// What is marked of each on its pages is the quote's own words, in their order: all of them for 95 in 100, and never
// others.
func TestMarksOnDrawnPagesAreTheQuotes(t *testing.T) {
	needOffice(t)
	manual := filepath.Join("..", "..", "..", ".cache", "documents", "choosing.en.html")
	if _, err := os.Stat(manual); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("the manuals are missing: %v", err)
		}
		t.Skip("no manuals: make documents fetches them")
	}
	table := filepath.Join(t.TempDir(), "invoices.csv")
	if err := os.WriteFile(table, []byte(invoices()), 0o600); err != nil {
		t.Fatal(err)
	}
	slides := filepath.Join(t.TempDir(), "talk.fodp")
	if err := os.WriteFile(slides, []byte(talk()), 0o600); err != nil {
		t.Fatal(err)
	}
	paths := slices.Concat(converted(t, manual, "HTML (StarWriter)", "docx", "odt", "rtf"),
		converted(t, table, "", "xlsx", "ods"), converted(t, slides, "", "pptx", "odp"))
	l, docs := openLibrary(t, paths...)
	random := rand.New(rand.NewPCG(1, 2))
	for _, d := range docs {
		drawn, err := l.Drawn(t.Context(), chat.Local, d.ID)
		if err != nil {
			t.Fatalf("%s: %v", d.Filename, err)
		}
		text, err := l.Text(t.Context(), chat.Local, d.ID)
		if err != nil {
			t.Fatal(err)
		}
		own, pages := []rune(text), []rune(drawn.Text)
		const quotes = 200
		placed, whole := 0, 0
		for range quotes {
			start := random.IntN(len(own) - 80)
			for start > 0 && !unicode.IsSpace(own[start-1]) {
				start--
			}
			end := start + 20 + random.IntN(60)
			for end < len(own) && !unicode.IsSpace(own[end]) {
				end++
			}
			quote := folded(string(own[start:end]))
			var marked strings.Builder
			for _, piece := range drawn.Place(start, end) {
				if len(drawn.Lines(piece[0], piece[1])) == 0 {
					t.Errorf("%s: %q has no place on a page", d.Filename, string(pages[piece[0]:piece[1]]))
				}
				marked.WriteString(folded(string(pages[piece[0]:piece[1]])))
			}
			if marked.Len() > 0 {
				placed++
			}
			if marked.String() == quote {
				whole++
			} else if !isWithin(marked.String(), quote) {
				t.Errorf("%s: of %q the pages have %q marked", d.Filename, quote, marked.String())
			}
		}
		t.Logf(
			"%s: %d pages, of %d quotes %d are placed, %d whole",
			d.Filename,
			len(drawn.Sizes),
			quotes,
			placed,
			whole,
		)
		if whole < quotes*95/100 {
			t.Errorf("%s: %d of %d quotes are marked whole, want 95 in 100", d.Filename, whole, quotes)
		}
	}
	png1, err := l.PageImage(t.Context(), chat.Local, docs[0].ID, 1, 600)
	if err != nil {
		t.Fatal(err)
	}
	if picture, err := png.Decode(bytes.NewReader(png1)); err != nil || picture.Bounds().Dx() != 600 {
		t.Errorf("page 1 is %v, %v; want a picture 600 wide", picture, err)
	}
	if _, err := l.PageImage(t.Context(), chat.Local, docs[0].ID, 9999, 600); chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("page 9999: %v, want not found", err)
	}
}

// TestDrawingGoesOnWithoutItsCaller has a file drawn for somebody who leaves at once: the next one finds it drawn.
func TestDrawingGoesOnWithoutItsCaller(t *testing.T) {
	needOffice(t)
	table := filepath.Join(t.TempDir(), "invoices.csv")
	if err := os.WriteFile(table, []byte(invoices()), 0o600); err != nil {
		t.Fatal(err)
	}
	l, docs := openLibrary(t, converted(t, table, "", "ods")...)
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := l.Drawn(gone, chat.Local, docs[0].ID); err == nil {
		t.Fatal("a caller that has left got an answer")
	}
	first, err := l.Drawn(t.Context(), chat.Local, docs[0].ID)
	if err != nil || len(first.Sizes) == 0 {
		t.Fatalf("Drawn: %v", err)
	}
	if again, err := l.Drawn(t.Context(), chat.Local, docs[0].ID); err != nil || again != first {
		t.Errorf("a second look: %p, %v; want the same drawing %p", again, err, first)
	}
	if err := l.Delete(t.Context(), chat.Local, docs[0].ID); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Drawn(t.Context(), chat.Local, docs[0].ID); chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("a deleted document: %v, want not found", err)
	}
}

// BenchmarkPDF draws a Word file of a hundred pages.
func BenchmarkPDF(b *testing.B) {
	needOffice(b)
	random := rand.New(rand.NewPCG(7, 8))
	var body strings.Builder
	for range 100 {
		for range 5 {
			fmt.Fprintf(&body, `<w:p><w:r><w:t>%s</w:t></w:r></w:p>`, prose(random, 8))
		}
		body.WriteString(`<w:p><w:r><w:br w:type="page"/></w:r></w:p>`)
	}
	f, to := wordFile(b, body.String(), ""), filepath.Join(b.TempDir(), "drawn.pdf")
	for b.Loop() {
		if err := newOffice(b).PDF(b.Context(), f, to); err != nil {
			b.Fatal(err)
		}
	}
}

// isWithin reports whether the letters of part stand in whole, in order.
func isWithin(part, whole string) bool {
	rest := []rune(whole)
	for _, r := range part {
		at := 0
		for at < len(rest) && rest[at] != r {
			at++
		}
		if at == len(rest) {
			return false
		}
		rest = rest[at+1:]
	}
	return true
}

// invoices is a table whose cells repeat.
func invoices() string {
	var b strings.Builder
	b.WriteString("Number,Customer,City,Amount,Paid\n")
	customers := []string{"Harrow Ltd", "Alder and Sons", "Mill Street Bakery"}
	for i := range 60 {
		paid := "no"
		if i%3 == 0 {
			paid = "yes"
		}
		number := "INV-" + string(rune('A'+i%26)) + string(rune('A'+i/26))
		amount := "1" + strings.Repeat("7", i%4)
		b.WriteString(strings.Join([]string{number, customers[i%3], "Alderton", amount, paid}, ",") + "\n")
	}
	return b.String()
}

// prose are sentences that repeat each other in part, as those of reports do.
func prose(random *rand.Rand, n int) string {
	var b strings.Builder
	subjects := []string{"The roof of the northern hall", "A tenant on the second floor", "The surveyor", "The boiler",
		"Our insurer in Köln", "The “old” gutter"}
	verbs := []string{"was inspected and found to be", "has for years been", "is, by the report of spring,", "will be"}
	ends := []string{"in need of repair", "dry, though not warm", "insured for 12,500 €", "as good as new",
		"replaced before the winter of 2027"}
	for range n {
		fmt.Fprintf(&b, "%s %s %s. ", subjects[random.IntN(6)], verbs[random.IntN(4)], ends[random.IntN(5)])
	}
	return b.String()
}

// talk are slides as OpenDocument without an archive.
func talk() string {
	var b strings.Builder
	random := rand.New(rand.NewPCG(5, 6))
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?><office:document
 xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"
 xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0"
 xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" office:version="1.2"
 office:mimetype="application/vnd.oasis.opendocument.presentation"><office:body><office:presentation>`)
	for slide := 1; slide <= 12; slide++ {
		fmt.Fprintf(&b, `<draw:page draw:name="p%d">`+
			`<draw:frame svg:x="2cm" svg:y="1cm" svg:width="22cm" svg:height="2cm">`+
			`<draw:text-box><text:p>Roof, part %d</text:p></draw:text-box></draw:frame>`+
			`<draw:frame svg:x="2cm" svg:y="4cm" svg:width="22cm" svg:height="12cm"><draw:text-box>`, slide, slide)
		for range 4 {
			fmt.Fprintf(&b, `<text:p>%s</text:p>`, prose(random, 1+slide%3))
		}
		b.WriteString(`</draw:text-box></draw:frame></draw:page>`)
	}
	return b.String() + `</office:presentation></office:body></office:document>`
}
