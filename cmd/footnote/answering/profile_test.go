package answering

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"footnote/cmd/footnote/settings"
	"footnote/llm/openai"
)

// A question about one model must not wait until another one has been measured, which takes up to a minute.
func TestAKnownModelDoesNotWaitForTheMeasurementOfAnother(t *testing.T) {
	t.Parallel()
	measured, ended := make(chan struct{}, 1), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/models" {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"object":"list","data":[{"id":"big","object":"model","owned_by":"vllm"},
				{"id":"new","object":"model","owned_by":"library"}]}`)
			return
		}
		measured <- struct{}{}
		<-ended
	}))
	defer server.Close()
	defer close(ended)
	small, ctx := smallProfilesOf(t, server.URL, "big", "new")
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
		t.Fatal("the new model was not measured")
	}
	small(ctx, "big", nil)
	if ctx.Err() != nil {
		t.Error("the known model waited until its time was over, want an answer at once")
	}
	stop()
	<-returned
}

// A server that does not answer is waited for by all runs together, not by one after another.
func TestRunsAskAServerThatHangsAtTheSameTime(t *testing.T) {
	t.Parallel()
	const runs = 4
	asked, ended := make(chan struct{}, runs), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		select {
		case <-ended:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(ended)
	small, ctx := smallProfilesOf(t, server.URL, "m")
	stopped, stop := context.WithCancel(ctx)
	returned := make(chan struct{}, runs)
	for range runs {
		go func() {
			small(stopped, "m", nil)
			returned <- struct{}{}
		}()
	}
	for i := range runs {
		select {
		case <-asked:
		case <-returned:
			t.Errorf("%d of %d runs asked before one gave up, want all", i, runs)
		}
	}
	stop()
}

// smallProfilesOf is what says whether models of a server are small, and a context that outlives every right answer.
func smallProfilesOf(t *testing.T, url string, names ...string) (
	func(context.Context, string, func()) string, context.Context,
) {
	t.Helper()
	models := map[string]*openai.Model{}
	for _, name := range names {
		model, err := openai.New(openai.Config{BaseURL: url, Model: name, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		models[name] = model
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return smallProfiles(&settings.Settings{}, models, slog.New(slog.DiscardHandler)), ctx
}
