package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

const settingsDoc = "../../docs/settings.md"

// docs/settings.md equals the output of --help. FOOTNOTE_WRITE_DOCS=1 writes it again.
func TestSettingsAreDocumented(t *testing.T) {
	want := settingsPage(t)
	if os.Getenv("FOOTNOTE_WRITE_DOCS") != "" {
		if err := os.WriteFile(settingsDoc, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(settingsDoc)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("docs/settings.md is out of date: run 'make generate' and commit it")
	}
}

// settingsPage writes a table row for each setting, in the order of --help.
func settingsPage(t *testing.T) string {
	t.Helper()
	parser, err := newParser(&commands{}, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	page.WriteString(`# Settings

Every setting is an environment variable, a flag and a key of the settings file (` +
		"`footnote.yaml`, or the file that `FOOTNOTE_CONFIG` names" + `).
Flags win over the environment, the environment over the file. In the file, ` + "`max_upload_mib: 50`" + ` is ` +
		"`--max-upload-mib=50`" + `, and a name may be
split at any underscore: ` + "`agent: {max_calls: 5}`" + `. ` + "`footnote doctor`" +
		` reports invalid settings.

` + "`make generate`" + ` generates this page from ` + "`footnote --help`" + `.

| variable | flag | default | description |
|---|---|---|---|
`)
	cell := func(text string) string { return strings.ReplaceAll(text, "|", "\\|") }
	for _, flag := range parser.Model.Flags {
		if flag.Hidden || len(flag.Envs) == 0 {
			continue
		}
		initial := ""
		if flag.HasDefault {
			initial = "`" + cell(flag.Default) + "`"
		}
		fmt.Fprintf(&page, "| `%s` | `--%s` | %s | %s |\n", flag.Envs[0], flag.Name, initial, cell(flag.Help))
	}
	return page.String()
}
