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

// Folded reports whether the answer has begun after work was done: its timeline then folds.
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

// headline is the present activity, or how long the work took.
//
// What waits for the reader comes first, then a step under way, and the writing of the answer once the steps are
// folded.
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
	// A run without an answer worked until its end.
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

// facts are the folded header's counts.
func (t *Turn) facts(ctx context.Context) []string {
	all, _ := t.countSteps()
	facts := []string{steps.Count(ctx, all)}
	if n := t.documentsRead(); n > 0 {
		facts = append(facts, documentsRead.Count(ctx, n))
	}
	return facts
}

// spent is the line under the steps.
//
// While the run goes on it counts steps; afterwards it tells what was used of the budget, the tokens and the cost in
// dollars.
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
	// The run's own count is the one that its budget is held to.
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

// roundsText is "3 of 10 rounds", and without a limit "3 rounds".
func roundsText(ctx context.Context, n, of int) string {
	if of <= 0 || n > of {
		return rounds.Count(ctx, n)
	}
	return roundsOf.Say(ctx, n, of)
}

// inThousands is a count in at most one decimal of thousands: "2.4k".
func inThousands(ctx context.Context, n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return locale.Decimal(ctx, float64(n)/1000, 1) + "k"
}

// runIcon is the icon of a run that ended without an answer.
func runIcon(s chat.RunStatus) string {
	if s == chat.RunCancelled {
		return "stop"
	}
	return "alert"
}

// took is how long the step ran, in milliseconds.
//
// The step's own time goes before that between its events, which is all that is known while it runs.
func (s *Step) took() int64 {
	if s.DurationMS > 0 {
		return s.DurationMS
	}
	return s.Elapsed.Milliseconds()
}

// ms is a duration in whole milliseconds, for the page's script.
func ms(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// outputURL is where the whole output of a call is.
func outputURL(s *Step) string {
	return "/agent/runs/" + url.PathEscape(s.RunID) + "/steps/" + url.PathEscape(s.CallID) + "/output"
}

// thoughtURL is where the whole thought of a step is.
func thoughtURL(s *Step) string {
	return "/runs/" + url.PathEscape(s.RunID) + "/steps/" + url.PathEscape(s.CallID) + "/thought"
}
