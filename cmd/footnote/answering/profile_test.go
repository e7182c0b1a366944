package answering

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/footnote/footnote/agent/llm/openai"
	"github.com/footnote/footnote/cmd/footnote/settings"
)

// A call for a cached model must not wait for the measurement of another model, which takes up to a minute.
func TestCachedModelDoesNotWaitForOtherMeasurement(t *testing.T) {
	t.Parallel()
	measured, ended := make(chan struct{}, 1), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/models" {
			fmt.Fprint(w, `{"object":"list","data":[{"id":"big","object":"model","owned_by":"vllm"},
				{"id":"new","object":"model","owned_by":"library"}]}`)
			return
		}
		measured <- struct{}{}
		<-ended
	}))
	defer server.Close()
	defer close(ended)
	models := map[string]*openai.Model{}
	for _, name := range []string{"big", "new"} {
		model, err := openai.New(openai.Config{BaseURL: server.URL, Model: name, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		models[name] = model
	}
	small := smallProfiles(&settings.Settings{}, models, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // longer than any passing test
	defer cancel()
	if why := small(ctx, "big", nil); why != "" {
		t.Fatalf("the big model is small: %q, want not", why)
	}
	measuring, stop := context.WithCancel(ctx)
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		small(measuring, "new", func() {})
	}()
	select {
	case <-measured:
	case <-returned:
		t.Fatal("new model was not measured")
	}
	small(ctx, "big", nil)
	if ctx.Err() != nil {
		t.Error("the known model waited until its time was over, want an answer at once")
	}
	stop()
	<-returned
}

// Concurrent runs share one measurement. A sure result is cached. An unsure one is retried once by later runs, not
// by each waiting run.
func TestRunsShareModelMeasurement(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		sure  bool
		looks int
	}{{"sure", true, 1}, {"not sure", false, 2}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, looks := newSizes(), 0
				find := func() (string, bool) {
					looks++
					time.Sleep(3 * time.Second)
					return "slow", tt.sure
				}
				begun := time.Now()
				found := make(chan string, 5)
				for range cap(found) {
					go func() { found <- s.whySmall(t.Context(), "m", find) }()
				}
				for range cap(found) {
					if why := <-found; why != "slow" {
						t.Errorf("waiting run: got %q, want the result of the measurement", why)
					}
				}
				if took := time.Since(begun); looks != 1 || took != 3*time.Second {
					t.Errorf("%d looks in %v, want 1 in 3s", looks, took)
				}
				if s.whySmall(t.Context(), "m", find); looks != tt.looks {
					t.Errorf("%d looks after a later run, want %d", looks, tt.looks)
				}
			})
		})
	}
}

func TestCancelledRunKeepsSharedMeasurement(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSizes()
		stopped, stop := context.WithCancel(t.Context())
		first, second, gone := make(chan string, 1), make(chan string, 1), make(chan string, 1)
		go func() {
			first <- s.whySmall(stopped, "m", func() (string, bool) {
				<-stopped.Done()
				return "", false
			})
		}()
		synctest.Wait()
		ends, end := context.WithCancel(t.Context())
		go func() { gone <- s.whySmall(ends, "m", nil) }()
		synctest.Wait()
		end()
		if why := <-gone; why != "" {
			t.Errorf("run that ended while waiting: got %q, want nothing", why)
		}
		go func() { second <- s.whySmall(t.Context(), "m", func() (string, bool) { return "slow", true }) }()
		synctest.Wait()
		stop()
		if a, b := <-first, <-second; a != "" || b != "slow" {
			t.Errorf("cancelled run and next run: got %q and %q, want nothing and the result", a, b)
		}
	})
}
