package run

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/agent/cite"
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/question"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/support"
	"github.com/footnote/footnote/e2e/scripted"
)

func TestReadPlan(t *testing.T) {
	t.Parallel()
	self := []string{"the question"}
	for _, tt := range []struct {
		name, said string
		want       []string
		why        string // part of it
	}{
		{
			"as agreed",
			`{"sub_queries":[{"query":"a","reasoning":"r","depends_on":[]},{"query":"b","reasoning":"r",` +
				`"depends_on":[0]}]}`, []string{"a", "b <- [0]"}, "",
		},
		{"a bare list", `[{"query":"a"},{"query":"b"}]`, []string{"a", "b"}, ""},
		{"in a fence, with words around", "Here is the plan:\n```json\n[{\"query\":\"a\"}]\n```\nGood luck!",
			[]string{"a"}, ""},
		{"another name for the list", `{"queries":[{"query":"a"}]}`, []string{"a"}, ""},
		{"a single part", `{"query":"a","reasoning":"r","depends_on":[]}`, []string{"a"}, ""},
		{"plain strings", `{"sub_queries":["a","b"]}`, []string{"a", "b"}, ""},
		{"a later part first", `[{"query":"a","depends_on":[1]},{"query":"b"}]`, []string{"a <- [1]", "b"}, ""},
		{"no JSON", "I would search for the roof.", self, "no list"},
		{"cut off", `{"sub_queries":[{"query":"a"`, self, "no list"},
		{"nothing", "", self, "no list"},
		{"an empty list", `[]`, self, "0 parts"},
		{"an object without parts", `{"plan":"search"}`, self, "empty part"},
		{"an empty query", `[{"query":"  "}]`, self, "empty part"},
		{"a query of the wrong kind", `[{"query":7}]`, self, "no list"},
		{"depends_on of the wrong kind", `[{"query":"a","depends_on":"b"}]`, self, "no list"},
		{"a part that is not there", `[{"query":"a","depends_on":[3]}]`, self, "not there"},
		{"a negative place", `[{"query":"a","depends_on":[-1]}]`, self, "not there"},
		{"a circle of one", `[{"query":"a","depends_on":[0]}]`, self, "circle"},
		{"a circle of three",
			`[{"query":"a","depends_on":[2]},{"query":"b","depends_on":[0]},{"query":"c","depends_on":[1]}]`,
			self, "circle"},
		{"far too many", "[" + strings.TrimSuffix(strings.Repeat(`{"query":"a"},`, 11), ",") + "]", self, "11 parts"},
	} {
		parts, why := readPlan(tt.said, "the question")
		if diff := cmp.Diff(tt.want, partsInShort(parts)); diff != "" || !strings.Contains(why.String(), tt.why) ||
			(why == "") != (tt.why == "") {
			t.Errorf("%s: %q (-want +got):\n%s", tt.name, why, diff)
		}
		for _, p := range parts {
			if p.DependsOn == nil || p.Status != "pending" {
				t.Errorf("%s: part = %+v, want Status %q", tt.name, p, "pending")
			}
		}
	}
}

// partsInShort writes parts as "query <- prerequisites".
func partsInShort(parts []chat.PlanPart) []string {
	var out []string
	for _, p := range parts {
		s := p.Query
		if len(p.DependsOn) > 0 {
			s += fmt.Sprintf(" <- %v", p.DependsOn)
		}
		out = append(out, s)
	}
	return out
}

func TestModelErrorMessageNamesNextStep(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, user string
		kind       llm.ErrorKind
		want       string
	}{
		{"one of many users", "alice", llm.KindServer,
			"The model scripted can't answer, because its server failed: try again in a moment."},
		{"one of many users, who can't set the key", "alice", llm.KindAuth,
			"The model scripted can't answer, because its server rejected the API key: contact your " +
				"administrator."},
		{"who runs the server too", chat.LocalUser, llm.KindAuth,
			"The model scripted can't answer, because its server rejected the API key: see “footnote " +
				"doctor” and the server's log."},
		{"who runs the server too, and can wait", chat.LocalUser, llm.KindUnreachable,
			"The model scripted can't answer, because its server can't be reached: try again in a moment; see " +
				"“footnote doctor” and the server's log."},
	} {
		m := &modelCaller{state: &state{knowledge: knowledge{run: chat.Run{User: tt.user}}}, model: scripted.New()}
		if got := m.explainFor(&llm.Error{
			Kind: tt.kind, Message: "The model provider rejected the API key. Check OPENAI_API_KEY.",
		}); got.String() != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestParseJudgement(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		said, text string
		score      float64 // -1: none
	}{
		{`{"evaluation":"Good. Very good. Quite whole. And so on.","confidence":0.7}`,
			"Good. Very good. Quite whole.", 0.7},
		{"Here it is:\n```json\n{\"confidence\": \"80%\", \"evaluation\": \"Good.\"}\n```", "Good.", 0.8},
		{`{"evaluation":"Good.","confidence":"0.5"}`, "Good.", 0.5},
		{`{"evaluation":"Good.","confidence":-1}`, "Good.", -1},
		{`{"evaluation":"Good.","confidence":null}`, "Good.", -1},
		{`{"evaluation":"Good.","confidence":"NaN"}`, "Good.", -1},
		{`{"confidence":0}`, "The model gave a number only.", 0},
		{"All is answered.", "All is answered.", -1},
		{"…", "", -1},
	} {
		got := readJudgement(tt.said, nil)
		score := -1.0
		if got.score != nil {
			score = *got.score
		}
		if got.text != tt.text || score != tt.score {
			t.Errorf("readJudgement(%q) = %q, %v, want %q, %v", tt.said, got.text, score, tt.text, tt.score)
		}
	}
}

func TestConfidenceIsMinimumOfModelAndRules(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		model     *float64
		found     float64
		faultless bool
		cited     bool
		want      float64
	}{
		{"the model doubts", new(0.2), 0.9, false, true, 0.2},
		{"the passages do not bear it out", new(0.95), 0.4, false, true, 0.4},
		{"the model is surer", new(0.95), 0.72, true, true, 0.82},
		{"the model is a little surer", new(0.75), 0.72, true, true, 0.75},
		{"the model gave no number", nil, 0.9, false, true, 0.9},
		{"nothing was compared with passages", new(0.95), cite.UncheckedConfidence, true, false, 0.95},
		{"nothing was compared, and the model doubts", new(0.3), cite.UncheckedConfidence, true, false, 0.3},
		{"no sentence carries a footnote", new(0.95), 0.1, false, false, 0.1},
		{"a sentence is held by nothing, and the rest is", new(0.95), 0.8, false, false, 0.8},
	} {
		found := evaluation{confidence: tt.found, explained: "Found.", faultless: tt.faultless}
		if !tt.faultless {
			found.unsupported = []string{"It is so."}
		}
		if got, _ := (judgement{text: "Said.", score: tt.model}).combineWith(found, tt.cited); got != tt.want {
			t.Errorf("%s: confidence = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestUnsupportedSentenceNamesWrongSum(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ question, said, want string }{
		{"What is 2*3?", "2*3 = 7", "“2*3 = 7” is wrong: it is 6."},
		{"How much is the rent?", "Three months cost 3 × £1,150 = £3,500.",
			"“3 × £1,150 = £3,500” is wrong: it is 3450."},
		{"What is 2*3?", "It is 7.", "The result is 6, which is missing in the answer."},
		{"What is 2*3?", "There are 6 dragons.", ""},
		{"What is 1/3?", "1/3 = 0.33", ""},
		{"What is 2/3?", "2/3 = 0.7", ""},
		{"What is 2/3?", "2/3 = 0.5", "“2/3 = 0.5” is wrong: it is 0.666666666666667."},
		{"What is 2//0?", "It is 7.", "The result in the answer is unverified, because it was not calculated."},
		{"Who lives here?", "Room 12, 3rd floor = 5", ""},
	} {
		run := chat.Run{Request: chat.RunRequest{Message: tt.question}}
		found := &knowledge{
			run: run, asked: question.Analyse(tt.question, false), evidence: &cite.Evidence{},
		}
		got := ""
		for _, note := range found.sumNotes([]string{tt.said}) {
			got += note
		}
		if got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.question, tt.said, got, tt.want)
		}
	}
}

// The judge of an answer gets a long given text within the token limit, the answer's evidence first.
func TestJudgePromptFitsTokenLimit(t *testing.T) {
	t.Parallel()
	const first, filler, borne = "The house was painted in spring.",
		"Nothing of interest is told in this paragraph of the text.", "Anna works 80 percent of full time since March."
	given := first + "\n\n" + filler + "\n\n" + borne
	req, citer := chat.RunRequest{AddedContext: given}, &cite.Citer{Judge: support.NewJudge()}
	k := &knowledge{
		run: chat.Run{Request: req}, cite: citer, evidence: cite.NewEvidence(nil, citer, req),
	}
	const answer = "Anna works 80 percent of full time."
	for limit, want := range map[int]string{
		1000: given, estimateTokens(borne) + 1: borne,
		estimateTokens(borne) + estimateTokens(first) + 2: first + "\n\n" + borne, 3: "", -5: "",
	} {
		if got := k.shortenGiven(answer, limit); got != want {
			t.Errorf("in %d tokens: %q, want %q", limit, got, want)
		}
	}
}
