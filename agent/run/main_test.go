package run

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
	"github.com/footnote/footnote/sql/runtest"
)

const goodAnswer = "There are 28 days of paid holiday a year [1]."

// house is an engine on a real store with two documents.
type house struct {
	testing.TB
	*Engine
	store *runtest.Store
}

func newHouse(t testing.TB, model llm.Model, change ...func(*Config)) *house {
	t.Helper()
	path := filepath.Join(t.TempDir(), "footnote.db")
	runtest.Furnish(t, path, false)
	s := runtest.Open(t, path, nil)
	cfg := Config{Store: s.Chats, Feed: s.Feed, Library: s.Library, Model: model}
	for _, c := range change {
		c(&cfg)
	}
	engine, err := NewEngine(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &house{t, engine, s}
}

// runner makes a run with the usual toolset that nobody steers.
func (h *house) runner(run chat.Run) *Runner {
	c := &Control{user: run.User, ctx: h.Context(), now: h.Context(), leaving: h.Context()}
	return h.NewRunner(run, h.Registry.Toolsets[tools.DefaultToolset], c)
}

// bareRunner makes a run that has a model and a log that forgets, and no tools or documents.
func bareRunner(t *testing.T, cfg Config, run chat.Run) *Runner {
	t.Helper()
	cfg.Log = slog.New(slog.DiscardHandler)
	_, c := NewControl(t.Context(), chat.LocalUser)
	t.Cleanup(c.Close)
	e := &Engine{}
	e.cfg.Store(&cfg)
	r := e.NewRunner(run, tools.Set{}, c)
	r.log.store = func(context.Context, ...chat.Payload) error { return nil }
	return r
}

// forgetful makes a run of a question with a log that forgets.
func (h *house) forgetful(req chat.RunRequest) *Runner {
	r := h.runner(chat.Run{ID: "r", User: chat.LocalUser, Request: req})
	r.log.store = func(context.Context, ...chat.Payload) error { return nil }
	return r
}

func call(name, args string) llm.Call { return llm.Call{Name: name, Arguments: json.RawMessage(args)} }

func search(query string) llm.Call { return call("search_documents", `{"query":"`+query+`"}`) }

func calls(cs ...llm.Call) scripted.Reply { return scripted.Reply{Calls: cs} }

func says(text string) scripted.Reply { return scripted.Reply{Text: text} }

func asks(text string) chat.RunRequest { return chat.RunRequest{Message: text} }

// answeringModel is a model that takes no time: two tool calls, then 200 characters.
func answeringModel() llm.Model {
	answer := scripted.Words("Every employee is entitled to 28 days of paid holiday a year [1]. Unused days may be " +
		"carried over until 31 March of the following year [1]. " +
		"A doctor's certificate is needed from the fourth day [2]. " +
		strings.Repeat("So much about that for now. ", 40))[:200]
	return scripted.NewScript(func(r scripted.Request) scripted.Reply {
		switch r.Turn() {
		case 0:
			return calls(search("paid holiday"))
		case 1:
			return calls(call("read_document", `{"doc_id":"Handbook.md"}`))
		default:
			return scripted.Reply{Chunks: answer}
		}
	})
}
