package main_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// Fields of a body that would be ignored or merged are rejected with the field's name, on every route for
// questions.
func TestRequestBodiesAreDecodedStrictly(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	const json = "application/json"
	v1 := func(question, more string) string {
		return `{"model":"footnote","messages":[{"role":"user","content":"` + question + `"}]` + more + `}`
	}
	parts := func(list string) string {
		return `{"model":"footnote","messages":[{"role":"user","content":[` + list + `]}]}`
	}
	mcp := func(arguments string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{` + arguments + `}}}`
	}
	sdk := func(list, more string) string {
		return `{"id":"chat","messages":[{"role":"user","parts":[` + list + `]}]` + more + `}`
	}
	agui := func(question, more string) string {
		return `{"threadId":"thread","runId":"run","messages":[{"role":"user","content":"` + question +
			`"}]` + more + `}`
	}
	for _, row := range []struct{ path, kind, body, part string }{
		{"/chat", json, `{"message":"a\u0000b"}`, `"message" contains a NUL`},
		{"/chat", "application/x-www-form-urlencoded", "message=a%00b", `"message" contains a NUL`},
		{"/agent/chat", json, `{"message":"a\u0000"}`, `"message" contains a NUL`},
		{"/agent/chat/structured", json, `{"message":"\u0000"}`, `"message" contains a NUL`},
		{"/agent/query", json, `{"question":"a","context":"\u0000"}`, `"context" contains a NUL`},
		{"/agent/query", json, `{"question":"a","history":[["b","\u0000"]]}`, `"history" contains a NUL`},
		{"/v1/chat/completions", json, v1(`a\u0000`, ""), `"content" contains a NUL`},
		{"/mcp", json, mcp(`"question":"a\u0000"`), `"question" contains a NUL`},
		{"/search", json, `{"query":"a\u0000"}`, `"query" contains a NUL`},

		{"/chat", json, `{"message":"\u200b\u2060\u00ad\u3164"}`, "question is empty"},
		{"/chat", "application/x-www-form-urlencoded", "message=" + url.QueryEscape("\u200b \ufe0f"),
			"question is empty"},
		{"/agent/chat", json, `{"message":"\u200b"}`, "question is empty"},
		{"/agent/chat/structured", json, `{"message":"\u200b"}`, "question is empty"},
		{"/agent/query", json, `{"question":"\u200b"}`, "question is empty"},
		{"/v1/chat/completions", json, v1(`\u200b`, ""), "question is empty"},
		{"/mcp", json, mcp(`"question":"\u200b"`), "question is empty"},

		{"/chat", json, `{"message":"a","message":"b"}`, `Duplicate field "message"`},
		{"/agent/chat", json, `{"message":"a","config":{"max_steps":1,"max_steps":2}}`, `Duplicate field "max_steps"`},
		{"/agent/chat", json, `{"message":"a","m\u0065ssage":"b"}`, `Duplicate field "message"`},
		{"/agent/query", json, `{"question":"a","question":"b"}`, `Duplicate field "question"`},
		{"/v1/chat/completions", json, v1("a", `,"model":"footnote"`), `Duplicate field "model"`},
		{"/mcp", json, mcp(`"question":"a","question":"b"`), `Duplicate field "question"`},
		{"/search", json, `{"query":"a","filters":{"meta":{"x":1,"x":2}}}`, `Duplicate field "x"`},

		{"/chat", json, `{"MESSAGE":"a"}`, `Unknown field "MESSAGE"`},
		{"/agent/chat/structured", json, `{"message":"a","config":{"Max_Steps":1}}`, `Unknown field "Max_Steps"`},
		{"/agent/query", json, `{"Question":"a"}`, `Unknown field "Question"`},
		{"/v1/chat/completions", json, v1("a", `,"Temperature":1`), `Unknown field "Temperature"`},
		{"/v1/chat/completions", json, parts(`{"type":"text","Text":"a"}`), `Unknown field "Text"`},
		{"/v1/chat/completions", json, parts(`{"type":"text","text":"a"},{"TYPE":"text"}`), `Unknown field "TYPE"`},
		{"/v1/chat/completions", json, parts(`{"type":"text","text":"a","text":"b"}`), `Duplicate field "text"`},

		{"/ui/chat", json, sdk(`{"type":"text","text":"a\u0000"}`, ""), `"text" contains a NUL`},
		{"/ui/chat", json, sdk(`{"type":"text","text":"\u200b"}`, ""), "question is empty"},
		{"/ui/chat", json, sdk(`{"type":"text","text":"a"}`, `,"id":"b"`), `Duplicate field "id"`},
		{"/ui/chat", json, sdk(`{"type":"text","Text":"a"}`, ""), `Unknown field "Text"`},
		{"/ag-ui", json, agui(`a\u0000`, ""), `"content" contains a NUL`},
		{"/ag-ui", json, agui(`\u200b`, ""), "question is empty"},
		{"/ag-ui", json, agui("a", `,"runId":"b"`), `Duplicate field "runId"`},
		{"/ag-ui", json, agui("a", `,"forwardedProps":{"Toolset":"react"}`), `Unknown field "Toolset"`},
	} {
		got := s.send("POST", row.path, row.body, header{"Content-Type", row.kind})
		told := strings.ReplaceAll(got.body, `\"`, `"`)
		if row.path == "/mcp" && got.status == http.StatusOK && strings.Contains(told, `"isError":true`) {
			got.status = http.StatusBadRequest
		}
		if got.status != http.StatusBadRequest || !strings.Contains(told, row.part) {
			t.Errorf("POST %s %s: %d %s; want 400 and %s", row.path, row.body, got.status, got.body, row.part)
		}
	}
	for _, row := range []struct{ path, body string }{
		{"/search", `{"query":"a","filters":{"meta":{"Title":"x","title":"y","\\u0000":"\\u0000"}}}`},
		{"/v1/chat/completions", v1("What is 2*3?", `,"user":"somebody","metadata":{"Model":"x"}`)},
		{"/v1/chat/completions", parts(`{"type":"text","text":"What is 2*3?","cache_control":{"Type":"ephemeral"}}`)},
		{"/agent/query", `{"question":"What is 2*3?","config":{"max_steps":5.0}}`},
		{"/ui/chat", sdk(`{"type":"text","text":"What is 2*3?","state":"done","x":{"Type":1}}`, `,"extra":{"Id":1}`)},
		{"/ag-ui", agui("What is 2*3?", `,"tools":[{"name":"x","Name":1}],"state":{"A":1,"a":2},"resume":[]`)},
	} {
		path, body := row.path, row.body
		if got := s.send("POST", path, body); got.status != http.StatusOK {
			t.Errorf("POST %s %s: %d %s, want %d", path, body, got.status, got.body, http.StatusOK)
		}
	}
}
