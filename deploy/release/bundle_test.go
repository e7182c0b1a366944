package main

import (
	"archive/zip"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// What a bundle starts and asks for is in it.
func TestABundleStartsTheProgramOfItsSystem(t *testing.T) {
	root, notices, dist := distOf(t)
	out := t.TempDir()
	if err := makeBundles(root, notices, dist, out, tried); err != nil {
		t.Fatal(err)
	}
	for _, platform := range platforms {
		system, processor, _ := strings.Cut(platform, "/")
		file := "footnote-1.2.3-" + npmSystems[system] + "-" + npmProcessors[processor] + ".mcpb"
		packed, err := zip.OpenReader(filepath.Join(out, file))
		if err != nil {
			t.Fatal(err)
		}
		defer packed.Close()
		read := func(name string) string {
			f, err := packed.Open(name)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			defer f.Close()
			raw, err := io.ReadAll(f)
			if err != nil {
				t.Fatal(err)
			}
			return string(raw)
		}
		var m bundle
		if err := json.Unmarshal([]byte(read("manifest.json")), &m); err != nil {
			t.Fatal(err)
		}
		if got := read(m.Server.EntryPoint); got != "program for "+platform {
			t.Errorf("%s: %s is %q, want the program for %s", file, m.Server.EntryPoint, got, platform)
		}
		if m.Server.Config.Command != "${__dirname}/"+m.Server.EntryPoint || m.Server.Type != "binary" ||
			m.ManifestVersion != "0.3" || m.Version != "1.2.3" || m.Author["name"] == "" {
			t.Errorf("%s starts %+v", file, m.Server)
		}
		for variable, value := range m.Server.Config.Env {
			field := strings.TrimSuffix(strings.TrimPrefix(value, "${user_config."), "}")
			asked, ok := m.UserConfig[field]
			if !ok || asked.Title == "" || asked.Description == "" {
				t.Errorf("%s: %s is %s, which nobody is asked for", file, variable, value)
			}
		}
		if !m.UserConfig["key"].Sensitive {
			t.Errorf("%s: the key is kept in the open", file)
		}
	}
}
