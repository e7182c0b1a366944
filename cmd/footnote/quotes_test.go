package main_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/footnote/footnote/chat"
)

// manuals are the documents that `make documents` takes out of Debian packages, exactly the files that were looked at.
func manuals(t testing.TB) []file {
	t.Helper()
	list, err := os.ReadFile(filepath.Join("testdata", "documents.sha256"))
	if err != nil {
		t.Fatal(err)
	}
	var files []file
	for line := range strings.Lines(string(list)) {
		want, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		raw, err := os.ReadFile(filepath.Join("..", "..", ".cache", "documents", name))
		if err != nil {
			if os.Getenv("CI") != "" {
				t.Fatalf("the manuals are missing: make documents: %v", err)
			}
			t.Skip("the manuals are not on this machine: make documents")
		}
		if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != want {
			t.Fatalf("%s has the hash %x, want %s", name, sum, want)
		}
		files = append(files, file{name, string(raw)})
	}
	return files
}

var contentsQuestion = regexp.MustCompile(`\d+(?:\.\d+)+ ([^.?\n]{8,}\?)`)

// What stands before a footnote on the page, the citation's quote, and what its link marks in the document are the same
// words of the stored text, for each question that the table of contents of a manual asks.
func TestAFootnoteShowsTheSentenceThatItStandsBehind(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	ids := s.add(manuals(t)...)
	texts := map[string][]rune{}
	questions := []string{
		"How do I become a Debian developer?", "What is /usr/share for?", "Which files belong in /var/log?",
		"What may a package in main not depend on?", "Show me the priorities of packages",
	}
	for _, id := range ids {
		text := s.send("GET", "/documents/"+id+"/text", nil).body
		texts[id] = []rune(text)
		for _, m := range contentsQuestion.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(questions, m[1]) {
				questions = append(questions, m[1])
			}
		}
	}
	if len(questions) < 60 {
		t.Fatalf("the manuals ask %d questions, want 60 and more", len(questions))
	}
	footnotes := 0
	for _, question := range questions {
		run := s.begin(question)
		answer := s.follow(run.RunID).answer
		if answer == nil {
			t.Errorf("%q was not answered", question)
			continue
		}
		shown := sentencesShown(t, s.send("GET", "/c/"+run.SessionID, nil).body)
		if len(shown) < len(answer.Citations) {
			t.Errorf("%q: %d footnotes are on the page, want %d or more", question, len(shown), len(answer.Citations))
		}
		for _, f := range shown {
			i := slices.IndexFunc(answer.Citations, func(c chat.Citation) bool {
				return fmt.Sprint(c.Number) == f.number
			})
			if i < 0 {
				t.Errorf("%q: there is no citation %s", question, f.number)
				continue
			}
			c := answer.Citations[i]
			footnotes++
			if got, want := squeezed(f.text), squeezed(c.Quote); got != want {
				t.Errorf("%q: before [%s] stands\n\t%q, want\n\t%q", question, f.number, got, want)
			}
			if c.Check != chat.CheckVerified || string(texts[c.DocumentID][c.Start:c.End]) != c.Quote {
				t.Errorf("%q: [%s] is %s, and at %d–%d stands %q, want %s",
					question, f.number, c.Check, c.Start, c.End, c.Quote, chat.CheckVerified)
			}
			r := s.send("GET", c.URL, nil)
			// the rest may be on the next page
			if marks := marksOf(t, r.body, c); r.status != http.StatusOK ||
				!strings.HasPrefix(squeezed(c.Quote), marks) {
				t.Errorf("%q: %s marks %q, want %q", question, c.URL, marks, squeezed(c.Quote))
			}
		}
	}
	t.Logf("%d questions, %d footnotes", len(questions), footnotes)
	if footnotes < 2*len(questions)/3 {
		t.Errorf("%d questions got %d footnotes, want at least %d", len(questions), footnotes, 2*len(questions)/3)
	}
}

// squeezed is a text without white space: a line of a page ends where it likes.
func squeezed(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == 0x2060 {
			return -1
		}
		return r
	}, s)
}

// shownNote is a footnote on the page with the text between it and the one before, or the beginning of its paragraph,
// of its item with the number that is drawn before it, or of its table's row.
type shownNote struct{ number, text string }

func sentencesShown(t *testing.T, page string) []shownNote {
	t.Helper()
	var out []shownNote
	for n := range parsed(t, page).Descendants() {
		if n.DataAtom != atom.Div || attr(n, "class") != "answer" {
			continue
		}
		text := ""
		for d := range n.Descendants() {
			switch {
			case d.DataAtom == atom.A && attr(d, "class") == "cite":
				out = append(out, shownNote{attr(d, "data-n"), text})
				text = ""
			case d.DataAtom == atom.Li:
				text = itemMark(t, d)
			case d.DataAtom == atom.P && d.Parent.DataAtom == atom.Li: // the item's number stands before it
			case d.DataAtom == atom.P || d.DataAtom == atom.Tr:
				text = ""
			case d.DataAtom == atom.Td && !isFirstCell(d):
				text += "|"
			case d.Type == html.TextNode && !inCite(d):
				text += d.Data
			}
		}
	}
	return out
}

// itemMark is what the browser draws before a list's item: "4." or "4)", nothing before one of a list without numbers.
func itemMark(t *testing.T, item *html.Node) string {
	t.Helper()
	list := item.Parent
	if list.DataAtom != atom.Ol {
		return ""
	}
	number := 1
	if start := attr(list, "start"); start != "" {
		var err error
		if number, err = strconv.Atoi(start); err != nil {
			t.Errorf("a list starts with %q, want a number", start)
		}
	}
	for before := range list.ChildNodes() {
		if before == item {
			break
		}
		if before.DataAtom == atom.Li {
			number++
		}
	}
	if strings.Contains(attr(list, "class"), "paren") {
		return strconv.Itoa(number) + ")"
	}
	return strconv.Itoa(number) + "."
}

// isFirstCell reports whether a cell begins its row.
func isFirstCell(cell *html.Node) bool {
	for before := cell.PrevSibling; before != nil; before = before.PrevSibling {
		if before.Type == html.ElementNode {
			return false
		}
	}
	return true
}

func inCite(n *html.Node) bool {
	for a := range n.Ancestors() {
		if a.DataAtom == atom.A && attr(a, "class") == "cite" {
			return true
		}
	}
	return false
}

// marksOf is the marked text of a viewer's page, squeezed.
func marksOf(t *testing.T, page string, c chat.Citation) string {
	t.Helper()
	tag := "mark"
	if c.Page > 0 {
		tag = "tspan"
	}
	text := ""
	for n := range parsed(t, page).Descendants() {
		if n.Data != tag || !slices.Contains(strings.Fields(attr(n, "class")), "quote") {
			continue
		}
		for d := range n.Descendants() {
			if d.Type == html.TextNode {
				text += d.Data
			}
		}
	}
	if text == "" {
		return "nothing"
	}
	return squeezed(text)
}

func parsed(t *testing.T, page string) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
