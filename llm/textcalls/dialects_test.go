package textcalls

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"footnote/e2e/scripted"
	"footnote/llm"
)

// library are the tools of a run, as far as these tests need them.
var library = []llm.ToolSpec{
	{Name: "search_documents",
		Schema: json.RawMessage(
			`{"type":"object","required":["query"],"properties":{"query":{"type":"string"},` +
				`"max_results":{"type":"integer"}}}`,
		)},
	{Name: "read_document",
		Schema: json.RawMessage(
			`{"type":"object","required":["doc_id"],"properties":{"doc_id":{"type":"string"},` +
				`"page":{"type":"integer"}}}`,
		)},
	{Name: "read_multiple_documents",
		Schema: json.RawMessage(`{"type":"object","required":["doc_ids"],"properties":{"doc_ids":{"type":"array"}}}`)},
	{Name: "list_documents", Schema: json.RawMessage(`{"type":"object","properties":{"limit":{"type":"integer"}}}`)},
}

var askLibrary = llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "Holiday?"}}, Tools: library}

// dialects are the ways in which small models write one and the same call.
var dialects = []struct{ name, text string }{
	{"hermes", "<tool_call>\n{\"name\": \"search_documents\", \"arguments\": {\"query\": \"holiday\"}}\n</tool_call>"},
	{"hermes no close", "<tool_call>\n{\"name\": \"search_documents\", \"arguments\": {\"query\": \"holiday\"}}"},
	{"hermes double brace",
		"<tool_call>\n{{\"name\": \"search_documents\", \"arguments\": {\"query\": \"holiday\"}}}\n</tool_call>"},
	{"hermes missing brace",
		"<tool_call>\n{\"name\": \"search_documents\", \"arguments\": {\"query\": \"holiday\"}\n</tool_call>"},
	{
		"hermes with eos",
		"<tool_call>\n{\"name\": \"search_documents\", \"arguments\": {\"query\": " +
			"\"holiday\"}}\n</tool_call><|im_end|>",
	},
	{"llama python tag + eom",
		`<|python_tag|>{"name": "search_documents", "parameters": {"query": "holiday"}}<|eom_id|>`},
	{"llama python tag python", `<|python_tag|>search_documents.call(query="holiday")`},
	{"llama bare type function",
		`{"type": "function", "name": "search_documents", "parameters": {"query": "holiday"}}`},
	{"llama pythonic list", `[search_documents(query="holiday")]`},
	{"llama 4 pythonic tag", `<|python_start|>[search_documents(query='holiday', max_results=5)]<|python_end|>`},
	{"pythonic bare", `search_documents(query="holiday")`},
	{"pythonic positional", `search_documents("holiday")`},
	{"gemma tool_code", "```tool_code\nsearch_documents(query=\"holiday\")\n```"},
	{"gemma tool_code print", "```tool_code\nprint(search_documents(query=\"holiday\"))\n```"},
	{"gemma default_api", "```tool_code\nprint(default_api.search_documents(query=\"holiday\"))\n```"},
	{"gemma tool_call fence",
		"```tool_call\n{\"name\": \"search_documents\", \"arguments\": {\"query\": \"holiday\"}}\n```"},
	{"gemma python fence", "```python\nsearch_documents(query=\"holiday\")\n```"},
	{"functiongemma", "<start_function_call>call:search_documents{query:<escape>holiday<escape>}<end_function_call>"},
	{"mistral", `[TOOL_CALLS] [{"name": "search_documents", "arguments": {"query": "holiday"}}]</s>`},
	{"mistral args", `[TOOL_CALLS]search_documents[ARGS]{"query": "holiday"}`},
	{"mistral callid", `[TOOL_CALLS]search_documents[CALL_ID]abc123[ARGS]{"query": "holiday"}`},
	{"mistral lower tail", `[TOOL_CALLS][{"name":"search_documents","arguments":{"query":"holiday"}}] I will search.`},
	{
		"qwen coder",
		"<tool_call>\n<function=search_documents>\n<parameter=query>\nholiday\n</parameter>\n</function>\n</tool_call>",
	},
	{"qwen coder unclosed", "<function=search_documents>\n<parameter=query>\nholiday\n</parameter>\n</tool_call>"},
	{"qwen ✿", "✿FUNCTION✿: search_documents\n✿ARGS✿: {\"query\": \"holiday\"}\n✿RESULT✿"},
	{
		"deepseek v3",
		"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>search_documents\n```json\n" +
			"{\"query\":\"holiday\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>",
	},
	{
		"deepseek v3.1",
		"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>search_documents<｜tool▁sep｜>{\"query\":\"holiday\"}<｜tool▁call▁end｜>" +
			"<｜tool▁calls▁end｜>",
	},
	{
		"deepseek ascii",
		"<|tool▁calls▁begin|><|tool▁call▁begin|>function<|tool▁sep|>search_documents\n```json\n" +
			"{\"query\":\"holiday\"}\n```<|tool▁call▁end|><|tool▁calls▁end|>",
	},
	{"phi4 mini", `<|tool_call|>[{"name":"search_documents","arguments":{"query":"holiday"}}]<|/tool_call|>`},
	{"phi4 functools", `functools[{"name":"search_documents","arguments":{"query":"holiday"}}]`},
	{"granite", `<|tool_call|>[{"name":"search_documents","arguments":{"query":"holiday"}}]`},
	{"granite 3", `<tool_call>[{"name":"search_documents","arguments":{"query":"holiday"}}]`},
	{"granite 20b", `<function_call> {"name":"search_documents","arguments":{"query":"holiday"}}`},
	{
		"command-r",
		"Action: ```json\n[\n    {\n        \"tool_name\": \"search_documents\",\n        \"parameters\": " +
			"{\"query\": \"holiday\"}\n    }\n]```",
	},
	{
		"command-r7b",
		"<|START_THINKING|>I will search.<|END_THINKING|><|START_ACTION|>[\n    {\"tool_call_id\": \"0\", " +
			"\"tool_name\": \"search_documents\", \"parameters\": {\"query\": \"holiday\"}}\n]<|END_ACTION|>",
	},
	{
		"react",
		"Thought: I need to search.\nAction: search_documents\nAction Input: {\"query\": \"holiday\"}\nObservation:",
	},
	{"react plain input", "Thought: I need to search.\nAction: search_documents\nAction Input: holiday"},
	{"react quoted", "Action: search_documents\nAction Input: \"holiday\""},
	{"react call", "Thought: search.\nAction: search_documents(query=\"holiday\")"},
	{"react call2", "Thought: search.\nAction: search_documents[holiday]"},
	{"react hallucinated",
		"Thought: I need to search.\nAction: search_documents\nAction Input: {\"query\": \"holiday\"}\nObservation: " +
			"There are 99 days.\nThought: I know.\nFinal Answer: There are 99 days of holiday."},
	{
		"react json blob",
		"Thought: search\nAction:\n```\n{\"action\": \"search_documents\", \"action_input\": {\"query\": " +
			"\"holiday\"}}\n```",
	},
	{"react blob string input",
		"Thought: search\nAction:\n```\n{\"action\": \"search_documents\", \"action_input\": \"holiday\"}\n```"},
	{"react bold", "**Thought:** search\n**Action:** search_documents\n**Action Input:** {\"query\": \"holiday\"}"},
	{"xml use tool", "<search_documents>\n<query>holiday</query>\n</search_documents>"},
	{
		"anthropic xml",
		"<function_calls>\n<invoke name=\"search_documents\">\n<parameter " +
			"name=\"query\">holiday</parameter>\n</invoke>\n</function_calls>",
	},
	{"glm", "<tool_call>search_documents\n<arg_key>query</arg_key>\n<arg_value>holiday</arg_value>\n</tool_call>"},
	{
		"kimi",
		"<|tool_calls_section_begin|><|tool_call_begin|>functions.search_documents:0<|tool_call_argument_begin|>" +
			"{\"query\": \"holiday\"}<|tool_call_end|><|tool_calls_section_end|>",
	},
	{
		"internlm",
		"<|action_start|><|plugin|>{\"name\": \"search_documents\", \"parameters\": {\"query\": " +
			"\"holiday\"}}<|action_end|>",
	},
	{"smollm", "<tool_call>[{\"name\": \"search_documents\", \"arguments\": {\"query\": \"holiday\"}}]</tool_call>"},
	{"lfm2", "<|tool_call_start|>[search_documents(query=\"holiday\")]<|tool_call_end|>"},
	{"lmstudio default",
		"[TOOL_REQUEST]{\"name\": \"search_documents\", \"arguments\": {\"query\": \"holiday\"}}[END_TOOL_REQUEST]"},
	{"xlam tool_calls", `{"tool_calls": [{"name": "search_documents", "arguments": {"query": "holiday"}}]}`},
	{
		"seed oss",
		"<seed:tool_call>\n<function=search_documents>\n<parameter=query>holiday</parameter>\n</function>\n" +
			"</seed:tool_call>",
	},
	{"exaone/tools tag", "<tool>{\"name\": \"search_documents\", \"arguments\": {\"query\": \"holiday\"}}</tool>"},
	{"tool_use tag", "<tool_use>{\"name\": \"search_documents\", \"input\": {\"query\": \"holiday\"}}</tool_use>"},
	{"function_call obj", `{"function_call": {"name": "search_documents", "arguments": "{\"query\": \"holiday\"}"}}`},
	{"tool with flat args", `{"tool": "search_documents", "query": "holiday"}`},
	{"name as key", `{"search_documents": {"query": "holiday"}}`},
	{"args first", `{"arguments": {"query": "holiday"}, "name": "search_documents"}`},
	{
		"prose json",
		"I'll search the documents.\n\n{\"name\": \"search_documents\", \"arguments\": {\"query\": " +
			"\"holiday\"}}\n\nLet me know.",
	},
	{"fence upper JSON", "```JSON\n{\"name\": \"search_documents\", \"arguments\": {\"query\": \"holiday\"}}\n```"},
	{
		"fence xml",
		"```xml\n<tool_call>{\"name\": \"search_documents\", \"arguments\": {\"query\": \"holiday\"}}</tool_call>\n```",
	},
	{
		"comments",
		"{\n  // search\n  \"name\": \"search_documents\", /* the tool */\n  \"arguments\": {\"query\": \"holiday\"} " +
			"// done\n}",
	},
	{"unquoted", "{name: search_documents, arguments: {query: \"holiday\"}}"},
	{"double escaped", `{"name": "search_documents", "arguments": "{\\\"query\\\": \\\"holiday\\\"}"}`},
	{"string in string", `{"name": "search_documents", "arguments": "\"{\\\"query\\\":\\\"holiday\\\"}\""}`},
	{"wrong name functions.",
		`<tool_call>{"name": "functions.search_documents", "arguments": {"query": "holiday"}}</tool_call>`},
	{"wrong name search", `<tool_call>{"name": "search", "arguments": {"query": "holiday"}}</tool_call>`},
	{"wrong name case", `<tool_call>{"name": "Search_Documents", "arguments": {"query": "holiday"}}</tool_call>`},
	{"wrong name camel", `<tool_call>{"name": "searchDocuments", "arguments": {"query": "holiday"}}</tool_call>`},
}

// Each dialect is the same call, whole and a byte at a time, and nothing of it is shown but what stands before it.
func TestEveryDialectIsTheSameCall(t *testing.T) {
	t.Parallel()
	for _, tt := range dialects {
		for way, chunks := range map[string][]string{
			"whole": {tt.text}, "a byte at a time": strings.Split(tt.text, ""),
		} {
			m := New(scripted.New(scripted.Reply{Chunks: chunks}), Auto)
			m.verdict.inFavour()
			got := hear(t, m, askLibrary)
			if len(got.Calls) != 1 || !strings.HasPrefix(got.Calls[0], `search_documents{`) ||
				!strings.Contains(got.Calls[0], `"query":"holiday"`) || got.Finish != llm.FinishCalls || got.Err != "" {
				t.Errorf("%s, %s: %+v; want 1 call, %q at its beginning, %q in it, Finish %v, Err nothing",
					tt.name, way, got, `search_documents{`, `"query":"holiday"`, llm.FinishCalls)
			}
			if strings.ContainsAny(got.Text, "<>{}`✿") || strings.Contains(got.Text, "holiday") ||
				strings.Contains(got.Text, "99") {
				t.Errorf("%s, %s: shown %q; want no %q in it and no %q in it", tt.name, way, got.Text, "holiday", "99")
			}
		}
	}
}

// Text that only speaks of calls stays as it is, whole and a byte at a time.
func TestHonestTextIsNoCall(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Models write `<tool_call>` before a call [1].",
		"The <tool_call> tag is the one of Hermes [1].",
		"The manual says [1]:\n```json\n{\"name\": \"search_documents\", \"arguments\": {\"query\": " +
			"\"holiday\"}}\n```\nThat is all.",
		"The manual says [1]:\n```python\nsearch_documents(query=\"holiday\")\n```",
		"The manual says [1]:\n```xml\n<tool_call>{\"name\": \"search_documents\"}</tool_call>\n```\nDone.",
		"Write:\n```html\n<function=x>\n<think>\n```\nDone.",
		"Write:\n```python\nprint(1)\n```\nDone.",
		"Call `search_documents(query=\"x\")` to search [1].",
		"The tool search_documents(query) takes a query [1].",
		"search_documents(query) takes a query [1].",
		"Action: replace the flashing within twelve months [1].\nCost: £3,400 [1].",
		"**Action:** replace the flashing [1].",
		"search_documents is a tool [1].",
		"Values: {a, b} and {\"age\": 3} and [{\"x\": 1}] [1].",
		"See [Observation: none] [1].\nObservation: the roof is poor [1].",
		"a > b >> c, [TOOL_X] and ✿ flowers ✿ [1].",
	} {
		for way, chunks := range map[string][]string{"whole": {text}, "a byte at a time": strings.Split(text, "")} {
			m := New(scripted.New(scripted.Reply{Chunks: chunks}), Auto)
			m.verdict.inFavour()
			if diff := cmp.Diff(heard{Text: text, Finish: llm.FinishStop}, hear(t, m, askLibrary)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", way, diff)
			}
		}
	}
}

// Answers that come wrapped are taken out of what they are wrapped in.
func TestAWrappedAnswerIsTheAnswer(t *testing.T) {
	t.Parallel()
	const answer = "There are 28 days [1]."
	for name, text := range map[string]string{
		"an object":            `{"answer": "There are 28 days [1]."}`,
		"with its sources":     `{"answer": "There are 28 days [1].", "citations": [1]}`,
		"with footnotes apart": `{"response": "There are 28 days", "sources": [1]}`,
		"in a fence":           "```json\n{\"response\": \"There are 28 days [1].\"}\n```",
		"a call that there isn't": `<tool_call>{"name": "final_answer", ` +
			`"arguments": {"answer": "There are 28 days [1]."}}</tool_call>`,
		"finish":   `{"name": "finish", "arguments": {"answer": "There are 28 days [1]."}}`,
		"markdown": "```markdown\nThere are 28 days [1].\n```",
		"steps":    "Thought: I know.\nFinal Answer: There are 28 days [1].",
	} {
		m := New(scripted.New(scripted.Reply{Chunks: strings.Split(text, "")}), Auto)
		m.verdict.inFavour()
		got := hear(t, m, askLibrary)
		if said := strings.TrimSpace(got.Text); said != answer && said != "There are 28 days [1]" ||
			got.Finish != llm.FinishStop {
			t.Errorf("%s: %+v, want Finish %v", name, got, llm.FinishStop)
		}
	}
	for _, honest := range []string{`{"name": "mill", "answer": "x"}`, "It holds:\n{\"answer\": \"x\"}"} {
		m := New(scripted.New(scripted.Reply{Text: honest}), Auto)
		m.verdict.inFavour()
		if got := hear(t, m, askLibrary); got.Text != honest {
			t.Errorf("%s: %+v, want Text %v", honest, got, honest)
		}
	}
}
