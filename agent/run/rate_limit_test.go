package run

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/footnote/footnote/agent/ground"
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/openai"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// wireTo is a model's server without a network, so that waits take no real time. It counts requests by the model they
// name.
type wireTo struct {
	count map[string]int
	reply func(r *http.Request, model string) (*http.Response, error)
}

func (s *wireTo) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	model := "large"
	if strings.Contains(string(body), `"model":"small"`) {
		model = "small"
	}
	s.count[model]++
	return s.reply(r, model)
}

func (s *wireTo) model(t *testing.T, name string) llm.Model {
	t.Helper()
	m, err := openai.New(openai.Config{APIKey: "k", BaseURL: "http://model.test/v1", Model: name, EmbeddingModel: name,
		HTTPClient: &http.Client{Transport: s}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// refusing makes a reply of a status, with the seconds to wait where there are any.
func refusing(status int, after string) func(*http.Request, string) (*http.Response, error) {
	return func(*http.Request, string) (*http.Response, error) {
		h := http.Header{"Content-Type": {"application/json"}}
		if after != "" {
			h.Set("Retry-After", after)
		}
		return &http.Response{
			StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(`{"error":{"message":"no"}}`)),
		}, nil
	}
}

func silent(r *http.Request, _ string) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func refusedLink(*http.Request, string) (*http.Response, error) {
	return nil, errors.New("connect: connection refused")
}

// breaksAfterWords sends a piece of the answer and then breaks.
func breaksAfterWords(*http.Request, string) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(
			io.MultiReader(
				strings.NewReader(
					`data: {"choices":[{"index":0,"delta":{"content":"There are "},"finish_reason":null}]}`+"\n\n",
				), broken{},
			),
		)}, nil
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// turnOver makes one turn of a run whose model's server fails, and says how long it took.
func turnOver(t *testing.T, s *wireTo, cfg Config) (took time.Duration) {
	t.Helper()
	cfg.Model = s.model(t, "large")
	w := bareRunner(t, cfg, chat.Run{})
	w.budget.limits = chat.Budget{Steps: 10, Seconds: 300, Tokens: 1000}
	w.messages.list = []llm.Message{{Role: llm.RoleUser, Text: "How many days?"}}
	w.log.writer = ground.NewWriter(w.log.emitEvents, ground.NewCiter(ground.NewSources(), nil, "r"), true)
	begun := time.Now()
	if r, err := w.model.completeTurn(t.Context()); err == nil {
		t.Fatalf("the turn succeeded: %+v, want an error", r)
	}
	return time.Since(begun)
}

// A failing server is asked a bounded number of times, whoever asks: one place alone tries each kind of failure again.
func TestAFailingServerIsAskedSeldom(t *testing.T) {
	for _, tt := range []struct {
		name      string
		reply     func(*http.Request, string) (*http.Response, error)
		requests  int
		atLeast   time.Duration // waited in all
		choosing  int           // requests of the model that only chooses tools, when there is one
		beside    int           // of a side question such as a plan
		embedding int
	}{
		{"429 that names a second", refusing(429, "1"), 6, 131 * time.Second, 1, 1, 3},
		{"429 that names nothing", refusing(429, ""), 6, 135 * time.Second, 1, 1, 3},
		{"429 that names an hour", refusing(429, "3600"), 1, 0, 1, 1, 1},
		{"503", refusing(503, ""), 3, 0, 3, 3, 3},
		{"529", refusing(529, ""), 3, 0, 3, 3, 3},
		{"a refused connection", refusedLink, 3, 0, 3, 3, 3},
		{"silence", silent, 1, 120 * time.Second, 1, 1, 1},
		{"a break after the first words", breaksAfterWords, 1, 0, 1, 1, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &wireTo{count: map[string]int{}, reply: tt.reply}
				took := turnOver(t, s, Config{})
				if s.count["large"] != tt.requests || took < tt.atLeast || took > 250*time.Second {
					t.Errorf("%d requests in %v, want %d in %v or more", s.count["large"], took, tt.requests,
						tt.atLeast)
				}
				s = &wireTo{count: map[string]int{}, reply: tt.reply}
				if turnOver(t, s, Config{Select: s.model(t, "small")}); s.count["small"] != tt.choosing ||
					s.count["large"] != tt.requests {
					t.Errorf("with a model that chooses: %v requests, want %d of it and %d of the other", s.count,
						tt.choosing, tt.requests)
				}
				s = &wireTo{count: map[string]int{}, reply: tt.reply}
				w := bareRunner(t, Config{Model: s.model(t, "large")}, chat.Run{})
				if _, _, err := w.model.completeOnce(t.Context(),
					[]llm.Message{{Role: llm.RoleUser, Text: "Plan."}}); err == nil || s.count["large"] != tt.beside {
					t.Errorf("a side question: %d requests, want %d (%v)", s.count["large"], tt.beside, err)
				}
				s = &wireTo{count: map[string]int{}, reply: tt.reply}
				embedder, ok := s.model(t, "small").(*openai.Model)
				if !ok {
					t.Fatal("no embedder")
				}
				if _, err := embedder.Embed(t.Context(), []string{"roof"}); err == nil ||
					s.count["small"] != tt.embedding {
					t.Errorf("an embedding: %d requests, want %d (%v)", s.count["small"], tt.embedding, err)
				}
			})
		})
	}
}

// Turns of many runs together leave a dead server alone after five failures.
func TestADeadServerIsLeftAloneByAllRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &wireTo{count: map[string]int{}, reply: refusing(503, "")}
		model := s.model(t, "large")
		for range 10 {
			for range model.Stream(t.Context(), llm.Request{
				Messages: []llm.Message{{Role: llm.RoleUser, Text: "Hello"}},
			}) {
			}
		}
		if s.count["large"] != 5 {
			t.Errorf("%d requests of ten turns, want 5", s.count["large"])
		}
	})
}

// rated is a model whose server is busy twice.
func TestARateLimitIsWaitedForVisibly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := scripted.Reply{Err: &llm.Error{Kind: llm.KindRateLimited, Message: "too many requests"}}
		told := scripted.Reply{
			Err: &llm.Error{Kind: llm.KindRateLimited, Message: "too many requests", RetryAfter: 7 * time.Second},
		}
		w := bareRunner(t, Config{Model: scripted.New(busy, busy, told, says("Done."))}, chat.Run{})
		w.budget.limits = chat.Budget{Steps: 10, Seconds: 300, Tokens: 1000}
		var stored []chat.Payload
		w.log.store = func(_ context.Context, ps ...chat.Payload) error { stored = append(stored, ps...); return nil }
		w.log.writer = ground.NewWriter(w.log.emitEvents, ground.NewCiter(ground.NewSources(), nil, "r"), true)
		begin := time.Now()
		r, err := w.model.completeTurn(t.Context())
		if err != nil || r.text != "Done." {
			t.Fatalf("turn = %+v, %v; want text %q", r, err, "Done.")
		}
		if took := time.Since(begin); took < 22*time.Second || took > 23*time.Second {
			t.Errorf("waited %v, want 5 + 10 + 7 s and a little", took)
		}
		if first := stored[0].(chat.Step); first.Step != "rate_limit" ||
			first.Message != "The model's server is busy: trying again in 5 s" {
			t.Errorf("step = %+v; want Step %q and Message %q",
				first, "rate_limit", "The model's server is busy: trying again in 5 s")
		}
	})
}
