package textcalls

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/agent/llm"
)

// Text and thoughts, in the forms in which servers leave thoughts and tokens in the text; whole and a byte at a
// time.
func TestThoughtsAreNotShown(t *testing.T) {
	t.Parallel()
	const answer = "The roof is poor [1]."
	for _, tt := range []struct{ name, text, said, thought string }{
		{"think", "<think>\nIs it?\n</think>\n\n" + answer, answer, "\nIs it?\n"},
		{"an empty thought", "<think>\n\n</think>\n\n" + answer, answer, "\n\n"},
		{"without its opening tag", "Is it?\n</think>\n\n" + answer, answer, "Is it?\n"},
		{"never closed", "<think>\nIs it? " + answer, "", "\nIs it? " + answer},
		{"twice", "<think>a</think><think>\nb\n</think>" + answer, answer, "a\nb\n"},
		{"opened twice", "<think><think>a</think>\n" + answer, answer, "<think>a"},
		{"closed twice", "<think>a</think>\n</think>\n" + answer, answer, "a"},
		{"closed again later", "<think>a</think>\nOne.\n</think>\nTwo.", "One.\n\nTwo.", "a"},
		{"between paragraphs", "One.\n<think>Really?</think>\nTwo.", "One.\n\nTwo.", "Really?"},
		{"a call before it closes", "<think>\nSearch.\n<tool_call>{}</tool_call>", "<tool_call>{}</tool_call>",
			"\nSearch.\n"},
		{
			"other tags",
			"<thinking>a</thinking><reasoning>b</reasoning><seed:think>c</seed:think>[THINK]d[/THINK]" + answer,
			answer, "abcd",
		},
		{"a channel", "<|channel>thought\na\n<channel|>" + answer, answer, "\na\n"},
		{"with a solution",
			"<|begin_of_thought|>a<|end_of_thought|><|begin_of_solution|>" + answer + "<|end_of_solution|>",
			answer, "a"},
		{"a wrapped answer", "<think>a</think><answer>" + answer + "</answer>", answer, "a"},
		{"steps", "Thought: I know it.\nFinal Answer: " + answer, answer, "I know it."},
		{"steps in bold", "**Thought:** I know it.\n\n**Final Answer:** " + answer, answer, "I know it."},
		{"a final answer", "Final Answer: " + answer, answer, ""},

		{"chatml", answer + "<|im_end|>", answer, ""},
		{"chatml, and the next turn", answer + "<|im_end|>\n<|im_start|>user\nAnd the damp?<|im_end|>", answer, ""},
		{"llama", "<|start_header_id|>assistant<|end_header_id|>\n\n" + answer + "<|eot_id|>", answer, ""},
		{"gemma", "<start_of_turn>model\n" + answer + "<end_of_turn>\n", answer + "\n", ""},
		{"mistral", "[/INST] " + answer + "</s>", answer, ""},
		{"deepseek", answer + "<｜end▁of▁sentence｜>", answer, ""},
		{"several", answer + "<|end|><|endoftext|>", answer, ""},
		{"command-r", "<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>" + answer + "<|END_RESPONSE|>",
			answer, "a"},

		// Ordinary text has priority.
		{"tags in code", "A thought stands between `<think>` and `</think>`.",
			"A thought stands between `<think>` and `</think>`.", ""},
		{"tags in a block", "See:\n```\n<think>\nx\n</think>\n<|im_end|>\n```\n" + answer,
			"See:\n```\n<think>\nx\n</think>\n<|im_end|>\n```\n" + answer, ""},
		{"tags in a line", "The tag <think> opens and </think> closes.",
			"The tag <think> opens and </think> closes.", ""},
		{"a tag that never closes", "Write:\n<think>\nand go on.", "Write:\n<think>\nand go on.", ""},
		{"tokens in a line", "A turn ends with <|im_end|> or </s> there.",
			"A turn ends with <|im_end|> or </s> there.", ""},
		{"a thought as a word", "Thought: the last frontier, by A. Brown.",
			"Thought: the last frontier, by A. Brown.", ""},
		{"brackets", "[1] and <b> and a < b, [INST] too.", "[1] and <b> and a < b, [INST] too.", ""},
		{"spaces", "  indented\n\n\ttext \n", "  indented\n\n\ttext \n", ""},
	} {
		for way, chunks := range map[string][]string{
			"whole": {tt.text}, "a byte at a time": strings.Split(tt.text, ""),
		} {
			if said, thought := utter(chunks, false); said != tt.said || thought != tt.thought {
				t.Errorf("%s, %s: said %q, want %q; thought %q, want %q", tt.name, way, said, tt.said, thought,
					tt.thought)
			}
		}
	}
}

// utter filters a reply in chunks.
func utter(chunks []string, unopened bool) (said, thought string) {
	f := thinkingFilter{unopened: unopened}
	for i := 0; i <= len(chunks); i++ {
		piece := ""
		if i < len(chunks) {
			piece = chunks[i]
		}
		for _, part := range f.takePiece(piece, i == len(chunks)) {
			switch p := part.(type) {
			case llm.Text:
				said += string(p)
			case llm.Reasoning:
				thought += string(p)
			case llm.Rethought:
				said, thought = "", thought+said
			}
		}
	}
	return said, thought
}

// A model whose thoughts lack the opening tag is recognised, so that the next thought is not shown first.
func TestThoughtsWithoutOpeningTagAreRecognized(t *testing.T) {
	t.Parallel()
	const reply = "Is it?\n</think>\n\nThe roof is poor [1]."
	f := thinkingFilter{unopened: true}
	var shown []llm.Part
	for _, piece := range strings.Split(reply, "") {
		shown = append(shown, f.takePiece(piece, false)...)
	}
	shown = append(shown, f.takePiece("", true)...)
	if len(shown) == 0 || shown[0] != llm.Reasoning("Is it?\n") || !f.learnt {
		t.Errorf("shown %q, learnt %v, want some", shown, f.learnt)
	}
	said, thought := utter(strings.Split("The roof is poor [1].", ""), true)
	if diff := cmp.Diff([]string{"The roof is poor [1].", ""}, []string{said, thought}); diff != "" {
		t.Errorf("a reply without a thought: %s, want nothing", diff)
	}
	if said, thought := utter(strings.Split("<think>a</think>b", ""), true); said != "b" || thought != "a" {
		t.Errorf("a reply that opens its thought: said %q, thought %q; want %q and %q", said, thought, "b", "a")
	}
}

// Fuzzing: the result is the same whole and in chunks, and text without a tag is unchanged.
func FuzzThoughts(f *testing.F) {
	for _, seed := range []string{
		"", "x", "<think>a</think>b", "a\n</think>\nb", "a<|im_end|>\n<|im_start|>user", "```\n<think>\n```",
		"Thought: a\nFinal Answer: b", "<answer>a</answer>", "[THINK]", "a\n<think>b", "`</s>`</s>",
	} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, text string, unopened bool) {
		if len(text) > 1<<12 {
			return
		}
		said, thought := utter([]string{text}, unopened)
		said2, thought2 := utter(strings.Split(text, ""), unopened)
		if said != said2 || thought != thought2 {
			t.Fatalf("%q: said %q and %q, thought %q and %q; want %q and %q",
				text, said, said2, thought, thought2, said2, thought2)
		}
		if !strings.ContainsAny(text, "<[:") && (said != text && strings.TrimSpace(text) != "" || thought != "") {
			t.Fatalf("%q: got text %q, thought %q", text, said, thought)
		}
	})
}
