package main_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// checkedSearch is what both searches return of a check.
type checkedSearch struct {
	Results []checkedPassage `json:"results"`
	Chunks  []checkedPassage `json:"chunks"`
	Notes   []string         `json:"notes"`
	Check   *chat.Step       `json:"check"`
	Trace   struct {
		Tokens chat.Tokens `json:"tokens"`
		Steps  []chat.Step `json:"steps"`
	} `json:"agent_trace"`
}

type checkedPassage struct {
	Text        string   `json:"text"`
	Rank        int      `json:"rank"`
	Answers     *bool    `json:"answers"`
	Probability *float64 `json:"probability"`
	Trace       struct {
		ToolCalls []struct {
			Tool string `json:"tool"`
		} `json:"tool_calls"`
	} `json:"agent_trace"`
}

// is reports whether the passage has this verdict with a probability, and this rank.
func (p checkedPassage) is(answers bool, rank int) bool {
	return p.Answers != nil && *p.Answers == answers && p.Probability != nil && p.Rank == rank
}

// closedOffice has more words of a question about paid holiday than the passage that answers it.
const closedOffice = "# Paid holiday\n\nOf the days of paid holiday a year the office says nothing. Paid holiday, " +
	"holiday and paid days are the words of this text."

func TestSearchesPutWhatAnswersFirst(t *testing.T) {
	t.Parallel()
	m := newModel(t, scripted.Config{
		Script: sidelong("", nil, inTurn(
			calling("hybrid_search", `{"query":"days of paid holiday a year"}`), saying("DONE"),
		)),
		Judge: func(prompt string) float64 {
			if text, _, _ := strings.Cut(prompt, "\n\nQuestion: "); strings.Contains(text, "28 days") {
				return 4
			}
			return -4
		},
	})
	s := serve(t, newDir(t), append(m.env(), "FOOTNOTE_AGENT_CHECK_PASSAGES=quotes")...)
	s.add(file{"handbook.md", holidays}, file{"closed.md", closedOffice})
	const query = `"query":"How many days of paid holiday a year?","mode":"lexical"`
	plain := loose[checkedSearch](t, s.send("POST", "/search", `{`+query+`}`).body)
	if len(plain.Results) < 2 || strings.Contains(plain.Results[0].Text, "28 days") ||
		plain.Results[0].Answers != nil || plain.Check != nil {
		t.Fatalf("without a check: %+v; want the other passage first, and no verdicts", plain)
	}
	for _, tt := range []struct{ path, body string }{
		{"/search", `{` + query + `,"check":true}`},
		{"/agent/retrieve", `{` + query + `}`},
		{"/agent/retrieve", `{"query":"How many days of paid holiday a year?","check":true}`},
	} {
		r := s.send("POST", tt.path, tt.body)
		got := loose[checkedSearch](t, r.body)
		found, step := append(got.Results, got.Chunks...), got.Check
		if n := len(got.Trace.Steps); n > 0 {
			step = &got.Trace.Steps[n-1]
		}
		if r.status != http.StatusOK || len(found) < 2 || !found[0].is(true, 1) || !found[1].is(false, 2) ||
			!strings.Contains(found[0].Text, "28 days") || *found[0].Probability < 0.9 {
			t.Errorf("%s %s: %d %s; want the passage that answers first", tt.path, tt.body, r.status, r.body)
			continue
		}
		for _, chunk := range got.Chunks {
			for _, call := range chunk.Trace.ToolCalls {
				if call.Tool == "check_passages" {
					t.Errorf("%s %s: the check is said to have found %q", tt.path, tt.body, chunk.Text)
				}
			}
		}
		if step == nil || step.ToolName != "check_passages" || step.Status != chat.StatusComplete ||
			!strings.HasPrefix(step.Summary, "1 answers") {
			t.Errorf("%s %s: step %+v; want a check of which 1 answers", tt.path, tt.body, step)
		}
	}
	first := loose[checkedSearch](t, s.send("POST", "/search", `{`+query+`,"check":true,"top_k":1}`).body)
	if len(first.Results) != 1 || !first.Results[0].is(true, 1) {
		t.Errorf("of one result: %+v; want the one that answers", first)
	}
	long := loose[checkedSearch](t, s.send("POST", "/search", `{"query":"`+
		strings.Repeat("How many days of paid holiday a year? ", 30)+`","check":true}`).body)
	if len(long.Results) == 0 || long.Results[0].Answers == nil {
		t.Errorf("of a long query: %+v; want verdicts", long)
	}
	off := loose[checkedSearch](t, s.send("POST", "/agent/retrieve", `{`+query+`,"check":false}`).body)
	if len(off.Chunks) < 2 || off.Chunks[0].Answers != nil {
		t.Errorf("with the check switched off: %+v; want no verdicts", off)
	}
}

func TestSearchThatCanNotBeCheckedSaysSo(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t), "FOOTNOTE_AGENT_CHECK_PASSAGES=quotes")
	s.add(file{"handbook.md", holidays})
	got := loose[checkedSearch](t, s.send("POST", "/search", `{"query":"paid holiday","check":true}`).body)
	if len(got.Results) == 0 || got.Results[0].Answers != nil || len(got.Notes) != 1 ||
		got.Notes[0] != "The passages were not checked: no language model is connected." {
		t.Errorf("%+v; want results without verdicts, and a note", got)
	}
	unasked := loose[checkedSearch](t, s.send("POST", "/agent/retrieve", `{"query":"paid holiday"}`).body)
	if len(unasked.Chunks) == 0 || len(unasked.Notes) != 0 {
		t.Errorf("%+v; want results, and no note on a check that nobody asked for", unasked)
	}
}
