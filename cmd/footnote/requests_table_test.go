package main_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/footnote/footnote/e2e/scripted"
)

// tableScript answers the questions of docs/requests.md, and requests for plans, judgements and summaries.
func tableScript(r scripted.Request) scripted.Reply {
	const good = "The roof of Highlands is in good condition"
	system, last := r.Messages[0].Text, r.Messages[len(r.Messages)-1].Text
	switch {
	case strings.Contains(system, "Summarize these passages concisely"):
		return saying("In short, the notice is three months [1].")
	case len(r.Tools) == 0 && strings.Contains(last, "The passages that were found:"),
		len(r.Tools) == 0 && strings.Contains(last, "Answer:"):
		return saying(`{"evaluation":"It is all there.","confidence":0.9}`)
	case len(r.Tools) == 0 && last == "Compare the roof and the value":
		return saying(`[{"query":"roof of Highlands","reasoning":"the first half"},` +
			`{"query":"value of Highlands","reasoning":"the second half"}]`)
	case len(r.Tools) == 0:
		return saying(`[{"query":"` + last + `","reasoning":"one part"}]`)
	}
	switch r.Question() {
	case "Why are both there?":
		both := together(calling("retrieve", `{"query":"roof"}`), calling("retrieve", `{"query":"value"}`))
		both.Text = "Both may be there."
		return inTurn(both, saying(good+" [1]."))(r)
	case "Why is the notice so long?":
		return inTurn(calling("retrieve", `{"query":"notice period"}`), calling("summarize", `{"texts":["[1]"]}`),
			saying("The notice period is three months [1]."))(r)
	case "Why is the roof of Highlands good?":
		search := calling("search_documents", `{"query":"roof of Highlands"}`)
		search.Text = "The survey should say it."
		return inTurn(search, saying(good+" [1]."))(r)
	case "How was Highlands valued in 2024?":
		return inTurn(calling("search_documents", `{"query":"roof of Highlands, market value 2024"}`),
			saying(good+" [2].\n\nThe market value of Highlands was £2,300,000 in February."))(r)
	case "How does a robot keep its balance?":
		return inTurn(calling("search_documents", `{"query":"robot balance"}`), saying("A robot keeps its balance by "+
			"moving its ankles and its hips (from Humanoid robots: Balance control) [1]."))(r)
	case "Make this friendlier: Send me the report by Friday.":
		return saying("Could you kindly send me the report by Friday?")
	case "Does the model fail?":
		return scripted.Reply{Fault: scripted.Fault{Status: http.StatusUnauthorized}}
	case "Compare the roof and the value", "Why and how is quantum entanglement?", "Find documents from 2024":
		return saying("DONE")
	}
	return inTurn(calling(r.Tools[0].Name, `{"query":"roof of Highlands"}`), saying(good+" [1]."))(r)
}

// bodies are the chat requests so far.
func (m *modelServer) bodies() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

func TestTheTableOfRequestsHolds(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(root, "docs", "requests.md"))
	if err != nil {
		t.Fatal(err)
	}
	m := newModel(t, scripted.Config{Record: 1000, Script: tableScript})
	s := serve(t, newDir(t), append(m.env(), "OPENAI_EMBEDDING_MODEL=hash", "FOOTNOTE_PRICES=scripted=1/1",
		"FOOTNOTE_ALLOWED_ORIGINS=https://app.example.org")...)
	s.add(theatreLibrary...)
	s.semantic()
	code := regexp.MustCompile("`([^`]+)`")
	rows := 0
	for line := range strings.Lines(string(raw)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 4 || !strings.HasPrefix(line, "| S") {
			continue
		}
		rows++
		spans := code.FindAllStringSubmatch(cells[2], -1)
		var headers []header
		for _, span := range spans[:len(spans)-1] {
			name, value, _ := strings.Cut(span[1], ": ")
			headers = append(headers, header{name, value})
		}
		request := spans[len(spans)-1]
		method, rest, _ := strings.Cut(request[1], " ")
		path, body, _ := strings.Cut(rest, " ")
		asked := len(m.bodies())
		r := s.send(method, path, body, headers...)
		expected := code.FindAllStringSubmatch(cells[3], -1)
		if _, told := strings.CutPrefix(expected[0][1], "status: "); !told {
			expected = append(expected, []string{"", "status: 200"})
		}
		for _, want := range expected {
			in, text := r.body, want[1]
			if status, ok := strings.CutPrefix(text, "status: "); ok {
				in, text = strconv.Itoa(r.status)+" "+r.body, status+" "
			} else if line, ok := strings.CutPrefix(text, "header: "); ok {
				name, _, _ := strings.Cut(line, ": ")
				in, text = name+": "+r.header.Get(name), line
			}
			if logged, ok := strings.CutPrefix(text, "log: "); ok {
				in, text = s.log.String(), logged
			} else if told, ok := strings.CutPrefix(text, "model: "); ok {
				in, text = strings.Join(m.bodies()[asked:], "\n"), told
			}
			if !strings.Contains(in, text) {
				t.Errorf("%s: %s: got %.3000s, want %s", cells[0], request[1], in, want[1])
			}
		}
	}
	if rows < 10 {
		t.Errorf("the table has %d rows, want 10 or more", rows)
	}
}
