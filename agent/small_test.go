package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
	"github.com/footnote/footnote/text/english"
)

func small(c *Config) {
	c.Small = func(_ context.Context, _ string, measuring func()) string {
		measuring()
		return "30 tokens/s in"
	}
}

// A small model gets one short request: no tools, three passages as "[n] title: text", the question again at the end.
func TestSmallModelGetsOneShortRequest(t *testing.T) {
	t.Parallel()
	model := scripted.New(says(goodAnswer))
	h := newHarness(t, model, small)
	long := strings.Repeat("The guests of the house are asked to take part in the cleaning of the hall. ", 12)
	for i := range 8 {
		h.add(fmt.Sprintf("leave-%d.md", i), fmt.Sprintf(
			"# Leave %d\n\n%sOffice %d grants days of holiday on paper. %s", i, long, i, long,
		))
	}
	const question = "How many days of paid holiday does an employee get?"
	got := h.answer(asks(question))
	if a := got.answer(); a.Markdown != goodAnswer || len(a.Citations) != 1 {
		t.Errorf("answer %+v; want %q with 1 citation", a, goodAnswer)
	}
	if s := got.step("measure"); s.Status != chat.StatusComplete || !strings.Contains(s.Message, "30 tokens/s in") {
		t.Errorf("step = %+v; want it complete, with the measurement", s)
	}
	seen := model.Requests()
	if len(seen) != 1 || len(seen[0].Tools) != 0 || !seen[0].NoTools || seen[0].MaxTokens != 800 {
		t.Fatalf("%d requests, the first %+v; want one without tools and at most 800 tokens", len(seen), seen)
	}
	last := seen[0].Messages[len(seen[0].Messages)-1].Text
	_, end, again := strings.Cut(last[strings.LastIndex(last, "====="):], "Question: "+question+"\n")
	if !again || !strings.HasPrefix(end, "Answer the question") || !strings.HasSuffix(end, "[n].") {
		t.Errorf("the prompt ends %q; want the question again and [n]", end)
	}
	if n := strings.Count(last, "\n\n[") + strings.Count(last, "=====\n["); n != 3 {
		t.Errorf("%d passages are shown, want 3:\n%s", n, last)
	}
	if size := len(last) / 4; size > 900 {
		t.Errorf("the part that changes has about %d tokens, want at most 900", size)
	}
	if !strings.Contains(last, "grants days of holiday") {
		t.Errorf("an excerpt lacks the sentence that fits the question:\n%s", last)
	}
}

// The first search results and the quotes of the rules are shown alternately, a long passage from the quoted words
// on.
func TestSmallModelGetsQuotesOfRules(t *testing.T) {
	t.Parallel()
	const question, words = "What do offices grant?", "The boathouse is closed."
	quoted := 0
	rules := relay{func(_ context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
		return func(yield func(llm.Part, error) bool) {
			last := req.Messages[len(req.Messages)-1].Text
			for n := 2; req.NoTools; n++ { // the last passage that was found and is not the first
				if !strings.Contains(last, fmt.Sprintf(`"n":%d,`, n)) {
					break
				}
				quoted = n
			}
			_ = yield(llm.Text("> "+words), nil) && yield(llm.Quoted{Passage: quoted, Words: words}, nil)
		}
	}}
	model := scripted.New(says("Offices grant days of holiday [1]."))
	h := newHarness(t, model, small, func(c *Config) { c.Fallback = rules })
	long := strings.Repeat("The guests of the house are asked to take part in the cleaning of the hall. ", 12)
	for i := range 6 {
		h.add(fmt.Sprintf("leave-%d.md", i), fmt.Sprintf(
			"# Leave %d\n\n%s %sOffices grant days, what offices grant.", i, words, long))
	}
	h.answer(asks(question))
	last := model.Requests()[0].Messages[1].Text
	first, second := strings.Index(last, "\n[1] "), strings.Index(last, fmt.Sprintf("\n[%d] ", quoted))
	if quoted < 3 || first < 0 || second < first || strings.Index(last, "\n[2] ") < second {
		t.Fatalf("quote at %d; the prompt is:\n%s", quoted, last)
	}
	if !strings.Contains(last[second:], words) {
		t.Errorf("the excerpt of passage %d lacks the quoted words:\n%s", quoted, last[second:])
	}
}

// The prompt prefix of one question is in the server's prefix cache for the next.
func TestSmallModelPromptPrefixIsConstant(t *testing.T) {
	t.Parallel()
	model := scripted.New(says(goodAnswer), says(goodAnswer))
	h := newHarness(t, model, small)
	h.answer(asks("How many days of paid holiday does an employee get?"))
	h.add("more.md", "# More\n\nMore of it.")
	h.answer(asks("What is paid holiday for an employee?"))
	seen := model.Requests()
	if a, b := seen[0].Messages[0], seen[len(seen)-1].Messages[0]; a.Role != llm.RoleSystem || a.Text != b.Text {
		t.Errorf("rules differ:\n%s\n\n%s", a.Text, b.Text)
	}
}

func TestSmallModelPlansAndJudgesOnlyOnRequest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		asked *bool
		turns int
	}{{"not asked", nil, 1}, {"asked", new(true), 3}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			plan := says(`["days of holiday", "the notice period"]`)
			judged := says(`{"evaluation":"Good.","confidence":1}`)
			replies := []scripted.Reply{says(goodAnswer)}
			if tt.asked != nil {
				replies = []scripted.Reply{plan, says(goodAnswer), judged}
			}
			model := scripted.New(replies...)
			h := newHarness(t, model, small)
			h.answer(chat.RunRequest{
				Message: "How many days of holiday are there, and how long is the notice?", Toolset: "strategy",
				Config: chat.RunConfig{EnableQueryDecomposition: tt.asked, EnableSelfEvaluation: tt.asked},
			}).answer()
			if n := len(model.Requests()); n != tt.turns {
				t.Errorf("the model was asked %d times, want %d", n, tt.turns)
			}
		})
	}
}

// A small model gets passages although the rules classified its question as one about the list of documents.
func TestSmallModelGetsPassagesForListQuestion(t *testing.T) {
	t.Parallel()
	model := scripted.New(says(goodAnswer))
	h := newHarness(t, model, small)
	h.answer(asks("What documents grant paid holiday to an employee?"))
	last := model.Requests()[0].Messages[1].Text
	if !strings.Contains(last, "[1] Staff handbook, Staff handbook › Leave: ") ||
		!strings.Contains(last, `"documents":[`) {
		t.Errorf("the prompt lacks a passage or the list:\n%s", last)
	}
}

// The program replaces the footnotes of a small model: its sentences are better than its numbers.
func TestSmallModelFootnotesAreReplaced(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"Every employee is entitled to 28 days of paid holiday a year [2].",
		"Every employee is entitled to 28 days of paid holiday a year.",
	} {
		model := scripted.New(says(said))
		a := newHarness(t, model, small).answer(asks("How many days of paid holiday does an employee get?")).answer()
		if len(a.Citations) != 1 || !strings.Contains(a.Citations[0].Quote, "28 days") || len(model.Requests()) != 1 {
			t.Errorf("%q has the citations %+v after %d requests; want one with its words after 1", said, a.Citations,
				len(model.Requests()))
		}
	}
}

// Numbers, or the repeated question, are not an answer.
func TestRepeatedQuestionIsNotAnswer(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"[1]", "[1] [2]", "How many days of paid holiday does an employee get [1]?"} {
		model := scripted.New(says(said), says(goodAnswer))
		a := newHarness(t, model, small).answer(asks("How many days of paid holiday does an employee get?")).answer()
		if a.Markdown != goodAnswer {
			t.Errorf("after %q the answer is %q, want %q", said, a.Markdown, goodAnswer)
		}
	}
	const yes = "The roof covering is in poor condition [1]."
	h := newHarness(t, scripted.New(says(yes)), small)
	if a := h.answer(asks("Is the roof covering in poor condition?")).answer(); a.Markdown != yes {
		t.Errorf("the question as a statement became %q, want %q", a.Markdown, yes)
	}
}

// A withheld answer is replaced by quotes.
func TestQuotesReplaceWithheldAnswer(t *testing.T) {
	t.Parallel()
	const lie = "The canteen serves lobster to every dragon [1]."
	h := newHarness(t, scripted.New(calls(search("paid holiday")), says(lie), says(lie)), func(c *Config) {
		c.Fallback = offline.New(nil, nil)
	})
	got := h.answer(asks("How many days of paid holiday does an employee get?"))
	a := got.answer()
	if len(a.Citations) == 0 || strings.Contains(got.text(), "lobster") || got.step("fallback").Details["kind"] !=
		"unsupported" {
		t.Errorf("answer %+v; want quotes of the documents", a)
	}
}

// A model that refuses without a search gets the passages that rules find.
func TestRefusalWithoutSearchTriggersRuleSearch(t *testing.T) {
	t.Parallel()
	model := scripted.New(says(english.Refusal), says(goodAnswer))
	a := newHarness(t, model).answer(asks("How many days of paid holiday does an employee get?")).answer()
	if a.Markdown != goodAnswer || len(a.Citations) != 1 {
		t.Errorf("answer %+v, want %q", a, goodAnswer)
	}
}

// A reply that repeats itself is cut off, and the repetition is not shown.
func TestRepetitionTruncatesReply(t *testing.T) {
	t.Parallel()
	const again = "Unused days may be carried over until 31 March of the following year [1]."
	for name, reply := range map[string]string{
		"a sentence": goodAnswer + strings.Repeat(" "+again, 9),
		"a line":     goodAnswer + strings.Repeat("\n"+again, 9),
		"in turns":   strings.Repeat(goodAnswer+" "+again+" ", 9),
	} {
		h := newHarness(t, scripted.New(calls(search("paid holiday")), says(reply)))
		a := h.answer(asks("How many days of paid holiday does an employee get?")).answer()
		if n := strings.Count(a.Markdown, "Unused days"); n < 1 || n > 2 || !strings.HasPrefix(a.Markdown, goodAnswer) {
			t.Errorf("%s: the answer is %q; want no sentence again and again", name, a.Markdown)
		}
	}
}

// The retry of a rules-selected question differs: the model gets the error.
func TestRuleSelectionRetryIncludesError(t *testing.T) {
	t.Parallel()
	model := scripted.New(says(english.Refusal), calls(search("paid holiday")), says(goodAnswer))
	newHarness(t, model).answer(asks("What does Survey.md say about paid holiday?")).answer()
	seen := model.Requests()
	if last := seen[1].Messages[len(seen[1].Messages)-1]; len(seen) != 3 || !last.Aside {
		t.Errorf("the second of %d requests ends with %+v; want a word on the first", len(seen), last)
	}
}

// A small model overlooks facts in its passages: its refusal is replaced by quotes.
func TestQuotesReplaceRefusalOfSmallModel(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New(says(english.Refusal)), small, withFallback)
	a := h.answer(asks("How many days of paid holiday does an employee get?")).answer()
	if len(a.Citations) == 0 || !strings.Contains(a.Citations[0].Quote, "28 days") {
		t.Errorf("answer %+v; want a quote", a)
	}
}

// AnswerNow ends a reply in the middle, and its text is the answer.
func TestAnswerNowInterruptsReply(t *testing.T) {
	t.Parallel()
	searching := scripted.New(calls(search("paid holiday")))
	h := newHarness(t, relay{func(ctx context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
		if len(searching.Requests()) == 0 {
			return searching.Stream(ctx, req)
		}
		return func(yield func(llm.Part, error) bool) {
			if yield(llm.Text(goodAnswer+" Unused"), nil) {
				<-ctx.Done()
				yield(nil, &llm.Error{Kind: llm.KindCancelled, Message: "stopped", Err: ctx.Err()})
			}
		}
	}})
	run := h.ask(asks("How many days of paid holiday does an employee get?"))
	h.follow(run.ID, func(p chat.Payload) bool { _, ok := p.(chat.AnswerDelta); return ok })
	if err := h.runs.AnswerNow(t.Context(), chat.Local, run.ID); err != nil {
		t.Fatal(err)
	}
	a := h.wait(run.ID).answer()
	if a.StopReason != chat.StopAnswerNow || !strings.HasPrefix(a.Markdown, goodAnswer) {
		t.Errorf("answer %q, stopped %s; want what was written, stopped %s", a.Markdown, a.StopReason,
			chat.StopAnswerNow)
	}
}

// The prompt prefix of one question serves the next from the cache: all variable parts come after the rules.
func TestPromptPrefixIsConstantBeforeVariableParts(t *testing.T) {
	t.Parallel()
	looks := calls(search("paid holiday"))
	model := scripted.New(looks, says(goodAnswer), looks, says(goodAnswer))
	h := newHarness(t, model)
	h.answer(asks("How many days of paid holiday does an employee get?")).answer()
	h.add("more.md", "# More\n\nMore of it.")
	h.answer(asks("What does an employee get, in days of paid holiday?")).answer()
	seen := model.Requests()
	a, b := seen[0].Messages[0].Text, seen[2].Messages[0].Text
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	if !strings.Contains(a[:same], "The mark is ") { // of two marks some first characters may be the same
		t.Errorf("%d bytes of the prompts are the same, up to %q; want all of the rules", same, a[max(0, same-40):same])
	}
}

// Rows 39 and 49: a call that the server could not parse is requested again with its error, then the model must
// answer.
func TestUnparsableCallIsRetriedWithError(t *testing.T) {
	t.Parallel()
	bad := scripted.Reply{
		Err: &llm.Error{
			Kind: llm.KindBadCall, Message: "The model wrote a tool call that its server could not read.",
			Err: errors.New("unexpected <function"),
		},
	}
	t.Run("once", func(t *testing.T) {
		t.Parallel()
		model := scripted.New(bad, calls(search("holiday")), says(goodAnswer))
		h := newHarness(t, model)
		got := h.answer(asks("How many days of holiday are there?"))
		if a := got.answer(); a.Markdown != goodAnswer {
			t.Errorf("answer %q, want %q", a.Markdown, goodAnswer)
		}
		second := model.Requests()[1]
		if last := second.Messages[len(second.Messages)-1]; !last.Aside ||
			!strings.Contains(last.Text, "unexpected <function") || second.NoTools {
			t.Errorf("the second request ends with %+v; want Aside true and %q in it", last, "unexpected <function")
		}
		if s := got.step("review"); s.Status != chat.StatusError || s.Error == nil {
			t.Errorf("step = %+v, want Status %v", s, chat.StatusError)
		}
	})
	t.Run("twice", func(t *testing.T) {
		t.Parallel()
		model := scripted.New(calls(search("holiday")), bad, bad, says(goodAnswer))
		h := newHarness(t, model)
		if a := h.answer(asks("How many days of holiday are there?")).answer(); a.Markdown != goodAnswer ||
			len(a.Citations) != 1 {
			t.Errorf("answer %+v; want Markdown %v and 1 citation", a, goodAnswer)
		}
		if last := model.Requests()[3]; !last.NoTools {
			t.Error("third request offers tools, want none")
		}
	})
	t.Run("repeatedly", func(t *testing.T) {
		t.Parallel()
		h := newHarness(t, scripted.NewScript(func(scripted.Request) scripted.Reply { return bad }), withFallback)
		got := h.answer(asks("How many days of paid holiday are there?"))
		if a := got.answer(); !strings.Contains(a.Markdown, "28 days") {
			t.Errorf("answer %q, want %q in it", a.Markdown, "28 days")
		}
		got.step("fallback")
	})
}

// Row 48: a server that silently drops a part of the prompt is detected by its token count.
func TestDroppedPromptIsDetected(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("The mill stands by the river, and its wheel turns slowly. ", 800)
	for _, tt := range []struct {
		name  string
		usage llm.Usage
		want  int
	}{
		{"less than half", llm.Usage{In: 4096, Out: 5}, 1}, {"all of it", llm.Usage{In: 11_000, Out: 5}, 0},
		{"a count of the new part alone", llm.Usage{In: 40, Out: 5}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			reply := says("The wheel turns slowly.")
			reply.Usage = &tt.usage
			h := newHarness(t, scripted.NewScript(func(scripted.Request) scripted.Reply { return reply }))
			got := h.answer(chat.RunRequest{Message: "How does the wheel turn?", ContextText: long})
			got.answer()
			n := 0
			for _, s := range all[chat.Step](got) {
				if s.Step == "notice" {
					n++
					if !strings.Contains(s.Message, "4096") {
						t.Errorf("message %q, want %q in it", s.Message, "4096")
					}
				}
			}
			if n != tt.want {
				t.Errorf("%d notices, want %d", n, tt.want)
			}
		})
	}
}

// Row 47: a history that exceeds the context is shortened once, and the run continues.
func TestLongHistoryIsShortenedOnce(t *testing.T) {
	t.Parallel()
	long := scripted.Reply{
		Err: &llm.Error{Kind: llm.KindTooLong, Message: "The conversation exceeds the model's context limit."},
	}
	model := scripted.New(calls(search("holiday")), calls(search("notice period")), long, says(goodAnswer))
	h := newHarness(t, model, withFallback)
	got := h.answer(asks("How many days of paid holiday are there?"))
	if a := got.answer(); a.Markdown != goodAnswer {
		t.Errorf("answer %q, want %q", a.Markdown, goodAnswer)
	}
	before, after := size(model.Requests()[2]), size(model.Requests()[3])
	if after >= before {
		t.Errorf("%d runes before, %d after; want less than %d", before, after, before)
	}
}

func size(r llm.Request) (n int) {
	for _, m := range r.Messages {
		n += len(m.Text)
	}
	return n
}
