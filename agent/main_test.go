package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/embed/embedtest"
	"github.com/footnote/footnote/e2e/scripted"
	"github.com/footnote/footnote/sql/runtest"
	"github.com/footnote/footnote/sql/sqlite"
)

// tb is a test or a benchmark.
type tb = testing.TB

// house is a whole agent on real stores.
type house struct {
	tb
	path    string
	db      *sqlite.DB
	store   *sqlite.Chats
	feed    *chat.Feed
	library *corpus.Library
	runs    *Runs

	semantic bool            // the library finds by meaning too
	embeds   corpus.Embedder // then: what makes its vectors; nil: a deterministic one
}

// newHouse opens a store with two documents and an agent on it.
func newHouse(t *testing.T, model llm.Model, change ...func(*Config)) *house {
	t.Helper()
	h := &house{tb: t, path: filepath.Join(t.TempDir(), "footnote.db")}
	h.furnish()
	h.hire(model, change...)
	return h
}

// newSemanticHouse is a house whose library has vectors.
func newSemanticHouse(t *testing.T, model llm.Model) *house {
	t.Helper()
	h := &house{tb: t, path: filepath.Join(t.TempDir(), "footnote.db"), semantic: true}
	h.furnish()
	h.hire(model)
	return h
}

// add puts a document in and waits until it is ready.
func (h *house) add(name, body string) {
	h.Helper()
	(&runtest.Store{DB: h.db, Chats: h.store, Feed: h.feed, Library: h.library}).Add(h.tb, name, body)
}

// furnish opens a store that the documents are in.
func (h *house) furnish() {
	h.Helper()
	runtest.Furnish(h.tb, h.path, h.semantic)
	h.open()
}

func (h *house) open() {
	h.Helper()
	if h.semantic && h.embeds == nil {
		h.embeds = embedtest.Hashing{}
	}
	s := runtest.Open(h.tb, h.path, h.embeds)
	h.db, h.store, h.feed, h.library = s.DB, s.Chats, s.Feed, s.Library
}

// hire makes the agent.
func (h *house) hire(model llm.Model, change ...func(*Config)) {
	h.Helper()
	cfg := Config{Config: run.Config{
		Store: h.store, Feed: h.feed, Library: h.library, Model: model,
		Framework: frameworks[os.Getenv("FOOTNOTE_TEST_FRAMEWORK")],
	}, Exclusive: true}
	for _, c := range change {
		c(&cfg)
	}
	runs, err := NewRuns(cfg)
	if err != nil {
		h.Fatal(err)
	}
	h.runs = runs
	h.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := runs.Stop(ctx); err != nil {
			h.Errorf("Stop: %v", err)
		}
	})
}

func withFallback(c *Config) { c.Fallback = offline.New(nil) }

// ask starts a run and returns it.
func (h *house) ask(req chat.RunRequest) chat.Run {
	h.Helper()
	run, fresh, err := h.runs.Start(h.Context(), chat.LocalUser, req)
	if err != nil || !fresh {
		h.Fatalf("Start = fresh %v, %v", fresh, err)
	}
	return run
}

// follow reads a run's log until something in it is what is waited for.
func (h *house) follow(runID string, until func(chat.Payload) bool) []chat.Payload {
	h.Helper()
	wake, stop := h.feed.Watch(runID)
	defer stop()
	limit := time.After(20 * time.Second)
	for {
		news := wake()
		log := h.log(runID)
		for _, p := range log {
			if until(p) {
				return log
			}
		}
		select {
		case <-news:
		case <-limit:
			h.Fatalf("run %s never got there; its log: %s", runID, dump(log))
		}
	}
}

func (h *house) log(runID string) []chat.Payload {
	h.Helper()
	var out []chat.Payload
	for after := int64(0); ; {
		events, err := h.store.Events(context.WithoutCancel(h.Context()), chat.Local, runID, after, 0)
		if err != nil {
			h.Fatal(err)
		}
		if len(events) == 0 {
			return out
		}
		for _, e := range events {
			p, err := e.Payload()
			if err != nil {
				h.Fatal(err)
			}
			out, after = append(out, p), e.Seq
		}
	}
}

// answer asks and waits for the end.
func (h *house) answer(req chat.RunRequest) transcript {
	h.Helper()
	return h.wait(h.ask(req).ID)
}

func (h *house) wait(runID string) transcript {
	h.Helper()
	return transcript{h.tb, runID, h.follow(runID, isDone)}
}

func isDone(p chat.Payload) bool { _, ok := p.(chat.RunDone); return ok }

func dump(log []chat.Payload) string {
	var b bytes.Buffer
	for _, p := range log {
		body, _ := json.Marshal(p)
		b.WriteString("\n" + string(p.Kind()) + " " + string(body))
	}
	return b.String()
}

// transcript is a finished run's log.
type transcript struct {
	tb
	runID string
	log   []chat.Payload
}

func all[P chat.Payload](t transcript) []P {
	var out []P
	for _, p := range t.log {
		if p, ok := p.(P); ok {
			out = append(out, p)
		}
	}
	return out
}

func (t transcript) done() chat.RunDone {
	t.Helper()
	dones := all[chat.RunDone](t)
	if len(dones) != 1 {
		t.Fatalf("run_done came %d times:%s, want 1 done", len(dones), dump(t.log))
	}
	if _, last := t.log[len(t.log)-1].(chat.RunDone); !last {
		t.Errorf("run_done is not the last event:%s", dump(t.log))
	}
	return dones[0]
}

func (t transcript) answer() chat.Answer {
	t.Helper()
	if d := t.done(); d.Status != chat.RunCompleted {
		t.Fatalf("run ended %v %+v:%s, want %v", d.Status, d.Error, dump(t.log), chat.RunCompleted)
	}
	answers := all[chat.Answer](t)
	if len(answers) != 1 {
		t.Fatalf("%d answers:%s, want 1 answer", len(answers), dump(t.log))
	}
	return answers[0]
}

// ended returns the last state of each step, in order of their begin.
func (t transcript) ended() []chat.Step {
	var order []string
	last := map[string]chat.Step{}
	for _, s := range all[chat.Step](t) {
		if _, ok := last[s.CallID]; !ok {
			order = append(order, s.CallID)
		}
		last[s.CallID] = s
	}
	out := make([]chat.Step, len(order))
	for i, id := range order {
		out[i] = last[id]
	}
	return out
}

// step returns the last state of the first step of a name.
func (t transcript) step(name string) chat.Step {
	t.Helper()
	for _, s := range t.ended() {
		if s.Step == name {
			return s
		}
	}
	t.Fatalf("no step %s in:%s", name, dump(t.log))
	return chat.Step{}
}

// text puts the deltas since the last reset together.
func (t transcript) text() string {
	text := ""
	for _, p := range t.log {
		switch p := p.(type) {
		case chat.AnswerDelta:
			text += p.Text
		case chat.AnswerReset:
			text = ""
		}
	}
	return text
}

func call(name, args string) llm.Call { return llm.Call{Name: name, Arguments: json.RawMessage(args)} }

func calls(cs ...llm.Call) scripted.Reply { return scripted.Reply{Calls: cs} }

func says(text string) scripted.Reply { return scripted.Reply{Text: text} }

func asks(text string) chat.RunRequest { return chat.RunRequest{Message: text} }

func queryFor(text string) corpus.Query { return corpus.Query{Text: text} }

// orEmpty makes CodeOf usable for no error.
func orEmpty(err error) error {
	if err == nil {
		return &chat.Error{}
	}
	return err
}
