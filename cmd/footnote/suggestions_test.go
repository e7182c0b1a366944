package main_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
)

// realFiles are the manuals, files of everyday life in four languages, the handbook, and two tables.
func realFiles(t testing.TB) []file {
	t.Helper()
	files := manuals(t)
	for _, pattern := range []string{"../../e2e/eval/everyday/open/*", "../../docs/handbook/*.md"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(names), err)
		}
		for _, name := range names {
			body, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file{filepath.Base(name), string(body)})
		}
	}
	return append(files,
		file{"Order.eml", "From: Anna Weir <anna@mill.example>\r\nTo: Tom <tom@mill.example>\r\n" +
			"Subject: New mill stones\r\nDate: Mon, 4 Mar 2024 09:00:00 +0000\r\nContent-Type: text/plain\r\n\r\n" +
			"Dear Tom,\r\n\r\nthe new mill stones arrive on 12 April from the quarry in Bath. The crane driver " +
			"charges 340 pounds for the morning.\r\n\r\nAnna\r\n"},
		file{"Invoices.csv", "Number,Customer,Amount,Paid on\nINV-101,Harrow Ltd,\"1,200.00\",2024-03-01\n" +
			"INV-102,Béla Kft,880.50,\nINV-103,Okafor & Sons,\"4,500.00\",\nINV-104,Marsh Dental,310.00,2024-05-12\n"},
		file{"Rechnungen.csv", "Rechnung;Kunde;Betrag;Bezahlt am\nR-1;Meier GmbH;\"1.200,00\";01.03.2024\n" +
			"R-2;Schulze AG;880,50;\nR-3;Köhler & Söhne;4.500,00;\n"})
}

// starters are the questions of the first page, each with the title of its document.
func (s *server) starters() (questions, titles []string) {
	s.t.Helper()
	root, err := html.Parse(strings.NewReader(s.send("GET", "/", nil, header{"Accept", "text/html"}).body))
	if err != nil {
		s.t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || n.Data != "button" || !hasClassOf(n, "starter") {
			continue
		}
		var words []string
		for d := range n.Descendants() {
			if d.Type == html.TextNode && strings.TrimSpace(d.Data) != "" {
				words = append(words, strings.TrimSpace(d.Data))
			}
		}
		questions, titles = append(questions, words[0]), append(titles, words[len(words)-1])
	}
	return questions, titles
}

func hasClassOf(n *html.Node, class string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool {
		return a.Key == "class" && slices.Contains(strings.Fields(a.Val), class)
	})
}

// Each suggestion of the first page, and each under its answer, is asked over manuals, files of everyday life, a mail
// and tables. None is refused, and nearly all are answered from what they name, in their own document.
func TestASuggestedQuestionIsAnsweredByItsSection(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	asked := map[string]bool{}
	starters, further := tally{}, tally{}
	for _, f := range realFiles(t) {
		s.add(f)
		questions, titles := s.starters()
		if len(questions) == 0 {
			t.Errorf("nothing is suggested after %s was added", f.name)
		}
		for i, q := range questions {
			if asked[q] {
				continue
			}
			asked[q] = true
			log := s.runIn("", q)
			starters.count(t, log.answer, q, titles[i])
			if log.answer == nil {
				continue
			}
			for _, next := range log.answer.FollowUps {
				if !asked[next] {
					asked[next] = true
					further.count(t, s.runIn(log.start.SessionID, next).answer, next, "")
				}
			}
		}
	}
	t.Logf("%d of %d starters, %d of %d further questions", starters.right, starters.asked, further.right,
		further.asked)
	if 10*starters.right < 9*starters.asked || 10*further.right < 8*further.asked || starters.asked < 25 {
		t.Errorf("want 9 in 10 of 25 starters or more, and 8 in 10 of the others")
	}
}

// tally counts questions and those that are answered from what they name.
type tally struct{ asked, right int }

func (n *tally) count(t *testing.T, a *chat.Answer, question, title string) {
	n.asked++
	problem := notAnswered(a, question, title)
	switch {
	case a == nil || len(a.Citations) == 0:
		t.Errorf("%s (%s): %s", question, title, problem)
	case problem != "":
		t.Logf("%s (%s): %s", question, title, problem)
	default:
		n.right++
	}
}

// notAnswered says why an answer does not quote what a question asks about; "" if it does.
func notAnswered(a *chat.Answer, question, title string) string {
	if a == nil {
		return "no answer"
	}
	if len(a.Citations) == 0 {
		return "refused"
	}
	c := a.Citations[0]
	if title != "" && c.Title != title {
		return "another document: " + c.Title
	}
	first, _, _ := strings.Cut(a.Markdown, "[1]")
	for _, words := range text.Phrases(question) {
		if !strings.Contains(text.Fold(c.Section+" "+c.Quote+" "+first), text.Fold(words)) {
			return "section " + c.Section + ", quote " + c.Quote
		}
	}
	return ""
}
