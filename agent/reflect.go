package agent

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"footnote/agent/ground"
	"footnote/chat"
	"footnote/corpus/text"
	"footnote/llm"
)

//go:embed reflect.md
var reflectDoc string

// longestJudgement is how long a model's judgement of its answer may be, in runes.
const longestJudgement = 500

// judgementSentences is how many sentences of it are kept.
const judgementSentences = 3

// judgedStops are the spent budgets after which there is still time for a judgement.
var judgedStops = []chat.StopReason{chat.StopMaxSteps, chat.StopMaxRetrievalCalls, chat.StopUnusableCalls}

// judgement is a model's judgement of an answer. The zero value is none.
type judgement struct {
	text  string
	score *float64 // 0–1: how sure the model is that the answer addresses the whole question and is backed; nil: it gave no number
}

// with joins a judgement to what the program found when it compared the answer with passages: the lower confidence counts, and the text says
// both. checked is false when there was nothing to compare: then the model's number stands alone.
func (v judgement) with(found float64, explained string, checked bool) (confidence float64, text string) {
	if v.text == "" {
		return found, explained
	}
	text = v.text
	if v.score == nil {
		return found, text + " " + explained
	}
	confidence = min(*v.score, found)
	if !checked && found == ground.UncheckedConfidence {
		confidence = *v.score
	}
	return confidence, fmt.Sprintf("%s The model's confidence is %.2f. %s", text, *v.score, explained)
}

// reflects reports whether the model is to judge its answer: when the request or the toolset wants it, and there is time. The program
// compares every answer with its passages.
func (w *work) reflects(answer string) bool {
	wanted := w.run.Request.Config.EnableSelfEvaluation
	if wanted == nil {
		wanted = &w.set.Reflective
	}
	return *wanted && w.thinks(featureReflect) && !w.fell && !w.saidUndone && !ground.IsRefusal(answer) && (w.stop == "" || slices.Contains(judgedStops, w.stop))
}

// reflect asks the model to judge its answer, and returns none when it has none to give: then the program's check stands alone.
func (w *work) reflect(ctx context.Context, answer string) (judgement, error) {
	step := w.phase("reflect", chat.ActionAnalysing, chat.StatusRunning, "Judging the answer")
	if err := w.emit(ctx, w.track(step)); err != nil {
		return judgement{}, err
	}
	begun := time.Now()
	said, used, err := w.consult(ctx, w.reflectPrompt(answer))
	if cause := w.left(ctx); cause != nil {
		return judgement{}, cause
	}
	v := readJudgement(said)
	step.DurationMS, step.Timestamp, step.Tokens = sinceMS(begun), stamp(), &used
	step.Status, step.Message, step.Summary = chat.StatusComplete, "Judged the answer", v.text
	if v.score != nil {
		step.Details["confidence"] = *v.score
		step.Message = fmt.Sprintf("Judged the answer: confidence %.2f", *v.score)
	}
	if err != nil || v.text == "" {
		w.cfg.Log.WarnContext(ctx, "model did not judge its answer", "run", w.run.ID, "error", err)
		step.Status, step.Message, step.Summary = chat.StatusSkipped, "The model did not judge its answer: rules do", ""
		v = judgement{}
	}
	step.ToolStatus = step.Status
	return v, w.emit(ctx, w.track(step))
}

// reflectPrompt shows the question, the answer, the words that it cites, and what of the text that came with the question there is room for.
func (w *work) reflectPrompt(answer string) []llm.Message {
	var b strings.Builder
	b.WriteString("Question: " + w.run.Request.Message + "\n\nAnswer:\n" + answer + "\n\nWhat the footnotes quote:\n")
	for _, c := range w.cite.Citations {
		b.WriteString("[" + strconv.Itoa(c.Number) + "] " + c.Quote + "\n")
	}
	rules := strings.ReplaceAll(reflectDoc, "{{nonce}}", w.nonce)
	if given := w.givenFor(answer, w.cfg.Thinking.ContextTokens*8/10-tokens(rules)-tokens(b.String())-consultTokens); given != "" {
		b.WriteString("\nThe text that came with the question, on which the answer may rest without footnotes:\n" + given + "\n")
	}
	return []llm.Message{
		{Role: llm.RoleSystem, Text: rules},
		{Role: llm.RoleUser, Text: fence(w.nonce, b.String())},
	}
}

// givenFor is the text that came with the question, in at most limit tokens: of a longer one, the paragraphs that bear out a sentence of the
// answer, and then the others from the beginning, all in their order.
func (w *work) givenFor(answer string, limit int) string {
	given := w.run.Request.ContextText + w.run.Request.AddedContext // a request has one of them at most
	if tokens(given) <= limit {
		return given
	}
	paragraphs := strings.Split(given, "\n\n")
	keep := make([]bool, len(paragraphs))
	take := func(wanted func(string) bool) {
		for i, p := range paragraphs {
			if size := tokens(p) + 1; !keep[i] && size <= limit && wanted(p) {
				keep[i], limit = true, limit-size
			}
		}
	}
	stated := w.evidence.FactualClaims(answer)
	take(func(p string) bool {
		return slices.ContainsFunc(stated, func(c ground.Claim) bool { return w.cite.Judge.Backed(c.Text, ground.TalkOfContext, p) })
	})
	take(func(string) bool { return true })
	var kept []string
	for i, p := range paragraphs {
		if keep[i] {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "\n\n")
}

// readJudgement reads a model's judgement: JSON as it was asked for, or a plain sentence, which gives no number.
func readJudgement(said string) judgement {
	var object struct {
		Evaluation string          `json:"evaluation"`
		Confidence json.RawMessage `json:"confidence"`
	}
	said = strings.TrimSpace(said)
	var v judgement
	if at := strings.IndexByte(said, '{'); at >= 0 && json.NewDecoder(strings.NewReader(said[at:])).Decode(&object) == nil {
		said, v.score = object.Evaluation, readShare(object.Confidence)
	}
	if v.text = firstSentences(said); v.text == "" && v.score != nil {
		v.text = "The model gave a number only."
	}
	return v
}

// readShare reads a share of 1: 0.8, "0.8" or "80%". Anything else is none.
func readShare(raw json.RawMessage) *float64 {
	digits, percent := strings.CutSuffix(strings.TrimSpace(strings.Trim(string(raw), `" `)), "%")
	n, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if percent {
		n /= 100
	}
	if err != nil || !(n >= 0 && n <= 1) {
		return nil
	}
	return &n
}

// firstSentences are those of a reply that are kept as a judgement.
func firstSentences(said string) string {
	said = strings.Join(strings.Fields(said), " ")
	if !strings.ContainsFunc(said, unicode.IsLetter) {
		return ""
	}
	if spans := text.Sentences(said); len(spans) > 0 {
		said = string([]rune(said)[spans[0][0]:spans[min(len(spans), judgementSentences)-1][1]])
	}
	return text.Shorten(said, longestJudgement)
}
