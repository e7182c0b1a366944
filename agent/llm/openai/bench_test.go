package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/httpllm"
	"github.com/footnote/footnote/e2e/scripted"
)

// reply200 is a reply of 200 pieces as servers send it.
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
			r := &reply{m: m, dog: dog, events: newEventReader(dog), yield: func(p llm.Part, _ error) bool {
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
				b.Fatal("no text")
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

// longRequest is a third turn: eleven tools and two results of some pages.
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
			if _, err := m.requestBody(req, habits{}); err != nil {
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

// BenchmarkWhole is a reply of 200 pieces over a real connection, by us and by a bare relay's client.
func BenchmarkWhole(b *testing.B) {
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
