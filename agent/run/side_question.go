package run

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
)

// The size of a side question to the model: plans, judgements and translations are short, and the run waits for them.
// No measurement of either is recorded; 800 tokens hold a plan of ten parts with a reason each.
const (
	completeTime   = 20 * time.Second
	completeTokens = 800
)

// askBeside is completeOnce for a language model; the model made of rules writes nothing by itself.
func (m *modelCaller) askBeside(ctx context.Context, messages []llm.Message) (string, chat.Spent, error) {
	if m.isRuleBased() {
		return "", chat.Spent{}, nil
	}
	return m.completeOnce(ctx, messages)
}

// completeOnce asks the model something beside the run's conversation, without tools, and charges it to the run. A user
// who wants the answer now ends it. It is for plans and judgements. It goes to the cheaper model where one is set,
// takes completeTime at most, and gets completeTokens for its reply. A failure is the caller's to handle: it never ends
// the run by itself. The temperature is 0, so that the same question is planned and judged the same; it is dropped for
// a model that refuses it. Thoughts are not requested. Its tokens are charged even if it failed,
// as far as the server counts it.
func (m *modelCaller) completeOnce(
	ctx context.Context,
	messages []llm.Message,
) (said string, spent chat.Spent, err error) {
	ctx, cancel := context.WithTimeout(ctx, completeTime)
	defer cancel()
	defer context.AfterFunc(m.control.now, cancel)()
	defer context.AfterFunc(m.control.leaving, cancel)()
	req := llm.Request{
		Messages: messages, NoTools: true, Temperature: new(float64), DefaultTemperature: true,
		Seed:      m.run.Request.Config.Seed,
		MaxTokens: completeTokens,
	}
	model := m.model
	if m.cfg.Select != nil && !m.isRuleBased() {
		model = m.cfg.Select
	}
	var text strings.Builder
	var usage *llm.Usage
	done := false
	for part, err := range model.Stream(ctx, req) {
		if err != nil {
			return "", m.budget.chargeFailedReply(model, err), err
		}
		switch p := part.(type) {
		case llm.Text:
			text.WriteString(string(p))
		case llm.Quoted:
			text.WriteString(p.Marker())
		case llm.Done:
			done, usage = true, p.Usage
		case llm.Rethought:
			text.Reset()
		case llm.Reasoning, llm.Call: // not asked for
		}
	}
	if !done {
		return "", spent, errors.New("the reply ended too early")
	}
	if usage != nil {
		spent.Tokens = chat.Tokens{In: usage.In, Out: usage.Out}
	} else {
		for _, message := range messages {
			spent.Tokens.In += estimateTokens(message.Text)
		}
		spent.Tokens.Out = estimateTokens(text.String())
	}
	spent.Cost = m.budget.chargeTokens(model, spent.Tokens)
	return text.String(), spent, nil
}
