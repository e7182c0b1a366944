package settings

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// settingsOf reads a settings file as the program does.
func settingsOf(t *testing.T, text string) (*Settings, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "footnote.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var cli alone
	parser, err := NewParser(&cli, "", io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--config=" + file}
	if err := parser.UseFile(args, func(string) string { return "" }); err != nil {
		return nil, err
	}
	_, err = parser.read(args)
	return &cli.Settings, err
}

func TestTheNamesUnderStrategiesAgenticAreUnderstood(t *testing.T) {
	t.Parallel()
	cli, err := settingsOf(t, `
strategies:
  agentic:
    enabled: false
    max_iterations: 3
    max_tool_calls: 4
    enable_query_analysis: false
    enable_reflection: false
    fallback_to_semantic: false
    timeout_per_tool: 20
    llm:
      provider: anthropic
      model: claude-3-haiku-20240307
    tools:
      - semantic_search
      - read_document
      - metadata_search
`)
	if err != nil {
		t.Fatal(err)
	}
	if cli.AgentEnabled || cli.AgentMaxIterations != 3 || cli.AgentMaxCalls != 4 || cli.AgentFallbackToFixedPipeline ||
		strings.Join(cli.AgentWithout, " ") != "analyse reflect" || cli.AgentTimeoutPerTool != 20*time.Second ||
		cli.Model != "anthropic" || cli.AnthropicModel != "claude-3-haiku-20240307" ||
		strings.Join(cli.AgentTools, " ") != "semantic_search read_document metadata_search" {
		t.Errorf("the settings are %+v", *cli)
	}
	for name, tt := range map[string]struct{ text, want string }{
		"switches beside a list": {
			"agent: {without: [refine]}\nstrategies: {agentic: {enable_planning: false, enable_reflection: true}}", "",
		},
		"reflection on and off": {"agent: {without: [reflect]}\nstrategies: {agentic: {enable_reflection: true}}",
			"strategies.agentic.enable_reflection"},
		"the names of a flag file": {
			"agent_mode_config: {enabled: true, max_iterations: 10, timeout_per_tool: 30, " +
				"fallback_to_fixed_pipeline: true, models_allowed: [a, b], min_model_for_agent: b}", "",
		},
		"the names of a request": {
			"agent: {max_steps: 10, max_retrieval_calls: 5, enabled_tools: [retrieve, finish]}", "",
		},
		"both, the same": {"agent: {max_iterations: 3}\nstrategies: {agentic: {max_iterations: 3}}", ""},
		"both, different": {"agent: {max_iterations: 3}\nstrategies: {agentic: {max_iterations: 4}}",
			`strategies.agentic.max_iterations to "4"`},
		"the model of OpenAI": {"strategies: {agentic: {llm: {provider: openai, model: m}}}", ""},
		"analysed and not": {
			"agent: {without: [analyse]}\nstrategies: {agentic: {enable_query_analysis: true}}",
			"strategies.agentic.enable_query_analysis",
		},
		"not analysed, twice": {
			"agent: {without: [plan, analyse]}\nstrategies: {agentic: {enable_query_analysis: false}}", "",
		},
		"neither true nor false": {"strategies: {agentic: {enable_query_analysis: maybe}}", "true or false"},
		"a name that is not known": {"strategies: {agentic: {magic: 1}}",
			"strategies.agentic.magic, which is no setting: there are "},
	} {
		_, err := settingsOf(t, tt.text)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func TestAliasesStandForSettings(t *testing.T) {
	t.Parallel()
	parser, err := NewParser(&alone{}, "", io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, flag := range parser.Model.Flags {
		known[flag.Name] = true
	}
	for alias, setting := range maps.All(aliases) {
		if known["agent-"+alias] || !known[setting] {
			t.Errorf("%s stands for %s, which is no setting, or is one itself", alias, setting)
		}
	}
	for alias, part := range maps.All(switches) {
		if known["agent-"+alias] || (agentSettings{AgentWithout: []string{part}}).Features().Check() != nil {
			t.Errorf("%s switches %s, which is no part, or is a setting itself", alias, part)
		}
	}
}
