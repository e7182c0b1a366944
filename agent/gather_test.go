package agent

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"footnote/chat"
	"footnote/e2e/scripted"
	"footnote/llm"
)

func TestGatherReturnsWhatTheModelChoseToFind(t *testing.T) {
	t.Parallel()
	model := scripted.New(
		calls(call("hybrid_search", `{"query":"roof condition"}`), call("hybrid_search", `{"query":"damp kitchen"}`)),
		calls(call("read_document", `{"doc_id":"Survey.md"}`)), says("DONE"),
	)
	h := newHouse(t, model)
	got, err := h.runs.Gather(t.Context(), chat.LocalUser,
		chat.RunRequest{Message: "Why is the roof of the house in poor condition?"}, 2)
	if err != nil || len(got.Results) != 2 || !strings.Contains(got.Results[0].Passage.Text, "poor condition") ||
		got.Results[0].Score <= got.Results[1].Score {
		t.Errorf("found %+v, %v; want 2 results, %q in it, more than %v",
			got.Results, err, "poor condition", got.Results[1].Score)
	}
	var tools []string
	for _, s := range got.Steps {
		if s.ToolName != "" {
			tools = append(tools, s.ToolName)
		}
		if s.Status != chat.StatusComplete {
			t.Errorf("step %s is %s, want %s", s.Step, s.Status, chat.StatusComplete)
		}
	}
	if want := []string{"hybrid_search", "hybrid_search", "read_document"}; !slices.Equal(tools, want) ||
		len(model.Requests()) != 3 {
		t.Errorf("tools %q, want %q", tools, want)
	}
	seen := map[string]bool{}
	for _, r := range got.Results {
		if seen[r.Passage.ID] {
			t.Errorf("the passage %s comes twice", r.Passage.ID)
		}
		seen[r.Passage.ID] = true
	}
	if sessions, _, err := h.store.Sessions(t.Context(), chat.Local, chat.SessionQuery{}); err != nil ||
		len(sessions) != 0 {
		t.Errorf("%d sessions are stored, %v; want no sessions", len(sessions), err)
	}
}

func TestGatherStopsAtItsBoundsAndFallsBack(t *testing.T) {
	t.Parallel()
	endless := scripted.NewScript(func(r scripted.Request) scripted.Reply {
		return calls(call("hybrid_search", `{"query":"roof `+strings.Repeat("x", r.N)+`"}`))
	})
	h := newHouse(t, endless)
	req := chat.RunRequest{Message: "Why is the roof of the house in poor condition?"}
	if _, err := h.runs.Gather(t.Context(), chat.LocalUser, req, 5); err != nil || len(endless.Requests()) != 3 {
		t.Errorf("%d turns, %v; want 3", len(endless.Requests()), err)
	}
	broken := scripted.NewScript(func(scripted.Request) scripted.Reply {
		return scripted.Reply{Err: &llm.Error{Kind: llm.KindAuth, Message: "the key is wrong"}}
	})
	h.hire(broken, withFallback)
	got, err := h.runs.Gather(t.Context(), chat.LocalUser, req, 5)
	if err != nil || len(got.Results) == 0 || len(got.Notes) != 1 {
		t.Errorf("the fallback found %d, notes %q, %v; want some results and 1 note",
			len(got.Results), got.Notes, err)
	}
	h.hire(broken)
	if _, err := h.runs.Gather(t.Context(), chat.LocalUser, req, 5); err == nil {
		t.Error("a failed model is not told")
	}
}

// lines is a log that can be read while it is written.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestVerboseLoggingWritesTheStepsOfItsRunAlone(t *testing.T) {
	t.Parallel()
	out := &lines{}
	model := scripted.NewScript(func(r scripted.Request) scripted.Reply {
		if r.Turn() == 0 {
			return calls(search("paid holiday"))
		}
		return says(goodAnswer)
	})
	h := newHouse(t, model, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(out, nil)) })
	quiet := h.ask(asks("How many days of paid holiday are there?"))
	h.wait(quiet.ID)
	yes := true
	loud := h.ask(chat.RunRequest{
		Message: "How many days of paid holiday are there?", Config: chat.RunConfig{VerboseLogging: &yes},
	})
	h.wait(loud.ID)
	h.stop()
	log := out.String()
	if strings.Contains(log, quiet.ID) {
		t.Errorf("a run that did not ask for it is logged:\n%s", log)
	}
	for _, want := range []string{
		"step=analyse", "step=search_documents status=running", "step=search_documents status=complete",
		`\"query\":\"paid holiday\"`, "run over", "retrieval_calls=1",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("%q is not in the log:\n%s", want, log)
		}
	}
}

func TestRunsAreCounted(t *testing.T) {
	t.Parallel()
	h := newHouse(t, scripted.New(calls(search("paid holiday"), call("no_such_tool", `{}`)), says(goodAnswer)))
	h.answer(asks("How many days of paid holiday are there?")).answer()
	h.answer(asks("And once more?")).done()
	h.stop()
	got := h.runs.Stats()
	if got.Running != 0 || got.Ended[chat.RunCompleted].Times != 1 || got.Ended[chat.RunFailed].Times != 1 ||
		got.Tokens.In != 200 {
		t.Errorf("counted %+v; want Running 0, Ended[chat.RunCompleted].Times 1, Ended[chat.RunFailed].Times 1, "+
			"Tokens.In 200",
			got)
	}
	if got.Tools[chat.ToolEnd{Tool: "search_documents", Status: chat.StatusComplete}].Times != 1 ||
		got.Tools[chat.ToolEnd{Tool: "unknown", Status: chat.StatusError}].Times != 1 {
		t.Errorf("tools %+v; want 1 and 1", got.Tools)
	}
}

// stop ends all runs, so that nothing is written any more.
func (h *house) stop() {
	h.Helper()
	if err := h.runs.Stop(h.Context()); err != nil {
		h.Fatal(err)
	}
}
