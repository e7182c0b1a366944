package textcalls

import (
	"regexp"
	"slices"
	"strings"
)

// dialect is one way in which models write tool calls. testdata/dialects has a reply in each: name.txt, and in
// name.json the calls that it makes. A new dialect is a row here and those two files.
type dialect struct {
	name string
	// begins are the texts with which a call may begin, wherever they stand in a line. Nothing after one is shown until
	// it is known whether it is a call.
	begins []string
	// lines are those that count only at the start of a line, since plain text has them too. TOOL stands for the name
	// of each tool of the request.
	lines []string
	// marks is a regular expression for what stands before, between and behind its calls, and in no answer. A text that
	// has one was meant as a call, even if it can't be read; what is shown beside a call is without them.
	marks string
	body  body
	// named finds the name where it stands in front of the object or value with the arguments: the first group. A
	// bracket of the arguments that the expression needs is the second.
	named *regexp.Regexp
}

// body is how the arguments of a call are written, and so which function of bodies reads them.
type body int

const (
	object      body = iota // {"name": …, "arguments": {…}}, its relatives in callOf, or a list of such
	afterName               // {…} or one value behind the name, which named finds
	inBrackets              // one value: name[value]
	inFunction              // <parameter=key>value</parameter>, or {…}, in a tag with the name
	inKeyValues             // <arg_key>key</arg_key><arg_value>value</arg_value>
	inToolTag               // <key>value</key>, in a tag that is the name
	inCode                  // name(key="value")
)

// token is a special token of a chat template, of whatever model. Harmony's are followed by a channel or a role.
const token = `<[|｜][^|｜<>\n]{1,40}[|｜]>(?:\s*(?:analysis|commentary|final|assistant|json)\b)?`

// tag is the expression of a tag, opening or closing, with whatever attributes a model gives it: 80 bytes are more
// than any template has, and keep a "<" in prose from reaching to the next ">".
func tag(name string) string { return `</?` + name + `\b[^<>\n]{0,80}>` }

// name is the expression of a tool's name, as the first group of named.
const name = `([\w.-]+)`

// dialects is the table. Expressions in named are tried from the first row to the last, and where two marks may begin
// at the same place the earlier row has it: DeepSeek's take a name with them, so they stand before all other tokens.
//
// Where servers read calls themselves (llama.cpp and Ollama by the template, vLLM by a parser that its owner names),
// these forms never come here. They come where the server has the wrong parser or none, where its parser gives up on a
// form a little off, and where a model follows the examples of its training and not its template. So the table has what
// models write on machines of users; forms that only a provider's own server sees, such as OpenAI's
// multi_tool_use.parallel with its "recipient_name", are not in it.
var dialects = []dialect{
	// The name stands in front of the arguments.
	{name: "deepseek-v3", begins: []string{"<｜tool", "<|tool"}, body: afterName,
		marks: `(?:function)?<[|｜]tool▁sep[|｜]>[\w.-]+|` + token,
		named: regexp.MustCompile(`function<[|｜]tool▁sep[|｜]>\s*` + name + `\s*`)},
	{name: "deepseek-v3.1", begins: []string{"<｜tool", "<|tool"}, body: afterName, marks: token,
		named: regexp.MustCompile(`<[|｜]tool▁call▁begin[|｜]>\s*` + name + `\s*<[|｜]tool▁sep[|｜]>\s*`)},
	{name: "qwen-agent", begins: []string{"✿FUNCTION✿"}, body: afterName,
		marks: `✿(?:FUNCTION|ARGS|RESULT|RETURN)✿:?`,
		named: regexp.MustCompile(`✿FUNCTION✿:?\s*` + name + `\s*✿ARGS✿:?\s*`)},
	{name: "kimi-k2", begins: []string{"<|tool"}, body: afterName, marks: token, // functions.name:index
		named: regexp.MustCompile(`<\|tool_call_begin\|>\s*(?:functions\.)?([\w.-]+?)(?::\d+)?\s*` +
			`<\|tool_call_argument_begin\|>\s*`)},
	{name: "functiongemma", begins: []string{"<start_function_call>"}, body: afterName,
		marks: tag("(?:start|end)_function_call"),
		named: regexp.MustCompile(`<start_function_call>\s*call:` + name + `\s*`)},
	// ReAct, in the words of LangChain's prompts, which many models were trained with; its paper has name[value].
	{name: "react", lines: actionHeads, body: afterName,
		named: regexp.MustCompile(`(?m)^\s*\**Action\**:\**\s*` + "`?" + name + "`?" +
			`\s*\n\s*\**Action Input\**:\**\s*`)},
	{name: "react-brackets", lines: actionHeads, body: inBrackets},
	{name: "react-object", lines: actionHeads, body: object},
	{name: "command-r", lines: actionHeads, body: object},

	// The name in front again, but behind what also stands before other things than calls, so that these expressions
	// need the brace of the arguments.
	{name: "harmony", begins: []string{"<|channel|>", "<|start|>", "<|message|>"}, body: afterName,
		marks: token + `|to=functions\.[\w.-]+`,
		named: regexp.MustCompile(`to=(?:functions\.)?` + name + `[^{\n]{0,80}<\|message\|>\s*(\{)`)},
	{name: "mistral", begins: []string{"[TOOL_CALLS]"}, body: afterName,
		marks: `\[/?TOOL_CALLS\](?:\s*[\w.-]+\[ARGS\])?`,
		named: regexp.MustCompile(`\[TOOL_CALLS\]\s*` + name + `(?:\[CALL_ID\]\w+)?(?:\[ARGS\])?\s*(\{)`)},
	{name: "mistral-list", begins: []string{"[TOOL_CALLS]"}, marks: `\[/?TOOL_CALLS\]`, body: object},
	{name: "functionary", begins: []string{">>>"}, marks: `>>>\s*[\w.-]+\s*\n`, body: afterName},

	// Objects between marks. Qwen 2.5 and SmolLM share those of Hermes, Granite 3 those of Phi-4-mini. Qwen2.5-Coder
	// writes <tools> where its template asks for <tool_call> (vllm-project/vllm#32926).
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

	// Objects without marks: prompt.md asks for the first, the second is what OpenAI's API has, and the rest are forms
	// of the table whose marks a server took out, or the model left out (ollama/ollama#12174).
	{name: "asked", begins: []string{"{"}, body: object},
	{name: "openai", begins: []string{"{"}, body: object},         // the form of its API
	{name: "llama-bare", begins: []string{"{"}, body: object},     // Llama 3 where its template has no tag
	{name: "list", begins: []string{"[{"}, body: object},          // without the mark that its template asks for
	{name: "phi-functools", begins: []string{"[{"}, body: object}, // functools[…]

	// Arguments in tags. Llama 3.1 puts an object into the tag when it follows Meta's own prompt for custom tools.
	{name: "qwen-coder", begins: []string{"<function"}, marks: tag("function"), body: inFunction},
	{name: "llama-function", begins: []string{"<function"}, marks: tag("function"), body: inFunction},
	{name: "seed-oss", begins: []string{"<seed:tool_call>"}, marks: tag("seed:tool_calls?"), body: inFunction},
	{name: "anthropic", begins: []string{"<invoke"}, marks: tag("invoke"), body: inFunction},
	{name: "glm", begins: []string{"<tool_call"}, marks: tag("tool_calls?"), body: inKeyValues},
	{name: "tool-tag", lines: []string{"<TOOL>"}, body: inToolTag},

	// Code, as Llama 4, LFM2 and Gemma were taught it, in a list, in print() or alone.
	{name: "code", lines: []string{"TOOL("}, body: inCode},
	{name: "llama-list", lines: []string{"[TOOL("}, body: inCode},
	{name: "llama-4", begins: []string{"<|python_start|>"}, marks: token, body: inCode},
	{name: "llama-code", begins: []string{"<|python_tag|>"}, marks: token, body: inCode},
	{name: "lfm2", begins: []string{"<|tool"}, marks: token, body: inCode},
	{name: "gemma", lines: []string{"TOOL(", "print(TOOL("}, body: inCode},
	{name: "gemini", lines: []string{"default_api.TOOL(", "print(default_api.TOOL("}, body: inCode},
}

// actionHeads begin the step with which a ReAct prompt has models call a tool.
var actionHeads = []string{"Action:", "**Action:**", "**Action**:"}

// languages are those of the code blocks in which models of any dialect put their calls.
var languages = []string{"tool_code", "tool_call", "tool", "json", "python", "xml", "text", ""}

var (
	callBegins = eachOnce(func(d dialect) []string { return d.begins })
	lineBegins = eachOnce(func(d dialect) []string { return d.lines })

	// callMarks is compiled once for all rows: a text is searched in one pass.
	callMarks = regexp.MustCompile(strings.Join(eachOnce(func(d dialect) []string { return []string{d.marks} }), "|"))
)

// eachOnce collects texts of all dialects in the order of the table, none twice.
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

// beginsIn reports whether a call in the dialect may begin somewhere in a text.
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

// isMarked reports whether a text holds a mark that no answer has: it was meant as a call, readable or not.
func isMarked(text string) bool { return callMarks.MatchString(text) }
