package run

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"footnote/chat"
	"footnote/corpus"
	"footnote/llm"
)

// When a run is not carried on any more. A planned handover to another server does not count as a restart.
const (
	maxRestarts = 2                // a run that may be what kills the server
	maxAway     = 15 * time.Minute // since the last event of its log: nobody waits that long
)

// unknownEffect is what the model is told of a call that was cut off and is not made again.
const unknownEffect = "The server was stopped during this call. Nobody knows whether it took effect: do not make it again, and say so in the answer."

// resume puts a run back to where its log ends, after its server died or handed it over. A server that alone works on
// its store (Exclusive) ends its runs when it is stopped as planned, so there is nothing to resume then. over
// means that there is nothing left to do but run_done.
func (w *Runner) resume(ctx context.Context, log []chat.Event) (over bool, err error) {
	transcript, err := chat.Fold(log)
	if err != nil {
		return false, fmt.Errorf("read log: %w", err)
	}
	past := replay(transcript.Steps)
	w.ids = past.ids
	for _, s := range past.running {
		w.open[s.CallID] = &s
	}
	for _, s := range past.waiting {
		w.open[s.CallID] = &s
	}
	if transcript.Answer != nil {
		return true, nil
	}
	if past.restarts >= maxRestarts && !past.handed {
		return false, w.givenUp()
	}
	if time.Since(log[len(log)-1].At) > maxAway {
		return false, errStopping
	}
	if err := w.prepare(ctx); err != nil {
		return false, err
	}
	used, _ := transcript.StepTokens()
	w.charge(w.model, used)
	if past.fell && w.cfg.Fallback != nil {
		w.model, w.onFallback = w.cfg.Fallback, true
	}
	step := w.newStep(
		"restart", chat.ActionThinking, chat.StatusComplete,
		"The server was restarted: going on from the last finished step",
	)
	if past.handed {
		step.Step, step.Message = takenOver, "Going on from the last finished step"
	}
	cut, groups := w.cutOff(past)
	ps := w.closed(chat.RunDone{})
	if begun := transcript.Text(); begun != "" {
		step.Thought = begun
		ps = append(ps, chat.AnswerReset{CallID: step.CallID})
	}
	if err := w.restore(ctx, past); err != nil {
		return false, err
	}
	w.resumePlan(past.plan)
	if err := w.emit(ctx, append(ps, step)...); err != nil {
		return false, err
	}
	if err := w.repeatCalls(ctx, cut); err != nil {
		return false, err
	}
	if err := w.resumePending(ctx, past.waiting); err != nil {
		return false, err
	}
	for _, g := range groups {
		g.Status, g.ToolStatus = chat.StatusComplete, chat.StatusComplete
		g.DurationMS, g.Timestamp = int64((stamp()-g.Timestamp)*1000), stamp()
		if err := w.emit(ctx, w.track(g)); err != nil {
			return false, err
		}
	}
	return false, nil
}

// givenUp returns why a run is not carried on any more after it was taken over too often: the server stopped each
// time, unless it is known here that the run's end could not be stored.
func (w *Runner) givenUp() error {
	why := w.unstored
	if why == nil {
		return errStopping
	}
	return &chat.Error{Code: chat.CodeOf(why), Err: why,
		Message: fmt.Sprintf(
			"The answer was written %d times and could not be stored. %s", maxRestarts+1, chat.MessageOf(why),
		)}
}

// cutOff returns the calls that the log leaves running and that may be made again, and the groups of calls that are
// not over. It takes them, and the calls that wait for a person, out of w.open, so that closed does not cancel them.
func (w *Runner) cutOff(past *replayed) (calls, groups []chat.Step) {
	for _, s := range past.running {
		switch {
		case w.harmless(s.ToolName):
			calls = append(calls, s)
		case s.ToolName == "" && s.Step == parallelStep:
			groups = append(groups, s)
		default:
			continue
		}
		delete(w.open, s.CallID)
	}
	for _, s := range past.waiting {
		delete(w.open, s.CallID)
	}
	return calls, groups
}

// harmless reports whether a call of a tool changes nothing elsewhere, so that it may be made twice.
func (w *Runner) harmless(name string) bool {
	t := w.set.Find(name)
	return t != nil && !t.HasEffects
}

// restore rebuilds history, sources and budgets from the finished steps.
func (w *Runner) restore(ctx context.Context, past *replayed) error {
	numbers := map[string]int{} // passage → number
	for i, turn := range past.turns {
		if len(turn) == 0 {
			continue
		}
		w.turns++
		said := llm.Message{Role: llm.RoleAssistant, Text: past.thoughts[i]}
		var results []llm.Message
		for _, s := range turn {
			output, err := w.outputOf(ctx, s)
			if err != nil {
				return err
			}
			input := s.ToolInput
			if len(input) == 0 {
				input = json.RawMessage(`{}`)
			}
			said.Calls = append(said.Calls, llm.Call{ID: s.CallID, Name: s.ToolName, Arguments: input})
			if s.Status == chat.StatusComplete {
				noteNumbers(s.Result, numbers)
			}
			message, err := toolMessage(w.nonce, s.CallID, output)
			if err != nil {
				return err
			}
			if s.Status != chat.StatusPending { // its result is still to come
				results = append(results, message)
			}
			w.recount(s)
		}
		w.history = append(append(w.history, said), results...)
	}
	if err := w.restoreSources(ctx, numbers); err != nil {
		return err
	}
	for _, turn := range past.turns {
		for _, s := range turn {
			if err := w.restoreEffects(ctx, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// outputOf is what the model was told of a finished call. A call that never ended has no output: it is made again, or
// it may have changed something elsewhere.
func (w *Runner) outputOf(ctx context.Context, s chat.Step) (any, error) {
	raw := s.ToolOutput
	if s.Truncated {
		var err error
		if raw, err = w.cfg.Store.StepOutput(ctx, chat.Scope{User: w.run.User}, w.run.ID, s.CallID); err != nil {
			return nil, fmt.Errorf("read output of step %s: %w", s.CallID, err)
		}
	}
	if s.Status == chat.StatusRunning || len(raw) == 0 {
		return map[string]any{"error": unknownEffect}, nil
	}
	var told any = raw
	var err error
	if t := w.set.Find(s.ToolName); t != nil && s.Status == chat.StatusComplete {
		told, err = t.ModelOutput(raw)
	}
	if err != nil {
		return nil, fmt.Errorf("read output of step %s: %w", s.CallID, err)
	}
	return told, nil
}

// recount charges a call to the budgets again.
func (w *Runner) recount(s chat.Step) {
	w.restoreRejected(s)
	t := w.set.Find(s.ToolName)
	if t == nil || s.Status == chat.StatusSkipped {
		return
	}
	if t.Retrieval {
		w.retrievals++
	}
	if s.Status != chat.StatusRunning && s.Status != chat.StatusPending { // a call that was cut off may be made again
		w.calls[t.Name+string(s.ToolInput)]++
	}
	if s.Status == chat.StatusError && s.Error != nil && s.Error.Code != chat.CodeInvalid {
		w.noteFailed(t, s)
	}
	if t.Tells(s.Status) {
		w.hasToolFacts = true
		w.evidence.Results.Keep(t.Name, t.Verbatim, s.ToolInput, s.ToolOutput, s.Message)
	}
}

// restoreSources gives passages their numbers back. Passages that are gone by now lose theirs, which nobody else gets.
func (w *Runner) restoreSources(ctx context.Context, numbers map[string]int) error {
	if len(numbers) == 0 {
		return nil
	}
	wanted := make([]string, 0, len(numbers))
	for id, n := range numbers {
		wanted = append(wanted, id)
		w.toolContext.Sources.Reserve(n)
	}
	slices.Sort(wanted)
	passages, err := w.cfg.Library.Passages(ctx, w.toolContext.ReadScope(), wanted)
	if err != nil {
		return fmt.Errorf("fetch passages: %w", err)
	}
	documents := map[string]corpus.Document{}
	for _, p := range passages {
		doc, ok := documents[p.DocumentID]
		if !ok {
			doc, err = w.cfg.Library.Document(ctx, w.toolContext.ReadScope(), p.DocumentID)
			if err != nil && chat.CodeOf(err) != chat.CodeNotFound {
				return fmt.Errorf("find document: %w", err)
			}
			if err != nil || !w.toolContext.InReach(doc) {
				continue
			}
			documents[p.DocumentID] = doc
		}
		w.toolContext.Sources.Restore(numbers[p.ID], p, doc)
	}
	return nil
}

// noteNumbers adds the numbers of the passages that a call showed.
func noteNumbers(r *chat.StepResult, numbers map[string]int) {
	if r == nil {
		return
	}
	for _, hit := range r.Hits {
		if hit.N > 0 && hit.ChunkID != "" {
			numbers[hit.ChunkID] = hit.N
		}
	}
}

// restoreEffects repeats what a finished call changed in the sources. Documents that are gone by now were read all
// the same, but nobody can name them any more: they are left out.
func (w *Runner) restoreEffects(ctx context.Context, s chat.Step) error {
	t := w.set.Find(s.ToolName)
	if t == nil || s.Result == nil || s.Status != chat.StatusComplete {
		return nil
	}
	for _, opened := range s.Result.Opened {
		if _, known := w.toolContext.Sources.Document(opened.DocumentID); known {
			continue
		}
		doc, err := w.cfg.Library.Document(ctx, w.toolContext.ReadScope(), opened.DocumentID)
		if err != nil && chat.CodeOf(err) != chat.CodeNotFound {
			return fmt.Errorf("find document: %w", err)
		}
		if err == nil && w.toolContext.InReach(doc) {
			w.toolContext.Sources.AddDocuments(doc)
		}
	}
	t.Note(w.toolContext.Sources, *s.Result)
	return nil
}
