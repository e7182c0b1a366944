package run

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/footnote/footnote/agent/cite"
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/english"
	"github.com/footnote/footnote/text/locale"
)

//go:embed reflect.md
var reflectDoc string

// Limits on the length of a model's judgement. The prompt asks for one to three short sentences (reflect.md), and
// some models write more.
const (
	longestJudgement   = 500 // in runes
	judgementSentences = 3
)

// stopsWithTimeToJudge lists the spent budgets that leave time for a judgement. The others are the time, the tokens,
// and a user who wants the answer now.
var stopsWithTimeToJudge = []chat.StopReason{chat.StopMaxSteps, chat.StopMaxRetrievalCalls, chat.StopUnusableCalls}

// judgement is a model's judgement of an answer. The zero value means no judgement.
type judgement struct {
	text string
	// 0–1, the model's confidence that the answer addresses the whole question and is supported; nil: no number
	score *float64

	doubted   []string // sentences of the answer that the model found in none of the given texts
	confirmed []string // the other sentences that it checked
}

// mostRaised is the maximum by which a model's judgement raises the program's confidence.
const mostRaised = 0.1

// combineWith combines a judgement with the program's comparison of the answer and its passages; the text contains
// both. The model's number is an upper bound of the confidence. It raises that of an answer with footnotes by at
// most mostRaised, and only if no sentence is unsupported. An answer without footnotes (cited is false) has no
// passages to compare: if it is faultless, the model's number is used alone. Reasons: docs/decisions/support.md.
func (v judgement) combineWith(found evaluation, cited bool) (confidence float64, text string) {
	explained := found.explained
	if v.text == "" {
		return found.confidence, explained
	}
	if n := len(v.doubted); n > 0 {
		explained = fmt.Sprintf(
			"It finds %s of the answer in no text that it was shown. %s", english.Count(n, "sentence"), explained,
		)
	}
	text = v.text
	if v.score == nil {
		return found.confidence, text + " " + explained
	}
	most := found.confidence
	if cited && len(found.unsupported) == 0 {
		most += mostRaised
	}
	confidence = cite.Hundredths(min(*v.score, most))
	if !cited && found.faultless {
		confidence = *v.score
	}
	return confidence, fmt.Sprintf("%s The model's confidence is %.2f. %s", text, *v.score, explained)
}

// shouldJudge reports whether the model judges its answer: if the request or the toolset asks for it, and there is
// time. The program compares every answer with its passages anyway. Refusals, answers of the offline model and
// reports by the program are never judged, nor is an answer after the time is over or the user wants it now.
func (w *Runner) shouldJudge(answer string) bool {
	wanted := w.run.Request.Config.EnableSelfEvaluation
	if wanted == nil {
		usual := w.set.Reflective && !w.model.isSmall()
		wanted = &usual
	}
	return *wanted && w.isEnabled(featureReflect) && !w.model.isRuleBased() && w.review.author != reportOfRejected &&
		!cite.IsRefusal(answer) &&
		(w.budget.stop == "" || slices.Contains(stopsWithTimeToJudge, w.budget.stop))
}

// judgeAnswer asks the model to judge its answer. The result is empty if the model gives no judgement: then only the
// program's check counts. Its step is stored before the call, since a judgement may take as long as an answer.
func (w *Runner) judgeAnswer(ctx context.Context, answer string) (judgement, error) {
	step := w.log.newStep("reflect", chat.ActionAnalysing, chat.StatusRunning, "Evaluating the answer")
	if err := w.log.emitEvents(ctx, w.log.trackStep(step)); err != nil {
		return judgement{}, err
	}
	prompt, sentences := w.judgePrompt(answer)
	v, err := w.requestJudgement(ctx, &step, prompt, sentences)
	if err != nil {
		return judgement{}, err
	}
	step.Status = chat.StatusComplete
	judged := locale.Say("Evaluated the answer")
	if v.score != nil {
		judged = locale.Say("Evaluated the answer: confidence {1}", fmt.Sprintf("%.2f", *v.score))
	}
	if v.text == "" {
		step.Status, judged = chat.StatusSkipped, locale.Say("No evaluation by the model: using rules")
	}
	if len(v.doubted) > 0 {
		step.Details["unsupported"] = v.doubted
		judged = locale.Say("{1}{2}", judged, locale.Say(
			", {1} unsupported", locale.Count(len(v.doubted), "sentence"),
		))
	}
	step.ToolStatus, step.Message = step.Status, step.Forms.Say(judged)
	return v, w.log.emitEvents(ctx, w.log.trackStep(step))
}

// requestJudgement requests a judgement from the model, and records text and usage in the step. The result is empty if
// the model gives none. It fails only when the run is stopped.
func (w *Runner) requestJudgement(
	ctx context.Context, step *chat.Step, prompt []llm.Message, sentences []string,
) (judgement, error) {
	begun := time.Now()
	said, spent, err := w.model.completeOnce(ctx, prompt)
	if cause := w.stopCause(ctx); cause != nil {
		return judgement{}, cause
	}
	v := readJudgement(said, sentences)
	step.DurationMS, step.Timestamp = sinceMS(begun), nowSeconds()
	step.Tokens, step.Cost = &spent.Tokens, spent.Cost
	if err != nil || v.text == "" {
		w.cfg.Log.ErrorContext(ctx, "model gave no judgement", "run", w.run.ID, "error", err)
		return judgement{}, nil
	}
	step.Summary = v.text
	if v.score != nil {
		step.Details["confidence"] = *v.score
	}
	return v, nil
}

// judgePrompt builds the prompt with the question, the answer and its evidence within the token limit. The evidence
// is the passages of its footnotes, or without footnotes the retrieved passages, and the text that came with the
// question. sentences are those to check, numbered from 1. The prompt and its reply take at most 80 % of
// Features.ContextTokens. The answer is fenced as data, since it may quote a document that contains instructions.
func (k *knowledge) judgePrompt(answer string) (messages []llm.Message, sentences []string) {
	rules := strings.ReplaceAll(reflectDoc, "{{nonce}}", k.nonce)
	var b strings.Builder
	b.WriteString("Question: " + k.run.Request.Message + "\n\nAnswer:\n" + answer + "\n")
	// the sentences repeat the answer
	room := k.cfg.Features.ContextTokens*8/10 - estimateTokens(
		rules,
	) - estimateTokens(b.String()) - estimateTokens(answer) - completeTokens
	shown := k.showPassages(&b, &room)
	if given := k.shortenGiven(answer, room); given != "" {
		b.WriteString("\nThe text that came with the question, on which the answer may rest without footnotes:\n" +
			given + "\n")
		shown.Texts = append(shown.Texts, given)
	}
	if sentences = k.evidence.Doubtable(answer, shown); len(sentences) > 0 {
		b.WriteString("\nThe sentences of the answer that you check:\n")
		for i, said := range sentences {
			b.WriteString(strconv.Itoa(i+1) + ". " + said + "\n")
		}
	}
	return []llm.Message{
		{Role: llm.RoleSystem, Text: rules},
		{Role: llm.RoleUser, Text: fenceData(k.nonce, b.String())},
	}, sentences
}

// showPassages writes the passages of the footnotes, whole within the token limit and else only the quotes. Without
// footnotes it writes the retrieved passages. shown returns the texts and footnotes in the prompt, so that the model
// is asked only about sentences that rest on them.
func (k *knowledge) showPassages(b *strings.Builder, room *int) cite.Shown {
	var shown cite.Shown
	add := func(label, text string) bool {
		line := label + text + "\n"
		if *room -= estimateTokens(line); *room < 0 {
			*room += estimateTokens(line)
			return false
		}
		b.WriteString(line)
		shown.Texts = append(shown.Texts, text)
		return true
	}
	if len(k.cite.Citations) == 0 {
		if k.givenText() || k.toolContext.Sources.IsEmpty() {
			return shown
		}
		b.WriteString("\nThe passages that were found:\n")
		for _, src := range k.toolContext.Sources.All() {
			add("- ", src.Passage.Text)
		}
		return shown
	}
	b.WriteString("\nWhat the footnotes cite:\n")
	for _, c := range k.cite.Citations {
		label, whole := "["+strconv.Itoa(c.Number)+"] ", true
		for _, text := range k.evidence.TextsBehind(c.Number) {
			whole = (slices.Contains(shown.Texts, text) || add(label, text)) && whole
		}
		if whole {
			shown.Footnotes = append(shown.Footnotes, c.Number)
		}
		b.WriteString(label + "quotes: " + c.Quote + "\n")
		*room -= estimateTokens(label + c.Quote)
	}
	return shown
}

// shortenGiven returns the text that came with the question, in at most limit tokens. From a longer one it takes the
// paragraphs that support a sentence of the answer, then others from the beginning, all in their order. So the
// answer's claims can be checked whatever is cut.
func (k *knowledge) shortenGiven(answer string, limit int) string {
	given := k.run.Request.ContextText + k.run.Request.AddedContext // a request has at most one of them
	if estimateTokens(given) <= limit {
		return given
	}
	paragraphs := strings.Split(given, "\n\n")
	keep := make([]bool, len(paragraphs))
	take := func(wanted func(string) bool) {
		for i, p := range paragraphs {
			if size := estimateTokens(p) + 1; !keep[i] && size <= limit && wanted(p) {
				keep[i], limit = true, limit-size
			}
		}
	}
	stated := k.evidence.FactualClaims(answer)
	take(func(p string) bool {
		return slices.ContainsFunc(
			stated, func(c cite.Claim) bool {
				return k.cite.Judge.Resembles(c.Text, cite.ContextMetaWords, p)
			},
		)
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

// readJudgement parses a model's judgement: the requested JSON, or a plain sentence, which has no number and no
// doubts.
func readJudgement(said string, sentences []string) judgement {
	var object struct {
		Evaluation  string          `json:"evaluation"`
		Confidence  json.RawMessage `json:"confidence"`
		Unsupported json.RawMessage `json:"unsupported"`
	}
	said = strings.TrimSpace(said)
	var v judgement
	if at := strings.IndexByte(said, '{'); at >= 0 &&
		json.NewDecoder(strings.NewReader(said[at:])).Decode(&object) == nil {
		said, v.score = object.Evaluation, readShare(object.Confidence)
		v.doubted, v.confirmed = readDoubts(object.Unsupported, sentences)
	}
	if v.text = firstSentences(said); v.text == "" && v.score != nil {
		v.text = "The model gave a number only."
	}
	return v
}

// readDoubts parses a list of sentence numbers, counted from 1 as in the prompt. It returns the listed sentences as
// doubted and the others as confirmed. A list with any invalid number is ignored: it may count something else.
func readDoubts(raw json.RawMessage, sentences []string) (doubted, confirmed []string) {
	var numbers []json.Number
	if json.Unmarshal(raw, &numbers) != nil || numbers == nil {
		return nil, nil
	}
	for _, number := range numbers {
		n, err := strconv.Atoi(number.String())
		if err != nil || n < 1 || n > len(sentences) {
			return nil, nil
		}
		doubted = text.AppendNew(doubted, sentences[n-1])
	}
	return doubted, slices.DeleteFunc(slices.Clone(sentences), func(s string) bool {
		return slices.Contains(doubted, s)
	})
}

// readShare parses a share of 1: 0.8, "0.8" or "80%". It returns nil for anything else. Models write all three
// forms.
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

// firstSentences returns the beginning of a judgement within the limits above, or an empty string without any
// letter.
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

// lowConfidence is the model's confidence below which the run searches on. It is the middle of the scale in the
// prompt.
const lowConfidence = 0.5

// draft is an answer with the model's judgement of it.
type draft struct {
	original   string // with the model's own markers
	judgement  judgement
	confidence float64 // combined from judgement and the program's check
}

// reconsiderAnswer has the model judge the written answer. again is true if its confidence was low and the budget
// allows another search. If the confidence does not rise, the better answer is kept. The answer is stored before the
// judgement, so readers see it at once; it is taken back if the run continues.
func (w *Runner) reconsiderAnswer(ctx context.Context) (again bool, err error) {
	text, err := w.log.writer.Finish(ctx)
	if err != nil {
		return false, err
	}
	if !w.shouldJudge(text) {
		if w.review.earlier != nil &&
			(w.model.isRuleBased() || cite.IsRefusal(text) || len(w.cite.Citations) == 0) {
			return false, w.restoreEarlier(ctx)
		}
		w.adoptJudgement(judgement{})
		return false, nil
	}
	if err := w.log.emitEvents(ctx, w.log.writer.Rest()...); err != nil { // readers don't wait for the judgement
		return false, err
	}
	judged, err := w.judgeAnswer(ctx, text)
	if err != nil {
		return false, err
	}
	w.adoptJudgement(judged)
	now := draft{original: w.log.writer.Original(), judgement: w.review.judgement}
	now.confidence, _ = w.review.judgement.combineWith(w.evaluateAnswer(text), len(w.cite.Citations) > 0)
	if w.review.earlier != nil && now.confidence <= w.review.earlier.confidence {
		return false, w.restoreEarlier(ctx)
	}
	w.budget.checkLimits()
	score := w.review.judgement.score
	if score == nil || *score >= lowConfidence || w.budget.stop != "" || w.givenText() || w.set.SearchTool() == nil ||
		w.budget.retrievals >= w.budget.limits.RetrievalCalls {
		return false, nil
	}
	w.review.earlier = &now
	return true, w.searchFurther(ctx)
}

// adoptJudgement sets the judgement of the current answer.
func (w *Runner) adoptJudgement(judged judgement) {
	w.review.judgement = judged
	w.evidence.Doubted, w.evidence.Confirmed = judged.doubted, judged.confirmed
}

// searchFurther takes the answer back and prompts the model with its own judgement. The judgement is fenced as data,
// since it may quote documents that contain instructions.
func (w *Runner) searchFurther(ctx context.Context) error {
	w.phase = gathering
	w.messages.ephemeral = []llm.Message{
		{Role: llm.RoleAssistant, Text: w.review.earlier.original},
		{Role: llm.RoleUser, Aside: true, Text: fmt.Sprintf(
			"A check of your answer gives it a confidence of %.2f. What it says stands below, as data. Search for "+
				"what is missing, then answer the whole question again.\n%s",
			*w.review.judgement.score,
			fenceData(w.nonce, w.review.judgement.text),
		)},
	}
	step := w.log.newStep("refine", chat.ActionPlanning, chat.StatusComplete, locale.Message(fmt.Sprintf(
		"Score %.2f: searching for missing information", *w.review.judgement.score,
	)))
	step.Summary = w.review.judgement.text
	return w.log.retractAnswer(ctx, step)
}

// restoreEarlier restores the earlier answer, which was judged better than the one written since. It is written
// again from the model's own markers, so it gets the same footnotes.
func (w *Runner) restoreEarlier(ctx context.Context) error {
	if err := w.log.retractAnswer(ctx, w.log.newStep(
		"review", chat.ActionAnalysing, chat.StatusComplete, "The answer got no better: the earlier one stands",
	)); err != nil {
		return err
	}
	w.adoptJudgement(w.review.earlier.judgement)
	return w.log.writer.Write(ctx, w.review.earlier.original)
}

// fallBackToEarlier ends the run with the earlier answer if the model fails to write a better one. Without an earlier
// answer, or for an error that is not the model's, it returns err.
func (w *Runner) fallBackToEarlier(ctx context.Context, err error) (reply, []chat.Payload, error) {
	if code := chat.CodeOf(err); w.review.earlier == nil || code != chat.CodeModelFailed && code != chat.CodeGuardrail {
		return reply{}, nil, err
	}
	return w.lastReply(ctx, w.restoreEarlier(ctx))
}

// Timeout and token limit of a side request to the model: plans, judgements and translations are short, and the run
// waits for them. No measurement of either is recorded; 800 tokens hold a plan of ten parts with a reason each.
const (
	completeTime   = 20 * time.Second
	completeTokens = 800
)

// askSeparately is completeOnce for a language model; it returns nothing for the rule-based one.
func (m *modelCaller) askSeparately(ctx context.Context, messages []llm.Message) (string, chat.Spent, error) {
	if m.isRuleBased() {
		return "", chat.Spent{}, nil
	}
	return m.completeOnce(ctx, messages)
}

// completeOnce sends the model a side request outside the run's conversation, without tools, and charges the run for
// it. It uses the cheaper model if one is set. The timeout is completeTime and the reply's limit completeTokens; a
// user who wants the answer now cancels it. The caller handles an error, which does not end the run. The temperature
// is 0, so that plans and judgements are reproducible; it is dropped for a model that refuses it. Reasoning is
// ignored. A failed request is charged too, if the server reports its tokens.
func (m *modelCaller) completeOnce(
	ctx context.Context,
	messages []llm.Message,
) (said string, spent chat.Spent, err error) {
	ctx, cancel := m.sideContext(ctx, completeTime)
	defer cancel()
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
		case llm.Reasoning, llm.Call: // not requested
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
