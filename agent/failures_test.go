package agent

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
	"github.com/footnote/footnote/text/english"
)

const goodAnswer = "There are 28 days of paid holiday a year [1]."

func search(query string) llm.Call { return call("search_documents", `{"query":"`+query+`"}`) }

func fails(kind llm.ErrorKind) scripted.Reply {
	return scripted.Reply{Err: &llm.Error{Kind: kind, Message: "connection refused"}}
}

func TestModelFallbackIsVisible(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		replies []scripted.Reply
	}{
		{"at its first word", []scripted.Reply{fails(llm.KindUnreachable)}},
		{"after a search", []scripted.Reply{calls(search("holiday")), fails(llm.KindServer)}},
		{"after text was shown",
			[]scripted.Reply{
				calls(search("holiday")),
				{Text: "There are some days of",
					Err: &llm.Error{Kind: llm.KindIncomplete, Message: "cut", Shown: true}},
			}},
		{"by saying nothing twice", []scripted.Reply{calls(search("holiday")), says(""), says(" ")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, scripted.New(tt.replies...), withFallback)
			got := h.answer(asks("How many days of paid holiday does an employee get?"))
			if a := got.answer(); !strings.Contains(a.Markdown, "28 days") || len(a.Citations) == 0 ||
				strings.Contains(got.text(), "some days") {
				t.Errorf("answer = %+v; want %q in it and some citations", a, "28 days")
			}
			if s := got.step("fallback"); s.Error == nil || s.Status != chat.StatusError ||
				!strings.Contains(s.Message, "offline") {
				t.Errorf("fallback step = %+v; want Status %v and %q in it", s, chat.StatusError, "offline")
			}
		})
	}
}

func TestRunWithoutFallbackFailsWithReason(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New(fails(llm.KindAuth)))
	got := h.answer(asks("How many days of holiday?"))
	if d := got.done(); d.Status != chat.RunFailed || d.Error.Code != chat.CodeModelFailed ||
		!strings.Contains(d.Error.Message, "rejected the API key") {
		t.Errorf("done = %+v; want Status %v, Error.Code %v, %q in it",
			d, chat.RunFailed, chat.CodeModelFailed, "rejected the API key")
	}
}

func TestInvalidCallsAreRepairedThenModelMustAnswer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		bad  llm.Call
		want string
	}{
		{"an unknown tool", call("delete_everything", `{}`), "There is no tool"},
		{"a token of the model's format in the name", call("searchh<|channel|>commentary", `{}`),
			`There is no tool \"searchh\"`},
		{"an argument out of range", call("search_documents", `{"query":"holiday","max_results":500}`), "maximum"},
		{"an unknown argument", call("search_documents", `{"query":"holiday","colour":"red"}`), "colour"},
		{"a missing argument", call("search_documents", `{}`), "query"},
		{"an argument of the wrong kind", call("search_documents", `{"query":7}`), "type"},
		{"malformed arguments",
			llm.Call{Name: "search_documents", Arguments: []byte(`{"query":`), Malformed: "unexpected end"},
			"unexpected end"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			model := scripted.New(calls(tt.bad), calls(search("holiday")), says(goodAnswer))
			h := newHarness(t, model)
			got := h.answer(asks("How many days of holiday are there?"))
			got.answer()
			bad := got.ended()[1]
			if bad.Status != chat.StatusError || !strings.Contains(string(bad.ToolOutput), tt.want) {
				t.Errorf("step = %+v, output %s, want Status %v", bad, bad.ToolOutput, chat.StatusError)
			}
			msgs := model.Requests()[1].Messages
			if told := msgs[len(msgs)-1]; told.Role != llm.RoleTool || !strings.Contains(told.Text, tt.want) {
				t.Errorf("tool message = %q, want %q in it", told.Text, tt.want)
			}
		})
	}
	t.Run("third repetition", func(t *testing.T) {
		t.Parallel()
		bad := calls(call("search_documents", `{}`))
		model := scripted.New(calls(search("holiday")), bad, bad, bad, says(goodAnswer))
		h := newHarness(t, model)
		h.answer(asks("How many days of holiday are there?")).answer()
		if last := model.Requests()[4]; !last.NoTools {
			t.Error("last request offers tools, want none")
		}
	})
}

func TestRepeatedCallIsCachedThenRefused(t *testing.T) {
	t.Parallel()
	model := scripted.New(calls(search("holiday")),
		calls(call("search_documents", `{"query":" holiday ","max_results":10}`)), calls(search("holiday")),
		says(goodAnswer))
	h := newHarness(t, model)
	steps := h.answer(asks("How many days of holiday are there?")).ended()
	if steps[1].Cached || !steps[2].Cached || steps[2].Status != chat.StatusComplete {
		t.Errorf("first cached = %v, second = %+v; want Cached true and Status %v",
			steps[1].Cached, steps[2], chat.StatusComplete)
	}
	if steps[3].Status != chat.StatusSkipped || !strings.Contains(string(steps[3].ToolOutput), "twice already") {
		t.Errorf("third = %+v, want Status %v", steps[3], chat.StatusSkipped)
	}
}

func TestExhaustedBudgetForcesAnswer(t *testing.T) {
	t.Parallel()
	one, two := 1, 2
	for _, tt := range []struct {
		name   string
		config chat.RunConfig
		want   chat.StopReason
	}{
		{"of steps", chat.RunConfig{MaxSteps: &two}, chat.StopMaxSteps},
		{"of retrieval calls", chat.RunConfig{MaxRetrievalCalls: &one}, chat.StopMaxRetrievalCalls},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			model := scripted.NewScript(func(r scripted.Request) scripted.Reply {
				if r.NoTools {
					return says(goodAnswer)
				}
				return calls(search("holiday " + strings.Repeat("x", r.N)))
			})
			h := newHarness(t, model)
			a := h.answer(chat.RunRequest{Message: "How many days of holiday?", Config: tt.config}).answer()
			if a.StopReason != tt.want || len(a.Citations) != 1 || a.StepsUsed != 2 {
				t.Errorf("stop = %s after %d steps, %d citations; want %s, 1 citation, 2",
					a.StopReason, a.StepsUsed, len(a.Citations), tt.want)
			}
		})
	}
}

func TestStopReasonNamesExhaustedBudget(t *testing.T) {
	t.Parallel()
	ten := 10
	for _, tt := range []struct {
		name  string
		reply scripted.Reply
		want  chat.StopReason
	}{
		{"tokens", scripted.Reply{Calls: []llm.Call{search("holiday")}, Usage: &llm.Usage{In: 300_000, Out: 10}},
			chat.StopMaxTokens},
		{"calls that can't be read",
			scripted.Reply{Calls: []llm.Call{{Name: "search_documents", Malformed: "{", Arguments: []byte("{}")}}},
			chat.StopUnusableCalls},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			model := scripted.NewScript(func(r scripted.Request) scripted.Reply {
				if r.NoTools {
					return says(goodAnswer)
				}
				return tt.reply
			})
			a := newHarness(t, model).answer(chat.RunRequest{
				Message: "How many days of holiday?", Config: chat.RunConfig{MaxSteps: &ten},
			}).answer()
			if a.StopReason != tt.want || a.StepsUsed >= ten {
				t.Errorf("stop reason = %s after %d of %d steps, want %s after fewer", a.StopReason, a.StepsUsed,
					ten, tt.want)
			}
		})
	}
}

func TestAnswerWithoutFootnotesIsRetried(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New(calls(search("holiday")), says("Everybody has four weeks off."), says(goodAnswer)))
	got := h.answer(asks("How many days of holiday are there?"))
	if a := got.answer(); a.Markdown != goodAnswer || len(a.Citations) != 1 || got.text() != goodAnswer {
		t.Errorf("answer = %q, shown %q; want %q and %q", a.Markdown, got.text(), goodAnswer, goodAnswer)
	}
	h.startAgent(
		scripted.New(calls(search("holiday")), says("The canteen closes at noon."),
			says("The canteen still closes at noon.")),
	)
	if got := h.answer(
		asks("How many days of holiday are there?"),
	); got.done().Status != chat.RunCitationValidationFailed || got.text() != "" {
		t.Errorf("it ended %+v and shows %q; want Status %v and nothing",
			got.done(), got.text(), chat.RunCitationValidationFailed)
	}
}

func TestClaimWithoutPassageSupportIsUnsupported(t *testing.T) {
	t.Parallel()
	h := newHarness(
		t, scripted.New(calls(search("holiday")),
			says("There are 28 days of paid holiday a year [1]. The canteen serves 400 lunches on Fridays [1].")),
	)
	a := h.answer(asks("How many days of holiday are there?")).answer()
	if len(a.Unsupported) != 1 || !strings.HasPrefix(a.Unsupported[0], "The canteen") {
		t.Errorf("unsupported = %q; want 1 and %q at its beginning", a.Unsupported, "The canteen")
	}
}

func TestAnswerWithoutSourcesIsRefused(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New(calls(search("zzyzx")), says("Paris is the capital of France.")))
	got := h.answer(asks("What is the capital of France?"))
	a := got.answer()
	// the second in other words
	if a.StopReason != chat.StopRefused || !strings.HasPrefix(a.Markdown, english.Refusal) ||
		got.text() != a.Markdown ||
		len(a.Coverage.EmptySearches) != 2 {
		t.Errorf("answer = %+v, shown %q; want StopReason %v, %q at its beginning, %q, 2 empty searches",
			a, got.text(), chat.StopRefused, english.Refusal, a.Markdown)
	}
}

func TestRefusalIsExactAndHasNoFootnotes(t *testing.T) {
	t.Parallel()
	h := newHarness(
		t, scripted.New(calls(search("holiday lunch")),
			says("I couldn’t find relevant information about that in your documents. I looked for lunches [1].")),
	)
	a := h.answer(asks("What is for lunch?")).answer()
	if a.StopReason != chat.StopRefused || len(a.Citations) != 0 ||
		!strings.HasPrefix(a.Markdown, english.Refusal+" I searched for: holiday lunch. ") {
		t.Errorf("answer = %+v; want StopReason %v, no citations, Markdown %v and the searches", a,
			chat.StopRefused,
			english.Refusal)
	}
}

func TestGivenTextNeedsNoSearch(t *testing.T) {
	t.Parallel()
	model := scripted.New(says("The code is 4711 [1]."))
	h := newHarness(t, model)
	req := chat.RunRequest{Message: "What is the code?", ContextText: "The door code is 4711.\n\nThe alarm is off."}
	got := h.answer(req)
	if a := got.answer(); a.Markdown != "The code is 4711." || len(a.Citations) != 0 ||
		len(model.Requests()[0].Tools) != 0 {
		t.Errorf("answer = %+v; want Markdown %q and no citations", a, "The code is 4711.")
	}
	if s := all[chat.RunStarted](got)[0]; s.Mode != chat.ModeContextConstrained {
		t.Errorf("mode = %s, want %s", s.Mode, chat.ModeContextConstrained)
	}
	h.startAgent(offline.New(nil, nil))
	if a := h.answer(req).answer(); !strings.Contains(a.Markdown, "4711") || strings.Contains(a.Markdown, "[") {
		t.Errorf("offline answer = %q; want %q in it and no %q in it", a.Markdown, "4711", "[")
	}
}

func TestTruncatedTurnsRunNoCalls(t *testing.T) {
	t.Parallel()
	cut := calls(search("holiday"))
	cut.Finish = llm.FinishLength
	h := newHarness(t, scripted.New(cut, calls(search("holiday")), says(goodAnswer)))
	got := h.answer(asks("How many days of holiday are there?"))
	got.answer()
	tools := 0
	for _, s := range got.ended() {
		if s.ToolName != "" {
			tools++
		}
	}
	if tools != 1 {
		t.Errorf("%d calls ran, want 1", tools)
	}
}

func TestAnswerIsTruncatedAtTokenLimit(t *testing.T) {
	t.Parallel()
	cut := says(goodAnswer)
	cut.Finish = llm.FinishLength
	h := newHarness(t, scripted.New(calls(search("holiday")), cut))
	a := h.answer(asks("How many days of holiday are there?")).answer()
	if a.StopReason != chat.StopLength || len(a.Notes) != 1 || !strings.Contains(a.Notes[0], "cut") {
		t.Errorf("stop reason %q with notes %q, want %q and a note", a.StopReason, a.Notes, chat.StopLength)
	}
}

func TestProviderRefusalIsNotAnswer(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New(scripted.Reply{Text: "I can", Finish: llm.FinishFilter}))
	if d := h.answer(asks("How?")).done(); d.Status != chat.RunGuardrailTriggered ||
		d.Error.Code != chat.CodeGuardrail {
		t.Errorf("done = %+v; want Status %v and Error.Code %v", d, chat.RunGuardrailTriggered, chat.CodeGuardrail)
	}
}

func TestInvalidQuestionsAreRejected(t *testing.T) {
	t.Parallel()
	h := newHarness(t, offline.New(nil, nil), func(c *Config) { c.MaxRuns = 1 })
	hot, cold, warm, none, many, beyond := 3.0, -0.1, 1.1, 0, 51, 21
	for _, tt := range []struct {
		name string
		req  chat.RunRequest
	}{
		{"an empty question", asks(" \n")},
		{"a question of a mebibyte", asks(strings.Repeat("a", 1<<20))},
		{"an unknown toolset", chat.RunRequest{Message: "Hi", Toolset: "hammers"}},
		{"an unknown tool", chat.RunRequest{Message: "Hi", Config: chat.RunConfig{EnabledTools: []string{"hammer"}}}},
		{"no steps", chat.RunRequest{Message: "Hi", Config: chat.RunConfig{MaxSteps: &none}}},
		{"a temperature over 2", chat.RunRequest{Message: "Hi", Config: chat.RunConfig{Temperature: &hot}}},
		{"a temperature under 0", chat.RunRequest{Message: "Hi", Config: chat.RunConfig{Temperature: &cold}}},
		{"a temperature that is no number",
			chat.RunRequest{Message: "Hi", Config: chat.RunConfig{Temperature: new(math.NaN())}}},
		{"a temperature over 1 with documentation",
			chat.RunRequest{Message: "Hi", Toolset: "documentation", Config: chat.RunConfig{Temperature: &warm}}},
		{"too many steps", chat.RunRequest{Message: "Hi", Config: chat.RunConfig{MaxSteps: &many}}},
		{"no retrieval calls", chat.RunRequest{Message: "Hi", Config: chat.RunConfig{MaxRetrievalCalls: &none}}},
		{"more passages than documentation gives",
			chat.RunRequest{Message: "Hi", Toolset: "documentation", Config: chat.RunConfig{RetrievalTopK: &beyond}}},
		{"no passages", chat.RunRequest{Message: "Hi", Config: chat.RunConfig{RetrievalTopK: &none}}},
		{"too many passages", chat.RunRequest{Message: "Hi", Config: chat.RunConfig{RetrievalTopK: &many}}},
		{"a session id with a slash", chat.RunRequest{Message: "Hi", SessionID: "../etc"}},
	} {
		_, _, err := h.runs.Start(t.Context(), chat.LocalUser, tt.req)
		if chat.CodeOf(orEmpty(err)) != chat.CodeInvalid ||
			!strings.HasSuffix(chat.MessageOf(orEmpty(err)).String(), ".") {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestConcurrentRunLimit(t *testing.T) {
	t.Parallel()
	h := newHarness(t, hanging{}, func(c *Config) { c.MaxRuns = 1 })
	run := h.ask(asks("Wait"))
	if _, _, err := h.runs.Start(t.Context(), chat.LocalUser, asks("Me too")); err == nil ||
		chat.CodeOf(err) != chat.CodeTooMany {
		t.Errorf("err = %v, want %v", err, chat.CodeTooMany)
	}
	if err := h.runs.Cancel(t.Context(), chat.Local, run.ID); err != nil {
		t.Fatal(err)
	}
	h.wait(run.ID)
}

func TestRefusalNamesReachedLimit(t *testing.T) {
	t.Parallel()
	one := 1
	for _, tt := range []struct {
		name    string
		budget  chat.RunConfig
		replies []scripted.Reply
		notes   []string
	}{
		{"of steps", chat.RunConfig{MaxSteps: &one}, []scripted.Reply{calls(search("unicorns"))},
			[]string{"Search limit reached: max_steps (1)."}},
		{"of retrieval calls", chat.RunConfig{MaxRetrievalCalls: &one},
			[]scripted.Reply{calls(search("unicorns")), calls(search("horses"))},
			[]string{"Search limit reached: max_retrieval_calls (1)."}},
		{"none", chat.RunConfig{}, []scripted.Reply{calls(search("unicorns"))}, nil},
	} {
		h := newHarness(t, scripted.New(append(tt.replies, says(english.Refusal))...))
		a := h.answer(chat.RunRequest{Message: "Where do the unicorns sleep?", Config: tt.budget}).answer()
		if a.StopReason != chat.StopRefused || !slices.Equal(a.Notes, tt.notes) {
			t.Errorf("%s: %s with the notes %q, want %s with %q", tt.name, a.StopReason, a.Notes, chat.StopRefused,
				tt.notes)
		}
	}
}

func TestAnswerIsJudgedByRulesOrModel(t *testing.T) {
	t.Parallel()
	on, off := true, false
	const ruled = "1 of 1 sentence with footnotes is supported"
	for _, tt := range []struct {
		name   string
		wanted *bool
		reply  *scripted.Reply // to the question after the answer
		want   string
		sure   float64
		status chat.Status // of the step; empty: there is none
	}{
		{"left out: by rules", nil, nil, ruled, 1, ""},
		{"switched off: not at all", &off, nil, "", 1, ""},
		{"by the model, in four sentences", &on,
			&scripted.Reply{
				Text: `{"evaluation":"It is short. It is right. It lacks a date. It could say more.","confidence":0.6}`,
			}, "It is short. It is right. It lacks a date. The model's confidence is 0.60. " + ruled, 0.6,
			chat.StatusComplete},
		{"by the model, without a number", &on, &scripted.Reply{Text: "It answers the whole question. It is good."},
			"It answers the whole question. It is good. " + ruled, 1, chat.StatusComplete},
		{"by the model, less sure than the rules", &on,
			&scripted.Reply{Text: `{"evaluation":"It lacks a source.","confidence":0.6}`},
			"It lacks a source. The model's confidence is 0.60. " + ruled, 0.6, chat.StatusComplete},
		{"by the model, out of range", &on, &scripted.Reply{Text: `{"evaluation":"It is complete.","confidence":7}`},
			"It is complete. " + ruled, 1, chat.StatusComplete},
		{"by a model that says nothing", &on, &scripted.Reply{Text: " … "}, ruled, 1, chat.StatusSkipped},
		{"by a model that fails", &on, &scripted.Reply{Err: &llm.Error{Kind: llm.KindServer, Message: "down"}}, ruled,
			1, chat.StatusSkipped},
	} {
		replies := []scripted.Reply{calls(search("paid holiday")), says(goodAnswer)}
		if tt.reply != nil {
			replies = append(replies, *tt.reply)
		}
		model := scripted.New(replies...)
		h := newHarness(t, model)
		got := h.answer(chat.RunRequest{
			Message: "How many days of holiday are there?", Config: chat.RunConfig{EnableSelfEvaluation: tt.wanted},
		})
		a := got.answer()
		if tt.want == "" && a.SelfEvaluation != "" || !strings.HasPrefix(a.SelfEvaluation, tt.want) ||
			a.Confidence != tt.sure {
			t.Errorf("%s: %q, confidence %v; want %q…, %v", tt.name, a.SelfEvaluation, a.Confidence, tt.want, tt.sure)
		}
		if a.Markdown != goodAnswer || got.text() != goodAnswer {
			t.Errorf("%s: answer = %q, shown %q; want %q and %q",
				tt.name, a.Markdown, got.text(), goodAnswer, goodAnswer)
		}
		var status chat.Status
		for _, s := range got.ended() {
			if s.Step == "reflect" {
				status = s.Status
			}
		}
		if status != tt.status || len(model.Requests()) != len(replies) {
			t.Errorf("%s: step %q, want %q; %d requests, want %d", tt.name, status, tt.status, len(model.Requests()),
				len(replies))
		}
		if tt.reply != nil {
			asked := model.Requests()[2]
			if shown := asked.Messages[1].Text; !asked.NoTools || len(asked.Tools) > 0 ||
				!strings.Contains(shown, "28 days of paid holiday a year, including") ||
				!strings.HasPrefix(shown, "===== data") {
				t.Errorf("%s: the model was asked %q; want %q in it and %q at its beginning",
					tt.name, shown, "28 days of paid holiday a year, including", "===== data")
			}
		}
	}
}

func TestRefusalIsNotJudgedByModel(t *testing.T) {
	t.Parallel()
	on := true
	model := scripted.New(calls(search("football")), says(english.Refusal))
	h := newHarness(t, model)
	req := chat.RunRequest{
		Message: "Who won the football world cup?", Config: chat.RunConfig{EnableSelfEvaluation: &on},
	}
	if a := h.answer(req).answer(); a.StopReason != chat.StopRefused || len(model.Requests()) != 2 {
		t.Errorf("answer = %+v after %d requests; want StopReason %v and 2", a, len(model.Requests()), chat.StopRefused)
	}
	h.startAgent(offline.New(nil, nil))
	if a := h.answer(chat.RunRequest{
		Message: "How many days of paid holiday are there?", Config: req.Config,
	}).answer(); !strings.Contains(a.SelfEvaluation, "supported by") {
		t.Errorf("without a model: %q, want %q in it", a.SelfEvaluation, "supported by")
	}
}

func TestPlansAndJudgementsUseTemperatureZero(t *testing.T) {
	t.Parallel()
	on, warm := true, 0.9
	model := scripted.New(
		says(`{"sub_queries":[{"query":"paid holiday"}]}`), calls(search("paid holiday")), says(goodAnswer),
		says(`{"evaluation":"It is complete.","confidence":0.9}`),
	)
	h := newHarness(t, model)
	h.answer(chat.RunRequest{Message: "How many days of paid holiday are there?", Config: chat.RunConfig{
		Temperature: &warm, EnableQueryDecomposition: &on, EnableSelfEvaluation: &on,
	}}).answer()
	var got []float64
	for _, r := range model.Requests() {
		got = append(got, *r.Temperature)
	}
	if want := []float64{0, warm, warm, 0}; !slices.Equal(got, want) {
		t.Errorf("temperatures of plan, turns and judgement = %v, want %v", got, want)
	}
}
