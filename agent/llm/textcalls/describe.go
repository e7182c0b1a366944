package textcalls

import (
	_ "embed"
	"encoding/json"
	"strings"

	"github.com/footnote/footnote/agent/llm"
)

// promptDoc is appended to the system message; {{tools}} is the placeholder of the tools.
//
//go:embed prompt.md
var promptDoc string

// answerNow ends the prompt of a request whose reply must be text.
const answerNow = "\n\n(No tool can be called any more. Answer now, in plain text.)"

// describeTools rewrites a request for a model without native tool calls. The tools are in its system message, its
// calls are JSON in its messages, and the results are messages of the user. Results of one turn are one message,
// since many templates require alternating roles. The history's calls are written in the requested form, whatever
// form the model used, since it follows its own examples more than the prompt.
func describeTools(req llm.Request) llm.Request {
	var tools strings.Builder
	for _, t := range req.Tools {
		tools.WriteString("\n### " + t.Name + "\n" + t.Description + "\nInput: " + string(t.Schema) + "\n")
	}
	about := ""
	if len(req.Tools) > 0 {
		about = strings.ReplaceAll(promptDoc, "{{tools}}", strings.TrimSpace(tools.String()))
	}
	names := map[string]string{}
	var out []llm.Message
	for _, msg := range req.Messages {
		switch {
		case msg.Role == llm.RoleSystem && about != "":
			msg.Text, about = msg.Text+"\n\n"+about, ""
		case msg.Role == llm.RoleAssistant && len(msg.Calls) > 0:
			for _, call := range msg.Calls {
				names[call.ID] = call.Name
				msg.Text = strings.TrimSpace(msg.Text + "\n" + asJSON(call))
			}
			msg.Calls = nil
		case msg.Role == llm.RoleTool:
			msg = llm.Message{Role: llm.RoleUser, Text: "Result of " + names[msg.CallID] + ":\n" + msg.Text}
			if n := len(out); n > 0 && strings.HasPrefix(out[n-1].Text, "Result of ") && out[n-1].Role == llm.RoleUser {
				out[n-1].Text += "\n\n" + msg.Text
				continue
			}
		}
		out = append(out, msg)
	}
	if about != "" {
		out = append([]llm.Message{{Role: llm.RoleSystem, Text: about}}, out...)
	}
	if n := len(out); req.NoTools && n > 0 && out[n-1].Role == llm.RoleUser {
		out[n-1].Text += answerNow
	}
	req.Messages, req.Tools, req.NoTools = out, nil, false
	return req
}

// asJSON encodes a call in the form that the prompt requests. Invalid arguments become {}, so that the model sees a
// valid example.
func asJSON(call llm.Call) string {
	arguments := call.Arguments
	if !json.Valid(arguments) {
		arguments = json.RawMessage("{}")
	}
	raw, err := json.Marshal(struct {
		Tool  string          `json:"tool"`
		Input json.RawMessage `json:"input"`
	}{call.Name, arguments})
	if err != nil {
		return ""
	}
	return string(raw)
}
