package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"
)

// Save writes settings into the YAML file at path, by flag name. Those with an empty value are removed, and so are
// their aliases. All other content stays, including comments. The file is replaced atomically, readable only by its
// owner, since it can contain keys. A missing file is created.
//
// Before that, check gets the settings as the next start would parse them. On any error the file is unchanged. Of
// two concurrent processes the last one wins.
func Save(path string, values map[string]string, check func(*Settings) error) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	part, err := writeSettings(path, values)
	if err != nil {
		return err
	}
	next, err := readSettings(part)
	if err == nil {
		err = check(next)
	}
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return nil
}

// ErrTried ends a Keep that is a dry run. All checks passed, and the temporary file is removed.
var ErrTried = errors.New("only tried")

// writeSettings writes a copy of the settings file at path with other values, and returns its name. The new file is
// synced when it returns, and is on the same file system as path, so that a rename is atomic.
func writeSettings(path string, values map[string]string) (name string, err error) {
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the settings file: %w", err)
	}
	all := maps.Clone(values)
	for setting := range values {
		for _, other := range aliasesOf(setting) {
			all[other] = ""
		}
	}
	changed, err := changeSettings(raw, all)
	if err != nil {
		return "", fmt.Errorf("change the settings file %s: %w", path, err)
	}
	part, err := os.CreateTemp(filepath.Dir(path), ".footnote-*.yaml") // readable only by its owner
	if err != nil {
		return "", fmt.Errorf("write the settings file: %w", err)
	}
	_, err = part.Write(changed)
	if err = errors.Join(err, part.Sync(), part.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("write the settings file: %w", err), os.Remove(part.Name()))
	}
	return part.Name(), nil
}

// readSettings parses a settings file like a start in this environment. The environment counts, so that an
// overriding variable is noticed.
func readSettings(path string) (*Settings, error) {
	var alone rootFlags
	parser, err := NewParser(&alone, "", io.Discard, io.Discard)
	if err != nil {
		return nil, err
	}
	args := []string{"--config=" + path}
	if err := parser.UseFile(args, os.Getenv); err != nil {
		return nil, err
	}
	if _, err := parser.read(args); err != nil {
		return nil, err
	}
	return &alone.Settings, alone.Check()
}

// rootFlags holds the arguments of the program without its commands.
type rootFlags struct {
	Settings
	Version kong.VersionFlag
}

// aliasesOf returns a setting's aliases in a settings file: see replaceAliases. All of them are removed when the
// setting is saved, since the file would otherwise contain two values.
func aliasesOf(setting string) (names []string) {
	for _, section := range aliasSections {
		for alias, stands := range aliases {
			if stands == setting || alias == "llm-model" && setting == "anthropic-model" {
				names = append(names, section+alias)
			}
		}
		if rest, ok := strings.CutPrefix(setting, "agent-"); ok && section != "agent-" {
			names = append(names, section+rest)
		}
	}
	return names
}

// changeSettings returns a settings file with other values. It edits single lines if the result parses to the
// intended settings. Otherwise it encodes the file again, which keeps comments and loses blank lines. It fails for
// a file with several documents, and for a list or a scalar.
func changeSettings(raw []byte, values map[string]string) ([]byte, error) {
	var doc, further yaml.Node
	documents := yaml.NewDecoder(bytes.NewReader(raw))
	if err := documents.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if err := documents.Decode(&further); !errors.Is(err, io.EOF) {
		return nil, errors.New("it contains more than one document")
	}
	if doc.Kind == 0 { // an empty file, or only comments
		doc = yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{{Kind: yaml.MappingNode}}}
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, errors.New("it contains no mapping of settings")
	}
	// Before the tree changes, since that invalidates its line numbers.
	inLines := changeLines(string(raw), root, values)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name]
		parent, at := findSetting(root, "", name)
		switch {
		case parent != nil && value == "":
			parent.Content = slices.Delete(parent.Content, at, at+2)
		case parent != nil:
			parent.Content[at+1] = &yaml.Node{
				Kind: yaml.ScalarNode, Tag: "!!str", Value: value, LineComment: parent.Content[at+1].LineComment,
			}
		case value != "":
			root.Content = append(root.Content,
				&yaml.Node{Kind: yaml.ScalarNode, Value: strings.ReplaceAll(name, "-", "_")},
				&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value})
		}
	}
	// The edited lines are used only if they decode to the changed tree, which multi-line values and anchors do
	// not.
	var want, got map[string]any
	if err := doc.Decode(&want); err != nil {
		return nil, err
	}
	if err := yaml.Unmarshal([]byte(inLines), &got); err == nil && reflect.DeepEqual(want, got) {
		return []byte(inLines), nil
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	err := errors.Join(enc.Encode(&doc), enc.Close())
	return out.Bytes(), err
}

// changeLines edits the lines of a settings file that set the values, removes those of empty values, and appends
// the others. It assumes one line for each, and keeps the line ending of the first line. root is the parsed tree of
// the same text, with its line numbers.
func changeLines(raw string, root *yaml.Node, values map[string]string) string {
	lines, end := strings.SplitAfter(raw, "\n"), "\n"
	if strings.HasSuffix(lines[0], "\r\n") {
		end = "\r\n"
	}
	if last := len(lines) - 1; lines[last] != "" {
		lines[last] += end
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name]
		quoted, err := yaml.Marshal(value)
		if err != nil {
			continue // encoding a string can't fail
		}
		said := strings.TrimSpace(string(quoted))
		parent, at := findSetting(root, "", name)
		if parent == nil {
			if value != "" {
				lines = append(lines, strings.ReplaceAll(name, "-", "_")+": "+said+end)
			}
			continue
		}
		key, old := parent.Content[at], parent.Content[at+1]
		line := &lines[key.Line-1]
		if value == "" {
			*line = ""
			continue
		}
		*line = strings.Repeat(" ", key.Column-1) + key.Value + ": " +
			strings.TrimSpace(said+" "+old.LineComment) + end
	}
	return strings.Join(lines, "")
}

// findSetting returns where a mapping sets a flag, by the rule of flattenTree: the mapping that contains it and the
// index of its key. parent is nil if the flag is not set. The first match in the file is returned.
func findSetting(mapping *yaml.Node, prefix, name string) (parent *yaml.Node, at int) {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		full := prefix + strings.ReplaceAll(mapping.Content[i].Value, "_", "-")
		value := mapping.Content[i+1]
		if value.Kind == yaml.MappingNode {
			if parent, at := findSetting(value, full+"-", name); parent != nil {
				return parent, at
			}
		} else if full == name {
			return mapping, i
		}
	}
	return nil, 0
}

// aliasSections are the sections of a settings file whose names are aliases, in flag notation. The order matters: a
// key belongs to the first section that is its prefix.
var aliasSections = []string{"strategies-agentic-", "agent-mode-config-", "agent-"}

// aliases maps names in these sections to differently named settings. Any other name is an alias of the setting
// agent.NAME.
var aliases = map[string]string{
	"max-tool-calls":       "agent-max-calls",
	"max-retrieval-calls":  "agent-max-calls",
	"max-steps":            "agent-max-iterations",
	"enabled-tools":        "agent-tools",
	"fallback-to-semantic": "agent-fallback-to-fixed-pipeline",
	"llm-provider":         "model",
	"llm-model":            "openai-model", // the provider anthropic has another setting, see replaceAliases
}

// switches maps boolean names in these sections to the parts of runs that they enable or disable. agent.without
// lists the disabled parts.
var switches = map[string]string{
	"enable-query-analysis": "analyse",
	"enable-planning":       "plan",
	"enable-reflection":     "reflect",
}

// replaceAliases moves the values of aliases to their settings. It fails if the file sets both to different values,
// or if a section contains an unknown name. values holds the file's values by flag name, and is modified; known
// holds the names of all flags.
func replaceAliases(values map[string]string, known map[string]bool) error {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		section, name := sectionOf(key)
		part, isSwitch := switches[name]
		setting, isAlias := aliases[name]
		switch {
		case section == "" || known[key]:
			continue
		case isSwitch:
			if err := setSwitch(values, key, part); err != nil {
				return err
			}
			continue
		case !isAlias && known["agent-"+name]:
			setting = "agent-" + name
		case !isAlias:
			return fmt.Errorf("unknown setting %s in the settings file: valid ones are %s", dottedKey(key),
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
				"the settings file sets %s to %q and its alias %s to %q: remove one of them",
				dottedKey(key), value, setting, other,
			)
		}
		values[setting] = value
	}
	return nil
}

// setSwitch moves a switch into agent.without. Only a disabled part is listed.
func setSwitch(values map[string]string, key, part string) error {
	value := values[key]
	delete(values, key)
	without := strings.FieldsFunc(values["agent-without"], func(r rune) bool { return r == ',' })
	left := slices.Contains(without, part)
	switch {
	case value != "true" && value != "false":
		return fmt.Errorf("%s in the settings file is %q; it must be true or false", dottedKey(key), value)
	case value == "true" && left:
		return fmt.Errorf(
			"the settings file sets %s to true, which contradicts agent.without, %q: remove one of them",
			dottedKey(key), values["agent-without"],
		)
	case value == "false" && !left:
		values["agent-without"] = strings.Join(append(without, part), ",")
	}
	return nil
}

// sectionOf splits a key into its section and the name in it. The section is empty for other keys.
func sectionOf(key string) (section, name string) {
	for _, section := range aliasSections {
		if name, ok := strings.CutPrefix(key, section); ok {
			return section, name
		}
	}
	return "", key
}

// namesIn lists the names that a section may set, as a settings file has them, for an error message. They are
// sorted, without duplicates.
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

// dottedKey returns a key of these sections as in the settings file. It reverses flattenTree, so that an error
// message has the name that the user wrote.
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
