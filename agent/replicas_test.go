package agent

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
	"github.com/footnote/footnote/text/english"
)

// among configures an agent as one of several on the same store.
func among(name string) func(*Config) {
	return func(c *Config) { c.Exclusive, c.Owner = false, name }
}

// startServer starts one more server on the harness's store. The harness keeps the first.
func (h *harness) startServer(name string, model llm.Model, change ...func(*Config)) *Runs {
	h.Helper()
	first := h.runs
	h.startAgent(model, append(change, among(name))...)
	second := h.runs
	h.runs = first
	return second
}

// runServers runs the background work of servers until the test ends. A stored change of one wakes the others, as a
// database notification does.
func (h *harness) runServers(servers ...*Runs) {
	h.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(h.Context()))
	var wg sync.WaitGroup
	for _, r := range servers {
		wg.Go(func() { r.KeepLeases(ctx) })
	}
	wg.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				for _, r := range servers {
					r.Poll()
				}
			}
		}
	})
	h.Cleanup(wg.Wait)
	h.Cleanup(stop)
}

// killRun ends a run's goroutine like a kill, without a further event, and expires its lease.
func (h *harness) killRun(r *Runs, runID string) {
	h.Helper()
	r.mu.Lock()
	c := r.active[runID]
	r.mu.Unlock()
	c.StopWithoutEvent()
	r.wg.Wait()
	if err := h.store.Release(h.Context(), r.cfg.Owner, runID); err != nil {
		h.Fatal(err)
	}
}

func script(replies ...scripted.Reply) func() llm.Model {
	return func() llm.Model { return scripted.New(replies...) }
}

func isStep(name string) func(chat.Payload) bool {
	return func(p chat.Payload) bool { s, ok := p.(chat.Step); return ok && s.Step == name }
}

// waitIdle waits until a server has no active run: a run's last event is stored a moment before it is removed.
func (h *harness) waitIdle(r *Runs) {
	h.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(20 * time.Second)
	for {
		r.mu.Lock()
		working := len(r.active)
		r.mu.Unlock()
		if working == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			h.Fatalf("%d runs are still worked on", working)
		}
	}
}

func TestCommandReachesServerOfRun(t *testing.T) {
	t.Parallel()
	in := newInternet(t)
	for _, row := range []struct {
		name    string
		model   func() llm.Model
		waits   bool
		command func(r *Runs, run, call string) error
		check   func(*harness, transcript)
	}{
		{"cancel", func() llm.Model { return hanging{} }, false,
			func(r *Runs, run, _ string) error { return r.Cancel(t.Context(), chat.Local, run) },
			func(h *harness, got transcript) {
				if d := got.done(); d.Status != chat.RunCancelled {
					h.Errorf("done = %+v", d)
				}
			}},
		{"answer now", thenHangs, false,
			func(r *Runs, run, _ string) error { return r.AnswerNow(t.Context(), chat.Local, run) },
			func(h *harness, got transcript) {
				if a := got.answer(); a.StopReason != chat.StopAnswerNow || len(a.Citations) != 1 {
					h.Errorf("answer = %+v", a)
				}
			}},
		{"approve", script(webCall(), says(slateAnswer)), true,
			func(r *Runs, run, call string) error { return r.Approve(t.Context(), chat.Local, run, call, nil) },
			func(h *harness, got transcript) {
				if s := got.step("web_search"); s.Status != chat.StatusComplete || s.Details["proposed"] != nil {
					h.Errorf("step = %+v", s)
				}
			}},
		{"edit", script(webCall(), says(slateAnswer)), true, func(r *Runs, run, call string) error {
			return r.Approve(t.Context(), chat.Local, run, call, json.RawMessage(`{"query":" slate roof Wales "}`))
		}, func(h *harness, got transcript) {
			if s := got.step("web_search"); s.Status != chat.StatusComplete ||
				!strings.Contains(string(s.ToolInput), `"slate roof Wales"`) {
				h.Errorf("step = %+v %s", s, s.ToolInput)
			}
		}},
		{"deny", script(webCall(), says("I could not look.")), true,
			func(r *Runs, run, call string) error { return r.Deny(t.Context(), chat.Local, run, call) },
			func(h *harness, got transcript) {
				if s := got.step("web_search"); s.Status != chat.StatusSkipped || s.Summary != "denied by you" {
					h.Errorf("step = %+v", s)
				}
			}},
	} {
		for _, dies := range []bool{false, true} {
			t.Run(map[bool]string{false: row.name, true: row.name + ", its server dies first"}[dies],
				func(t *testing.T) {
					t.Parallel()
					model := row.model()
					h := newHarness(t, model, in.withWeb(true), among("one"))
					two := h.startServer("two", model, in.withWeb(true))
					var run chat.Run
					call := ""
					if row.waits {
						run, call = h.askForApproval()
					} else {
						run = h.ask(asks("How many days of holiday are there?"))
						h.follow(run.ID, func(p chat.Payload) bool {
							return p.Kind() == chat.KindRunStarted && row.name == "cancel" || isSearched(p)
						})
					}
					if err := row.command(two, run.ID, call); err != nil {
						t.Fatal(err)
					}
					if dies { // before the next poll
						h.killRun(h.runs, run.ID)
						if err := two.takeOver(t.Context(), time.Now()); err != nil {
							t.Fatal(err)
						}
						two.applyCommands(t.Context()) // once, before the call waits again
					} else {
						h.runServers(h.runs)
					}
					got := h.wait(run.ID)
					row.check(h, got)
					h.waitIdle(h.runs)
					h.waitIdle(two)
					if err := row.command(two, run.ID, call); chat.CodeOf(orEmpty(err)) != chat.CodeConflict {
						t.Errorf("command after the end: got %v, want a conflict", err)
					}
				})
		}
	}
}

func TestOtherServerRejectsInvalidCommand(t *testing.T) {
	t.Parallel()
	in := newInternet(t)
	h := newHarness(
		t, scripted.New(calls(search("holiday"), call("web_search", `{"query":"slate roof"}`)), says(slateAnswer)),
		in.withWeb(true), among("one"),
	)
	two := h.startServer("two", scripted.New(), in.withWeb(true))
	run, id := h.askForApproval()
	searched := ""
	for _, p := range h.follow(run.ID, isSearched) {
		if isSearched(p) {
			searched = p.(chat.Step).CallID
		}
	}
	stranger := chat.Scope{User: "mallory"}
	for _, row := range []struct {
		what string
		err  error
		want chat.Code
	}{
		{"a stranger's decision", two.Deny(t.Context(), stranger, run.ID, id), chat.CodeNotFound},
		{"a stranger's Cancel", two.Cancel(t.Context(), stranger, run.ID), chat.CodeNotFound},
		{"a step that is not there", two.Approve(t.Context(), chat.Local, run.ID, "c99", nil), chat.CodeNotFound},
		{"a step that never waited", two.Approve(t.Context(), chat.Local, run.ID, searched, nil), chat.CodeNotFound},
		{"an input that does not fit", two.Approve(t.Context(), chat.Local, run.ID, id, json.RawMessage(`{"query":7}`)),
			chat.CodeInvalid},
	} {
		if chat.CodeOf(orEmpty(row.err)) != row.want {
			t.Errorf("%s: %v, want %s", row.what, row.err, row.want)
		}
	}
	// the first of two decisions counts, wherever they arrive
	if err := two.Deny(t.Context(), chat.Local, run.ID, id); err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]*Runs{"its own server": h.runs, "the other": two} {
		if err := r.Approve(t.Context(), chat.Local, run.ID, id, nil); chat.CodeOf(orEmpty(err)) != chat.CodeConflict {
			t.Errorf("second decision at %s: got %v, want a conflict", name, err)
		}
	}
	h.runServers(h.runs)
	if s := h.wait(run.ID).step("web_search"); s.Status != chat.StatusSkipped || in.searches.Load() != 0 {
		t.Errorf("step = %+v, %d searches; want Status %v and 0", s, in.searches.Load(), chat.StatusSkipped)
	}
}

// A command that reached a run's own server is not lost with that server.
func TestCommandSurvivesCrashOfReceivingServer(t *testing.T) {
	t.Parallel()
	h := newHarness(t, thenHangs(), among("one"))
	two := h.startServer("two", hanging{}) // answers when it has to
	asked := h.ask(asks("How many days of holiday are there?"))
	h.follow(asked.ID, isSearched)
	h.runs.mu.Lock()
	working := h.runs.active[asked.ID]
	_, h.runs.active[asked.ID] = run.NewControl(t.Context(), chat.LocalUser) // the run dies before it acts
	h.runs.mu.Unlock()
	if err := h.runs.AnswerNow(t.Context(), chat.Local, asked.ID); err != nil {
		t.Fatal(err)
	}
	h.runs.mu.Lock()
	h.runs.active[asked.ID] = working
	h.runs.mu.Unlock()
	h.killRun(h.runs, asked.ID)
	h.runServers(two)
	if a := h.wait(asked.ID).answer(); a.StopReason != chat.StopAnswerNow {
		t.Errorf("answer = %+v, want StopReason %v", a, chat.StopAnswerNow)
	}
}

// waitFor polls until ok.
func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	late := time.After(20 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("timeout while waiting")
		}
	}
}

func TestShutdownReleasesRuns(t *testing.T) {
	t.Parallel()
	var searches atomic.Int64
	begun, free := make(chan struct{}), make(chan struct{})
	h := newHarness(t, scripted.New())
	slowly := func(c *Config) {
		c.Library = faulty{h.library, func(ctx context.Context) error {
			if searches.Add(1) == 1 {
				close(begun)
				select {
				case <-free:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		}}
	}
	h.startAgent(scripted.New(calls(search("holiday"))), slowly, among("one"))
	two := h.startServer("two", hanging{text: "There"}, slowly)
	run := h.ask(asks("How many days of holiday are there?"))
	<-begun
	stopped := make(chan error, 1)
	go func() { stopped <- h.runs.Stop(context.WithoutCancel(t.Context())) }()
	waitFor(t, func() bool { h.runs.mu.Lock(); defer h.runs.mu.Unlock(); return h.runs.stopping })
	h.runServers(h.runs, two)
	close(free) // an active call ends, and counts
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	h.follow(run.ID, isDelta)

	// a started reply is discarded each time: a stop is not counted as a crash
	servers := []*Runs{
		two, h.startServer("three", hanging{text: "There are"}), h.startServer("four", hanging{text: "There"}),
		h.startServer("five", scripted.New(says(goodAnswer))),
	}
	for i, r := range servers[:3] {
		h.runServers(servers[i+1])
		if err := r.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		left := 0
		h.follow(run.ID, func(p chat.Payload) bool {
			switch {
			case p.Kind() == chat.KindRunStarted:
				left = 0
			case isStep("takeover")(p):
				left++
			}
			return left == i+2 && (i == 2 || isDelta(p))
		})
	}
	got := h.wait(run.ID)
	if a := got.answer(); a.Markdown != goodAnswer || got.text() != goodAnswer {
		t.Errorf("answer %q, shown %q; want %q and %q", a.Markdown, got.text(), goodAnswer, goodAnswer)
	}
	if n := searches.Load(); n != 1 {
		t.Errorf("it searched %d times, want 1", n)
	}
	if s := got.step("search_documents"); s.Status != chat.StatusComplete {
		t.Errorf("the call that was under way: %+v, want Status %v", s, chat.StatusComplete)
	}
	for name, want := range map[string]int{"handover": 4, "takeover": 4, "restart": 0} {
		n := 0
		for _, s := range all[chat.Step](got) {
			if s.Step == name {
				n++
			}
		}
		if n != want {
			t.Errorf("%d steps %s, want %d", n, name, want)
		}
	}
}

func TestShutdownReleasesWaitingAndHangingCalls(t *testing.T) {
	t.Parallel()
	in := newInternet(t)
	h := newHarness(t, scripted.New(calls(search("holiday"), call("web_search", `{"query":"slate roof"}`))),
		in.withWeb(true), among("one"))
	two := h.startServer("two", scripted.New(says(slateAnswer)), in.withWeb(true))
	run, id := h.askForApproval()
	if err := h.runs.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := two.Approve(t.Context(), chat.Local, run.ID, id, nil); err != nil { // no server works on it
		t.Fatal(err)
	}
	h.runServers(two)
	got := h.wait(run.ID)
	if s := got.step("web_search"); s.Status != chat.StatusComplete || s.CallID != id || in.searches.Load() != 1 {
		t.Errorf("step = %+v, %d searches; want Status %v, CallID %v, 1",
			s, in.searches.Load(), chat.StatusComplete, id)
	}
	if i := slices.IndexFunc(got.ended(), func(s chat.Step) bool { return s.Step == "takeover" }); i < 0 {
		t.Errorf("step takeover: got index %v, want at least 0", i)
	}
}

func TestShutdownIsNotCountedAsCrash(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New(calls(search("holiday")), says(goodAnswer)), among("one"))
	run, _, err := h.store.StartRun(t.Context(), chat.LocalUser, asks("How many days of holiday are there?"),
		chat.Lease{Owner: "stopped"})
	if err != nil {
		t.Fatal(err)
	}
	log := []chat.Payload{chat.RunStarted{}}
	for i, name := range []string{"restart", "restart", "handover"} {
		log = append(log, chat.Step{
			CallID: "c" + strconv.Itoa(i+1), Step: name, Status: chat.StatusComplete, ToolStatus: chat.StatusComplete,
			Details: map[string]any{},
		})
	}
	if err := h.feed.Append(t.Context(), "stopped", run.ID, log...); err != nil {
		t.Fatal(err)
	}
	h.runServers(h.runs)
	if a := h.wait(run.ID).answer(); a.Markdown != goodAnswer {
		t.Errorf("answer = %+v, want Markdown %v", a, goodAnswer)
	}
}

// A run of a dead server is taken over within 35 s, once: when its lease has expired, and at the next poll.
func TestDeadServerRunIsTakenOverIn35Seconds(t *testing.T) {
	t.Parallel()
	for after := range 12 { // seconds from the others' first look to the death
		synctest.Test(t, func(t *testing.T) {
			h := newHarness(t, scripted.New(calls(search("holiday")), says(goodAnswer)), among("one"))
			two := h.startServer("two", scripted.New(calls(search("holiday")), says(goodAnswer)))
			ctx, stop := context.WithCancel(t.Context())
			var working sync.WaitGroup
			defer working.Wait()
			defer stop()
			for _, r := range []*Runs{h.runs, two} {
				working.Go(func() { r.KeepLeases(ctx) })
			}
			time.Sleep(time.Duration(after)*time.Second + time.Millisecond)
			died := time.Now()
			dead := chat.Lease{Owner: "dead", Until: died.Add(30 * time.Second)}
			run, _, err := h.store.StartRun(t.Context(), chat.LocalUser,
				asks("How many days of holiday are there?"), dead)
			if err != nil {
				t.Fatal(err)
			}
			if err := h.feed.Append(t.Context(), dead.Owner, run.ID, chat.RunStarted{}); err != nil {
				t.Fatal(err)
			}
			for run.Status == chat.RunRunning && time.Since(died) < time.Minute {
				time.Sleep(10 * time.Millisecond)
				if run, err = h.store.Run(t.Context(), chat.Local, run.ID); err != nil {
					t.Fatal(err)
				}
			}
			if took := time.Since(died); run.Status != chat.RunCompleted || took < 30*time.Second ||
				took > 35*time.Second {
				t.Errorf("%d s after a look: %s after %v; want %s, at least %v, at most %v",
					after, run.Status, took, chat.RunCompleted, 30*time.Second, 35*time.Second)
			}
			times := 0
			for _, s := range h.wait(run.ID).ended() {
				if s.Step == "restart" {
					times++
				}
			}
			if times != 1 {
				t.Errorf("%d s after a look: taken over %d times, want 1", after, times)
			}
		})
	}
}

func TestUnstartedRunIsNotChanged(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New(), among("one"))
	two := h.startServer("two", scripted.New(calls(search("holiday")), says(goodAnswer)))
	begun, _, err := h.store.StartRun(t.Context(), chat.LocalUser, asks("How many days of holiday are there?"),
		h.runs.newLease())
	if err != nil {
		t.Fatal(err)
	}
	ctx, c := run.NewControl(t.Context(), chat.LocalUser)
	defer c.Close()
	c.HandOverNow()
	h.runs.engine.NewRunner(begun, h.runs.engine.DefaultTools(), c).Execute(ctx, nil, nil)
	if log := h.log(begun.ID); len(log) != 0 {
		t.Errorf("log = %s, want none", dump(log))
	}
	h.runServers(two)
	got := h.wait(begun.ID)
	if got.log[0].Kind() != chat.KindRunStarted || got.answer().Markdown != goodAnswer {
		t.Errorf("log:%s", dump(got.log))
	}
}

// quotesOnly introduces the quotes of the last answer, without a language model.
const quotesOnly = "Without a language model I can't put it in other words, only quote again what the last answer " +
	"rests on:"

func TestOfflineFollowUpRepeatsQuotes(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New())
	session := readBefore(h)
	const quote = "Every employee is entitled to 28 days of paid holiday a year, including public holidays."
	for _, message := range []string{
		"Explain that in simple terms", "shorter please", "as a list", "say that in German", "why?",
		"what do you mean by that?", "Shorten your last answer",
	} {
		h.startAgent(offline.New(nil, nil))
		req := asks(message)
		req.SessionID = session
		got := h.answer(req)
		a := got.answer()
		if want := quotesOnly + "\n\n> " + quote + " [1]"; a.Markdown != want || len(a.Citations) != 1 ||
			a.Citations[0].Quote != quote || len(a.Unsupported) != 0 {
			t.Errorf("%s: answer = %q with %d citations, unsupported %q; want %q", message, a.Markdown,
				len(a.Citations), a.Unsupported, want)
		}
		if tools := got.tools(); len(tools) != 0 {
			t.Errorf("%s: %q were called, want none", message, tools)
		}
	}
	h.startAgent(offline.New(nil, nil))
	for _, message := range []string{"shorter please", "why?"} {
		if a := h.answer(asks(message)).answer(); strings.Contains(a.Markdown, quotesOnly) {
			t.Errorf("%s, as a first question: %q, want no %q in it", message, a.Markdown, quotesOnly)
		}
	}
}

func TestModelReusesLastAnswerWithoutSearch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		message string
		replies []scripted.Reply
		want    string
		tools   []string
	}{
		{"Explain that in simple terms", []scripted.Reply{says("You get 28 days of paid holiday a year [501].")},
			"You get 28 days of paid holiday a year [1].", nil},
		{"Explain that in simple terms", []scripted.Reply{says("You get 28 days of paid holiday a year.")},
			"You get 28 days of paid holiday a year [1].", nil},
		{"say that in German", []scripted.Reply{says("Es gibt 28 Tage bezahlten Urlaub im Jahr [501].")},
			"Es gibt 28 Tage bezahlten Urlaub im Jahr [1].", nil},
		{"why?", []scripted.Reply{says("Every employee is entitled to it [501].")},
			"Every employee is entitled to it [1].", nil},
		{"Explain that in simple terms",
			[]scripted.Reply{says(english.Refusal), calls(search("paid holiday")), says(goodAnswer)}, goodAnswer,
			[]string{"search_documents"}},
	} {
		h := newHarness(t, scripted.New())
		session := readBefore(h)
		model := scripted.New(tt.replies...)
		h.startAgent(model)
		req := asks(tt.message)
		req.SessionID = session
		got := h.answer(req)
		a := got.answer()
		if a.Markdown != tt.want || len(a.Citations) != 1 || !slices.Equal(got.tools(), tt.tools) {
			t.Errorf("%s: answer = %q with %d citations after %q, want %q after %q", tt.message, a.Markdown,
				len(a.Citations), got.tools(), tt.want, tt.tools)
		}
		if first := model.Requests()[0].Messages[0]; first.Role != llm.RoleSystem ||
			!strings.Contains(first.Text, "[501] (Staff handbook") {
			t.Errorf("%s: prompt lacks the passages:\n%s", tt.message, first.Text)
		}
	}
}
