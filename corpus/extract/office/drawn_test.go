package office_test

import (
	"bytes"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"footnote/chat"
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
	paths := append(converted(t, manual, "HTML (StarWriter)", "docx", "odt", "rtf"), converted(t, table, "", "xlsx")...)
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
		const quotes = 300
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
