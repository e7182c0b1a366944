package main_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
	"github.com/footnote/footnote/text"
)

// inventions are sentences that no manual has.
var inventions = []string{
	"The king keeps seven dragons in the cellar of the old mill.", "Every dragon has a licence to sing.",
	"Debian was founded by dragons in 1066.",
}

// tried is the number in a question, from which the script makes its answer.
var tried = regexp.MustCompile(`\(try (\d+)\)`)

// composed is an answer that is put together by chance from the passages that the model was shown.
type composed struct {
	markdown string
	cited    []string // sentences that were copied whole, with a footnote right behind them
	invented []string // with or without a footnote
}

// compose makes an answer.
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
		case 5: // cut
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
			// a cell more than the head has is not drawn
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

// shownTo are the sentences of the passages that a model was shown in this run, by number.
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

// Whatever a model says of real documents, each footnote of the answer shows words of the stored text, on the page and
// in the document; a sentence that was copied is what its footnote quotes; and what is invented is called unsupported.
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
				t.Errorf("%q: [%d] is %s, and at %d–%d stands %q, want %q",
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

// heldToItsFootnotes compares an answer with what went into it, and with the footnotes that the page shows.
func heldToItsFootnotes(t *testing.T, c composed, answer *chat.Answer, shown []shownNote) {
	t.Helper()
	for _, note := range shown {
		if !slices.ContainsFunc(answer.Citations, func(c chat.Citation) bool {
			return strconv.Itoa(c.Number) == note.number
		}) {
			t.Errorf("%q: the page shows [%s] behind %q, which is no citation", answer.Markdown, note.number, note.text)
		}
	}
	for _, cite := range answer.Citations {
		if !slices.ContainsFunc(shown, func(n shownNote) bool { return n.number == strconv.Itoa(cite.Number) }) {
			t.Errorf("%q: [%d] is not on the page", answer.Markdown, cite.Number)
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
			t.Errorf("%q: the footnote of\n\t%q quotes\n\t%q", answer.Markdown, s, quotes)
		}
	}
	for _, s := range c.invented {
		if !slices.ContainsFunc(answer.Unsupported, func(u string) bool {
			return strings.Contains(squeezed(u), strings.TrimSuffix(squeezed(s), "."))
		}) && (answer.Confidence == 1 || !strings.Contains(answer.SelfEvaluation, "in other words")) {
			t.Errorf("%q is not called unsupported in %q (confidence %v): %q", s, answer.Markdown, answer.Confidence,
				answer.Unsupported)
		}
	}
}
