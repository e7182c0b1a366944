package agent

import (
	"context"
	_ "embed"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode"

	"footnote/chat"
	"footnote/corpus/text"
	"footnote/llm"
)

//go:embed reflect.md
var reflectDoc string

// longestJudgement is how long a model's judgement of its answer may be, in runes.
const longestJudgement = 300

// reflects reports whether the model is to judge its answer. The rules always do; a request may want the model's word instead of theirs.
func (w *work) reflects(answer string) bool {
	return w.thinks(featureReflect) && isOn(w.run.Request.Config.EnableSelfEvaluation) && !w.fell && !w.saidUndone && !refused(answer) && (w.stop == "" || w.stop == chat.StopMaxSteps || w.stop == chat.StopMaxRetrievalCalls)
}

// reflect asks the model for one sentence on its answer, and returns nothing when it has none to say: then the rules speak.
func (w *work) reflect(ctx context.Context, answer string) (string, error) {
	step := w.phase("reflect", chat.ActionAnalysing, chat.StatusRunning, "Judging the answer")
	if err := w.emit(ctx, w.track(step)); err != nil {
		return "", err
	}
	begun := time.Now()
	said, used, err := w.consult(ctx, w.reflectPrompt(answer))
	if cause := w.left(ctx); cause != nil {
		return "", cause
	}
	judged := oneSentence(said)
	step.DurationMS, step.Timestamp, step.Tokens = sinceMS(begun), stamp(), &used
	step.Status, step.Message, step.Summary = chat.StatusComplete, "Judged the answer", judged
	if err != nil || judged == "" {
		w.cfg.Log.WarnContext(ctx, "model did not judge its answer", "run", w.run.ID, "error", err)
		step.Status, step.Message, step.Summary = chat.StatusSkipped, "The model did not judge its answer: rules do", ""
	}
	step.ToolStatus = step.Status
	return judged, w.emit(ctx, w.track(step))
}

// reflectPrompt shows the question, the answer and the words that it cites.
func (w *work) reflectPrompt(answer string) []llm.Message {
	var b strings.Builder
	b.WriteString("Question: " + w.run.Request.Message + "\n\nAnswer:\n" + answer + "\n\nWhat the footnotes quote:\n")
	for _, c := range w.cite.list {
		b.WriteString("[" + strconv.Itoa(c.Number) + "] " + c.Quote + "\n")
	}
	return []llm.Message{
		{Role: llm.RoleSystem, Text: strings.ReplaceAll(reflectDoc, "{{nonce}}", w.nonce)},
		{Role: llm.RoleUser, Text: fence(w.nonce, b.String())},
	}
}

// oneSentence is the first sentence of a reply, which may be wrapped in JSON.
func oneSentence(said string) string {
	var object struct {
		Evaluation string `json:"evaluation"`
	}
	said = strings.TrimSpace(said)
	if at := strings.IndexByte(said, '{'); at >= 0 && json.NewDecoder(strings.NewReader(said[at:])).Decode(&object) == nil {
		said = object.Evaluation
	}
	said = strings.Join(strings.Fields(said), " ")
	if !strings.ContainsFunc(said, unicode.IsLetter) {
		return ""
	}
	if spans := text.Sentences(said); len(spans) > 0 {
		said = string([]rune(said)[spans[0][0]:spans[0][1]])
	}
	return shorten(said, longestJudgement)
}
