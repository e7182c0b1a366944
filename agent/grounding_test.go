package agent

import (
	"context"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/cite"
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/e2e/scripted"
	"github.com/footnote/footnote/text/english"
)

// searchless is a library whose search fails.
type searchless struct{ tools.Library }

func (searchless) Search(context.Context, chat.Scope, corpus.Query) (corpus.Results, error) {
	return corpus.Results{}, &chat.Error{Code: chat.CodeUnavailable, Message: "The index does not answer."}
}

// stubborn makes one call, then repeats the same reply.
func stubborn(first scripted.Reply, said string) *scripted.Model {
	return scripted.NewScript(func(r scripted.Request) scripted.Reply {
		if r.N == 0 {
			return first
		}
		return says(said)
	})
}

const invented = "The king keeps seven dragons in the cellar of the old mill."

func TestToolResultsSupportOnlyTheirContent(t *testing.T) {
	t.Parallel()
	s := newOrderServer(t, true)
	for _, tt := range []struct {
		name  string
		asks  string
		first scripted.Reply
		said  string
		tools []string
	}{
		{"a sum", "Who keeps what in the cellar of 12 Mill Lane?", calls(call("calculate", `{"expression":"1+1"}`)),
			invented, nil},
		{"a result of something else", "Who keeps what in the cellar of 12 Mill Lane?",
			calls(call("calculate", `{"expression":"2*3"}`)), "There are 6 dragons.", nil},
		{"the library's list", "Who keeps what in the cellar of 12 Mill Lane?", calls(call("list_documents", `{}`)),
			invented, nil},
		{"the list, by the name of a document", "Does the cellar of 12 Mill Lane flood?",
			calls(call("list_documents", `{}`)),
			"According to the Building survey of 12 Mill Lane, the cellar floods every winter.", nil},
		{"a search of the list", "Who keeps what in the cellar of 12 Mill Lane?",
			calls(call("metadata_search", `{"filters":{"filename":"Survey.md"}}`)), invented, nil},
		{"what the library is said to hold beside the list", "Who keeps what in the cellar of 12 Mill Lane?",
			calls(call("list_documents", `{}`)), "Your library holds seven dragons.", nil},
		{"nothing but a sum is allowed", "Who keeps what in the cellar of 12 Mill Lane?",
			calls(call("calculate", `{"expression":"1+1"}`)), invented, []string{"calculate"}},
		{"in code", "Who keeps what in the cellar of 12 Mill Lane?", calls(call("calculate", `{"expression":"1+1"}`)),
			"```\n" + invented + "\n```", []string{"calculate"}},
		{"in a heading", "Who keeps what in the cellar of 12 Mill Lane?",
			calls(call("calculate", `{"expression":"1+1"}`)), "# " + invented, []string{"calculate"}},
		{"another server's tool", "Who keeps what in the cellar of 12 Mill Lane?",
			calls(call("shop__order", `{"what":"slates"}`)), invented, []string{"shop__order"}},
		{"a summary", "Who keeps what in the cellar of 12 Mill Lane?",
			calls(call("get_document_summary", `{"doc_id":"Staff handbook"}`)), invented, nil},
		{"a search for a pattern", "Who keeps what in the cellar of 12 Mill Lane?",
			calls(call("grep_documents", `{"pattern":"holiday"}`)), invented, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, stubborn(tt.first, tt.said), s.with)
			got := h.wait(h.ask(chat.RunRequest{Message: tt.asks, Config: chat.RunConfig{EnabledTools: tt.tools}}).ID)
			if d := got.done(); d.Status != chat.RunCitationValidationFailed || d.Error == nil ||
				d.Error.Code != chat.CodeGuardrail || got.text() != "" {
				t.Errorf("it ended %+v and shows %q:%s; want Status %v, Error.Code %v, nothing",
					d, got.text(), dump(got.log), chat.RunCitationValidationFailed, chat.CodeGuardrail)
			}
		})
	}
}

func TestToolResultsNeedNoFootnotes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, asks  string
		first       scripted.Reply
		said        string
		unsupported []string
		confidence  float64
	}{
		{"a sum", "What is 12% of 3400?", calls(call("calculate", `{"expression":"3400*0.12"}`)),
			"12% of 3400 is 408.", nil, 0.8},
		{"a sum in other words", "I pay 3400 pounds twice. How much is it?",
			calls(call("calculate", `{"expression":"3400*2"}`)), "You pay 6800 pounds in all.", nil, 0.8},
		{"a result alone", "Double three, please, for the sum I have to hand in.",
			calls(call("calculate", `{"expression":"2*3"}`)), "The result is 6.", nil, 0.8},
		{"the list", "Which documents do I have?", calls(call("list_documents", `{}`)),
			"You have two documents:\n\n- Staff handbook\n- Building survey of 12 Mill Lane", nil, 0.8},
		{"the list, for another kind of question", "Is there a handbook?", calls(call("list_documents", `{}`)),
			"There is a document with the title Staff handbook.", nil, 0.8},
		{"the list, as what the library holds", "Which documents do I have?", calls(call("list_documents", `{}`)),
			"Your library holds Staff handbook and Building survey of 12 Mill Lane.", nil, 0.8},
		{"the list, with how many", "Which documents do I have?", calls(call("list_documents", `{}`)),
			"There are 2 documents in your library: Staff handbook, Building survey of 12 Mill Lane.", nil, 0.8},
		{"the list, with a wrong number", "Which documents do I have?", calls(call("list_documents", `{}`)),
			"Your library holds Staff handbook. There are 7 documents in your library.",
			[]string{"There are 7 documents in your library."}, 0.4},
		{"a sum, its operator in words", "What is 12*4?", calls(call("calculate", `{"expression":"12*4"}`)),
			"12 times 4 is 48. In all, 12 multiplied by 4 equals 48.", nil, 0.8},
		{"a sum of other operators", "What is 48/2-(3+1)^2?",
			calls(call("calculate", `{"expression":"48/2-(3+1)^2"}`)),
			"48 divided by 2, minus 3 plus 1 to the power of 2, is 8.", nil, 0.8},
		{"a sum with another operator", "What is 12*4?", calls(call("calculate", `{"expression":"12*4"}`)),
			"12 times 4 is 48.\n\n12 divided by 4 is 48.", []string{"12 divided by 4 is 48."}, 0.4},
		{"a sum and an invention", "What is 12% of 3400?", calls(call("calculate", `{"expression":"3400*0.12"}`)),
			"12% of 3400 is 408. " + invented, []string{invented}, 0.4},
		{"a sum under an invention", "What is 12% of 3400?", calls(call("calculate", `{"expression":"3400*0.12"}`)),
			"# The king keeps seven dragons in the cellar\n\n12% of 3400 is 408.",
			[]string{"The king keeps seven dragons in the cellar"}, 0.4},
		{"a sum under a topic", "What is 12% of 3400?", calls(call("calculate", `{"expression":"3400*0.12"}`)),
			"# Calculation of the share\n\n12% of 3400 is 408.", nil, 0.8},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			model := stubborn(tt.first, tt.said)
			h := newHarness(t, model)
			a := h.answer(asks(tt.asks)).answer()
			if a.Markdown != tt.said || !slices.Equal(a.Unsupported, tt.unsupported) || a.Confidence != tt.confidence ||
				a.Coverage.Searched != 0 {
				t.Errorf("answer = %+v, want unsupported %q, confidence %v, 0 searched", a, tt.unsupported,
					tt.confidence)
			}
			if n := len(model.Requests()); n != 2 {
				t.Errorf("the model was asked %d times, want 2", n)
			}
		})
	}
}

func TestAnswersWithoutFootnotesAreChecked(t *testing.T) {
	t.Parallel()
	no := false
	for _, tt := range []struct {
		name        string
		req         chat.RunRequest
		replies     []scripted.Reply
		unsupported []string
		confidence  float64
		explained   string
	}{
		{"a given text holds it",
			chat.RunRequest{Message: "What colour is the sky?", ContextText: "The sky is green on Mars."},
			[]scripted.Reply{says("The sky is green.")}, nil, 0.8,
			"1 of 1 sentence is supported by the given text."},
		{"a given text does not",
			chat.RunRequest{Message: "What colour is the sky?", ContextText: "The sky is green on Mars."},
			[]scripted.Reply{says("The ocean is blue on Venus.")},
			[]string{"The ocean is blue on Venus."}, 0, "0 of 1 sentence is supported by the given text."},
		{"half of it", chat.RunRequest{Message: "What colour is the sky?", ContextText: "The sky is green on Mars."},
			[]scripted.Reply{says("The sky is green on Mars. " + invented)},
			[]string{invented}, 0.4, "1 of 2 sentences are supported by the given text."},
		{"in another language",
			chat.RunRequest{
				Message:     "Was steht da?",
				ContextText: "The sky is green on Mars and the clouds are yellow in the evening.",
			},
			[]scripted.Reply{says("Der Himmel ist grün auf dem Mars, und die Wolken sind am Abend gelb.")}, nil, 0.4,
			"0 of 1 sentence is supported by the given text. 1 sentence is in another language, so it could not be " +
				"compared."},
		{"a text to work on",
			chat.RunRequest{
				Message: "Shorten this text: The roof covering is in poor condition, and several slates are missing.",
			}, []scripted.Reply{says(invented)},
			[]string{invented}, 0, "The answer needs no documents. 0 of 1 sentence is supported by the conversation."},
		{"talk", asks("Hello!"), []scripted.Reply{says("Hello! How can I help?")}, nil, 0.8,
			"The answer needs no documents. No sentence has a factual claim to compare with the conversation."},
		{"talk that goes on", asks("Hello!"), []scripted.Reply{says("Hello! " + invented)}, []string{invented}, 0,
			"The answer needs no documents. 0 of 1 sentence is supported by the conversation."},
		{"a sum in the head", asks("What is 3 + 4?"), []scripted.Reply{says("3 + 4 = 7")}, nil, 0.8,
			"The answer needs no documents. 1 of 1 sentence is supported by the calculation."},
		{"a wrong sum", asks("What is 3 + 4?"), []scripted.Reply{says("3 + 4 = 9")}, []string{"3 + 4 = 9"}, 0,
			"The answer needs no documents. 0 of 1 sentence is supported by the conversation."},
		{"no footnotes wanted",
			chat.RunRequest{
				Message: "How many days of holiday are there?", Config: chat.RunConfig{RequireCitations: &no},
			},
			[]scripted.Reply{calls(search("holiday")), says("There are 28 days of paid holiday a year. " + invented)},
			[]string{invented}, 0.4,
			"Footnotes were not requested. 1 of 2 sentences are supported by the passages."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, scripted.New(tt.replies...))
			a := h.answer(tt.req).answer()
			if !slices.Equal(a.Unsupported, tt.unsupported) || a.Confidence != tt.confidence ||
				a.SelfEvaluation != tt.explained {
				t.Errorf("%q: unsupported %q, confidence %v, %q; want %q, %v, %q", a.Markdown, a.Unsupported,
					a.Confidence, a.SelfEvaluation, tt.unsupported, tt.confidence, tt.explained)
			}
		})
	}
}

func TestRefusalReportsOnlyActualSteps(t *testing.T) {
	t.Parallel()
	const lie = english.Refusal + " I searched for dragons and found nothing that fits."
	const missing = " If the document that says it is missing here, add it and ask again."
	const holidays = english.Refusal + " I searched for: holiday. The nearest headings are “Leave” in " +
		"Handbook.md " +
		"and “Sickness” in Handbook.md." + missing
	calculates := chat.RunConfig{EnabledTools: []string{"calculate"}}
	for _, tt := range []struct {
		name   string
		req    chat.RunRequest
		model  *scripted.Model
		change []func(*Config)
		want   string
	}{
		{"nothing was searched, as nothing could be",
			chat.RunRequest{Message: "What lives in the cellar?", Config: calculates}, scripted.New(says(lie)), nil,
			english.Refusal +
				" Nothing was searched, because none of the tools that were allowed searches documents."},
		{"all turns went into sums", chat.RunRequest{Message: "What lives in the cellar?", Config: calculates},
			scripted.New(calls(call("calculate", `{"expression":"1+1"}`)),
				says("I searched for dragons and found nothing."), says("I searched for dragons and found nothing.")),
			nil,
			english.Refusal + " Nothing was searched, because none of the tools that were allowed searches " +
				"documents."},
		{"it did by rules, as the model did not", asks("What lives in the cellar?"),
			scripted.New(says(lie), says(lie)), nil,
			english.Refusal + " I searched for: What lives in the cellar?; cellar." + missing},
		{"it did", asks("What lives in the cellar?"), scripted.New(calls(search("dragons")), says(lie)), nil,
			english.Refusal + " I searched for: dragons; lives cellar." + missing},
		{"it did, but told of other searches", asks("What lives in the cellar?"),
			scripted.New(calls(search("zzyzx")), says(lie+" I read 14 registers of Atlantis.")), nil,
			english.Refusal + " I searched for: zzyzx; lives cellar." + missing},
		{"it did, and invented an answer", asks("How many days of holiday are there?"),
			scripted.New(calls(search("holiday")),
				says(english.Refusal+" However, dragons have 99 days of holiday.")),
			nil, holidays},
		{"it did, and added words of the question", asks("How many days of holiday have dragons?"),
			scripted.New(calls(search("holiday")),
				says(english.Refusal+" I searched for the holiday of dragons.")), nil,
			holidays},
		{"the text was given",
			chat.RunRequest{Message: "How many days of holiday are there?", ContextText: "The sky is green."},
			scripted.New(says(english.Refusal + " However, dragons have 99 days of holiday.")), nil,
			english.Refusal},
		{"it was talk", asks("Hello!"),
			scripted.New(says(english.Refusal+" However, dragons have 99 days of holiday."),
				says(english.Refusal+" However, dragons have 99 days of holiday.")), nil,
			english.Refusal},
		{"the search failed", asks("What lives in the cellar?"), scripted.New(calls(search("dragons")), says(lie)),
			[]func(*Config){func(c *Config) { c.Library = searchless{c.Library} }},
			english.Refusal + " “Searching for: dragons” failed, so your documents may still hold it."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, tt.model, tt.change...)
			got := h.answer(tt.req)
			if a := got.answer(); a.Markdown != tt.want || got.text() != tt.want || a.StopReason != chat.StopRefused ||
				strings.Contains(a.SelfEvaluation,
					"not known") == (strings.Contains(tt.name, "it did") || tt.req.ContextText != "") ||
				(a.Coverage.Searched > 0) != strings.Contains(tt.name, "it did") {
				t.Errorf("answer = %q, stopped %s, coverage %+v; want %q", a.Markdown, a.StopReason,
					a.Coverage, tt.want)
			}
		})
	}
}

func TestOfflineAnswerReportsOnlyActualSteps(t *testing.T) {
	t.Parallel()
	h := newHarness(t, offline.New(nil, nil))
	a := h.answer(chat.RunRequest{
		Message: "What lives in the cellar?", Config: chat.RunConfig{EnabledTools: []string{"calculate"}},
	}).answer()
	if want := english.Refusal +
		" Nothing was searched, because none of the tools that were allowed searches documents."; a.Markdown != want ||
		a.Coverage.Searched != 0 {
		t.Errorf("answer = %q, coverage %+v; want %q", a.Markdown, a.Coverage, want)
	}
	h.startAgent(offline.New(nil, nil), func(c *Config) { c.Library = searchless{c.Library} })
	a = h.answer(asks("What lives in the cellar?")).answer()
	if !strings.Contains(a.Markdown, "failed, so they may still hold it") ||
		strings.Contains(a.Markdown, "found nothing") || a.Coverage.Searched != 0 {
		t.Errorf("after a search that failed: %q, coverage %+v; want %q in it, no %q in it, Searched 0",
			a.Markdown, a.Coverage, "failed, so they may still hold it", "found nothing")
	}
}

// mute is a model that blocks until its context is cancelled.
type mute struct{ *scripted.Model }

func (mute) Stream(ctx context.Context, _ llm.Request) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		<-ctx.Done()
		yield(nil, ctx.Err())
	}
}

func TestModelTimeoutIsReported(t *testing.T) {
	t.Parallel()
	h := newHarness(t, mute{scripted.New()}, withFallback, func(c *Config) { c.Budget.Seconds = 1 })
	a := h.answer(asks("What lives in the cellar?")).answer()
	if want := english.Refusal +
		" Nothing was searched. The time for this question was used up."; a.Markdown != want ||
		a.Coverage.Searched != 0 {
		t.Errorf("answer = %q, coverage %+v; want %q", a.Markdown, a.Coverage, want)
	}
}

func TestUnsupportedAnswerIsNotEvidenceLater(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New(says("Hello! "+invented), says(invented)))
	first := h.ask(asks("Hello!"))
	if a := h.wait(first.ID).answer(); !slices.Equal(a.Unsupported, []string{invented}) || a.Confidence != 0 {
		t.Fatalf("the first answer: unsupported %q, confidence %v, want 0", a.Unsupported, a.Confidence)
	}
	a := h.answer(chat.RunRequest{SessionID: first.SessionID, Message: "Explain that in simple terms"}).answer()
	if !slices.Equal(a.Unsupported, []string{invented}) || a.Confidence != 0 {
		t.Errorf("%q: unsupported %q, confidence %v, %q; want it unsupported", a.Markdown, a.Unsupported, a.Confidence,
			a.SelfEvaluation)
	}
}

func TestFactualHeadingIsChecked(t *testing.T) {
	t.Parallel()
	const heading, held = "Seven dragons live in the cellar", "28 days of paid holiday a year"
	said := "There are 28 days of paid holiday a year [1]."
	h := newHarness(
		t, scripted.New(calls(search("holiday")), says("## "+heading+"\n\n"+said), calls(search("holiday")),
			says("## "+held+"\n\n"+said)),
	)
	for _, want := range [][]string{{heading}, nil} {
		a := h.answer(asks("How many days of paid holiday are there?")).answer()
		if !slices.Equal(a.Unsupported, want) || (a.Confidence < 1) != (want != nil) {
			t.Errorf("%q: unsupported %q, confidence %v; want %q", a.Markdown, a.Unsupported, a.Confidence, want)
		}
	}
}

// falling is a model that searches, then blocks.
type falling struct{ *scripted.Model }

func (f falling) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
	if len(f.Requests()) > 0 {
		return mute{}.Stream(ctx, req)
	}
	return f.Model.Stream(ctx, req)
}

func TestModelTimeoutAfterSearchIsReported(t *testing.T) {
	t.Parallel()
	h := newHarness(t, falling{scripted.New(calls(search("holiday")))}, withFallback,
		func(c *Config) { c.Budget.Seconds = 1 })
	a := h.answer(asks("Which dragons live in the cellar?")).answer()
	if want := english.Refusal +
		" I searched for: holiday. The time for this question was used up." +
		" The nearest headings are “Leave” in Handbook.md and “Sickness” in Handbook.md. If the document that says " +
		"it is " +
		"missing here, add it and ask again."; a.Markdown != want ||
		a.StopReason != chat.StopRefused {
		t.Errorf("answer = %q, stopped %s; want %q", a.Markdown, a.StopReason, want)
	}
}

func TestEmptyReplyIsCounted(t *testing.T) {
	t.Parallel()
	empty := scripted.Reply{Err: &llm.Error{Kind: llm.KindEmpty, Message: "empty", Usage: &llm.Usage{In: 100, Out: 20}}}
	yes := true
	for _, tt := range []struct {
		name string
		plan *bool
		want chat.Tokens
	}{{"a turn", nil, chat.Tokens{In: 100, Out: 20}}, {"a plan and a turn", &yes, chat.Tokens{In: 200, Out: 40}}} {
		h := newHarness(t, scripted.New(empty, empty), withFallback)
		a := h.answer(chat.RunRequest{
			Message: "How many days of holiday are there?", Config: chat.RunConfig{EnableQueryDecomposition: tt.plan},
		}).answer()
		if a.Tokens != tt.want {
			t.Errorf("%s: tokens = %+v, want %+v", tt.name, a.Tokens, tt.want)
		}
	}
}

func TestResultOnlyAnswerIsKept(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"The difference is £200,000.", "The increase is £200,000.", "It is 200,000 more."} {
		h := newHarness(t, stubborn(calls(call("calculate", `{"expression":"2300000-2100000"}`)), said))
		a := h.answer(asks("How far apart are £2,300,000 and £2,100,000?")).answer()
		if a.Markdown != said || len(a.Unsupported) > 0 || a.Confidence != cite.UncheckedConfidence {
			t.Errorf("answer %q with confidence %v, unsupported %q; want %q with %v", a.Markdown, a.Confidence,
				a.Unsupported, said, cite.UncheckedConfidence)
		}
	}
}

// The result of a calculation needs no footnote, also if a search found passages.
func TestResultOnlyAnswerIsKeptAfterSearch(t *testing.T) {
	t.Parallel()
	const said = "The difference is 3."
	calculate := calls(call("calculate", `{"expression":"34-31"}`))
	h := newHarness(t, scripted.New(calls(search("holiday")), calculate, says(said)))
	a := h.answer(asks("How far apart are 34 and 31 days of holiday?")).answer()
	if a.Markdown != said || len(a.Unsupported) > 0 || a.Confidence < 0.5 {
		t.Errorf("answer %q with confidence %v, unsupported %q; want %q", a.Markdown, a.Confidence, a.Unsupported, said)
	}
}

// Statements of an answer about the run are checked against the run's log.
func TestAnswerStatementsAreCheckedAgainstRunLog(t *testing.T) {
	t.Parallel()
	read := func(id string) scripted.Reply { return calls(call("read_document", `{"doc_id":"`+id+`"}`)) }
	both := []scripted.Reply{calls(search("holiday")), read("Staff handbook"), read("Building survey of 12 Mill Lane")}
	searched, nothing := []scripted.Reply{calls(search("holiday"))}, []scripted.Reply{read("Staff handbook")}
	sums := newHarness(
		t, stubborn(calls(call("calculate", `{"expression":"3400*0.12"}`)), "12% of 3400 is 408. I searched the web."),
	)
	if a := sums.answer(asks("What is 12% of 3400?")).answer(); !slices.Equal(a.Unsupported,
		[]string{"I searched the web."}) ||
		!slices.Equal(a.Notes, []string{"The run did no such thing: “I searched the web.”"}) {
		t.Errorf("beside a sum: unsupported %q with notes %q, want the sentence about the web", a.Unsupported, a.Notes)
	}
	const stays, unsupported, denied = "stays", "is unsupported", "is denied"
	for _, tt := range []struct {
		said string
		done []scripted.Reply
		want string
	}{
		{"I searched the web and all 2 documents.", searched, denied},
		{"I also searched the web and read 14 registers, and found nothing else.", searched, denied},
		{"I did not search the web.", searched, stays},
		{"I did not search the web, and the king keeps seven dragons in the cellar.", searched, unsupported},
		{"I searched all 2 documents.", searched, stays},
		{"I searched all 14 documents.", searched, denied},
		{"I searched all documents.", nothing, denied},
		{"I read all documents, which do not mention more.", searched, denied},
		{"I read all documents, which do not mention more.", both, stays},
		{"None of the other documents mention this.", nothing, unsupported},
		{"The documents do not say who decided it.", searched, unsupported},
		{"The documents do not say how holiday is counted.", searched, stays},
		{"The documents do not mention dragons.", searched, unsupported},
		{"I could not find any further details.", searched, stays},
		{"Based on what just went down last night (April 4, 2025), I give you:", searched, stays},
		{"I read 14 registers.", searched, denied},
		{"There is no information about who keeps the dragons.", searched, unsupported},
		{"There is no information about holiday in other years.", searched, stays},
		{"The staff handbook does not mention dragons.", nothing, stays},
		{"The documents do not mention dragons.", both, stays},
		{"Die Dokumente enthalten keine Angaben zu Drachen.", searched, stays}, // the words can't be compared
	} {
		h := newHarness(t, scripted.New(append(slices.Clone(tt.done), says(goodAnswer+" "+tt.said))...))
		a := h.answer(asks("How many days of holiday are there?")).answer()
		got, sure := stays, true
		switch {
		case len(a.Notes) > 0:
			got, sure = denied, false
		case slices.Contains(a.Unsupported, tt.said):
			got, sure = unsupported, false
		}
		if got != tt.want || (a.Confidence == 1) != sure || !strings.HasSuffix(a.Markdown, tt.said) {
			t.Errorf("%q after %d calls %s: unsupported %q, confidence %v, notes %q in %q; want that it %s", tt.said,
				len(tt.done), got, a.Unsupported, a.Confidence, a.Notes, a.Markdown, tt.want)
		}
	}
}

// Sentences that contradict the log stay in the answer, and a sentence that a passage supports is not flagged.
func TestAnswerKeepsSentencesContradictingRunLog(t *testing.T) {
	t.Parallel()
	const said = "I read all 77 documents [1]. There are 28 days of paid holiday a year [1].\n\n" +
		"- I searched the web.\n\n" +
		"Based on what just went down last night (April 4, 2025), I give you:\n\n- Unused days may be carried over " +
		"until 31 March of the following year [1]."
	a := newHarness(t, scripted.New(calls(search("holiday")), says(said))).
		answer(asks("How many days of holiday are there?")).answer()
	want := []string{
		"The run did no such thing: “I read all 77 documents.”", "The run did no such thing: “I searched the web.”",
	}
	if cite.WithoutMarkers(a.Markdown) != cite.WithoutMarkers(said) || !slices.Equal(a.Notes, want) {
		t.Errorf("answer %q with notes %q, want all of it with notes %q", a.Markdown, a.Notes, want)
	}
}
