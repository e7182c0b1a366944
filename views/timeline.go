package views

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"footnote/chat"
	"footnote/english"
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
func (t *Turn) headline() string {
	if t.Running() {
		if t.NeedsApproval() {
			return txtAsks
		}
		if s := t.stepUnderWay(); s != nil && !t.Folded() {
			return s.presentTense()
		}
		if t.Answering() {
			return txtWriting
		}
		if s := t.stepUnderWay(); s != nil {
			return s.presentTense()
		}
		if len(t.All) > 0 {
			return txtWaitingFor + cmp.Or(t.Model, txtTheModel)
		}
		return txtStarting
	}
	worked := t.Worked
	if worked == 0 {
		worked = t.Elapsed
	}
	switch t.Status {
	case chat.RunCancelled:
		return "Stopped after " + seconds(t.Elapsed)
	case chat.RunFailed, chat.RunInterrupted:
		return "Ended after " + seconds(t.Elapsed)
	default:
		return "Worked for " + seconds(worked)
	}
}

// facts are the folded header's counts.
func (t *Turn) facts() []string {
	all, _ := t.countSteps()
	facts := []string{english.Count(all, "step")}
	if n := t.documentsRead(); n > 0 {
		facts = append(facts, english.Count(n, "document")+" read")
	}
	return facts
}

// spent is the line under the steps.
func (t *Turn) spent() string {
	if t.Running() {
		_, over := t.countSteps()
		parts := []string{english.Count(over, "step") + " done"}
		if n := t.documentsRead(); n > 0 {
			parts = append(parts, english.Count(n, "document")+" read")
		}
		if n := t.Failed(); n > 0 {
			parts = append(parts, english.Digits(n)+" failed")
		}
		return strings.Join(parts, " · ")
	}
	var parts []string
	steps, _ := t.countSteps()
	if t.Final != nil && t.Final.StepsUsed > 0 {
		steps = t.Final.StepsUsed
	}
	parts = append(parts, outOf(steps, t.Budget.Steps, "rounds"))
	parts = append(parts, fmt.Sprintf("%.1f of %d s", t.Elapsed.Seconds(), t.Budget.Seconds))
	if t.Final != nil {
		if n := t.Final.Tokens.In + t.Final.Tokens.Out; n > 0 {
			parts = append(parts, inThousands(n)+" tokens")
		}
		if t.Final.Cost != nil {
			parts = append(parts, fmt.Sprintf("$%.4f", *t.Final.Cost))
		}
	}
	if t.Model != "" {
		parts = append(parts, t.Model)
	}
	return strings.Join(parts, " · ")
}

// outOf is "3 of 10 calls", and without a limit "3 calls".
func outOf(n, of int, what string) string {
	if of <= 0 || n > of {
		return strconv.Itoa(n) + " " + what
	}
	return fmt.Sprintf("%d of %d %s", n, of, what)
}

// inThousands is a count in at most one decimal of thousands: "2.4k".
func inThousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%.1fk", float64(n)/1000)
}

// runIcon is the icon of a run that ended without an answer.
func runIcon(s chat.RunStatus) string {
	if s == chat.RunCancelled {
		return "stop"
	}
	return "alert"
}

// took is how long the step ran, in milliseconds.
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
