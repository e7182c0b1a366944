package textcalls

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/e2e/scripted"
)

var tools = []llm.ToolSpec{
	{Name: "search_documents", Description: "Search.", Schema: json.RawMessage(`{"type":"object"}`)},
	{Name: "read_document", Description: "Read.", Schema: json.RawMessage(`{"type":"object"}`)},
}

// heard is the output for a consumer.
type heard struct {
	Text    string
	Calls   []string // name and arguments
	Finish  llm.Finish
	Notices int
	Err     llm.ErrorKind
}

func hear(t *testing.T, m llm.Model, req llm.Request) heard {
	t.Helper()
	var h heard
	for part, err := range m.Stream(t.Context(), req) {
		if err != nil {
			h.Err = llm.KindOf(err)
			continue
		}
		switch p := part.(type) {
		case llm.Text:
			h.Text += string(p)
		case llm.Call:
			call := p.Name + string(p.Arguments)
			if p.Malformed != "" {
				call = "malformed " + call
			}
			h.Calls = append(h.Calls, call)
		case llm.Notice:
			h.Notices++
		case llm.Done:
			h.Finish = p.Finish
		case llm.Reasoning:
		}
	}
	return h
}

var ask = llm.Request{
	Messages: []llm.Message{{Role: llm.RoleSystem, Text: "Be brief."}, {Role: llm.RoleUser, Text: "Roof?"}},
	Tools:    tools,
}

// Row 38: calls as text are parsed, in the dialects of many models, whole and a byte at a time.
func TestTextCallsAreParsed(t *testing.T) {
	t.Parallel()
	const roof = `search_documents{"query":"roof"}`
	one := func(text string, calls ...string) heard {
		return heard{Text: text, Calls: calls, Finish: llm.FinishCalls}
	}
	for _, tt := range []struct {
		name, text string
		want       heard
	}{
		{"qwen and hermes",
			"<tool_call>\n{\"name\": \"search_documents\", \"arguments\": {\"query\": \"roof\"}}\n</tool_call>",
			one("", roof)},
		{
			"two of them",
			`<tool_call>{"name":"search_documents",` +
				`"arguments":{"query":"roof"}}</tool_call><tool_call>{"name":"read_document",` +
				`"arguments":{"doc_id":"d"}}</tool_call>`, one("", roof, `read_document{"doc_id":"d"}`),
		},
		{"text before it",
			"Let me look.\n<tool_call>{\"name\":\"search_documents\",\"arguments\":{\"query\":\"roof\"}}</tool_call>",
			one("Let me look.\n", roof)},
		{
			"qwen coder",
			"<tool_call>\n<function=search_documents>\n<parameter=query>\nroof\n</parameter>\n</function>\n" +
				"</tool_call>", one("", roof),
		},
		{"llama with a function tag", `<function=search_documents>{"query": "roof"}</function>`, one("", roof)},
		{"llama 3 with a python tag", `<|python_tag|>{"name": "search_documents", "parameters": {"query": "roof"}}`,
			one("", roof)},
		{"llama 3 bare", `{"name": "search_documents", "parameters": {"query": "roof"}}`, one("", roof)},
		{"mistral", `[TOOL_CALLS][{"name": "search_documents", "arguments": {"query": "roof"}}]`, one("", roof)},
		{"new mistral", `[TOOL_CALLS]search_documents[ARGS]{"query": "roof"}`, one("", roof)},
		{
			"harmony",
			`<|channel|>commentary to=functions.search_documents <|constrain|>json<|message|>{"query":"roof"}<|call|>`,
			one("", roof),
		},
		{"functionary", ">>>search_documents\n{\"query\": \"roof\"}", one("", roof)},
		{
			"deepseek",
			"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>search_documents\n```json\n" +
				"{\"tool\":\"search_documents\",\"input\":{\"query\":\"roof\"}}\n```<｜tool▁call▁end｜>", one("", roof),
		},
		{"a fence", "```json\n{\"tool\": \"search_documents\", \"input\": {\"query\": \"roof\"}}\n```", one("", roof)},
		{"a list", `[{"name":"search_documents","arguments":{"query":"roof"}}]`, one("", roof)},
		{"openai's own form",
			`{"tool_calls":[{"id":"x","type":"function","function":{"name":"search_documents",` +
				`"arguments":"{\"query\":\"roof\"}"}}]}`, one("", roof)},
		{"single quotes", `{'tool': 'search_documents', 'input': {'query': 'roof'}}`, one("", roof)},
		{"trailing commas", `{"tool": "search_documents", "input": {"query": "roof",},}`, one("", roof)},
		{"python's constants", `{"tool": "search_documents", "input": {"query": "roof", "exact": True}}`,
			one("", `search_documents{"exact":true,"query":"roof"}`)},
		{"text behind it", "{\"tool\": \"search_documents\", \"input\": {\"query\": \"roof\"}}\nI wait for the result.",
			one("I wait for the result.", roof)},
		{"arguments that are no object", `<tool_call>{"name":"search_documents","arguments":[1]}</tool_call>`,
			one("", "malformed search_documents{}")},

		{"cut off", `<tool_call>{"name": "search_documents", "arguments": {"query": "ro`, heard{Err: llm.KindBadCall}},
		{"an unknown tool", `<tool_call>{"name": "delete", "arguments": {}}</tool_call>`, one("", `delete{}`)},
		{"an answer with braces", `The set {1, 2} has two [3], and f(x) < 3 [TOOL is no mark.`,
			heard{Text: `The set {1, 2} has two [3], and f(x) < 3 [TOOL is no mark.`, Finish: llm.FinishStop}},
		{"an answer with code", "Write:\n```go\nx := map[string]int{}\n```\nDone.",
			heard{Text: "Write:\n```go\nx := map[string]int{}\n```\nDone.", Finish: llm.FinishStop}},
		{"an answer with JSON", "The file holds:\n```json\n{\"name\": \"mill\", \"age\": 3}\n```\nDone.",
			heard{
				Text: "The file holds:\n```json\n{\"name\": \"mill\", \"age\": 3}\n```\nDone.", Finish: llm.FinishStop,
			}},
		{"a final channel", "<|channel|>final<|message|>The roof is poor.",
			heard{Text: "The roof is poor.", Finish: llm.FinishStop}},
	} {
		for way, chunks := range map[string][]string{
			"whole": {tt.text}, "a byte at a time": strings.Split(tt.text, ""),
		} {
			m := New(scripted.New(scripted.Reply{Chunks: chunks}), Auto)
			m.verdict.inFavour()
			if diff := cmp.Diff(tt.want, hear(t, m, ask)); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", tt.name, way, diff)
			}
		}
	}
}

// A request that a server refuses because of its tools is retried without, and further requests have none.
func TestToolsFallBackToPromptAfterRefusal(t *testing.T) {
	t.Parallel()
	inner := scripted.NewScript(func(r scripted.Request) scripted.Reply {
		switch {
		case len(r.Tools) > 0:
			return scripted.Reply{
				Err: &llm.Error{
					Kind: llm.KindInvalid, Status: 400, Message: "refused",
					Err: errText("registry.ollama.ai/library/gemma does not support tools"),
				},
			}
		case strings.Contains(r.Question(), "Result of search_documents"):
			return scripted.Reply{Text: "It is poor [1]."}
		}
		return scripted.Reply{Text: "```json\n{\"tool\": \"search_documents\", \"input\": {\"query\": \"roof\",}}\n```"}
	})
	m := New(inner, Auto)
	want := heard{Calls: []string{`search_documents{"query":"roof"}`}, Finish: llm.FinishCalls, Notices: 1}
	if diff := cmp.Diff(want, hear(t, m, ask)); diff != "" || m.Mode() != JSON {
		t.Fatal(diff)
	}
	next := ask
	next.Messages = append(next.Messages[:2:2],
		llm.Message{
			Role: llm.RoleAssistant, Calls: []llm.Call{
				{ID: "a", Name: "search_documents", Arguments: json.RawMessage(`{"query":"roof"}`)},
			},
		},
		llm.Message{Role: llm.RoleTool, CallID: "a", Text: "passage 1"})
	if diff := cmp.Diff(heard{Text: "It is poor [1].", Finish: llm.FinishStop}, hear(t, m, next)); diff != "" {
		t.Error(diff)
	}
	seen := inner.Requests()
	if len(seen) != 3 || !strings.Contains(seen[1].Messages[0].Text, "### search_documents") {
		t.Errorf("%d requests, the second with %q; want 3 and %q in it",
			len(seen), seen[1].Messages[0].Text, "### search_documents")
	}
	last := seen[2].Messages
	if last[2].Text != `{"tool":"search_documents","input":{"query":"roof"}}` || last[3].Role != llm.RoleUser ||
		last[3].Text != "Result of search_documents:\npassage 1" {
		t.Errorf("history %+v; want %q and %v",
			last, `{"tool":"search_documents","input":{"query":"roof"}}`, llm.RoleUser)
	}
}

// A model that answers without a call is probed once.
func TestModelIgnoringToolsIsProbedOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		can  bool
		want heard
		way  CallMode
	}{
		{"it can", true, heard{Text: "Hello.", Finish: llm.FinishStop}, Native},
		{"it can't", false, heard{Text: "Hello.", Finish: llm.FinishStop, Notices: 1}, JSON},
	} {
		inner := scripted.NewScript(func(r scripted.Request) scripted.Reply {
			if tt.can && strings.Contains(r.Question(), "Call the tool") {
				return scripted.Reply{Calls: []llm.Call{{Name: "search_documents"}}}
			}
			return scripted.Reply{Text: "Hello."}
		})
		m := New(inner, Auto)
		if diff := cmp.Diff(tt.want, hear(t, m, ask)); diff != "" || m.Mode() != tt.way {
			t.Errorf("%s: %s\n%s", tt.name, m.Mode(), diff)
		}
		hear(t, m, ask)
		if n := len(inner.Requests()); n != 3 {
			t.Errorf("%s: %d requests, want 3", tt.name, n)
		}
	}
}

func TestJSONMode(t *testing.T) {
	t.Parallel()
	forced := ask
	forced.NoTools = true
	for _, tt := range []struct {
		name, text string
		req        llm.Request
		want       heard
	}{
		{
			"two calls",
			"{\"tool\":\"search_documents\",\"input\":{\"query\":\"a\"}}\n{\"tool\":\"search_documents\"," +
				"\"input\":{\"query\":\"b\"}}", ask,
			heard{
				Calls:  []string{`search_documents{"query":"a"}`, `search_documents{"query":"b"}`},
				Finish: llm.FinishCalls,
			},
		},
		{"an answer in JSON", `{"answer": "It is poor [1]."}`, ask,
			heard{Text: "It is poor [1].", Finish: llm.FinishStop}},
		{"an answer in a fence", "```json\n{\"final\": \"It is poor.\"}\n```", ask,
			heard{Text: "It is poor.", Finish: llm.FinishStop}},
		{"a plain answer", "It is poor.", ask, heard{Text: "It is poor.", Finish: llm.FinishStop}},
		{"what can't be read", `{"tool": "search_documents", "input": {"query": "ro`, ask, heard{Err: llm.KindBadCall}},
		{"a call where an answer must be", `{"tool": "search_documents", "input": {}}`, forced,
			heard{Err: llm.KindEmpty}},
		{"a forced answer", "Poor.", forced, heard{Text: "Poor.", Finish: llm.FinishStop}},
	} {
		m := New(scripted.New(scripted.Reply{Chunks: strings.Split(tt.text, "")}), JSON)
		if diff := cmp.Diff(tt.want, hear(t, m, tt.req)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	for text, want := range map[string]heard{
		"": {Err: llm.KindEmpty}, "Poor.": {Text: "Poor.", Finish: llm.FinishStop},
	} {
		own := scripted.Reply{Text: text, Calls: []llm.Call{{Name: "search_documents"}}}
		if diff := cmp.Diff(want, hear(t, New(scripted.New(own), JSON), forced)); diff != "" {
			t.Errorf("a call of its own where an answer must be, after %q (-want +got):\n%s", text, diff)
		}
	}
	cut := New(
		scripted.New(scripted.Reply{Text: `{"tool": "search_documents", "input": {}}`, Finish: llm.FinishLength}), JSON,
	)
	if got := hear(t, cut, ask); got.Finish != llm.FinishLength || got.Calls[0] != "malformed search_documents{}" {
		t.Errorf("a cut reply: %+v; want Finish %v and Calls[0] %q",
			got, llm.FinishLength, "malformed search_documents{}")
	}
}

type errText string

func (e errText) Error() string { return string(e) }

// Fuzzing replies: no panic, no loss of plain text, calls only with objects, and the same result whole and in
// chunks.
func FuzzReplies(f *testing.F) {
	for _, seed := range []string{
		"", "plain", `{"tool":"search_documents","input":{"query":"x"}}`, `<tool_call>{"name":"search_documents"`,
		"```json\n{'tool':'search_documents','input':{,}}```",
		`[TOOL_CALLS]search_documents[ARGS]{"a":1}`, "<|channel|>final<|message|>x",
		`[{"name":"read_document","arguments":"{\"a\":[}"}]`, "{{{{[[[[", ">>>read_document\n{",
		"<function=read_document><parameter=a>1</parameter></function>",
	} {
		f.Add(seed)
	}
	for _, v := range variants {
		f.Add(v.text)
	}
	for _, r := range recordings(f) {
		f.Add(r.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !strings.HasPrefix(text, "\x00") && len(text) > 1<<16 {
			return
		}
		calls, _ := Calls(text, tools)
		for _, c := range calls {
			var object map[string]any
			if json.Unmarshal(c.Arguments, &object) != nil || object == nil {
				t.Fatalf("arguments %s", c.Arguments)
			}
		}
		whole, pieces := newCallBuffer(tools), newCallBuffer(tools)
		a := whole.takePiece(text)
		b := ""
		for i := range len(text) {
			b += pieces.takePiece(text[i : i+1])
		}
		if a+whole.heldRest() != text || b+pieces.heldRest() != text {
			t.Fatalf("lost: %q and %q of %q; want %q and %q", a+whole.heldRest(), b+pieces.heldRest(), text, text, text)
		}
	})
}

// Fuzzing truncated replies: no end and no call after a broken connection, no valid call after the token limit, and
// a call in a complete reply only with its closing mark.
func FuzzTruncatedReplies(f *testing.F) {
	for _, seed := range []string{
		"", "The roof leaks [1].", `{"tool":"search_documents","input":{"query":"x"}}`,
		`<tool_call>{"name":"search_documents","arguments":{}}</tool_call>`,
		"<tool_call>{\"name\":\"search_documents\"", "```json\n{'tool':'search_documents','input':{,}}```",
		`[TOOL_CALLS]search_documents[ARGS]{"a":1}`,
		"<|channel|>final<|message|>x", "<function=read_document><parameter=a>1</parameter></function>",
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, text string, json bool) {
		if len(text) > 1<<14 {
			return
		}
		way := Auto
		if json {
			way = JSON
		}
		reply := func(r scripted.Reply) *Model {
			r.Chunks = []string{text}
			return New(scripted.NewScript(func(scripted.Request) scripted.Reply { return r }), way)
		}
		broken := hear(t, reply(scripted.Reply{Err: &llm.Error{Kind: llm.KindIncomplete, Message: "cut"}}), ask)
		if broken.Err != llm.KindIncomplete || broken.Finish != "" || len(broken.Calls) > 0 {
			t.Fatalf("broken after %q: %+v; want Err %v, Finish nothing, no calls", text, broken, llm.KindIncomplete)
		}
		for _, call := range hear(t, reply(scripted.Reply{Finish: llm.FinishLength}), ask).Calls {
			if !strings.HasPrefix(call, "malformed ") {
				t.Fatalf("cut after %q: %s may run, want %q at its beginning", text, call, "malformed ")
			}
		}
		whole := hear(t, reply(scripted.Reply{}), ask)
		if (whole.Err == "") != (whole.Finish != "") {
			t.Fatalf("%q: %+v", text, whole)
		}
		if len(whole.Calls) > 0 && !strings.ContainsAny(text, "}>") {
			t.Fatalf("truncated reply %q has the calls %q, want none", text, whole.Calls)
		}
	})
}

// odd is a model with scripted answers to probes: it calls tools, does not, or its server fails. It counts its
// requests.
type odd struct {
	can            bool
	err            error
	probes, native int
	described      int
}

func (o *odd) reply(r scripted.Request) scripted.Reply {
	switch {
	case strings.Contains(r.Question(), "Call the tool"):
		o.probes++
		if o.err != nil {
			return scripted.Reply{Err: o.err}
		}
		if o.can {
			return scripted.Reply{Calls: []llm.Call{{Name: "search_documents"}}}
		}
	case len(r.Tools) > 0:
		o.native++
	default:
		o.described++
	}
	return scripted.Reply{Text: "Hello."}
}

func TestNegativeProbeIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &odd{}
		m := New(scripted.NewScript(o.reply), Auto)
		look := func(after time.Duration, probes int, way CallMode) {
			t.Helper()
			time.Sleep(after)
			hear(t, m, ask)
			if o.probes != probes || m.Mode() != way {
				t.Errorf("%d probes and the way %s, want %d and %s", o.probes, m.Mode(), probes, way)
			}
		}
		look(0, 1, JSON)
		look(firstBelief-time.Second, 1, JSON)
		look(time.Second, 2, JSON) // no call again: the backoff doubles
		look(2*firstBelief-time.Second, 2, JSON)
		o.err = &llm.Error{Kind: llm.KindServer, Status: 503, Message: "busy"}
		look(time.Second, 3, JSON) // inconclusive
		o.err, o.can = nil, true
		look(2*firstBelief, 4, Native)
		look(24*time.Hour, 4, Native) // no further calls for a good model
	})
}

func TestFailedProbeIsInconclusive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &odd{err: &llm.Error{Kind: llm.KindServer, Status: 503, Message: "busy"}}
		m := New(scripted.NewScript(o.reply), Auto)
		hear(t, m, ask)
		o.err = nil
		if hear(t, m, ask); o.probes != 2 || m.Mode() != JSON {
			t.Errorf("%d probes and the way %s, want a second one that finds json", o.probes, m.Mode())
		}
	})
}

func TestRunContinuesInJSONMode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &odd{}
		m := New(scripted.NewScript(o.reply), Auto)
		hear(t, m, ask)
		o.can = true
		time.Sleep(firstBelief)
		later := ask
		later.Messages = append(later.Messages[:2:2],
			llm.Message{
				Role: llm.RoleAssistant, Calls: []llm.Call{
					{ID: agreed + "1", Name: "search_documents", Arguments: json.RawMessage(`{"query":"roof"}`)},
				},
			},
			llm.Message{Role: llm.RoleTool, CallID: agreed + "1", Text: "passage 1"})
		if hear(t, m, later); o.probes != 1 || o.described != 1 {
			t.Errorf("in the middle of a run: %d probes, %d requests by JSON, want 1 and 1", o.probes, o.described)
		}
		if hear(t, m, ask); o.probes != 2 || m.Mode() != Native {
			t.Errorf("at the next run: %d probes and the way %s, want 2 and native", o.probes, m.Mode())
		}
		if hear(t, m, later); o.described != 2 {
			t.Errorf("the earlier run after that: %d requests by JSON, want 2", o.described)
		}
	})
}

// One refusal does not change the way of a model that has called tools; its run continues as JSON.
func TestSingleRefusalKeepsNativeCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refusals := 0
		m := New(scripted.NewScript(func(r scripted.Request) scripted.Reply {
			if len(r.Tools) > 0 && refusals > 0 {
				refusals--
				return scripted.Reply{
					Err: &llm.Error{
						Kind: llm.KindInvalid, Status: 400, Message: "refused",
						Err: errText("this model does not support tools"),
					},
				}
			}
			if len(r.Tools) == 0 {
				return scripted.Reply{Text: `{"tool":"search_documents","input":{"query":"roof"}}`}
			}
			return scripted.Reply{
				Calls: []llm.Call{{Name: "search_documents", Arguments: json.RawMessage(`{"query":"roof"}`)}},
			}
		}), Auto)
		hear(t, m, ask)
		refusals = 1
		if got := hear(t, m, ask); len(got.Calls) != 1 || m.Mode() != Native {
			t.Errorf("after one refusal: %+v, the way %s, want a call and native", got, m.Mode())
		}
		if hear(t, m, ask); !m.verdict.isProven() {
			t.Error("second tool call: verdict is unproven, want proven")
		}
		refusals = 2
		hear(t, m, ask)
		if hear(t, m, ask); m.Mode() != JSON {
			t.Errorf("after two refusals in a row the way is %s, want json", m.Mode())
		}
	})
}

// TestDroppedTextIsYielded checks that filters yield all text that is neither answer nor call, as thought or
// Dropped.
func TestDroppedTextIsYielded(t *testing.T) {
	t.Parallel()
	type parts struct{ Said, Thought, Dropped string }
	const call = `<tool_call>{"name": "search_documents", "arguments": {"query": "roof"}}</tool_call>`
	native := llm.Call{ID: "1", Name: "search_documents", Arguments: json.RawMessage(`{"query":"roof"}`)}
	forced := llm.Request{Messages: ask.Messages, Tools: tools, NoTools: true}
	for _, tt := range []struct {
		name, text string
		way        CallMode
		req        llm.Request
		calls      []llm.Call
		want       parts
	}{
		{"a turn of the user", "It is poor.<|im_end|>\n<|im_start|>user\nAnd the damp?<|im_end|>\nNone.", Auto, ask,
			nil,
			parts{"It is poor.", "", "<|im_end|>\n<|im_start|>user\nAnd the damp?<|im_end|>\nNone."}},
		{"a written call where none can be made", "It is poor.\n" + call, Auto, forced, nil,
			parts{"It is poor.\n", "", "search_documents {\"query\":\"roof\"}\n"}},
		{"a written call alone where none can be made", call, Auto, forced, nil,
			parts{"", "", "search_documents {\"query\":\"roof\"}\n"}},
		{"a call where none can be made", "It is poor.", Auto, forced, []llm.Call{native},
			parts{"It is poor.", "", "search_documents {\"query\":\"roof\"}\n"}},
		{"more calls than a turn may make", "[" + strings.Repeat(`{"name":"read_document","arguments":{}},`, 21) + "]",
			Auto, ask, nil, parts{"", "", "read_document {}\n"}},
		{"fields beside an answer", `{"answer": "It is poor.", "thought": "I know.", "sources": ["Survey"]}`, JSON, ask,
			nil, parts{"It is poor.", "", `{"sources":["Survey"],"thought":"I know."}`}},
		{"numbers beside an answer", `{"answer": "It is poor.", "sources": [1]}`, JSON, ask, nil,
			parts{"It is poor. [1]", "", ""}},
		{"text behind an answer", "```json\n{\"answer\": \"It is poor.\"}\n```\nThe damp is worse.", JSON, ask, nil,
			parts{"It is poor.\n\nThe damp is worse.", "", ""}},
		{"text before an answer", `<tool_call>I know. {"name": "finish", "arguments": {"answer": "It is poor."}}`, Auto,
			ask, nil, parts{"It is poor.", "I know.", ""}},
		{"the analysis of harmony",
			"<|channel|>analysis<|message|>I know.<|end|><|start|>assistant<|channel|>final<|message|>It is poor.",
			Auto, ask, nil, parts{"It is poor.", "I know.", ""}},
		{"a call that can't be read", `<tool_call>{"name": "search_documents", "arguments": {"query": "ro`, Auto, ask,
			nil, parts{"", "", `<tool_call>{"name": "search_documents", "arguments": {"query": "ro`}},
		{"a call that can't be read behind one", `<tool_call>{"name": "search_docu`, Auto, ask, []llm.Call{native},
			parts{"", "", `<tool_call>{"name": "search_docu`}},
	} {
		for way, chunks := range map[string][]string{
			"whole": {tt.text}, "a byte at a time": strings.Split(tt.text, ""),
		} {
			m := New(scripted.New(scripted.Reply{Chunks: chunks, Calls: tt.calls}), tt.way)
			var got parts
			for part := range m.Stream(t.Context(), tt.req) {
				switch p := part.(type) {
				case llm.Text:
					got.Said += string(p)
				case llm.Reasoning:
					got.Thought += string(p)
				case llm.Dropped:
					got.Dropped += p.Text
					if p.Message == "" {
						t.Errorf("%s, %s: dropped %q, want a message with it", tt.name, way, p.Text)
					}
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", tt.name, way, diff)
			}
		}
	}
}

// constantModel is a model with a constant reply.
type constantModel struct {
	llm.Model
	parts []llm.Part
}

func (m constantModel) Stream(context.Context, llm.Request) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		for _, p := range m.parts {
			if !yield(p, nil) {
				return
			}
		}
	}
}

// BenchmarkStream measures an answer of 300 chunks, every 20th with the bracket of a footnote: the cost of searching
// for thoughts and calls.
func BenchmarkStream(b *testing.B) {
	words := []string{
		"The", " roof", " covering", " is", " in", " poor", " condition", " [", "1", "]", ".", " Sev", "eral",
		" slates", " are", " missing", " on", " the", " north", " slope",
	}
	var parts []llm.Part
	for i := range 300 {
		parts = append(parts, llm.Text(words[i%len(words)]))
	}
	var tools []llm.ToolSpec
	for _, name := range []string{
		"search_documents", "read_document", "list_documents", "calculate", "get_document_summary",
	} {
		tools = append(tools, llm.ToolSpec{Name: name, Schema: json.RawMessage(`{"type":"object"}`)})
	}
	for _, way := range []CallMode{Native, Auto} {
		b.Run(string(way), func(b *testing.B) {
			m := New(constantModel{parts: append(parts, llm.Done{Finish: llm.FinishStop})}, way)
			m.verdict.inFavour()
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range m.Stream(b.Context(), llm.Request{Tools: tools}) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
