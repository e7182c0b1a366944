package views

import (
	"cmp"
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/locale"
)

// Folded reports whether the answer has started after work was done: the timeline then folds.
func (t *Turn) Folded() bool {
	if !t.Answering() {
		return false
	}
	for _, s := range t.All {
		if s.ToolName != "" && s.over() {
			return true
		}
	}
	return t.Final != nil
}

// headline returns the current activity, or the duration of the work.
//
// A pending approval comes first, then a running step, then the writing of the answer once the steps are folded.
func (t *Turn) headline(ctx context.Context) string {
	if t.Running() {
		if t.NeedsApproval() {
			return txtAsks.In(ctx)
		}
		if s := t.stepUnderWay(); s != nil && !t.Folded() {
			return s.presentTense(ctx)
		}
		if t.Answering() {
			return txtWriting.In(ctx)
		}
		if s := t.stepUnderWay(); s != nil {
			return s.presentTense(ctx)
		}
		if len(t.All) > 0 {
			return waitingFor.Say(ctx, cmp.Or(t.Model, txtTheModel.In(ctx)))
		}
		return txtStarting.In(ctx)
	}
	// The work of a run without an answer lasts until the run's end.
	worked := t.Worked
	if worked == 0 {
		worked = t.Elapsed
	}
	switch t.Status {
	case chat.RunCancelled:
		return stoppedAfter.Say(ctx, seconds(ctx, t.Elapsed))
	case chat.RunFailed, chat.RunInterrupted:
		return endedAfter.Say(ctx, seconds(ctx, t.Elapsed))
	default:
		return workedFor.Say(ctx, seconds(ctx, worked))
	}
}

// facts returns the counts in the folded header.
func (t *Turn) facts(ctx context.Context) []string {
	all, _ := t.countSteps()
	facts := []string{steps.Count(ctx, all)}
	if n := t.documentsRead(); n > 0 {
		facts = append(facts, documentsRead.Count(ctx, n))
	}
	return facts
}

// spent returns the line under the steps.
//
// During the run it counts steps. Afterwards it has the used budget, the tokens and the cost in dollars.
func (t *Turn) spent(ctx context.Context) string {
	if t.Running() {
		_, over := t.countSteps()
		parts := []string{stepsDone.Count(ctx, over)}
		if n := t.documentsRead(); n > 0 {
			parts = append(parts, documentsRead.Count(ctx, n))
		}
		if n := t.Failed(); n > 0 {
			parts = append(parts, stepsFailed.Count(ctx, n))
		}
		return strings.Join(parts, " · ")
	}
	var parts []string
	used, _ := t.countSteps()
	// The run's own count is the one that its budget limits.
	if t.Final != nil && t.Final.StepsUsed > 0 {
		used = t.Final.StepsUsed
	}
	parts = append(parts, roundsText(ctx, used, t.Budget.Steps))
	parts = append(parts, secondsOf.Say(ctx, locale.Decimal(ctx, t.Elapsed.Seconds(), 1), t.Budget.Seconds))
	if t.Final != nil {
		if n := t.Final.Tokens.In + t.Final.Tokens.Out; n > 0 {
			parts = append(parts, tokensUsed.Say(ctx, inThousands(ctx, n)))
		}
		if t.Final.Cost != nil {
			parts = append(parts, "$"+locale.Decimal(ctx, *t.Final.Cost, 4))
		}
	}
	if t.Model != "" {
		parts = append(parts, t.Model)
	}
	return strings.Join(parts, " · ")
}

// roundsText returns "3 of 10 rounds", or "3 rounds" without a limit.
func roundsText(ctx context.Context, n, of int) string {
	if of <= 0 || n > of {
		return rounds.Count(ctx, n)
	}
	return roundsOf.Say(ctx, n, of)
}

// inThousands formats a count with at most one decimal of thousands: "2.4k".
func inThousands(ctx context.Context, n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return locale.Decimal(ctx, float64(n)/1000, 1) + "k"
}

// runIcon returns the icon of a run that ended without an answer.
func runIcon(s chat.RunStatus) string {
	if s == chat.RunCancelled {
		return "stop"
	}
	return "alert"
}

// took returns the step's duration in milliseconds.
//
// The step's own duration takes precedence over the time between its events, which is the only one known while it
// runs.
func (s *Step) took() int64 {
	if s.DurationMS > 0 {
		return s.DurationMS
	}
	return s.Elapsed.Milliseconds()
}

// ms encodes a duration in whole milliseconds for the page's script.
func ms(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// outputURL returns the URL of a call's whole output.
func outputURL(s *Step) string {
	return "/agent/runs/" + url.PathEscape(s.RunID) + "/steps/" + url.PathEscape(s.CallID) + "/output"
}

// thoughtURL returns the URL of a step's whole thought.
func thoughtURL(s *Step) string {
	return "/runs/" + url.PathEscape(s.RunID) + "/steps/" + url.PathEscape(s.CallID) + "/thought"
}
