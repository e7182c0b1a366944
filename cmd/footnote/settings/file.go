package settings

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"
)

// UseFile resolves settings from the YAML file that neither a flag nor the environment sets. A missing file is an
// error only if it was named. "a.b_c" in the file is the flag --a-b-c. An unknown name is an error, since a typo
// would silently keep the default.
//
// It is called once, before Command. args are only searched for --config, which takes precedence over
// FOOTNOTE_CONFIG. Errors name the file, and never contain a secret value.
func (p *Parser) UseFile(args []string, getenv func(string) string) error {
	name := getenv("FOOTNOTE_CONFIG")
	// The file is read before the arguments are parsed, as it provides the values that they omit.
	for i, arg := range args {
		if value, ok := strings.CutPrefix(arg, "--config="); ok {
			name = value
		} else if arg == "--config" && i+1 < len(args) {
			name = args[i+1]
		}
	}
	file := cmp.Or(name, "footnote.yaml")
	raw, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) && name == "" {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the settings file: %w", err)
	}
	var tree map[string]any
	if err := yaml.Unmarshal(raw, &tree); err != nil {
		return fmt.Errorf("the settings file %s is not valid YAML: %w", file, err)
	}
	values := map[string]string{}
	if err := movePrices(tree, values); err != nil {
		return err
	}
	if err := moveServers(tree, values); err != nil {
		return err
	}
	flattenTree("", tree, values)
	known := map[string]bool{}
	for _, flag := range p.Model.Flags {
		known[flag.Name] = true
	}
	if err := replaceAliases(values, known); err != nil {
		return err
	}
	for key := range values {
		if !known[key] {
			return fmt.Errorf("unknown setting %[2]q in the settings file %[1]s; see 'footnote --help'", file, key)
		}
	}
	return kong.Resolvers(kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		// kong would give a resolver precedence over the environment.
		for _, env := range flag.Envs {
			if getenv(env) != "" {
				return nil, nil
			}
		}
		if value, ok := values[flag.Name]; ok {
			if _, err := strconv.Atoi(value); err == nil && flag.Target.Type() == reflect.TypeFor[time.Duration]() {
				value += "s" // a plain number is in seconds
			}
			return value, nil
		}
		return nil, nil
	})).Apply(p.Kong)
}

// flattenTree flattens a settings file's tree into setting names: model.name is model-name. If two paths result in
// one name, either may win, since YAML maps are unordered.
func flattenTree(prefix string, tree map[string]any, into map[string]string) {
	for key, value := range tree {
		name := prefix + strings.ReplaceAll(key, "_", "-")
		switch value := value.(type) {
		case map[string]any:
			flattenTree(name+"-", value, into)
		case []any:
			parts := make([]string, len(value))
			for i, part := range value {
				parts[i] = fmt.Sprint(part)
			}
			between := ","
			if name == "guard-input" { // patterns contain commas
				between = ";"
			}
			into[name] = strings.Join(parts, between)
		default:
			into[name] = fmt.Sprint(value)
		}
	}
}

// movePrices moves a settings file's prices, {model: {in, out}}, to their flag: model names may contain characters
// that setting names can't. They are encoded like the variable FOOTNOTE_PRICES, so that one parser reads both.
func movePrices(tree map[string]any, values map[string]string) error {
	given, ok := tree["prices"]
	if !ok {
		return nil
	}
	delete(tree, "prices")
	models, ok := given.(map[string]any)
	if !ok {
		return errors.New("the prices in the settings file must have the form {gpt-4.1-mini: {in: 0.4, out: 1.6}}")
	}
	var list []string
	for name, price := range models {
		pair, ok := price.(map[string]any)
		if !ok || pair["in"] == nil || pair["out"] == nil || len(pair) != 2 {
			return fmt.Errorf("the price of %s in the settings file must have the form {in: 0.4, out: 1.6}", name)
		}
		list = append(list, fmt.Sprintf("%s=%v/%v", name, pair["in"], pair["out"]))
	}
	slices.Sort(list)
	values["prices"] = strings.Join(list, ";")
	return nil
}

// moveServers moves a settings file's servers to their flag: their names and keys are not settings. The errors
// contain no input, since it may be a key.
func moveServers(tree map[string]any, values map[string]string) error {
	section, ok := tree["mcp"].(map[string]any)
	if !ok || section["servers"] == nil {
		return nil
	}
	raw, err := json.Marshal(section["servers"])
	if err != nil {
		return errors.New("the MCP servers in the settings file must be {name: {command: …}} or {name: {url: …}}")
	}
	delete(section, "servers")
	values["mcp-servers"] = string(raw)
	return nil
}
