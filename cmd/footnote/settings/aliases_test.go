package settings

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
)

// settingsOf parses a settings file like the program does.
func settingsOf(t *testing.T, text string) (*Settings, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "footnote.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var cli rootFlags
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

func TestStrategySettingNamesAreAccepted(t *testing.T) {
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
		t.Errorf("settings = %+v", *cli)
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
			"unknown setting strategies.agentic.magic in the settings file: valid ones are "},
	} {
		_, err := settingsOf(t, tt.text)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func TestSettingAliases(t *testing.T) {
	t.Parallel()
	parser, err := NewParser(&rootFlags{}, "", io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, flag := range parser.Model.Flags {
		known[flag.Name] = true
	}
	for alias, setting := range maps.All(aliases) {
		if known["agent-"+alias] || !known[setting] {
			t.Errorf("alias %s of %s: got no setting or a setting itself, want an alias of a setting", alias, setting)
		}
	}
	for alias, part := range maps.All(switches) {
		if known["agent-"+alias] || (agentSettings{AgentWithout: []string{part}}).Features().Check() != nil {
			t.Errorf("alias %s disables %s, want a feature and no setting", alias, part)
		}
	}
}

func TestBundledModelIsFoundBesideProgram(t *testing.T) {
	for _, tt := range []struct{ name, program, link, model, want string }{
		{"unpacked beside the program", "app/footnote", "", "app/all-MiniLM-L6-v2", "app/all-MiniLM-L6-v2"},
		{"installed by a package", "usr/bin/footnote", "", "usr/share/footnote/all-MiniLM-L6-v2",
			"usr/share/footnote/all-MiniLM-L6-v2"},
		{"a link to the program is in the path", "cellar/1.0/bin/footnote", "bin/footnote",
			"cellar/1.0/share/footnote/all-MiniLM-L6-v2", "cellar/1.0/share/footnote/all-MiniLM-L6-v2"},
		{"beside the link", "cellar/1.0/bin/footnote", "bin/footnote", "share/footnote/all-MiniLM-L6-v2",
			"share/footnote/all-MiniLM-L6-v2"},
		{"another model", "app/footnote", "", "app/bge-small", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			in := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
			for _, file := range []string{tt.program, tt.model + "/model.safetensors"} {
				if err := os.MkdirAll(filepath.Dir(in(file)), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(in(file), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			started, want := in(tt.program), ""
			if tt.link != "" {
				started = in(tt.link)
				if err := os.MkdirAll(filepath.Dir(started), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(in(tt.program), started); err != nil {
					t.Skipf("links can't be made here: %v", err)
				}
			}
			if tt.want != "" {
				want = in(tt.want)
			}
			if got := findShippedModel(started); got != want {
				t.Errorf("findShippedModel = %q, want %q", got, want)
			}
		})
	}
}

func TestSettingPrecedesBundledModel(t *testing.T) {
	for _, named := range []string{"/models/bge-small", ""} {
		s := &Settings{embeddingSettings: embeddingSettings{EmbeddingDir: &named}}
		if got := s.EmbeddingFolder(); got != named {
			t.Errorf("FOOTNOTE_EMBEDDING_DIR=%q: the folder is %q", named, got)
		}
	}
}

func TestSettingsAreSavedWithOtherContent(t *testing.T) {
	for _, tt := range []struct{ name, before, after string }{
		{"no file", "", "openai_base_url: http://localhost:11434/v1\nopenai_model: \"8\"\n"},
		{"comments alone", "# mine\n", "# mine\nopenai_base_url: http://localhost:11434/v1\nopenai_model: \"8\"\n"},
		{"beside others", "# The office's server.\naddr: 127.0.0.1:9000 # behind the proxy\n\n" +
			"openai:\n  # the old one\n  model: gpt-4.1 # large\n  api_key: sk-x\nprices: {a: {in: 1, out: 2}}\n",
			"# The office's server.\naddr: 127.0.0.1:9000 # behind the proxy\n\n" +
				"openai:\n  # the old one\n  model: \"8\" # large\nprices: {a: {in: 1, out: 2}}\n" +
				"openai_base_url: http://localhost:11434/v1\n"},
		{"by other names", "strategies:\n  agentic:\n    llm_model: gpt # large\nagent:\n  llm_provider: openai\n",
			"strategies:\n  agentic: {}\nagent:\n  llm_provider: openai\n" +
				"openai_base_url: http://localhost:11434/v1\nopenai_model: \"8\"\n"},
		{"in one line", "# all\n{log_level: warn, openai_model: gpt}\n",
			"# all\n{log_level: warn, openai_model: \"8\", openai_base_url: 'http://localhost:11434/v1'}\n"},
		{"in several lines", "openai_model: >\n  gpt\n  x\nlog_level: warn\n",
			"openai_model: \"8\"\nlog_level: warn\nopenai_base_url: http://localhost:11434/v1\n"},
		{"without an end", "openai_model: gpt", "openai_model: \"8\"\nopenai_base_url: http://localhost:11434/v1\n"},
		{"with the line ends of Windows", "# mine\r\nopenai_model: gpt # large\r\n",
			"# mine\r\nopenai_model: \"8\" # large\r\nopenai_base_url: http://localhost:11434/v1\r\n"},
		{"one that is written twice over", "openai_embedding_model: &b gpt\nopenai_model: *b\n",
			"openai_embedding_model: &b gpt\nopenai_model: \"8\"\nopenai_base_url: http://localhost:11434/v1\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "footnote.yaml")
			if tt.before != "" {
				if err := os.WriteFile(path, []byte(tt.before), 0o644); err != nil { //nolint:gosec // as people have it
					t.Fatal(err)
				}
			}
			values := map[string]string{
				"openai-model": "8", "openai-base-url": "http://localhost:11434/v1", "openai-api-key": "",
			}
			for range 2 { // the second time changes nothing
				if err := Save(path, values, anything); err != nil {
					t.Fatal(err)
				}
			}
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.after, string(raw)); diff != "" {
				t.Errorf("the file (-want +got):\n%s", diff)
			}
			info, err := os.Stat(path)
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v, mode %v; want it readable by its owner only", err, info.Mode())
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
				t.Errorf("%v, %v are left; want the file alone", err, left)
			}
		})
	}
}

// anything accepts any settings.
func anything(*Settings) error { return nil }

// Settings that a start would reject, or parse to another value, are not saved.
func TestInvalidSettingsAreNotSaved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "footnote.yaml")
	const before = "addr: 127.0.0.1:9000\n"
	otherwise := errors.New("read otherwise")
	same := func(next *Settings) error {
		if next.OpenAIModel != "mine" {
			return otherwise
		}
		return nil
	}
	for name, tt := range map[string]struct {
		model, environment, says string
	}{
		"a value that is none":                   {model: "gpt", says: "must be one of"},
		"one that the environment goes before":   {model: "auto", environment: "theirs", says: "read otherwise"},
		"one that the environment says as well":  {model: "auto", environment: "mine"},
		"one that nothing else says anything of": {model: "auto"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OPENAI_MODEL", tt.environment)
			if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
				t.Fatal(err)
			}
			err := Save(path, map[string]string{"openai-model": "mine", "model": tt.model}, same)
			if (err != nil) != (tt.says != "") || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error = %v, want %q", err, tt.says)
			}
			raw, failed := os.ReadFile(path)
			if failed != nil || (string(raw) == before) != (err != nil) {
				t.Errorf("%q became %q (%v)", before, raw, failed)
			}
			if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
				t.Errorf("%v, %v are left; want the file alone", err, left)
			}
		})
	}
}

func TestInvalidSettingsFileIsUnchanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "footnote.yaml")
	for _, before := range []string{"- a\n- b\n", "a: [\n", "model: offline\n---\nx: 1\n"} {
		if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		err := Save(path, map[string]string{"openai-model": "x"}, anything)
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: error = %v, want one that names the file", before, err)
		}
		if raw, err := os.ReadFile(path); err != nil || string(raw) != before {
			t.Errorf("%q became %q (%v)", before, raw, err)
		}
	}
}

// parsed returns the settings of arguments and an environment.
func parsed(t *testing.T, env map[string]string, args ...string) *Settings {
	t.Helper()
	var cli rootFlags
	for name, value := range env {
		t.Setenv(name, value)
	}
	parser, err := NewParser(&cli, "", io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.read(args); err != nil {
		t.Fatal(err)
	}
	return &cli.Settings
}

func TestEachLimitIsSettingWithDefault(t *testing.T) {
	given := parsed(t, nil).UserLimits()
	for i, l := range chat.AllLimits() {
		if got, there := given[l.Name]; !there || got != l.Default {
			t.Errorf("%s is %d by default (a setting: %v), want %d", l.Name, got, there, l.Default)
		}
		flag := "--limits-" + strings.ReplaceAll(string(l.Name), "_", "-")
		if got := parsed(t, nil, fmt.Sprintf("%s=%d", flag, 7+i)).UserLimits()[l.Name]; got != int64(7+i) {
			t.Errorf("%s: %d, want %d", flag, got, 7+i)
		}
		t.Run(limitEnv(l.Name), func(t *testing.T) {
			if got := parsed(t, map[string]string{limitEnv(l.Name): "3"}).UserLimits()[l.Name]; got != 3 {
				t.Errorf("got %d, want 3", got)
			}
		})
		negative := parsed(t, nil, flag+"=-1")
		if err := negative.limitSettings.checkLimits(); err == nil || !strings.Contains(err.Error(), limitEnv(l.Name)) {
			t.Errorf("%s=-1: %v", flag, err)
		}
	}
	if got := parsed(t, map[string]string{
		"FOOTNOTE_QUESTIONS_PER_DAY": "5",
	}).UserLimits()[chat.QuestionsPerDay]; got != 5 {
		t.Errorf("FOOTNOTE_QUESTIONS_PER_DAY: %d, want 5", got)
	}
}

func TestDiskReserveBoundary(t *testing.T) {
	set := parsed(t, nil, "--limits-disk-reserve-mib=3")
	for _, tt := range []struct {
		free  int64
		fails bool
	}{{3<<20 + 1, false}, {3 << 20, false}, {3<<20 - 1, true}, {0, true}} {
		err := set.DiskReserve(t.TempDir(), func(string) (int64, error) { return tt.free, nil })()
		if (err != nil) != tt.fails || err != nil && chat.CodeOf(err) != chat.CodeDiskFull {
			t.Errorf("with %d bytes free: %v, want disk_full: %v", tt.free, err, tt.fails)
		}
	}
}

func TestHandbookDocumentsEveryLimit(t *testing.T) {
	const path = "../../../docs/handbook/05-operation.md"
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range chat.AllLimits() {
		want := fmt.Sprintf("| %s | %d | %s; 0: no limit |", limitEnv(l.Name), l.Default, l.About)
		if !strings.Contains(string(raw), want) {
			t.Errorf("%s lacks the row\n%s", path, want)
		}
	}
}
