package agent

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// The writer once took what follows a lone backtick for code, the check of the answer did not, and the run never ended.
func TestALoneBacktickLosesNoAnswer(t *testing.T) {
	t.Parallel()
	for _, says2 := range []string{
		"There are 28` days of paid holiday a year [1]. Unused days may be carried over until 31 March of the " +
			"following year [1].",
		"``There are 28 days of paid holiday a year [1]. Unused days may be carried over until 31 March of the " +
			"following year [1].",
	} {
		model := scripted.New(calls(search("holiday")), says(says2))
		h := newHouse(t, model)
		got := h.answer(asks("How many days of holiday are there?"))
		a := got.answer()
		if len(a.Citations) != 2 || a.Confidence != 1 || len(a.Unsupported) != 0 || got.text() != a.Markdown ||
			!strings.Contains(a.Markdown, "`") {
			t.Errorf("answer = %+v, shown %q; want 2 citations, Confidence 1, none, %q, %q in it",
				a, got.text(), a.Markdown, "`")
		}
		if n := len(model.Requests()); n != 2 {
			t.Errorf("the model was asked %d times, want 2", n)
		}
	}
}

func TestAnEndThatNoStoreCanTakeIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	model := scripted.New(says("Hello."))
	h := newHouse(t, model, func(c *Config) {
		c.Prices = map[string]run.Price{c.Model.Name(): {In: math.NaN(), Out: math.NaN()}}
	})
	d := h.answer(asks("Hello!")).done()
	if d.Status != chat.RunFailed || d.Error == nil || !strings.Contains(d.Error.Message, "can't be stored") {
		t.Errorf("done = %+v, error = %+v; want Status %v and %q in it", d, d.Error, chat.RunFailed, "can't be stored")
	}
	if n := len(model.Requests()); n != 1 {
		t.Errorf("the model was asked %d times, want once", n)
	}
}

func TestARunWhoseEndWasNotStoredFailsWithItsReasonAtOnce(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	h := newHouse(t, offline.New(nil))
	run, _, err := h.store.StartRun(ctx, chat.LocalUser, asks("How many days?"),
		chat.Lease{Owner: "dead", Until: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.feed.Append(ctx, "dead", run.ID, chat.RunStarted{}); err != nil {
		t.Fatal(err)
	}
	h.runs.unstored[run.ID] = &chat.Error{
		Code: chat.CodeDiskFull, Message: "The disk is full. Free some space and try again.",
	}
	d := h.carriedOn(run.ID).done()
	const want = "The answer was written and could not be stored. The disk is full. Free some space and try again."
	if d.Status != chat.RunFailed || d.Error == nil || d.Error.Code != chat.CodeDiskFull || d.Error.Message != want ||
		d.StepsUsed != 0 {
		t.Errorf("done = %+v, error = %+v; want failed after 0 steps, %q", d, d.Error, want)
	}
	if err := h.runs.Stop(ctx); err != nil { // the run's goroutine has ended
		t.Fatal(err)
	}
	if len(h.runs.unstored) != 0 {
		t.Errorf("remembered still: %v, want none", h.runs.unstored)
	}
}
