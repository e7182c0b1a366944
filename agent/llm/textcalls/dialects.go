package textcalls

import (
	"regexp"
	"slices"
	"strings"

	"github.com/footnote/footnote/text/lazy"
)

// dialect is one syntax in which models write tool calls. testdata/dialects has a reply in each: name.txt, and in
// name.json its calls. A new dialect is a row here and those two files.
type dialect struct {
	name string
	// begins are the texts that start a call, anywhere in a line. Text after one is held until it is known whether
	// it is a call.
	begins []string
	// lines are call begins only at the start of a line, since plain text has them too. TOOL is a placeholder for
	// the name of each tool of the request.
	lines []string
	// marks is a regular expression for the syntax before, between and after calls, which no answer has. A text with
	// a match was meant as a call, even if it can't be parsed; marks are removed from the text beside a call.
	marks string
	body  body
	// named matches the name in front of the object or value with the arguments: the first group. If the expression
	// needs a bracket of the arguments, that is the second.
	named func() *regexp.Regexp
}

// body is the encoding of a call's arguments, which selects the function of bodies that parses it.
type body int

const (
	object      body = iota // {"name": …, "arguments": {…}}, its variants in callOf, or a list of these
	afterName               // {…} or one value after the name, which named matches
	inBrackets              // one value: name[value]
	inFunction              // <parameter=key>value</parameter>, or {…}, in a tag with the name
	inKeyValues             // <arg_key>key</arg_key><arg_value>value</arg_value>
	inToolTag               // <key>value</key>, in a tag named after the tool
	inCode                  // name(key="value")
)

// token is the expression of a special token of a chat template, of any model. Harmony's are followed by a channel
// or a role.
const token = `<[|｜][^|｜<>\n]{1,40}[|｜]>(?:\s*(?:analysis|commentary|final|assistant|json)\b)?`

// tag returns the expression of an opening or closing tag with any attributes. Their limit of 80 bytes is more than
// any template has, and keeps a "<" in prose from matching up to the next ">".
func tag(name string) string { return `</?` + name + `\b[^<>\n]{0,80}>` }

// name is the expression of a tool's name, the first group of named.
const name = `([\w.-]+)`

// dialects is the table. The expressions of named are tried from the first row to the last. If two marks match at
// the same offset, the earlier row wins: DeepSeek's include a name, so they precede all other tokens.
//
// Servers that parse calls themselves (llama.cpp and Ollama by the template, vLLM by a configured parser) never
// return these forms. They occur if the server has the wrong parser or none, or if its parser fails on a slightly
// different form. They also occur if a model follows its training instead of its template. So the table has the
// forms that models write on users' machines. Forms that only a provider's own server sees, such as OpenAI's
// multi_tool_use.parallel with its "recipient_name", are not in it.
var dialects = []dialect{
	// The name precedes the arguments.
	{name: "deepseek-v3", begins: []string{"<｜tool", "<|tool"}, body: afterName,
		marks: `(?:function)?<[|｜]tool▁sep[|｜]>[\w.-]+|` + token,
		named: lazy.Regexp(`function<[|｜]tool▁sep[|｜]>\s*` + name + `\s*`)},
	{name: "deepseek-v3.1", begins: []string{"<｜tool", "<|tool"}, body: afterName, marks: token,
		named: lazy.Regexp(`<[|｜]tool▁call▁begin[|｜]>\s*` + name + `\s*<[|｜]tool▁sep[|｜]>\s*`)},
	{name: "qwen-agent", begins: []string{"✿FUNCTION✿"}, body: afterName,
		marks: `✿(?:FUNCTION|ARGS|RESULT|RETURN)✿:?`,
		named: lazy.Regexp(`✿FUNCTION✿:?\s*` + name + `\s*✿ARGS✿:?\s*`)},
	{name: "kimi-k2", begins: []string{"<|tool"}, body: afterName, marks: token, // functions.name:index
		named: lazy.Regexp(`<\|tool_call_begin\|>\s*(?:functions\.)?([\w.-]+?)(?::\d+)?\s*` +
			`<\|tool_call_argument_begin\|>\s*`)},
	{name: "functiongemma", begins: []string{"<start_function_call>"}, body: afterName,
		marks: tag("(?:start|end)_function_call"),
		named: lazy.Regexp(`<start_function_call>\s*call:` + name + `\s*`)},
	// ReAct, in the words of LangChain's prompts, which many models were trained with; its paper has name[value].
	{name: "react", lines: actionHeads, body: afterName,
		named: lazy.Regexp(`(?m)^\s*\**Action\**:\**\s*` + "`?" + name + "`?" +
			`\s*\n\s*\**Action Input\**:\**\s*`)},
	{name: "react-brackets", lines: actionHeads, body: inBrackets},
	{name: "react-object", lines: actionHeads, body: object},
	{name: "command-r", lines: actionHeads, body: object},

	// The name precedes the arguments again, but after a mark that is not specific to calls, so these expressions
	// need the brace of the arguments.
	{name: "harmony", begins: []string{"<|channel|>", "<|start|>", "<|message|>"}, body: afterName,
		marks: token + `|to=functions\.[\w.-]+`,
		named: lazy.Regexp(`to=(?:functions\.)?` + name + `[^{\n]{0,80}<\|message\|>\s*(\{)`)},
	{name: "mistral", begins: []string{"[TOOL_CALLS]"}, body: afterName,
		marks: `\[/?TOOL_CALLS\](?:\s*[\w.-]+\[ARGS\])?`,
		named: lazy.Regexp(`\[TOOL_CALLS\]\s*` + name + `(?:\[CALL_ID\]\w+)?(?:\[ARGS\])?\s*(\{)`)},
	{name: "mistral-list", begins: []string{"[TOOL_CALLS]"}, marks: `\[/?TOOL_CALLS\]`, body: object},
	{name: "functionary", begins: []string{">>>"}, marks: `>>>\s*[\w.-]+\s*\n`, body: afterName},

	// Objects between marks. Qwen 2.5 and SmolLM share those of Hermes, Granite 3 those of Phi-4-mini. Qwen2.5-Coder
	// writes <tools> instead of its template's <tool_call> (vllm-project/vllm#32926).
	{name: "hermes", begins: []string{"<tool_call"}, marks: tag("tool_calls?"), body: object},
	{name: "granite-20b", begins: []string{"<function"}, marks: tag("function_calls?"), body: object},
	{name: "exaone", begins: []string{"<tool>"}, marks: tag("tool"), body: object},
	{name: "qwen-2.5-coder", begins: []string{"<tools>"}, marks: tag("tools?"), body: object},
	{name: "tool-use", begins: []string{"<tool_use>"}, marks: tag("tool_use"), body: object},
	{name: "lm-studio", begins: []string{"[TOOL_REQUEST]"}, body: object,
		marks: `\[/?TOOL_REQUEST\]|\[END_TOOL_REQUEST\]`},
	{name: "llama-3.1", begins: []string{"<|python_tag|>"}, marks: token, body: object},
	{name: "phi-4-mini", begins: []string{"<|tool"}, marks: token, body: object},
	{name: "command-r7b", begins: []string{"<|START_ACTION|>"}, marks: token, body: object},
	{name: "internlm", begins: []string{"<|action_start|>"}, marks: token, body: object},

	// Objects without marks. The first is prompt.md's form, the second that of OpenAI's API. The rest are forms of
	// the table whose marks a server removed, or the model omitted (ollama/ollama#12174).
	{name: "asked", begins: []string{"{"}, body: object},
	{name: "openai", begins: []string{"{"}, body: object},         // the form of its API
	{name: "llama-bare", begins: []string{"{"}, body: object},     // Llama 3 if its template has no tag
	{name: "list", begins: []string{"[{"}, body: object},          // without the mark of its template
	{name: "phi-functools", begins: []string{"[{"}, body: object}, // functools[…]

	// Arguments in tags. Llama 3.1 puts an object into the tag if it follows Meta's own prompt for custom tools.
	{name: "qwen-coder", begins: []string{"<function"}, marks: tag("function"), body: inFunction},
	{name: "llama-function", begins: []string{"<function"}, marks: tag("function"), body: inFunction},
	{name: "seed-oss", begins: []string{"<seed:tool_call>"}, marks: tag("seed:tool_calls?"), body: inFunction},
	{name: "anthropic", begins: []string{"<invoke"}, marks: tag("invoke"), body: inFunction},
	{name: "glm", begins: []string{"<tool_call"}, marks: tag("tool_calls?"), body: inKeyValues},
	{name: "tool-tag", lines: []string{"<TOOL>"}, body: inToolTag},

	// Code, the syntax that Llama 4, LFM2 and Gemma were trained with, in a list, in print() or alone.
	{name: "code", lines: []string{"TOOL("}, body: inCode},
	{name: "llama-list", lines: []string{"[TOOL("}, body: inCode},
	{name: "llama-4", begins: []string{"<|python_start|>"}, marks: token, body: inCode},
	{name: "llama-code", begins: []string{"<|python_tag|>"}, marks: token, body: inCode},
	{name: "lfm2", begins: []string{"<|tool"}, marks: token, body: inCode},
	{name: "gemma", lines: []string{"TOOL(", "print(TOOL("}, body: inCode},
	{name: "gemini", lines: []string{"default_api.TOOL(", "print(default_api.TOOL("}, body: inCode},
}

// actionHeads start the step in which a ReAct prompt has models call a tool.
var actionHeads = []string{"Action:", "**Action:**", "**Action**:"}

// languages are those of the code blocks that models of any dialect use for calls.
var languages = []string{"tool_code", "tool_call", "tool", "json", "python", "xml", "text", ""}

var (
	callBegins = eachOnce(func(d dialect) []string { return d.begins })
	lineBegins = eachOnce(func(d dialect) []string { return d.lines })

	// callMarks is compiled once for all rows, so that a text is searched in one pass.
	callMarks = lazy.Regexp(strings.Join(eachOnce(func(d dialect) []string { return []string{d.marks} }), "|"))
)

// eachOnce collects texts of all dialects in the order of the table, deduplicated.
func eachOnce(of func(dialect) []string) (out []string) {
	for _, d := range dialects {
		for _, text := range of(d) {
			if text != "" && !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	return out
}

// beginsIn reports whether a text contains a call begin of the dialect.
func (d dialect) beginsIn(text string, tools []string) bool {
	return slices.ContainsFunc(d.begins, func(begin string) bool { return strings.Contains(text, begin) }) ||
		slices.ContainsFunc(d.lines, func(line string) bool {
			if before, after, ok := strings.Cut(line, "TOOL"); ok {
				return slices.ContainsFunc(tools, func(tool string) bool {
					return strings.Contains(text, before+tool+after)
				})
			}
			return strings.Contains(text, line)
		})
}

// isMarked reports whether a text contains a mark that no answer has: it was meant as a call, parseable or not.
func isMarked(text string) bool { return callMarks().MatchString(text) }
