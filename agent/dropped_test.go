package agent

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/ground"
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/textcalls"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// droppedTexts returns the texts of the steps named dropped.
func droppedTexts(t *testing.T, steps []chat.Step) []string {
	t.Helper()
	var out []string
	for _, s := range steps {
		if s.Step != "dropped" {
			continue
		}
		var output struct{ Text string }
		if err := json.Unmarshal(s.ToolOutput, &output); err != nil || s.Message == "" || s.Result == nil ||
			s.Status != chat.StatusComplete || s.OutputSize < len(output.Text) {
			t.Errorf("step %+v, %v; want a message, a result, the whole size and status complete", s, err)
		}
		out = append(out, output.Text)
	}
	return out
}

// TestDroppedTextIsAStep checks the steps for the text that a run removes from replies.
func TestDroppedTextIsAStep(t *testing.T) {
	t.Parallel()
	const (
		other = "<|im_end|>\n<|im_start|>user\nAnd the roof?"
		asked = "How many days of paid holiday does an employee get?"
	)
	long := strings.Repeat("Is the roof as good as the handbook says it is? ", 400)
	for _, tt := range []struct {
		name    string
		replies []scripted.Reply
		answer  string
		want    []string
	}{
		{"a turn of the user", []scripted.Reply{calls(search("holiday")), says(goodAnswer + other)}, goodAnswer,
			[]string{other}},
		{"a turn of the user, before a search", []scripted.Reply{
			{Text: "I search." + other, Calls: []llm.Call{search("holiday")}}, says(goodAnswer),
		}, goodAnswer, []string{other}},
		{"a long turn of the user", []scripted.Reply{
			calls(search("holiday")), says(goodAnswer + "<|im_end|><|im_start|>" + long),
		}, goodAnswer, []string{("<|im_end|><|im_start|>" + long)[:400] + "…"}},
		{"a repetition", []scripted.Reply{
			calls(search("holiday")),
			{Chunks: []string{goodAnswer, "\nThere are", goodAnswer[9:] + "\n", "And the rest."}},
		}, goodAnswer, []string{goodAnswer}},
		{"a repetition at the end", []scripted.Reply{calls(search("holiday")), says(goodAnswer + "\n" + goodAnswer)},
			goodAnswer, []string{goodAnswer}},
		{"text behind a refusal", []scripted.Reply{calls(search("wages")),
			{Chunks: []string{ground.RefusalSentence + " But it may be 12 pounds."}}}, ground.RefusalSentence,
			[]string{"But it may be 12 pounds."}},
		{"calls of a reply that was cut", []scripted.Reply{
			{Calls: []llm.Call{search("holiday")}, Finish: llm.FinishLength}, calls(search("holiday")),
			says(goodAnswer),
		}, goodAnswer, []string{`search_documents {"query":"holiday"}`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, textcalls.New(scripted.New(tt.replies...), textcalls.Auto))
			got := h.answer(asks(asked))
			if a := got.answer(); strings.TrimSpace(a.Markdown) != tt.answer &&
				(tt.answer != ground.RefusalSentence || !ground.IsRefusal(a.Markdown)) {
				t.Errorf("answer %q, want %q", a.Markdown, tt.answer)
			}
			if dropped := droppedTexts(t, got.ended()); !slices.Equal(dropped, tt.want) {
				t.Errorf("dropped %q, want %q", dropped, tt.want)
			}
		})
	}
}

// TestDroppedAnswerIsAStepOfGather checks the steps for an answer that was not requested.
func TestDroppedAnswerIsAStepOfGather(t *testing.T) {
	t.Parallel()
	for said, want := range map[string][]string{"DONE.": nil, "The roof is poor.": {"The roof is poor."}} {
		find := calls(call("hybrid_search", `{"query":"roof condition"}`))
		h := newHouse(t, scripted.New(onePart, find, says(said), fits))
		got, err := h.runs.Gather(t.Context(), chat.LocalUser,
			chat.RunRequest{Message: "Why is the roof of the house in poor condition?"}, 2)
		if dropped := droppedTexts(t, got.Steps); err != nil || !slices.Equal(dropped, want) {
			t.Errorf("%q: dropped %q, %v; want %q", said, dropped, err, want)
		}
	}
}

// TestLateThoughtIsAStep checks the steps for a thought between two paragraphs of an answer.
func TestLateThoughtIsAStep(t *testing.T) {
	t.Parallel()
	h := newHouse(t, textcalls.New(scripted.New(calls(search("holiday")),
		says("<think>First.</think>"+goodAnswer+"\n<think>Is that all?</think>\nIt is.")), textcalls.Auto))
	var thoughts []string
	for _, s := range h.answer(asks("How many days of paid holiday does an employee get?")).ended() {
		if s.Step == "thinking" {
			thoughts = append(thoughts, s.Thought)
		}
	}
	if want := []string{"First.", "Is that all?"}; !slices.Equal(thoughts, want) {
		t.Errorf("thoughts %q, want %q", thoughts, want)
	}
}
