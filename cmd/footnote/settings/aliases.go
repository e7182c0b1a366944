package settings

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// aliasSections are the sections of a settings file whose names stand for settings: each as its flag is named. The
// order matters: a key is taken for that of the first section that it begins with.
var aliasSections = []string{"strategies-agentic-", "agent-mode-config-", "agent-"}

// aliases are the names in these sections that differ from those of the settings they stand for. Any other name
// stands for the setting agent.NAME.
var aliases = map[string]string{
	"max-tool-calls":       "agent-max-calls",
	"max-retrieval-calls":  "agent-max-calls",
	"max-steps":            "agent-max-iterations",
	"enabled-tools":        "agent-tools",
	"fallback-to-semantic": "agent-fallback-to-fixed-pipeline",
	"llm-provider":         "model",
	"llm-model":            "openai-model", // the provider anthropic has another, see replaceAliases
}

// switches are the names in these sections that turn a part of what runs do on or off; agent.without leaves these out
// by name. They are true or false, while agent.without is a list of what is off.
var switches = map[string]string{
	"enable-query-analysis": "analyse",
	"enable-planning":       "plan",
	"enable-reflection":     "reflect",
}

// replaceAliases gives the values of aliases to the settings that they stand for. It fails when the file sets both
// and they differ, and when a section has a name that stands for nothing.
// values holds the keys of the file as flags are named, and is changed; known are the names of all flags.
func replaceAliases(values map[string]string, known map[string]bool) error {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		section, name := sectionOf(key)
		part, isSwitch := switches[name]
		setting, isAlias := aliases[name]
		switch {
		case section == "" || known[key]:
			continue
		case isSwitch:
			if err := turnSwitch(values, key, part); err != nil {
				return err
			}
			continue
		case !isAlias && known["agent-"+name]:
			setting = "agent-" + name
		case !isAlias:
			return fmt.Errorf("the settings file sets %s, which is no setting: there are %s", dottedKey(key),
				strings.Join(
					namesIn(section, known), ", ",
				))
		case name == "llm-model" && (values[section+"llm-provider"] == "anthropic" || values["model"] == "anthropic"):
			setting = "anthropic-model"
		}
		value := values[key]
		delete(values, key)
		if other, set := values[setting]; set && other != value {
			return fmt.Errorf(
				"the settings file sets %s to %q and %s, which is the same setting, to %q: keep one of them",
				dottedKey(key), value, setting, other,
			)
		}
		values[setting] = value
	}
	return nil
}

// turnSwitch takes a switch over into agent.without.
// A part that is on needs no word: only what is left out is listed.
func turnSwitch(values map[string]string, key, part string) error {
	value := values[key]
	delete(values, key)
	without := strings.FieldsFunc(values["agent-without"], func(r rune) bool { return r == ',' })
	left := slices.Contains(without, part)
	switch {
	case value != "true" && value != "false":
		return fmt.Errorf("%s in the settings file is %q; it is true or false", dottedKey(key), value)
	case value == "true" && left:
		return fmt.Errorf(
			"the settings file sets %s to true, and agent.without to %q, which says otherwise: keep one of them",
			dottedKey(key), values["agent-without"],
		)
	case value == "false" && !left:
		values["agent-without"] = strings.Join(append(without, part), ",")
	}
	return nil
}

// sectionOf splits a key into its section and the name in it; the section is empty when it is none of those.
func sectionOf(key string) (section, name string) {
	for _, section := range aliasSections {
		if name, ok := strings.CutPrefix(key, section); ok {
			return section, name
		}
	}
	return "", key
}

// namesIn lists what a section may set, as a settings file writes it. Each stands once, in the order of the alphabet,
// for the message of a mistake.
func namesIn(section string, known map[string]bool) []string {
	names := slices.Concat(slices.Collect(maps.Keys(aliases)), slices.Collect(maps.Keys(switches)))
	for flag := range known {
		if name, ok := strings.CutPrefix(flag, "agent-"); ok {
			names = append(names, name)
		}
	}
	for i, name := range names {
		_, after, _ := strings.Cut(dottedKey(section+name), dottedKey(section))
		names[i] = after
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// dottedKey writes a key of these sections as the settings file does. It undoes what flattenTree did, so that a
// message names what the reader wrote.
func dottedKey(key string) string {
	section, name := sectionOf(key)
	name = strings.Replace(name, "llm-", "llm.", 1)
	if section == "strategies-agentic-" {
		section = "strategies.agentic."
	} else {
		section = strings.TrimSuffix(section, "-") + "."
	}
	return strings.ReplaceAll(section+name, "-", "_")
}
