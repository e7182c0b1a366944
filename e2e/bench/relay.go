package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/footnote/footnote/text/sse"
)

// serveRelay is the bare relay: the same three requests to the model, tokens forwarded as SSE, without storage and
// search.
//
// It is the minimum for a program in front of a model, so the ratio to it is the cost of search, storage and
// checks. args are the address to listen on and the fake model's URL. It parses the stream's tool calls, which it
// needs to detect that a turn is not the answer, and answers each with an empty result.
func serveRelay(args []string) error {
	model := args[1] + "/v1/chat/completions"
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2000, MaxIdleConns: 2000}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ready", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /chat", func(w http.ResponseWriter, r *http.Request) {
		var ask struct {
			Message string `json:"message"`
		}
		if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		flush := http.NewResponseController(w)
		history := []message{{Role: "user", Content: ask.Message}}
		// Until the model calls no tool: two rounds with calls, and the answer.
		for {
			calls, err := completeTurn(client, model, history, r, func(token string) error {
				raw, err := json.Marshal(map[string]string{"type": "answer_delta", "text": token})
				if err != nil {
					return err
				}
				if _, err := w.Write(sse.Append(nil, 0, "", raw)); err != nil {
					return err
				}
				return flush.Flush()
			})
			if err != nil || len(calls) == 0 {
				return
			}
			history = append(history, message{Role: "assistant", ToolCalls: calls})
			for _, call := range calls {
				history = append(
					history, message{Role: "tool", ToolCallID: call.ID, Content: `{"documents":[{"doc_id":"x"}]}`},
				)
			}
		}
	})
	return http.ListenAndServe(args[0], mux) //nolint:gosec // a yardstick on loopback, ended by its parent
}

// message is one entry of the history, with the fields that the relay needs.
type message struct {
	Role       string `json:"role"`
	Content    string `json:"content"`
	ToolCalls  []call `json:"tool_calls,omitempty"`
	ToolCallID string `json:"tool_call_id,omitempty"`
}

// call is one tool call. The fake model sends each in one chunk, so none must be assembled.
type call struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// completeTurn sends one request to the model, calls token for each token of text, and returns the tool calls. An
// error of token ends it: the client has disconnected.
func completeTurn(client *http.Client, model string, history []message, r *http.Request, token func(
	string,
) error) ([]call, error) {
	body, err := json.Marshal(map[string]any{"model": "bench", "stream": true, "messages": history})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(r.Context(), http.MethodPost, model, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var calls []call
	for events := sse.NewReader(resp.Body, 1<<20); ; {
		event, err := events.Next()
		if errors.Is(err, io.EOF) {
			return calls, nil
		}
		if err != nil {
			return nil, err
		}
		if string(event.Data) == "[DONE]" {
			continue
		}
		var part struct {
			Choices []struct {
				Delta struct {
					Content   string `json:"content"`
					ToolCalls []call `json:"tool_calls"`
				} `json:"delta"`
			} `json:"choices"`
		}
		if err := json.Unmarshal(event.Data, &part); err != nil {
			return nil, err
		}
		for _, choice := range part.Choices {
			calls = append(calls, choice.Delta.ToolCalls...)
			if choice.Delta.Content != "" {
				if err := token(choice.Delta.Content); err != nil {
					return nil, err
				}
			}
		}
	}
}
