package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/footnote/footnote/agent/llm"
)

// embedding is a server of vectors that answers requests of at most so many texts, and the others by refuse. sizes
// are those of the requests.
func embedding(t *testing.T, most int, refuse http.HandlerFunc) (address string, sizes *[]int) {
	t.Helper()
	sizes = new([]int)
	var mu sync.Mutex
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Errorf("the request can't be read: %v", err)
		}
		mu.Lock()
		*sizes = append(*sizes, len(body.Input))
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		if len(body.Input) > most {
			refuse(w, r)
			return
		}
		list := make([]string, len(body.Input))
		for i, text := range body.Input {
			list[i] = fmt.Sprintf(`{"index":%d,"embedding":[%d,1]}`, i, len(text))
		}
		_, _ = fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(list, ","))
	}))
	t.Cleanup(web.Close)
	return web.URL, sizes
}

func refusing(status int, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"error":{"message":%q}}`, message)
	}
}

func TestBatchesShrinkToWhatTheServerTakes(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]http.HandlerFunc{
		"413": refusing(http.StatusRequestEntityTooLarge, "payload too large"),
		"400": refusing(http.StatusBadRequest, "batch size exceeds 20"),
		"422": refusing(http.StatusUnprocessableEntity, "batch size 64 > maximum allowed batch size 32"),
		"too long": refusing(http.StatusBadRequest,
			"Requested 9000 tokens, max 8192 tokens: reduce the length of the input"),
		"too slow": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, sizes := embedding(t, 20, refuse)
			m := newTestModel(t, Config{
				BaseURL: address, EmbeddingModel: "e", FirstToken: 300 * time.Millisecond, RetryFor: time.Millisecond,
			})
			texts := make([]string, 40)
			for i := range texts {
				texts[i] = strings.Repeat("x", i+1)
			}
			for range 2 { // the second time it is known
				vectors, err := m.Embed(t.Context(), texts)
				if err != nil || len(vectors) != len(texts) {
					t.Fatalf("%d vectors, %v; want %d", len(vectors), err, len(texts))
				}
				for i, v := range vectors {
					if got := v[0] / v[1]; got < float32(i)+0.9 || got > float32(i)+1.1 {
						t.Fatalf("vector %d is that of a text of %v, want %d", i, got, i+1)
					}
				}
			}
			if want := []int{40, 20, 20, 20, 20}; !slices.Equal(*sizes, want) {
				t.Errorf("requests of %v texts, want %v", *sizes, want)
			}
		})
	}
}

func TestARefusalThatIsNotOfTheSizeLeavesBatchesAsTheyAre(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		refuse http.HandlerFunc
		want   []int
	}{
		"a bad request": {refusing(http.StatusBadRequest, "no such option"), []int{4, 2, 1, 4, 2, 1}},
		"no such model": {refusing(http.StatusNotFound, "the model e does not exist"), []int{4, 4}},
		"a wrong key":   {refusing(http.StatusUnauthorized, "wrong key"), []int{4, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, sizes := embedding(t, 0, tt.refuse)
			m := newTestModel(t, Config{BaseURL: address, EmbeddingModel: "e"})
			for range 2 {
				if _, err := m.Embed(t.Context(), []string{"a", "b", "c", "d"}); err == nil {
					t.Error("no error, want the refusal")
				}
			}
			if !slices.Equal(*sizes, tt.want) {
				t.Errorf("requests of %v texts, want %v", *sizes, tt.want)
			}
		})
	}
}

func TestAServerThatIsBusyEmbeddingIsWell(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{}, 9)
	address, _ := embedding(t, 0, func(_ http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		<-r.Context().Done()
	})
	m := newTestModel(t, Config{BaseURL: address, EmbeddingModel: "e"})
	ask := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		return m.ReachEmbeddings(ctx)
	}
	now := time.Now()
	m.now = func() time.Time { return now }
	if err := ask(); err == nil {
		t.Error("a server that says nothing is well, want an error")
	}
	<-begun
	now = now.Add(time.Minute)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := m.Embed(ctx, []string{"a"})
		done <- err
	}()
	<-begun
	if err := ask(); err != nil {
		t.Errorf("while it embeds it is unwell: %v, want no error", err)
	}
	stop()
	if err := <-done; llm.KindOf(err) != llm.KindCancelled {
		t.Errorf("the stopped call ends with %v, want %v", err, llm.KindCancelled)
	}
}
