package server

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/modelchoice"
)

// withDesk lets models be chosen: two were found here, and "broken" is not taken.
func withDesk(operators ...string) func(*Config) {
	return func(c *Config) {
		c.Desk = modelchoice.Desk{
			Find: func(context.Context) modelchoice.Found {
				return modelchoice.Found{
					Servers: []modelchoice.Server{{Program: "Ollama", Port: 11434, Models: []modelchoice.Model{
						{Name: "qwen3:8b", Size: "8.2B", Bytes: 5_200_000_000, Context: 40960, Tools: new(true),
							Suggested: true},
						{Name: "<b>", Tools: new(false)},
					}}, {Program: "vLLM", Port: 8000}},
					Services: []modelchoice.Service{{Service: "openai", Name: "OpenAI", Model: "gpt-4.1-mini"}},
				}
			},
			Choose: func(_ context.Context, choice modelchoice.Choice) (modelchoice.Tried, error) {
				if choice.Model == "broken" {
					return modelchoice.Tried{}, chat.Invalid("broken was not taken: it gave no reply.")
				}
				return modelchoice.Tried{Model: choice.Model, Tools: true, TookMS: 12}, nil
			},
			Operators: operators,
		}
	}
}

func TestTheLocalUserChoosesTheModel(t *testing.T) {
	b := newBench(t, withDesk())
	if got := b.send("GET", "/model", ""); got.status != http.StatusOK ||
		!strings.Contains(got.body, `"name":"qwen3:8b"`) || !strings.Contains(got.body, `"locked":""`) {
		t.Errorf("GET /model: %d %s, want what was found", got.status, got.body)
	}
	page := b.send("GET", "/model", "", "Accept", "text/html").body
	for _, want := range []string{
		"8.2B · 5.2 GB · reads 40,960 tokens · calls tools", "suggested", "&lt;b&gt;", "calls no tools",
		"It has no model yet.", `<option value="openai">OpenAI`, `type="password" name="key"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if got := b.send("PUT", "/model", `{"port":11434,"model":"qwen3:8b"}`); got.status != http.StatusOK ||
		got.body != `{"model":"qwen3:8b","tools":true,"took_ms":12}`+"\n" {
		t.Errorf("PUT /model: %d %s", got.status, got.body)
	}
	got := b.send("POST", "/model", "service=openai&model=broken&key=sk-hidden", "Content-Type", formKind,
		"Accept", "text/html")
	for _, want := range []string{"broken was not taken", `value="broken"`, `role="alert"`} {
		if got.status != http.StatusBadRequest || !strings.Contains(got.body, want) {
			t.Errorf("a model that does not answer: %d, without %q in it", got.status, want)
		}
	}
	if strings.Contains(got.body, "sk-hidden") {
		t.Error("the key is shown again")
	}
}

// Who may not choose is told why, and learns nothing of what runs on the machine.
func TestWhoMayNotChooseTheModelIsToldWhy(t *testing.T) {
	asked := func(c *Config) {
		find := c.Desk.Find
		c.Desk.Find = func(ctx context.Context) modelchoice.Found { t.Error("somebody looked"); return find(ctx) }
		c.Desk.Choose = func(context.Context, modelchoice.Choice) (modelchoice.Tried, error) {
			t.Error("somebody chose")
			return modelchoice.Tried{}, nil
		}
	}
	behind := newBench(t, withDesk(), asked, func(c *Config) { c.Hosts = []string{"footnote.example"} })
	keyed, _, given := keyedWith(t, []string{"anna"}, withDesk("bert"), asked)
	alone := newBench(t)
	for name, tt := range map[string]struct {
		b      *bench
		header []string
		why    string
	}{
		"a server by another name": {behind, nil, "Other machines reach this server"},
		"a user with a key":        {keyed, []string{"Authorization", "Bearer " + given["anna"]}, "FOOTNOTE_OPERATORS"},
		"one of several servers":   {alone, nil, "Several servers"},
	} {
		for _, ask := range [][2]string{{"GET", ""}, {"PUT", `{"service":"offline"}`}} {
			got := tt.b.send(ask[0], "/model", ask[1], tt.header...)
			if !strings.Contains(got.body, tt.why) || strings.Contains(got.body, "qwen3") ||
				ask[0] == "PUT" && got.status != http.StatusForbidden {
				t.Errorf("%s, %s: %d %s, want %q", name, ask[0], got.status, got.body, tt.why)
			}
		}
	}
}
