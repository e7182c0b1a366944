package run

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/english"
	"github.com/footnote/footnote/text/locale"
)

// Limits on retries after failures of the model. No measurement of them is recorded: each is the minimum that lets a
// model correct a slip, since every retry costs a turn.
const (
	maxRepairs  = 2 // consecutive turns with calls that could not run; one more ends the use of tools
	maxCuts     = 3 // turns cut at the token limit
	maxBadCalls = 2 // tool calls that the model's server could not parse; at this count the model must answer

	// leastWait is the minimum backoff for a rate limit, whatever the server names. A server that repeatedly names
	// next to nothing would otherwise be retried at once (docs/decisions/model-servers.md).
	leastWait = time.Second

	// fallbackTime is the timeout of the rule-based model even after the run's time is over, so that there is an
	// answer. It takes some 2 ms (docs/performance.md, “Deciding”); the rest is for a machine under load.
	fallbackTime = 10 * time.Second

	// answerReserve is the divisor for the part of a run's time that is reserved for writing the answer: a sixth, or
	// 50 s of the usual 300.
	answerReserve = 6
)

// reply is the result of one model turn: calls or an answer. Text beside calls is a thought.
type reply struct {
	text      string
	reasoning string
	signature string
	calls     []llm.Call
	dropped   []llm.Dropped // text removed from the reply
	finish    llm.Finish
	tokens    chat.Tokens // as the server counts them, else estimated
	cost      *float64    // in the currency of the settings; nil without a price for the model
	chooses   bool        // from the model that only chooses tools
	byProgram bool        // calls by the program, not a model turn
}

// modelCaller sends every request to a language model, with retries, repairs of unparsable calls, and the fallback.
// It is the one place that handles budgets, failures and the streaming of text.
type modelCaller struct {
	*state

	model   llm.Model
	role    modelRole // of model
	judge   llm.Model // checks passages: the cheaper model, else the run's own; nil: none
	chooser llm.Model // a cheaper model that only chooses tools; nil: none, or it failed

	quoted         *llm.Found // rating of the quotes in the last reply; nil: the reply is not only quotes
	badCalls       int        // calls that the model's server could not parse
	noticed        map[llm.Notice]bool
	resultsDropped bool // older results were dropped from the messages; once in a run
	lossTold       bool // readers were notified that the server dropped a part of the prompt
}

// newModelCaller returns a caller with the model that the request selects.
func newModelCaller(s *state) modelCaller {
	m := modelCaller{state: s, chooser: s.cfg.Select, noticed: map[llm.Notice]bool{}}
	m.useRequested()
	return m
}

// useRequested selects the request's model.
func (m *modelCaller) useRequested() {
	model, err := m.cfg.modelOf(m.run.Request.Config)
	if err != nil {
		model = m.cfg.Model // it was allowed when the run began
	}
	if m.model = model; model.Name() == offlineName {
		m.role = ruleBasedModel
		return
	}
	if m.judge = m.cfg.Select; m.judge == nil {
		m.judge = model
	}
	if m.cfg.Features.Checks == CheckAlways {
		m.offerCheck()
	}
}

// completeTurn returns one whole reply of the model. On failure it waits, shortens the history, or uses the
// fallback. Each kind of retry is limited: waits by rateLimit.nextWait, a shorter history once, an unparsable call
// twice, the fallback once. A successful turn counts against the budget, unless it is the answer that a spent budget
// forces.
func (m *modelCaller) completeTurn(ctx context.Context) (reply, error) {
	var limit rateLimit
	for {
		if err := m.stopCause(ctx); err != nil {
			return reply{}, err
		}
		m.budget.checkLimits()
		r, err := m.streamReply(ctx)
		if unstored := m.log.emitDropped(ctx, r.dropped...); unstored != nil {
			return reply{}, unstored
		}
		if err == nil {
			m.messages.ephemeral = nil
			if m.budget.stop == "" {
				m.budget.turns++
			}
			return r, nil
		}
		// a stop takes precedence over the failure it caused
		if cause := m.stopCause(ctx); cause != nil {
			return reply{}, cause
		}
		var e *llm.Error
		switch {
		case r.chooses && errors.As(err, &e):
			if err := m.disableChooser(ctx, e); err != nil {
				return reply{}, err
			}
		case errors.Is(err, errAnswerNow), errors.Is(err, errLate):
			m.budget.stop = map[bool]chat.StopReason{true: chat.StopAnswerNow, false: chat.StopTimeout}[errors.Is(
				err, errAnswerNow,
			)]
			begun, _ := m.log.writer.Reset()
			if err := m.log.emitDropped(ctx, llm.Dropped{
				Text: begun, Message: "Removed a partial reply: answering now",
			}); err != nil {
				return reply{}, err
			}
		case !errors.As(err, &e):
			return reply{}, err // the store failed, not the model
		// visible text can't be restarted silently, so the fallback takes over at once
		case e.Kind == llm.KindRateLimited && !m.log.writer.Shown() && !m.isRuleBased():
			wait, again := limit.nextWait(e.RetryAfter)
			if !again || time.Since(m.budget.begun)+wait > m.budget.searchTime() {
				err = m.fallBack(ctx, e)
			} else {
				err = m.waitForServer(ctx, wait)
			}
			if err != nil {
				return reply{}, err
			}
		case e.Kind == llm.KindTooLong && !m.resultsDropped && m.dropOldResults():
		case e.Kind == llm.KindBadCall && m.badCalls < maxBadCalls && !m.isRuleBased():
			if err := m.repairCall(ctx, e); err != nil {
				return reply{}, err
			}
		default:
			if err := m.fallBack(ctx, e); err != nil {
				return reply{}, err
			}
		}
	}
}

// streamReply requests one reply and streams its text to readers. The end of the time for searching cancels it,
// unless an answer is already being written. A user who wants the answer now cancels it too, and visible text
// becomes the answer. So does the server's shutdown.
func (m *modelCaller) streamReply(ctx context.Context) (r reply, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// the whole time left; the timer below bounds searching and spares an answer in progress
	left := m.budget.totalTime() - time.Since(m.budget.begun)
	if m.isRuleBased() {
		left = max(left, fallbackTime)
	}
	replyCtx, free := context.WithTimeout(ctx, left)
	defer free()
	if m.budget.stop == "" {
		late := time.AfterFunc(m.budget.searchTime()-time.Since(m.budget.begun), func() {
			if !m.log.writer.Shown() { // let an answer in progress finish
				cancel(errLate)
			}
		})
		defer late.Stop()
	}
	// these callbacks run in their own goroutines and only cancel; each is stopped before streamReply returns
	forced := m.budget.stop != ""
	defer context.AfterFunc(m.control.now, func() {
		if !forced || m.log.writer.Shown() { // else this reply is already the forced answer
			cancel(context.Cause(m.control.now))
		}
	})()
	defer context.AfterFunc(m.control.leaving, func() { cancel(context.Cause(m.control.leaving)) })()
	model, chooses := m.turnModel()
	r.chooses = chooses
	req := m.nextRequest(ctx)
	done, err := m.readParts(ctx, model.Stream(replyCtx, req), &r)
	m.budget.chargeFailedReply(model, err)
	switch why := context.Cause(ctx); {
	case errors.Is(why, errAnswerNow) && m.log.writer.Shown() && len(r.calls) == 0: // the visible text is the answer
		m.budget.stop, r.finish = chat.StopAnswerNow, llm.FinishStop
		m.countTokens(model, req, nil, &r)
		return r, nil
	case errors.Is(why, errAnswerNow), errors.Is(why, errLate):
		return r, why
	case err != nil && replyCtx.Err() != nil && ctx.Err() == nil:
		return r, &llm.Error{Kind: llm.KindTimeout, Message: "the model timed out", Err: err}
	case err != nil:
		return r, err
	case done == nil:
		return r, &llm.Error{
			Kind: llm.KindIncomplete, Message: "the model's reply was cut off", Shown: m.log.writer.Shown(),
		}
	}
	r.finish = done.Finish
	m.countTokens(model, req, done.Usage, &r)
	return r, m.checkPrompt(ctx, req, done.Usage)
}

// readParts reads the parts of a reply from the stream. It fails with the error of the stream or the store; r holds
// the parts until then. It is the only place that emits model text. The text of a model that only chooses tools is
// kept, not emitted.
func (m *modelCaller) readParts(
	ctx context.Context, parts func(func(llm.Part, error) bool), r *reply,
) (done *llm.Done, err error) {
	var text, reasoning strings.Builder
	var watch replyWatch
	progress := readingStep{log: &m.log, begun: time.Now()}
	defer func() {
		if failed := progress.endStep(ctx); err == nil {
			err = failed
		}
	}()
	defer func() { r.text, r.reasoning = text.String(), reasoning.String() }()
	thought := 0 // bytes of reasoning already shown in steps
	showThought := func() error {
		rest := reasoning.String()[thought:]
		if thought = reasoning.Len(); strings.TrimSpace(rest) == "" {
			return nil
		}
		return m.log.emitEvents(ctx, m.thinkingStep(rest))
	}
	for part, err := range parts {
		if err != nil {
			return nil, err
		}
		if _, reads := part.(llm.Reading); !reads {
			if err := progress.endStep(ctx); err != nil {
				return nil, err
			}
		}
		switch p := part.(type) {
		case llm.Text:
			// show the reasoning once it is over, as one step
			if thought == 0 {
				if err := showThought(); err != nil {
					return nil, err
				}
			}
			said, dropped, over := string(p), llm.Dropped{}, false
			write := m.log.writer.WriteWords // footnotes of the rules are all llm.Quoted
			if !m.isRuleBased() {
				said, dropped, over = watch.takePiece(said)
				write = m.log.writer.Write
			}
			text.WriteString(said)
			if !r.chooses && said != "" {
				if err := write(ctx, said); err != nil {
					return nil, err
				}
			}
			if over {
				r.dropped = append(r.dropped, dropped)
				return &llm.Done{Finish: llm.FinishStop}, showThought()
			}
		case llm.Quoted:
			text.WriteString(p.Marker())
			if r.chooses {
				continue
			}
			if err := m.log.writer.Quote(ctx, p.Passage, p.Words, p.Matched); err != nil {
				return nil, err
			}
		case llm.Reasoning:
			reasoning.WriteString(string(p))
		case llm.Rethought:
			// the apparent answer was reasoning without its opening tag
			if err := showThought(); err != nil {
				return nil, err
			}
			reasoning.WriteString(text.String())
			text.Reset()
			watch = replyWatch{}
			if !r.chooses {
				thought = reasoning.Len()
				if err := m.log.retractAnswer(ctx, m.thinkingStep("")); err != nil {
					return nil, err
				}
			}
		case llm.Signature:
			if !r.chooses { // another model could not decode it
				r.signature = string(p)
			}
		case llm.Call:
			if r.chooses {
				p.Extra = nil
			}
			r.calls = append(r.calls, p)
		case llm.Reading:
			if err := progress.showProgress(ctx, float64(p)); err != nil {
				return nil, err
			}
		case llm.Notice:
			if m.noticed[p] { // once is enough
				continue
			}
			m.noticed[p] = true
			if err := m.log.emitEvents(
				ctx, m.log.newStep("notice", chat.ActionThinking, chat.StatusComplete, locale.Message(p)),
			); err != nil {
				return nil, err
			}
		case llm.Dropped:
			r.dropped = append(r.dropped, p)
		case llm.Done:
			done, m.quoted = &p, p.Found
		}
	}
	rest, dropped := watch.endReply()
	r.dropped = append(r.dropped, dropped)
	if rest != "" {
		text.WriteString(rest)
		if !r.chooses {
			if err := m.log.writer.Write(ctx, rest); err != nil {
				return nil, err
			}
		}
	}
	if thought == 0 && len(r.calls) > 0 {
		return done, nil // it is the thought of the calls
	}
	return done, showThought()
}

// thinkingStep returns a step with the model's reasoning, at most 4,000 characters. The limit bounds the event:
// reasoning can be longer than any answer.
func (m *modelCaller) thinkingStep(thought string) chat.Step {
	step := m.log.newStep("thinking", chat.ActionThinking, chat.StatusComplete, "Thought about it")
	step.Thought = tools.CutText(strings.TrimSpace(thought), 4000)
	return step
}

// countTokens adds a turn's tokens to the budget. If the provider reports none, it estimates them at about four
// bytes a token: estimateTokens.
func (m *modelCaller) countTokens(model llm.Model, req llm.Request, u *llm.Usage, r *reply) {
	used := chat.Tokens{}
	if model.Name() == offlineName {
		r.tokens, r.cost = used, m.budget.chargeTokens(model, used) // rules read no tokens
		return
	}
	if u != nil {
		used = chat.Tokens{In: u.In, Out: u.Out}
	} else {
		used.In = estimateRequest(req)
		used.Out = estimateTokens(r.text + r.reasoning)
		for _, c := range r.calls {
			used.Out += estimateTokens(string(c.Arguments))
		}
	}
	r.tokens, r.cost = used, m.budget.chargeTokens(model, used)
}

// dropOldResults drops older results from a prompt that was too long. It reports whether there was anything to drop.
func (m *modelCaller) dropOldResults() bool {
	m.resultsDropped = true
	return m.messages.dropOldResults()
}

// repeatedLeast is the minimum number of letters and digits of a sentence or line whose repetition indicates a loop.
// Shorter ones repeat legitimately in tables and lists. No measurement of it is recorded. Without the check, small
// models looped for 800 tokens.
const repeatedLeast = 20

// replyWatch ends a reply early: after the refusal sentence, and when the model repeats a sentence or line. The zero
// value is ready to use. It is for one reply.
type replyWatch struct {
	said   strings.Builder
	passed int            // bytes of said that were passed on
	begun  int            // offset in said of the incomplete sentence
	before string         // previous sentence, empty for a short one
	times  map[string]int // occurrences of each sentence
	twice  []string       // sentences that occurred twice
	fenced bool           // in a code block, where lines may repeat
}

// takePiece adds a piece and returns the text to pass on now. over reports that the reply ends here, and dropped is
// the received text after that end. It buffers text that may still become the refusal sentence or a repetition. A
// refusal is reduced to that sentence: docs/decisions/support.md.
func (w *replyWatch) takePiece(piece string) (pass string, dropped llm.Dropped, over bool) {
	w.said.WriteString(piece)
	all := w.said.String()
	if w.passed == 0 { // later text does not begin the reply
		plain := strings.ReplaceAll(strings.TrimLeft(all, " \n"), "’", "'")
		if rest, ok := strings.CutPrefix(plain, english.Refusal); ok {
			return english.Refusal, llm.Dropped{Text: rest, Message: "Removed text after the refusal"}, true
		} else if strings.HasPrefix(english.Refusal, plain) {
			return "", dropped, false
		}
	}
	for {
		end := sentenceEnd(all[w.begun:])
		if end < 0 {
			break
		}
		if w.noteSentence(all[w.begun : w.begun+end]) {
			return w.releaseUntil(w.begun), repetition(all[w.begun:]), true
		}
		w.begun += end
	}
	if w.mayRepeat(all[w.begun:]) {
		return w.releaseUntil(w.begun), dropped, false
	}
	return w.releaseUntil(len(all)), dropped, false
}

// endReply returns the buffered text at the end of the reply: text to pass on, or a repetition to drop.
func (w *replyWatch) endReply() (pass string, dropped llm.Dropped) {
	all := w.said.String()
	if w.passed <= w.begun && w.noteSentence(all[w.begun:]) {
		return w.releaseUntil(w.begun), repetition(all[w.begun:])
	}
	return w.releaseUntil(len(all)), dropped
}

// releaseUntil marks the reply as passed on up to an offset, and returns the new part.
func (w *replyWatch) releaseUntil(end int) string {
	pass := w.said.String()[w.passed:max(w.passed, end)]
	w.passed += len(pass)
	return pass
}

// repetition returns the Dropped for text that repeats a sentence.
func repetition(text string) llm.Dropped {
	return llm.Dropped{Text: text, Message: "Removed repeated text at the end of the reply"}
}

// mayRepeat reports whether an incomplete sentence is a prefix of one whose repetition would end the reply.
func (w *replyWatch) mayRepeat(begun string) bool {
	return !w.fenced && (beginsWith(w.before, begun) ||
		slices.ContainsFunc(w.twice, func(said string) bool { return beginsWith(said, begun) }))
}

// beginsWith reports whether a sentence, whose words are separated by single spaces, begins with the words of begun,
// the last of which may be incomplete. It is false if begun has no words.
func beginsWith(sentence, begun string) bool {
	space, ok := "", false
	for word := range strings.FieldsSeq(begun) {
		if sentence, ok = strings.CutPrefix(sentence, space); !ok {
			return false
		}
		if sentence, ok = strings.CutPrefix(sentence, word); !ok {
			return false
		}
		space = " "
	}
	return ok
}

// noteSentence records a sentence or line, and reports whether it ends the reply: the second time in a row, or the
// third in total. A sentence that recurs later may be an intended refrain.
func (w *replyWatch) noteSentence(whole string) bool {
	if strings.HasPrefix(strings.TrimSpace(whole), "```") {
		w.fenced = !w.fenced
	}
	key, letters := strings.Join(strings.Fields(whole), " "), 0
	for _, r := range key {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			letters++
		}
	}
	if letters == 0 || w.fenced {
		return false
	}
	if letters < repeatedLeast {
		w.before = ""
		return false
	}
	again := key == w.before
	w.before = key
	if w.times == nil {
		w.times = map[string]int{}
	}
	if w.times[key]++; w.times[key] == 2 {
		w.twice = append(w.twice, key)
	}
	return again || w.times[key] > 2
}

// sentenceEnd returns the offset after the first complete sentence or line of a text; -1 if there is none. A full
// stop in Chinese or Japanese needs no space after it; “3.5” and “e.g.x” end no sentence.
func sentenceEnd(s string) int {
	for i, r := range s {
		switch {
		case r == '\n', r == '。', r == '！', r == '？':
			return i + len(string(r))
		case (r == '.' || r == '!' || r == '?') && i+1 < len(s) && (s[i+1] == ' ' || s[i+1] == '\n'):
			return i + 1
		}
	}
	return -1
}
