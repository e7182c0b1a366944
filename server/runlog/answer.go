package runlog

import "github.com/footnote/footnote/chat"

// GroundedSource is one citation of a grounded answer.
type GroundedSource struct {
	Number     int        `json:"number"`
	DocumentID string     `json:"document_id"`
	ChunkID    string     `json:"chunk_id"`
	Title      string     `json:"title"`
	Section    string     `json:"section"`
	Page       int        `json:"page,omitempty"`
	Place      string     `json:"place,omitempty"`
	URL        string     `json:"url"`
	SourceURL  string     `json:"source_url,omitempty"`
	Quote      string     `json:"quote"`
	Check      chat.Check `json:"check"`
	Score      float64    `json:"score"`
	Added      bool       `json:"added,omitempty"`
}

// SourcesOf spells citations out; base is put before their links.
//
// They are in the order of the citations, and never nil, so that JSON has a list.
func SourcesOf(citations []chat.Citation, base string) []GroundedSource {
	out := make([]GroundedSource, 0, len(citations))
	for _, cite := range citations {
		out = append(out, GroundedSource{
			Number:     cite.Number,
			DocumentID: cite.DocumentID,
			ChunkID:    cite.ChunkID,
			Title:      cite.Title,
			Section:    cite.Section,
			Page:       cite.Page,
			Place:      cite.Place,
			URL:        Absolute(base, cite.URL),
			SourceURL:  cite.SourceURL,
			Quote:      cite.Quote,
			Check:      cite.Check,
			Score:      cite.Score,
			Added:      cite.Added,
		})
	}
	return out
}

// FailureOf is the error of a run that ended without anything to hand over.
//
// A run that was cancelled, or ended by a guardrail, has something to hand over and no error here. It is nil while the
// run is under way, too.
func FailureOf(t *Trace) error {
	if t.Status != chat.RunFailed && t.Status != chat.RunInterrupted {
		return nil
	}
	e := &chat.Error{
		Code: chat.CodeModelFailed, Message: "The question could not be answered. Ask it again in a moment.",
	}
	if t.Status == chat.RunInterrupted {
		e.Code, e.Message = chat.CodeUnavailable, "The server stopped while it worked on the question. Ask it again."
	}
	if t.Error != nil {
		e.Code, e.Message = t.Error.Code, t.Error.Message
	}
	return e
}

// Failure is the error of a run that has no answer to hand over: FailureOf, or why a guardrail held the answer back.
func (t *Trace) Failure() error {
	if t.Withheld() {
		text, _ := t.Spoken()
		return &chat.Error{Code: chat.CodeGuardrail, Message: text}
	}
	return FailureOf(t)
}

// APIStatus is a run's status as the API has it: "success" for a completed one.
func APIStatus(status chat.RunStatus) string {
	if status == chat.RunCompleted {
		return "success"
	}
	return string(status)
}

// Withheld reports whether a guardrail ended the run: what it wrote until then is not an answer.
func (t *Trace) Withheld() bool {
	return t.Status == chat.RunGuardrailTriggered || t.Status == chat.RunCitationValidationFailed
}

// Spoken is what a program gets as the run's answer. When a guardrail ended the run that is a sentence about it,
// without citations.
func (t *Trace) Spoken() (string, []chat.Citation) {
	switch {
	case !t.Withheld():
		return t.Text, t.Citations
	case t.Error != nil && t.Error.Message != "":
		return t.Error.Message, []chat.Citation{}
	case t.Status == chat.RunGuardrailTriggered:
		return "Your question is outside of what can be answered here. Ask about your documents.", []chat.Citation{}
	}
	return "An answer whose footnotes all hold could not be written. Ask in other words, or about one thing at a time.",
		[]chat.Citation{}
}

// runLatency is how long the run took, or has taken so far, in milliseconds.
func runLatency(t *Trace) int64 {
	if t.Answer != nil && t.Answer.LatencyMS > 0 {
		return t.Answer.LatencyMS
	}
	last := t.Log.LastAt
	if t.EndedAt != nil {
		last = *t.EndedAt
	}
	return max(0, last.Sub(t.CreatedAt).Milliseconds())
}
