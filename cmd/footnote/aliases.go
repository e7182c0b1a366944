package main

import (
	"fmt"
	"slices"
	"strings"
)

// aliases are other names of settings in the settings file, those under strategies.agentic: as their flags are named, with the flag that each
// stands for.
var aliases = map[string]string{
	"strategies-agentic-enabled":              "agent-enabled",
	"strategies-agentic-max-iterations":       "agent-max-iterations",
	"strategies-agentic-max-tool-calls":       "agent-max-calls",
	"strategies-agentic-fallback-to-semantic": "agent-fallback-to-fixed-pipeline",
	"strategies-agentic-tools":                "agent-tools",
	"strategies-agentic-temperature":          "agent-temperature",
	"strategies-agentic-max-tokens":           "agent-max-tokens",
	"strategies-agentic-system-prompt":        "agent-system-prompt",
	"strategies-agentic-timeout-per-tool":     "agent-timeout-per-tool",
	"strategies-agentic-llm-provider":         "model",
	"strategies-agentic-llm-model":            "openai-model", // the provider anthropic has another, see replaceAliases
}

// analysisAlias switches a part of what runs do, which agent.without leaves out by name.
const analysisAlias = "strategies-agentic-enable-query-analysis"

// replaceAliases gives the values of aliases to the settings that they stand for. It fails when the file sets both and they differ.
func replaceAliases(values map[string]string) error {
	if analysed, ok := values[analysisAlias]; ok {
		delete(values, analysisAlias)
		without, set := values["agent-without"]
		left := slices.Contains(strings.Split(without, ","), "analyse")
		switch {
		case analysed != "true" && analysed != "false":
			return fmt.Errorf("%s in the settings file is %q; it is true or false", dotted(analysisAlias), analysed)
		case set && left == (analysed == "true"):
			return fmt.Errorf("the settings file sets %s to %s, and agent.without to %q, which says otherwise: keep one of them", dotted(analysisAlias), analysed, without)
		case analysed == "false" && !set:
			values["agent-without"] = "analyse"
		}
	}
	claude := values["strategies-agentic-llm-provider"] == "anthropic" || values["model"] == "anthropic"
	for alias, setting := range aliases {
		value, ok := values[alias]
		if !ok {
			continue
		}
		delete(values, alias)
		if alias == "strategies-agentic-llm-model" && claude {
			setting = "anthropic-model"
		}
		if other, set := values[setting]; set && other != value {
			return fmt.Errorf("the settings file sets %s to %q and %s, which is the same setting, to %q: keep one of them", dotted(alias), value, setting, other)
		}
		values[setting] = value
	}
	return nil
}

// dotted writes an alias as the settings file does.
func dotted(alias string) string {
	name := strings.Replace(strings.Replace(alias, "strategies-agentic-", "strategies.agentic.", 1), "agentic.llm-", "agentic.llm.", 1)
	return strings.ReplaceAll(name, "-", "_")
}
