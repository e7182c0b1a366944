package main_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
	"github.com/footnote/footnote/text"
)

// manuals are the documents that `make documents` extracts from Debian packages, in a fixed version.
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
				t.Fatalf("manuals are missing, run make documents: %v", err)
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

// The text before a footnote, the citation's quote and the text that its link marks are the same words of the
// stored text. The questions are those of a manual's table of contents.
func TestFootnoteShowsItsSentence(t *testing.T) {
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
			t.Errorf("%q: got no answer", question)
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
				t.Errorf("%q: citation %s is missing", question, f.number)
				continue
			}
			c := answer.Citations[i]
			footnotes++
			if got, want := squeezed(f.text), squeezed(c.Quote); got != want {
				t.Errorf("%q: text before [%s] =\n\t%q, want\n\t%q", question, f.number, got, want)
			}
			if c.Check != chat.CheckVerified || string(texts[c.DocumentID][c.Start:c.End]) != c.Quote {
				t.Errorf("%q: check of [%s] = %s, text at %d–%d = %q, want %s",
					question, f.number, c.Check, c.Start, c.End, c.Quote, chat.CheckVerified)
			}
			r := s.send("GET", c.URL, nil)
			// The rest may be on the next page.
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

// squeezed removes white space, since line breaks in a page are arbitrary.
func squeezed(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == 0x2060 {
			return -1
		}
		return r
	}, s)
}

// shownNote is a footnote on the page with the text before it. The text starts at the previous footnote, or at the
// start of its paragraph, list item (with its rendered number) or table.
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
			case d.DataAtom == atom.P && d.Parent.DataAtom == atom.Li: // after the item's number
			case d.DataAtom == atom.P || d.DataAtom == atom.Tbody: // a footnote may be for several rows
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

// itemMark returns the rendered mark of a list item: "4." or "4)", or nothing in an unordered list.
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

// isFirstCell reports whether a cell is the first of its row.
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

// marksOf returns the marked text of a viewer's page, squeezed.
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

// inventions are sentences that are in no manual.
var inventions = []string{
	"The king keeps seven dragons in the cellar of the old mill.", "Every dragon has a licence to sing.",
	"Debian was founded by dragons in 1066.",
}

// tried matches the number in a question, the seed of the script's answer.
var tried = regexp.MustCompile(`\(try (\d+)\)`)

// composed is a random answer made of the passages in the model's context.
type composed struct {
	markdown string
	cited    []string // copied sentences with a footnote directly after them
	invented []string // with or without a footnote
}

// compose returns a random answer for a seed.
func compose(seed uint64, shown map[int][]string) composed {
	r := rand.New(rand.NewPCG(seed, 7))
	var c composed
	var b strings.Builder
	var numbers []int
	for n := range shown {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	pick := func() (int, string) {
		n := numbers[r.IntN(len(numbers))]
		return n, shown[n][r.IntN(len(shown[n]))]
	}
	for range 1 + r.IntN(6) {
		n, s := pick()
		words := strings.Fields(s)
		switch r.IntN(16) {
		case 0, 1, 2, 3:
			fmt.Fprintf(&b, "%s [%d]", s, n)
			c.cited = append(c.cited, s)
		case 4:
			fmt.Fprintf(&b, "- %s [%d]\n- %s [%d]", s, n, s, n)
			c.cited = append(c.cited, s)
		case 5: // truncated
			fmt.Fprintf(&b, "%s [%d].", strings.Join(words[:1+r.IntN(len(words))], " "), n)
		case 6: // joined
			m, other := pick()
			fmt.Fprintf(&b, "%s [%d] and %s [%d]", strings.TrimSuffix(s, "."), n, other, m)
		case 7:
			invented := inventions[r.IntN(len(inventions))]
			fmt.Fprintf(&b, "%s [%d]", invented, n)
			c.invented = append(c.invented, invented)
		case 8:
			invented := inventions[r.IntN(len(inventions))]
			wraps := []string{
				"\n```\n%s\n```\n", "\n# %s\n", "\n\n**%s**\n\n", "\n\n> %s\n\n", "`%s`",
				"\n\n| %s | x |\n|---|---|\n| a | b |\n\n", "\n\n    %s\n\n", "[%s](https://x.org/a[2])", "![%s](x)",
			}
			fmt.Fprintf(&b, wraps[r.IntN(len(wraps))], invented)
			c.invented = append(c.invented, invented)
		case 9:
			fmt.Fprintf(&b, "\n## %s\n\n%s [%d]", strings.Join(words[:min(3, len(words))], " "), s, n)
			c.cited = append(c.cited, s)
		case 10:
			// A cell beyond the table's head is not rendered.
			fmt.Fprintf(&b, "\n\n| What | Where |\n|---|---|\n| %s [%d] | x |\n\n", strings.ReplaceAll(s, "|", " "), n)
		case 11:
			fmt.Fprintf(&b, "“%s” [%d]", s, n)
		case 12:
			fmt.Fprintf(&b, "\n```sh\na[%d] %s [%d]\n```\n", n, s, n)
		case 13:
			fmt.Fprintf(&b, "See https://x.org/a[%d] and x[%d] \\[%d\\] `b[%d]`.", n, n, n, n)
		case 14:
			m, _ := pick()
			fmt.Fprintf(&b, "%s [%d, %d]【%d】[%d]", s, n, m, n, n+50)
		default:
			at := r.IntN(len(words) + 1)
			odd := []string{"*", "_", "\\", "`", "[", "]", "(", "<b>", "\"", "「", "】", "|", "~~", "\n> "}
			fmt.Fprintf(&b, "%s %s%s [%d]", strings.Join(words[:at], " "), odd[r.IntN(len(odd))],
				strings.Join(words[at:], " "), n)
		}
		b.WriteString([]string{"\n\n", " ", "\n"}[r.IntN(3)*r.IntN(2)])
	}
	c.markdown = b.String()
	return c
}

// shownTo returns the sentences of the passages in a model's context, by number.
func shownTo(r scripted.Request) map[int][]string {
	shown := map[int][]string{}
	for _, msg := range r.Messages {
		at := strings.IndexByte(msg.Text, '{')
		if !strings.Contains(msg.Text, `"total_found"`) || at < 0 {
			continue
		}
		var found struct {
			Documents []struct {
				Passages []struct {
					N    int
					Text string
				}
			}
		}
		if json.NewDecoder(strings.NewReader(msg.Text[at:])).Decode(&found) != nil {
			continue // then there is no answer, and the test says so
		}
		for _, doc := range found.Documents {
			for _, p := range doc.Passages {
				runes := []rune(p.Text)
				for _, at := range text.Sentences(p.Text) {
					if s := strings.Join(strings.Fields(string(runes[at[0]:at[1]])), " "); len(s) > 10 {
						shown[p.N] = append(shown[p.N], s)
					}
				}
			}
		}
	}
	return shown
}

// For any answer of a model, each footnote shows words of the stored text, on the page and in the document; a
// copied sentence is the quote of its footnote; and an invented one is marked as unsupported.
func FuzzFootnotesShowTheirSentences(f *testing.F) {
	var mu sync.Mutex
	said := map[uint64]composed{}
	m := newModel(f, scripted.Config{Script: func(r scripted.Request) scripted.Reply {
		match := tried.FindStringSubmatch(r.Question())
		if match == nil {
			return saying("Yes.")
		}
		seed, _ := strconv.ParseUint(match[1], 10, 64)
		shown := shownTo(r)
		if len(shown) == 0 {
			query := []string{
				"priorities of packages", "package removal", "stable testing unstable", "filesystem /var/log",
				"install kernel",
			}
			return calling("search_documents", `{"query":"`+query[seed%uint64(len(query))]+`"}`)
		}
		mu.Lock()
		defer mu.Unlock()
		c, ok := said[seed]
		if !ok {
			c = compose(seed, shown)
			said[seed] = c
		}
		return saying(c.markdown)
	}})
	s := serve(f, newDir(f), m.env()...)
	texts := map[string][]rune{}
	for _, id := range s.add(manuals(f)...) {
		texts[id] = []rune(s.send("GET", "/documents/"+id+"/text", nil).body)
	}
	for seed := range uint64(24) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		s.t = t
		run := s.begin(fmt.Sprintf("What do the manuals say about packages? (try %d)", seed))
		answer := s.follow(run.RunID).answer
		mu.Lock()
		c := said[seed]
		mu.Unlock()
		if answer == nil {
			return // nothing of it was borne out
		}
		page := s.send("GET", "/c/"+run.SessionID, nil).body
		heldToItsFootnotes(t, c, answer, sentencesShown(t, page))
		for _, cite := range answer.Citations {
			if stored := texts[cite.DocumentID]; cite.Check != chat.CheckVerified ||
				string(stored[cite.Start:cite.End]) != cite.Quote {
				t.Errorf("%q: check of [%d] = %s, text at %d–%d = %q, want %q",
					c.markdown, cite.Number, cite.Check, cite.Start, cite.End, string(stored[cite.Start:cite.End]),
					cite.Quote)
			}
			r := s.send("GET", cite.URL, nil)
			if marks := marksOf(t, r.body, cite); r.status != http.StatusOK ||
				!strings.HasPrefix(squeezed(cite.Quote), marks) {
				t.Errorf("%q: %s marks %q, want %q", c.markdown, cite.URL, marks, squeezed(cite.Quote))
			}
		}
	})
}

// heldToItsFootnotes compares an answer with its sources, and with the footnotes that the page shows.
func heldToItsFootnotes(t *testing.T, c composed, answer *chat.Answer, shown []shownNote) {
	t.Helper()
	for _, note := range shown {
		if !slices.ContainsFunc(answer.Citations, func(c chat.Citation) bool {
			return strconv.Itoa(c.Number) == note.number
		}) {
			t.Errorf("%q: page has [%s] after %q without a citation", answer.Markdown, note.number, note.text)
		}
	}
	for _, cite := range answer.Citations {
		if !slices.ContainsFunc(shown, func(n shownNote) bool { return n.number == strconv.Itoa(cite.Number) }) {
			t.Errorf("%q: page lacks [%d]", answer.Markdown, cite.Number)
		}
	}
	for _, s := range c.cited {
		if text.Leader(s) || strings.HasSuffix(s, "?") || !strings.Contains(answer.Markdown, s+" [") {
			continue
		}
		var quotes []string
		for _, behind := range strings.Split(answer.Markdown, s+" [")[1:] { // one may stand in code
			number, _, _ := strings.Cut(behind, "]")
			if n, err := strconv.Atoi(number); err == nil && n >= 1 && n <= len(answer.Citations) {
				quotes = append(quotes, answer.Citations[n-1].Quote)
			}
		}
		if !slices.ContainsFunc(quotes, func(q string) bool { return strings.Contains(squeezed(q), squeezed(s)) }) {
			t.Errorf("%q: footnote of\n\t%q quotes\n\t%q", answer.Markdown, s, quotes)
		}
	}
	for _, s := range c.invented {
		if !slices.ContainsFunc(answer.Unsupported, func(u string) bool {
			return strings.Contains(squeezed(u), strings.TrimSuffix(squeezed(s), "."))
		}) && (answer.Confidence == 1 || !strings.Contains(answer.SelfEvaluation, "in other words")) {
			t.Errorf("%q is not listed as unsupported in %q (confidence %v): %q", s, answer.Markdown, answer.Confidence,
				answer.Unsupported)
		}
	}
}
