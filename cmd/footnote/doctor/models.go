package doctor

import (
	"context"
	"fmt"

	"github.com/footnote/footnote/agent/llm/anthropic"
	"github.com/footnote/footnote/agent/llm/openai"
	"github.com/footnote/footnote/agent/llm/textcalls"
	"github.com/footnote/footnote/cmd/footnote/settings"
)

// writtenCalls tries a model that did not call its tool once more, with the tool in the prompt.
// FOOTNOTE_AGENT_TOOL_CALLS=auto does the same when a run needs a tool.
func writtenCalls(ctx context.Context, model *openai.Model) Finding {
	f := Finding{What: "tool calls", Fine: "by JSON in the text: the model has no tool calls of its own"}
	if !textcalls.New(model, textcalls.JSON).CallsTools(ctx) {
		f.Err = fmt.Errorf(
			"%s did not call the tool it was told to call, neither by itself nor by JSON in the text; choose another "+
				"model with OPENAI_MODEL",
			model.Name(),
		)
	}
	return f
}

// anthropicModel asks Anthropic's model for a call.
// There is no search for other ways to call tools: all of these models have tool calls of their own.
func anthropicModel(ctx context.Context, set *settings.Settings) []Finding {
	model, err := anthropic.New(
		anthropic.Config{APIKey: string(set.AnthropicAPIKey), BaseURL: set.AnthropicBaseURL, Model: set.AnthropicModel},
	)
	if err != nil {
		return []Finding{{What: "model", Err: err}}
	}
	defer model.Close()
	health := model.Probe(ctx)
	found := []Finding{{What: "model", Fine: fmt.Sprintf(
		"%s answers (%.1f s)", set.AnthropicModel, health.Took.Seconds(),
	), Err: health.Err}}
	if health.Err == nil {
		tools := Finding{What: "tool calls", Fine: "work"}
		if !health.Tools {
			tools.Err = fmt.Errorf(
				"%s did not call the tool it was told to call; choose another model with ANTHROPIC_MODEL",
				set.AnthropicModel,
			)
		}
		found = append(found, tools, Finding{
			What: "seed", Fine: "Anthropic's models take none: a question that gives one is told so",
		})
	}
	return found
}

// checkEmbeddings asks the embedding model where another server answers, or none.
// Where the OpenAI-compatible server answers too, its Probe has asked for a vector already.
func checkEmbeddings(ctx context.Context, set *settings.Settings) []Finding {
	if !set.EmbedsRemotely() {
		return []Finding{checkSemantic(ctx, set, nil)}
	}
	model, err := openai.New(set.OpenAI(set.OpenAIModel, nil))
	if err != nil {
		return []Finding{{What: "semantic search", Err: err}}
	}
	defer model.Close()
	return []Finding{checkSemantic(ctx, set, model.ReachEmbeddings(ctx))}
}

// measureModel says how fast a model is that is served here, how much room it has, and which profile that makes.
// Models far away are not measured: they are fast as a rule, and charge for each token.
func measureModel(ctx context.Context, set *settings.Settings, model *openai.Model) []Finding {
	if local, _ := model.IsLocal(ctx); !local {
		return nil
	}
	f := Finding{What: "model's size"}
	found, err := model.Measure(ctx)
	profile := "the profile is full"
	if why := found.Small(); set.AgentProfile == "small" || set.AgentProfile == "auto" && why != "" {
		profile = "the profile is small: rules search, and it answers from three passages"
		if why != "" && why != found.String() {
			profile += "; " + why
		}
	}
	f.Fine, f.Err = found.String()+"; "+profile, err
	// 0: the server does not say
	if room := found.Context; err == nil && room > 0 && room < leastRoom {
		f.Err = fmt.Errorf("a context of %d tokens is too small for a question with its passages: give the server at "+
			"least %d (llama-server --ctx-size, OLLAMA_CONTEXT_LENGTH)", room, leastRoom)
	}
	return []Finding{f}
}

// leastRoom is what a question with its passages and its answer takes in the profile for small models, in tokens, with
// a conversation before it. A server that has less is told of as an error.
const leastRoom = 3072
