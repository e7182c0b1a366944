package agent

import (
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/ground"
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

func TestTheAnswerIsJudgedByRulesOrByTheModelThatIsAskedTo(t *testing.T) {
	t.Parallel()
	on, off := true, false
	const ruled = "1 of 1 sentence with footnotes is backed"
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
		h := newHouse(t, model)
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

func TestNobodyAsksTheModelToJudgeARefusal(t *testing.T) {
	t.Parallel()
	on := true
	model := scripted.New(calls(search("football")), says(ground.RefusalSentence))
	h := newHouse(t, model)
	req := chat.RunRequest{
		Message: "Who won the football world cup?", Config: chat.RunConfig{EnableSelfEvaluation: &on},
	}
	if a := h.answer(req).answer(); a.StopReason != chat.StopRefused || len(model.Requests()) != 2 {
		t.Errorf("answer = %+v after %d requests; want StopReason %v and 2", a, len(model.Requests()), chat.StopRefused)
	}
	h.hire(offline.New(nil))
	if a := h.answer(chat.RunRequest{
		Message: "How many days of paid holiday are there?", Config: req.Config,
	}).answer(); !strings.Contains(a.SelfEvaluation, "backed") {
		t.Errorf("without a model: %q, want %q in it", a.SelfEvaluation, "backed")
	}
}

func TestPlansAndJudgementsHaveTheTemperatureZero(t *testing.T) {
	t.Parallel()
	on, warm := true, 0.9
	model := scripted.New(
		says(`{"sub_queries":[{"query":"paid holiday"}]}`), calls(search("paid holiday")), says(goodAnswer),
		says(`{"evaluation":"It is complete.","confidence":0.9}`),
	)
	h := newHouse(t, model)
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
