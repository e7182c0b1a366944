package openai

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/httpllm"
	"github.com/footnote/footnote/e2e/scripted"
)

func TestEmbed(t *testing.T) {
	m, _ := serve(t, Config{EmbeddingModel: "e"}, scripted.Reply{})
	texts := make([]string, 2*maxBatch+3)
	for i := range texts {
		texts[i] = fmt.Sprintf("roof number %d", i)
	}
	texts[5] = "" // must not fail
	got, err := m.Embed(t.Context(), texts)
	if err != nil || len(got) != len(texts) {
		t.Fatalf("%d vectors, %v; want %d", len(got), err, len(texts))
	}
	for i, v := range got {
		var sum float64
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		if math.Abs(sum-1) > 1e-5 {
			t.Fatalf("vector %d has the length %v, want 1", i, math.Sqrt(sum))
		}
	}
	want := scripted.Vector(texts[70])
	for i := range want {
		if math.Abs(float64(got[70][i]-want[i])) > 1e-6 {
			t.Fatal("got vectors in another order than the texts")
		}
	}
}

func TestEmbeddingResponses(t *testing.T) {
	for _, tt := range []struct {
		name, answer string
		want         string // of two vectors; empty: refused
	}{
		{"floats in another order", `{"data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[3,4]}]}`,
			"[[0.6 0.8] [0 1]]"},
		{"base64", `{"data":[{"index":0,"embedding":"AAAAAAAAgD8="},{"index":1,"embedding":"AACAPwAAAAA="}]}`,
			"[[0 1] [1 0]]"},
		{"no indexes", `{"data":[{"embedding":[1,0]},{"embedding":[0,1]}]}`, "[[1 0] [0 1]]"},
		{"too few", `{"data":[{"index":0,"embedding":[1,0]}]}`, ""},
		{"one index twice", `{"data":[{"index":0,"embedding":[1,0]},{"index":0,"embedding":[1,0]}]}`, ""},
		{"different dimensions", `{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[1,0,0]}]}`, ""},
		{"no length", `{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[0,0]}]}`, ""},
		{"empty vectors", `{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[]}]}`, ""},
		{"broken base64", `{"data":[{"index":0,"embedding":"AAA="},{"index":1,"embedding":"AAA="}]}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, tt.answer)
			}))
			t.Cleanup(web.Close)
			m := newTestModel(t, Config{BaseURL: web.URL, EmbeddingModel: "e"})
			got, err := m.Embed(t.Context(), []string{"a", "b"})
			switch {
			case tt.want == "" && llm.KindOf(err) != llm.KindProtocol:
				t.Errorf("got %v, %v, want a protocol error", got, err)
			case tt.want != "" && fmt.Sprint(got) != tt.want:
				t.Errorf("got %v, %v, want %v", got, err, tt.want)
			}
		})
	}
}

func TestProbe(t *testing.T) {
	m, _ := serve(t, Config{EmbeddingModel: "e"}, scripted.Reply{
		Calls: []llm.Call{{Name: "search_documents", Arguments: []byte(`{"query":"roof"}`)}},
	})
	h := m.Probe(t.Context())
	if !h.Reachable || !h.KeyRight || !h.ModelHere || !h.Answers || !h.Tools || !h.Usage || !h.Embeds || h.Err != nil ||
		strings.Join(h.Models, " ") != "scripted" {
		t.Errorf("a good server: %+v; want Reachable true, KeyRight true, ModelHere true, Answers true, Tools true, "+
			"Usage true, Embeds true",
			h)
	}
	m, _ = serve(t, Config{APIKey: "bad"}, scripted.Reply{Fault: scripted.Fault{Status: 401}})
	if h := m.Probe(t.Context()); !h.Reachable || h.KeyRight || h.ModelHere || h.Err == nil {
		t.Errorf("a refused key: %+v; want Reachable true, KeyRight false, ModelHere false", h)
	}
	if h := newTestModel(t, Config{}).Probe(t.Context()); h.Reachable || h.Err == nil {
		t.Errorf("no server: %+v, want Reachable false", h)
	}
}

// embedding is an embedding server with a maximum batch size; refuse answers larger requests. sizes records the
// batch sizes.
func embedding(t *testing.T, most int, refuse http.HandlerFunc) (address string, sizes *[]int) {
	t.Helper()
	sizes = new([]int)
	var mu sync.Mutex
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Errorf("decode request: %v", err)
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

func TestBatchesShrinkToServerLimit(t *testing.T) {
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
			for range 2 { // the second time the batch size is known
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

func TestUnrelatedRefusalKeepsBatchSize(t *testing.T) {
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

func TestBusyEmbeddingServerIsHealthy(t *testing.T) {
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
		return m.PingEmbeddings(ctx)
	}
	now := time.Now()
	m.now = func() time.Time { return now }
	if err := ask(); err == nil {
		t.Error("silent server: got no error, want one")
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

// keyed is a server for embeddings that refuses other requests. keys receives the key of each request.
func keyed(t *testing.T, keys chan string) string {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys <- r.Header.Get("Authorization")
		w.Header().Set("Content-Type", "application/json")
		if !strings.HasSuffix(r.URL.Path, "/embeddings") {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, `{"data":[{"index":0,"embedding":[1,0]}]}`)
	}))
	t.Cleanup(web.Close)
	return web.URL
}

func TestEmbeddingServerHasItsOwnKey(t *testing.T) {
	t.Parallel()
	chatKeys, vectorKeys := make(chan string, 9), make(chan string, 9)
	chat, vectors := keyed(t, chatKeys), keyed(t, vectorKeys)
	for name, tt := range map[string]struct {
		cfg  Config
		keys chan string // of the server that should be used
		want string
	}{
		"one server":           {Config{BaseURL: chat, APIKey: "a"}, chatKeys, "Bearer a"},
		"one server, two keys": {Config{BaseURL: chat, APIKey: "a", EmbeddingAPIKey: "b"}, chatKeys, "Bearer b"},
		"one host": {Config{BaseURL: chat + "/v1", APIKey: "a", EmbeddingBaseURL: chat + "/v2"}, chatKeys,
			"Bearer a"},
		"another server does not get the key": {Config{BaseURL: chat, APIKey: "a", EmbeddingBaseURL: vectors},
			vectorKeys, ""},
		"another server with its key": {Config{BaseURL: chat, APIKey: "a", EmbeddingBaseURL: vectors,
			EmbeddingAPIKey: "b"}, vectorKeys, "Bearer b"},
		"OpenAI's key goes nowhere else": {Config{APIKey: "a", EmbeddingBaseURL: vectors}, vectorKeys, ""},
		"no other server at all":         {Config{EmbeddingBaseURL: vectors}, vectorKeys, ""},
	} {
		tt.cfg.Model, tt.cfg.EmbeddingModel = "m", "e"
		m, err := New(tt.cfg)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := m.Embed(t.Context(), []string{"roof"}); err != nil {
			t.Errorf("%s: %v, want no error", name, err)
		} else if got := <-tt.keys; got != tt.want {
			t.Errorf("%s: the key %q, want %q", name, got, tt.want)
		}
		m.Close()
	}
	if len(chatKeys)+len(vectorKeys) > 0 {
		t.Errorf("%d further requests, want none", len(chatKeys)+len(vectorKeys))
	}
	if _, err := New(Config{Model: "m", EmbeddingBaseURL: "localhost:11434"}); err == nil ||
		!strings.Contains(err.Error(), "OPENAI_EMBEDDING_BASE_URL") {
		t.Errorf("an address without http: %v, want OPENAI_EMBEDDING_BASE_URL in the error", err)
	}
}

func TestEmbeddingErrorsNameTheirSettings(t *testing.T) {
	t.Parallel()
	m := newTestModel(t, Config{
		EmbeddingBaseURL: keyed(t, make(chan string, 9)) + "/nothing", EmbeddingAPIKey: "b", EmbeddingModel: "e",
	})
	if m.embedder.KeySetting != "OPENAI_EMBEDDING_API_KEY" || m.embedder.Key != "b" || m.server.Key != "" ||
		m.embedder.AddressSetting != "OPENAI_EMBEDDING_BASE_URL" || m.server.AddressSetting != "OPENAI_BASE_URL" {
		t.Errorf("got settings %+v and %+v, want separate keys", m.embedder, m.server)
	}
	if h := m.Probe(t.Context()); !h.Embeds || h.Err == nil || llm.KindOf(h.Err) != llm.KindUnreachable {
		t.Errorf("beside a server that is down: %+v, want vectors", h)
	}
}

// The key for replies is used for embeddings only on the same host.
func TestEmbeddingServerOnSameHostUsesChatKey(t *testing.T) {
	for name, tt := range map[string]struct {
		config    Config
		base, key string
	}{
		"nothing is said": {Config{APIKey: "a"}, defaultBaseURL, "a"},
		"the same host": {Config{APIKey: "a", BaseURL: "http://x/v1", EmbeddingBaseURL: "http://x/v2"},
			"http://x/v2", "a"},
		"another host": {Config{APIKey: "a", BaseURL: "http://x/v1", EmbeddingBaseURL: "http://y/v1"},
			"http://y/v1", ""},
		"a key for it":   {Config{APIKey: "a", BaseURL: "http://x/v1", EmbeddingAPIKey: "b"}, "http://x/v1", "b"},
		"another scheme": {Config{APIKey: "a", BaseURL: "https://x", EmbeddingBaseURL: "http://x"}, "http://x", ""},
	} {
		base, key, err := tt.config.EmbeddingServer()
		if err != nil || base != tt.base || string(key) != tt.key {
			t.Errorf("%s: %s with %q (%v), want %s with %q", name, base, string(key), err, tt.base, tt.key)
		}
	}
}

// reply200 returns a streamed reply of 200 chunks.
func reply200(tb testing.TB) []byte {
	tb.Helper()
	server := scripted.NewServer(scripted.Config{Tokens: 200, Script: func(scripted.Request) scripted.Reply {
		return scripted.Reply{
			Text: "The roof covering is in poor condition, and several slates are missing on the north slope.",
		}
	}})
	w := httptest.NewRecorder()
	server.ServeHTTP(
		w, httptest.NewRequest(http.MethodPost, "/v1/chat/completions",
			strings.NewReader(`{"model":"m","messages":[]}`)),
	)
	return w.Body.Bytes()
}

func BenchmarkDecode(b *testing.B) {
	wire := reply200(b)
	m, err := New(Config{Model: "m", BaseURL: "http://127.0.0.1:1"})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			ctx, dog := httpllm.Watch(b.Context(), m.patience)
			dog.Body = bytes.NewReader(wire)
			text := 0
			r := &reply{m: m, dog: dog, events: newEvents(dog), yield: func(p llm.Part, _ error) bool {
				if t, ok := p.(llm.Text); ok {
					text += len(t)
				}
				return true
			}}
			if err := r.readEvents(ctx); err != nil || text == 0 {
				b.Fatal(err)
			}
			dog.Stop()
		}
	})
	b.Run("bare relay", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			lines := bufio.NewScanner(bytes.NewReader(wire))
			text := 0
			for lines.Scan() {
				data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
				if !ok || string(data) == "[DONE]" {
					continue
				}
				var chunk struct {
					Choices []struct {
						Delta struct{ Content string }
					}
				}
				if err := json.Unmarshal(data, &chunk); err != nil {
					b.Fatal(err)
				}
				for _, c := range chunk.Choices {
					text += len(c.Delta.Content)
				}
			}
			if text == 0 {
				b.Fatal("got no text, want some")
			}
		}
	})
	b.Run("SDK", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			res := &http.Response{
				Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(bytes.NewReader(wire)),
			}
			stream := ssestream.NewStream[sdk.ChatCompletionChunk](ssestream.NewDecoder(res), nil)
			text := 0
			for stream.Next() {
				for _, c := range stream.Current().Choices {
					text += len(c.Delta.Content)
				}
			}
			if stream.Err() != nil || text == 0 {
				b.Fatal(stream.Err())
			}
		}
	})
}

// longRequest returns a third turn: eleven tools and two results of some pages.
func longRequest() llm.Request {
	page := strings.Repeat("The roof covering is in poor condition, and several slates are missing. ", 80)
	req := llm.Request{Messages: []llm.Message{
		{Role: llm.RoleSystem, Text: page}, {Role: llm.RoleUser, Text: "What is wrong with the roof?"},
		{Role: llm.RoleAssistant, Calls: []llm.Call{okCall("a", "search_documents", `{"query":"roof"}`)}},
		{Role: llm.RoleTool, CallID: "a", Text: page},
		{Role: llm.RoleAssistant, Calls: []llm.Call{okCall("b", "read_document", `{"doc_id":"d1"}`)}},
		{Role: llm.RoleTool, CallID: "b", Text: page + page},
	}}
	for i := range 11 {
		req.Tools = append(req.Tools, llm.ToolSpec{Name: fmt.Sprintf("tool_%d", i), Description: page[:300],
			Schema: []byte(
				`{"type":"object","additionalProperties":false,"required":["query"],` +
					`"properties":{"query":{"type":"string","description":"What to search for"},` +
					`"max_results":{"type":"integer","minimum":1,"maximum":50}}}`,
			)})
	}
	return req
}

func BenchmarkRequest(b *testing.B) {
	m, err := New(Config{Model: "m", BaseURL: "http://127.0.0.1:1"})
	if err != nil {
		b.Fatal(err)
	}
	req := longRequest()
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := m.requestBody(req, serverFeatures{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding/json of the messages alone", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := json.Marshal(req); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkStreamOverHTTP measures a reply of 200 chunks over a real connection, compared with a bare relay's client.
func BenchmarkStreamOverHTTP(b *testing.B) {
	wire200 := reply200(b)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(wire200)
	}))
	b.Cleanup(web.Close)
	req := longRequest()
	b.Run("ours", func(b *testing.B) {
		m, err := New(Config{Model: "m", BaseURL: web.URL})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			for _, err := range m.Stream(b.Context(), req) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("bare relay", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			body, err := json.Marshal(req)
			if err != nil {
				b.Fatal(err)
			}
			res, err := http.Post(web.URL, "application/json", bytes.NewReader(body))
			if err != nil {
				b.Fatal(err)
			}
			lines := bufio.NewScanner(res.Body)
			for lines.Scan() {
				data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
				if !ok || string(data) == "[DONE]" {
					continue
				}
				var chunk struct {
					Choices []struct {
						Delta struct{ Content string }
					}
				}
				if err := json.Unmarshal(data, &chunk); err != nil {
					b.Fatal(err)
				}
			}
			_ = res.Body.Close()
		}
	})
}

func FuzzDecodeEvent(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"a":[1,{"b":"\"}"}],"choices":[{"delta":{"content":"x"}}]}`,
		`{"choices":[[],{}],"usage":{"prompt_tokens":-1.5e3}}`,
		`{"error":{"a":[]},"choices":{"delta":1}}`,
		`{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":{"a":1}}}]}}]}`,
		`{"choices":[{"delta":{"content":[{"text":"a"},3]}}]}`,
	} {
		f.Add([]byte(seed))
	}
	var p chunkParser
	f.Fuzz(func(t *testing.T, data []byte) {
		_, ok := p.parseEvent(data)
		var object map[string]json.RawMessage
		if valid := json.Unmarshal(data, &object) == nil && object != nil; valid && !ok {
			t.Errorf("valid object is not parsed: %q", data)
		}
	})
}

func FuzzTextIsUnchanged(f *testing.F) {
	for _, seed := range []string{"", "plain", "a\"b\\c/\n\t\x00\x1f", "日本 👍 \u2028", "\\u0041", `\`} {
		f.Add(seed)
	}
	var p chunkParser
	f.Fuzz(func(t *testing.T, text string) {
		event, err := json.Marshal(map[string]any{
			"choices": []any{map[string]any{"delta": map[string]any{"content": text, "role": text}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		var want struct {
			Choices []struct{ Delta struct{ Content string } }
		}
		if err := json.Unmarshal(event, &want); err != nil {
			t.Fatal(err)
		}
		c, ok := p.parseEvent(event)
		if !ok || string(c.content) != want.Choices[0].Delta.Content {
			t.Errorf("%q is read as %q (%v), want %v", event, c.content, ok, want.Choices[0].Delta.Content)
		}
	})
}
