package runlog

import (
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/text/english"
)

// Judged is the assessment of an answer's reliability, with reasons. Every form of an answer includes it.
type Judged struct {
	Confidence     float64  `json:"confidence" jsonschema:"from 0 to 1" api:"min=0,max=1"`
	SelfEvaluation string   `json:"self_evaluation,omitempty" jsonschema:"reasons for the confidence"`
	Unsupported    []string `json:"unsupported" jsonschema:"sentences without support in the sources"`
	// Notes on the answer, in sentences: that another model answered as a fallback, that footnotes cited no passage,
	// that a sum is wrong or was not calculated, that sentences are unsupported, why the confidence is 0.
	Notes []string `json:"notes" jsonschema:"notes on the answer"`
}

// Judged returns the assessment of the run's answer. An answer that a guardrail withheld has none.
//
// Its lists are never nil. Before the answer the confidence is 0, and only the notes of steps are set.
func (t *Trace) Judged() Judged {
	out := Judged{Unsupported: []string{}, Notes: t.noteMessages()}
	a := t.Answer
	if a == nil || t.Withheld() {
		return out
	}
	out.Confidence, out.SelfEvaluation, out.Unsupported = a.Confidence, a.SelfEvaluation, httpio.NotNil(a.Unsupported)
	return out
}

// FinishReason returns the finish reason in OpenAI's API: length if the model's reply was truncated at its token
// limit, else stop.
func (t *Trace) FinishReason() string {
	if t.Answer != nil && t.Answer.StopReason == chat.StopLength {
		return "length"
	}
	return "stop"
}

// noteMessages returns the messages of the steps fallback and history, about another model or an unreadable
// conversation, followed by the notes on the answer.
func (t *Trace) noteMessages() []string {
	out := []string{}
	for _, step := range t.Steps {
		if step.Step == "fallback" || step.Step == "history" {
			out = append(out, step.Message+".")
		}
	}
	a := t.Answer
	if a == nil || t.Withheld() {
		return out
	}
	out = append(out, a.Notes...)
	switch n := len(a.Unsupported); {
	case n == 1:
		out = append(
			out, "1 sentence of the answer is not supported by its sources. See unsupported.",
		)
	case n > 1:
		out = append(out, english.Digits(
			n,
		)+" sentences of the answer are not supported by its sources. See unsupported.")
	case a.Confidence > 0:
	case a.StopReason == chat.StopRefused:
		out = append(out, "The confidence is 0, because no source answers the question.")
	default:
		out = append(out, "The confidence is 0, because the model rates its answer as not addressing the question.")
	}
	return out
}
