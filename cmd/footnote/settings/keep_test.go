package settings

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSettingsAreKeptBesideEverythingElse(t *testing.T) {
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
			for range 2 { // the second time nothing is left to change
				if err := Keep(path, values, anything); err != nil {
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

// anything takes every settings.
func anything(*Settings) error { return nil }

// What a start would not take, or would read otherwise, is not kept.
func TestSettingsThatWouldNotStartAreNotKept(t *testing.T) {
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
			err := Keep(path, map[string]string{"openai-model": "mine", "model": tt.model}, same)
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

func TestASettingsFileThatIsNoneStaysAsItIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "footnote.yaml")
	for _, before := range []string{"- a\n- b\n", "a: [\n", "model: offline\n---\nx: 1\n"} {
		if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		err := Keep(path, map[string]string{"openai-model": "x"}, anything)
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: error = %v, want one that names the file", before, err)
		}
		if raw, err := os.ReadFile(path); err != nil || string(raw) != before {
			t.Errorf("%q became %q (%v)", before, raw, err)
		}
	}
}
