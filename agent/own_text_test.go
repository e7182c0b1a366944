package agent

import (
	"math"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// no is a judge that answers no to every question.
func no(string) float64 { return -1 }

func TestRequestWithoutDocumentsIsAnsweredDirectly(t *testing.T) {
	t.Parallel()
	for message, reply := range map[string]string{
		"Rewrite this more formally: gonna be late, traffic sucks": "I regret that traffic will delay me.",
		"Make this friendlier: Send me the report by Friday.":      "Could you kindly send me the report by Friday?",
		"Turn this into bullet points: We met, we ate, we left.":   "- We met.\n- We ate.\n- We left.",
		"Translate into German: Good morning, neighbours.":         "Guten Morgen, Nachbarn.",
		"Fix the spelling: teh cat sat":                            "The cat sat.",
		"Hello, how are you?":                                      "I am well, thanks. What would you like to know?",
		"Hi, can you help me?":                                     "Of course I can. What would you like to know?",
		"Can you sing?":                                            "No, I only read your documents.",
	} {
		for _, set := range []string{"", "strategy", "react"} {
			on := set != "react"
			model := scripted.New(says(reply))
			h := newHarness(t, model)
			got := h.answer(chat.RunRequest{Message: message, Toolset: set, Config: chat.RunConfig{
				EnableQueryDecomposition: &on, EnableSelfEvaluation: new(bool),
			}})
			if a := got.answer(); a.Markdown != reply || len(got.tools()) > 0 || len(model.Requests()) != 1 {
				t.Errorf("%s, %q: %q after %q and %d requests, want %q at once", message, set, a.Markdown, got.tools(),
					len(model.Requests()), reply)
			}
		}
	}
}

func TestUngroundedAnswerTriggersSearch(t *testing.T) {
	t.Parallel()
	for message, reply := range map[string]string{
		"Question: what is the capital of France?": "The capital of France is Paris.",
		"Do you allow pets?":                       "Yes, pets are allowed.",
	} {
		h := newHarness(t, scripted.NewScript(func(scripted.Request) scripted.Reply { return says(reply) }).JudgeBy(no))
		got := h.answer(asks(message))
		if a := got.answer(); strings.Contains(a.Markdown, reply) || len(got.tools()) == 0 {
			t.Errorf("%s: %q after %q, want a search and another answer", message, a.Markdown, got.tools())
		}
	}
}

func TestOfflineModelCannotRewriteGivenText(t *testing.T) {
	t.Parallel()
	h := newHarness(t, offline.New(nil, nil))
	for message, want := range map[string]string{
		"Rewrite this more formally: gonna be late, traffic sucks": "that needs a language model",
		"Make this friendlier: Send me the report by Friday.":      "that needs a language model",
		"Turn this into bullet points: We met, we ate, we left.":   "that needs a language model",
		"Translate into German: Good morning, neighbours.":         "that needs a language model",
		"Hello, how are you?":  "without a language model",
		"Hi, can you help me?": "without a language model",
	} {
		got := h.answer(asks(message))
		if a := got.answer(); !strings.Contains(a.Markdown, want) || len(got.tools()) > 0 || len(a.Unsupported) > 0 {
			t.Errorf("%s: %q after %q, unsupported %q; want %q and no search", message, a.Markdown, got.tools(),
				a.Unsupported, want)
		}
	}
}

func TestOfflineCitationIsQuotedForAnyPhrasing(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New())
	session := readBefore(h)
	for _, message := range []string{"What does [1] mean?", "What does citation 1 say exactly?"} {
		h.startAgent(offline.New(nil, nil))
		req := asks(message)
		req.SessionID = session
		if a := h.answer(req).answer(); !strings.Contains(a.Markdown, "28 days of paid holiday") ||
			!strings.HasPrefix(a.Markdown, "> ") {
			t.Errorf("%s: got %q, want the passage of the footnote", message, a.Markdown)
		}
	}
}

func TestModelDecidesWhetherDocumentsAreNeeded(t *testing.T) {
	t.Parallel()
	reply := "Rain taps on the roof.\nThe tenant counts 14 drops.\nSpring has signed the lease."
	for message, odds := range map[string]float64{
		"Could you polish the following sentence for me? Their going too the store tomorow.": 1,
		"Good morning! Hope you're well.":                  1,
		"Write me a haiku about spring":                    1,
		"Hi there, how's it going?":                        1,
		`Translate "The rent is due" into German`:          1,
		`Rephrase "Send me the report by Friday" politely`: 1,
		"Can you make this text shorter? The report, which was long, was sent by Friday to all members.": 1,
		"Who won the 1966 world cup final?": -1,
	} {
		model := scripted.NewScript(func(scripted.Request) scripted.Reply { return says(reply) }).JudgeBy(
			func(string) float64 { return odds },
		)
		h := newHarness(t, model)
		got := h.answer(asks(message))
		checks := model.Checks()
		if len(checks) != 1 || !strings.Contains(checks[0].Messages[1].Text, message) {
			t.Fatalf("%s: the judge was asked %+v, want the message once", message, checks)
		}
		a := got.answer()
		if odds < 0 {
			if strings.Contains(a.Markdown, reply) || len(got.tools()) == 0 {
				t.Errorf("%s: %q after %q, want a search and another answer", message, a.Markdown, got.tools())
			}
			continue
		}
		var steps []string
		for _, s := range got.ended() {
			steps = append(steps, s.Step)
		}
		if a.Markdown != reply || len(a.Unsupported) > 0 || strings.Join(steps, " ") != "analyse choose" {
			t.Errorf("%s: %q, unsupported %q, after %q; want %q after analyse and choose", message, a.Markdown,
				a.Unsupported, steps, reply)
		}
		if said := model.Requests(); len(said) != 1 || said[0].NoTools {
			t.Errorf("%s: %d requests, want one that may call tools", message, len(said))
		}
		// the tokens that the scripted judge reports
		if step := got.step("choose"); step.Tokens == nil || step.Tokens.In != 100 || a.Tokens.In < 200 {
			t.Errorf("%s: %+v tokens, %+v in all, want the verdict charged", message, step.Tokens, a.Tokens)
		}
	}
}

func TestModelWithoutDecisionIsAskedToSearch(t *testing.T) {
	t.Parallel()
	model := scripted.New(
		says("Spring is here."), calls(call("search_documents", `{"query":"spring"}`)), says(goodAnswer),
	).JudgeBy(func(string) float64 { return math.NaN() })
	h := newHarness(t, model)
	if got := h.answer(asks("Write me a haiku about spring")); len(got.tools()) == 0 {
		t.Errorf("answered %q without a search, want one", got.answer().Markdown)
	}
}

func TestRequestClassifiedAsTalkMaySearch(t *testing.T) {
	t.Parallel()
	for _, set := range []string{"", "react", "strategy"} {
		model := scripted.New(calls(call("retrieve", `{"query":"paid holiday"}`)), says(goodAnswer))
		h := newHarness(t, model)
		got := h.answer(chat.RunRequest{
			Message: "Translate into German: the number of days of paid holiday", Toolset: set,
			Config: chat.RunConfig{EnableSelfEvaluation: new(bool), EnabledTools: []string{"retrieve"}},
		})
		if a := got.answer(); a.Markdown != goodAnswer || len(a.Citations) != 1 || len(model.Checks()) > 0 {
			t.Errorf("%s: %q with %d citations and %d checks, want %q with its footnote and none", set, a.Markdown,
				len(a.Citations), len(model.Checks()), goodAnswer)
		}
		if first := model.Requests()[0]; first.NoTools || len(first.Tools) == 0 {
			t.Errorf("%s: the first request may not call tools, want it to", set)
		}
	}
}

func TestDocumentFreeReplyIsKeptAfterRuleSearch(t *testing.T) {
	t.Parallel()
	const reply = "Rain taps on the roof.\nThe gutters hum a soft song.\nSpring has signed the lease."
	for _, set := range []string{"react", "strategy"} {
		on := set == "react"
		plan := says(`[{"query":"haiku about spring","reason":"it is asked for"}]`)
		model := scripted.NewScript(func(r scripted.Request) scripted.Reply {
			if len(r.Tools) == 0 {
				return plan
			}
			return says(reply)
		})
		got := newHarness(t, model).answer(chat.RunRequest{
			Message: "Write me a haiku about spring", Toolset: set,
			Config: chat.RunConfig{EnableQueryDecomposition: &on, EnableSelfEvaluation: new(bool)},
		})
		if a := got.answer(); a.Markdown != reply || len(a.Unsupported) > 0 || len(model.Checks()) != 1 {
			t.Errorf("%s: %q, unsupported %q, after %d checks; want %q after one", set, a.Markdown, a.Unsupported,
				len(model.Checks()), reply)
		}
	}
}
