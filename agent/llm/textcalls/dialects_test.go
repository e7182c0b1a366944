package textcalls

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/e2e/scripted"
)

// library are the tools of the tests' requests.
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

// recording is a reply of testdata/dialects, with its expected calls.
type recording struct {
	name, text string
	calls      []string // name and arguments
}

// recordings loads testdata/dialects. A reply ends before the file's last line feed.
func recordings(t testing.TB) (out []recording) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "dialects", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name, isReply := strings.CutSuffix(filepath.Base(file), ".txt")
		if !isReply {
			if name, isCalls := strings.CutSuffix(file, ".json"); !isCalls || !slices.Contains(files, name+".txt") {
				t.Errorf("%s is neither a reply nor its calls", file)
			}
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		body, err := os.ReadFile(strings.TrimSuffix(file, ".txt") + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var calls []struct {
			Name      string
			Arguments json.RawMessage
		}
		if err := json.Unmarshal(body, &calls); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		r := recording{name: name, text: strings.TrimSuffix(string(text), "\n")}
		for _, c := range calls {
			r.calls = append(r.calls, c.Name+string(c.Arguments))
		}
		out = append(out, r)
	}
	return out
}

// Each row of the table has its reply in testdata/dialects and each reply its row, whose begins it contains.
func TestEveryDialectHasRecordedReply(t *testing.T) {
	t.Parallel()
	recorded := recordings(t)
	for _, d := range dialects {
		at := slices.IndexFunc(recorded, func(r recording) bool { return r.name == d.name })
		if at < 0 {
			t.Errorf("%s: testdata/dialects lacks a reply", d.name)
			continue
		}
		text := recorded[at].text
		if !d.beginsIn(text, knownOf(library).names) {
			t.Errorf("%s: %q has neither %q nor %q", d.name, text, d.begins, d.lines)
		}
		if d.marks != "" && !regexp.MustCompile(d.marks).MatchString(text) {
			t.Errorf("%s: %q lacks the marks %s", d.name, text, d.marks)
		}
		if d.named != nil && !d.named().MatchString(text) {
			t.Errorf("%s: %q has no name before its arguments, want one that %s finds", d.name, text, d.named())
		}
		recorded = slices.Delete(recorded, at, at+1)
	}
	for _, r := range recorded {
		t.Errorf("%s: reply without a row in the table", r.name)
	}
}

// Each recorded reply is parsed to its calls, whole and a byte at a time, and nothing of the calls is shown.
func TestRecordedRepliesParseToCalls(t *testing.T) {
	t.Parallel()
	for _, r := range recordings(t) {
		for way, chunks := range map[string][]string{
			"whole": {r.text}, "a byte at a time": strings.Split(r.text, ""),
		} {
			m := New(scripted.New(scripted.Reply{Chunks: chunks}), Auto)
			m.verdict.inFavour()
			got := hear(t, m, askLibrary)
			if diff := cmp.Diff(r.calls, got.Calls); diff != "" || got.Finish != llm.FinishCalls || got.Err != "" {
				t.Errorf("%s, %s: %+v; want Finish %v, Err nothing, and these calls (-want +got):\n%s",
					r.name, way, got, llm.FinishCalls, diff)
			}
			if strings.ContainsAny(got.Text, "<>{}`✿") || strings.Contains(got.Text, "search_documents") {
				t.Errorf("%s, %s: shown %q, want nothing of the call", r.name, way, got.Text)
			}
		}
	}
}

// variants are deviations from the forms of the table: a missing bracket, a comment, another name. All of them are
// the same call.
var variants = []struct{ name, text string }{
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
	{"pythonic positional", `search_documents("holiday")`},
	{"gemma tool_code", "```tool_code\nsearch_documents(query=\"holiday\")\n```"},
	{"gemma tool_call fence",
		"```tool_call\n{\"name\": \"search_documents\", \"arguments\": {\"query\": \"holiday\"}}\n```"},
	{"gemma python fence", "```python\nsearch_documents(query=\"holiday\")\n```"},
	{"mistral callid", `[TOOL_CALLS]search_documents[CALL_ID]abc123[ARGS]{"query": "holiday"}`},
	{"mistral lower tail", `[TOOL_CALLS][{"name":"search_documents","arguments":{"query":"holiday"}}] I will search.`},
	{"qwen coder unclosed", "<function=search_documents>\n<parameter=query>\nholiday\n</parameter>\n</tool_call>"},
	{
		"deepseek ascii",
		"<|tool▁calls▁begin|><|tool▁call▁begin|>function<|tool▁sep|>search_documents\n```json\n" +
			"{\"query\":\"holiday\"}\n```<|tool▁call▁end|><|tool▁calls▁end|>",
	},
	{"granite", `<|tool_call|>[{"name":"search_documents","arguments":{"query":"holiday"}}]`},
	{"granite 3", `<tool_call>[{"name":"search_documents","arguments":{"query":"holiday"}}]`},
	{"react plain input", "Thought: I need to search.\nAction: search_documents\nAction Input: holiday"},
	{"react quoted", "Action: search_documents\nAction Input: \"holiday\""},
	{"react call", "Thought: search.\nAction: search_documents(query=\"holiday\")"},
	{"react hallucinated",
		"Thought: I need to search.\nAction: search_documents\nAction Input: {\"query\": \"holiday\"}\nObservation: " +
			"There are 99 days.\nThought: I know.\nFinal Answer: There are 99 days of holiday."},
	{"react blob string input",
		"Thought: search\nAction:\n```\n{\"action\": \"search_documents\", \"action_input\": \"holiday\"}\n```"},
	{"react bold", "**Thought:** search\n**Action:** search_documents\n**Action Input:** {\"query\": \"holiday\"}"},
	{"smollm", "<tool_call>[{\"name\": \"search_documents\", \"arguments\": {\"query\": \"holiday\"}}]</tool_call>"},
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

// Each variant is parsed to the same call, whole and a byte at a time, and only the text before it is shown.
func TestDialectsParseToSameCall(t *testing.T) {
	t.Parallel()
	for _, tt := range variants {
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

// Text that only mentions calls is unchanged, whole and a byte at a time.
func TestTextMentioningCallsIsUnchanged(t *testing.T) {
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

// A wrapped answer is unwrapped.
func TestWrappedAnswerIsUnwrapped(t *testing.T) {
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
