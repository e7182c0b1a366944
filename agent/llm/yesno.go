package llm

import (
	"context"
	"fmt"
	"math"
	"strings"
)

// topLogprobs is how many alternatives of a first token are asked for. OpenAI returns at most 20.
const topLogprobs = 20

// Verdict is a model's reply to a yes-or-no question.
type Verdict struct {
	Yes   bool
	Odds  float64 // log P(yes) − log P(no) of the first token; 0 unless Known
	Known bool    // the server returned log-probabilities
	Usage *Usage  // nil when the provider did not say
}

// AskYesNo returns the verdict of a model on a question that asks for yes or no, at the temperature 0 and of one token.
// With log-probabilities the verdict follows from them; a word that is not among the alternatives counts as unlikely as
// the least likely of them. Without log-probabilities the word itself decides. A reply that is neither yes nor no is an
// error. The returned usage is also set for such a reply.
func AskYesNo(ctx context.Context, m Model, messages []Message) (v Verdict, err error) {
	var said strings.Builder
	var done *Done
	for part, err := range m.Stream(ctx, Request{
		Messages: messages, NoTools: true, Temperature: new(float64), DefaultTemperature: true, MaxTokens: 1,
		TopLogprobs: topLogprobs,
	}) {
		if err != nil {
			return Verdict{}, err
		}
		switch p := part.(type) {
		case Text:
			said.WriteString(string(p))
		case Done:
			done = &p
		}
	}
	if done == nil {
		return Verdict{}, &Error{Kind: KindIncomplete, Message: "The model's reply was cut off."}
	}
	v.Usage = done.Usage
	if v.Odds, v.Known = yesNoOdds(done.First); v.Known {
		v.Yes = v.Odds > 0
		return v, nil
	}
	switch yesNoOf(said.String()) {
	case "yes":
		v.Yes = true
		return v, nil
	case "no":
		return v, nil
	}
	return v, fmt.Errorf("the model answered %.40q to a question that asks for yes or no", said.String())
}

// yesNoOdds returns log P(yes) − log P(no) from the alternatives of a token. known is false when neither is among them.
func yesNoOdds(first []Logprob) (odds float64, known bool) {
	var yes, no float64
	least := 0.0
	for _, alternative := range first {
		switch yesNoOf(alternative.Token) {
		case "yes":
			yes += math.Exp(alternative.Logprob)
		case "no":
			no += math.Exp(alternative.Logprob)
		}
		least = min(least, max(alternative.Logprob, leastLogprob))
	}
	if yes == 0 && no == 0 {
		return 0, false
	}
	unlisted := math.Exp(least)
	return math.Log(max(yes, unlisted)) - math.Log(max(no, unlisted)), true
}

// leastLogprob is the least log-probability that counts: servers write the one of an impossible token as −9999 or −Inf.
const leastLogprob = -20

// yesNoOf returns "yes" or "no" for a token that says so in any case and with marks around it.
func yesNoOf(token string) string {
	return strings.ToLower(strings.Trim(token, " \t\r\n.,:;!*_\"'`▁Ġ"))
}
