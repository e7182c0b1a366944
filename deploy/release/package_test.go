package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// distOf writes goreleaser's output, with tiny programs.
func distOf(t *testing.T) (root, notices, dist string) {
	t.Helper()
	root = t.TempDir()
	dist, notices = filepath.Join(root, "dist"), filepath.Join(root, "THIRD-PARTY-NOTICES.txt")
	var list []map[string]string
	for _, platform := range platforms {
		system, processor, _ := strings.Cut(platform, "/")
		path := filepath.Join("dist", system+"_"+processor, "footnote")
		if err := writeFile(filepath.Join(root, path), []byte("program for "+platform)); err != nil {
			t.Fatal(err)
		}
		list = append(list, map[string]string{"path": path, "type": "Binary", "goos": system, "goarch": processor})
	}
	raw, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string][]byte{
		filepath.Join(dist, "artifacts.json"): raw, notices: []byte("notices"),
		filepath.Join(root, "LICENSE"): []byte("MIT"),
	} {
		if err := writeFile(path, content); err != nil {
			t.Fatal(err)
		}
	}
	return root, notices, dist
}

var tried = product{version: "1.2.3", repository: "example.org/a/footnote", made: time.Unix(1_764_000_000, 0).UTC()}

// filesOf reads all files of a folder.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(raw)
	}
	return files
}

func TestPackagesAreTheSameBytesTwice(t *testing.T) {
	root, notices, dist := distOf(t)
	for name, pack := range map[string]func(root, notices, dist, out string, about product) error{
		"npm": makeNPM, "wheels": makeWheels, "bundles": makeBundles,
	} {
		first, second := t.TempDir(), t.TempDir()
		for _, out := range []string{first, second} {
			if err := pack(root, notices, dist, out, tried); err != nil {
				t.Fatal(err)
			}
		}
		a, b := filesOf(t, first), filesOf(t, second)
		if len(a) < len(platforms) {
			t.Errorf("%s: %d packages, want one for each of %d platforms", name, len(a), len(platforms))
		}
		for file := range a {
			if a[file] != b[file] {
				t.Errorf("%s is another file the second time", file)
			}
		}
		if err := pack(root, notices, dist, first, product{made: tried.made}); err == nil {
			t.Errorf("%s without a version: no error", name)
		}
		if err := pack(root, notices, t.TempDir(), first, tried); err == nil {
			t.Errorf("%s of nothing: no error", name)
		}
	}
}

func TestAPackageOfNPMStartsTheOneOfItsSystem(t *testing.T) {
	root, notices, dist := distOf(t)
	out := t.TempDir()
	if err := makeNPM(root, notices, dist, out, tried); err != nil {
		t.Fatal(err)
	}
	main := unpackTarball(t, filepath.Join(out, "footnote-1.2.3.tgz"))
	var m manifest
	if err := json.Unmarshal([]byte(main["package/package.json"]), &m); err != nil {
		t.Fatal(err)
	}
	if m.Bin["footnote"] != "launcher.cjs" || !strings.HasPrefix(main["package/launcher.cjs"], "#!/usr/bin/env node") ||
		strings.Contains(main["package/package.json"], "scripts") ||
		m.Repository["url"] != "git+https://example.org/a/footnote.git" {
		t.Errorf("the package is %s", main["package/package.json"])
	}
	if len(m.Optional) != len(platforms) {
		t.Errorf("it may bring %v, want one package for each platform", m.Optional)
	}
	for name, version := range m.Optional {
		file := strings.NewReplacer("@", "", "/", "-").Replace(name) + "-" + version + ".tgz"
		part := unpackTarball(t, filepath.Join(out, file))
		var p manifest
		if err := json.Unmarshal([]byte(part["package/package.json"]), &p); err != nil {
			t.Fatal(err)
		}
		program := "package/footnote"
		if p.OS[0] == "win32" {
			program += ".exe"
		}
		if p.Name != npmScope+p.OS[0]+"-"+p.CPU[0] || !strings.HasPrefix(part[program], "program for ") ||
			part["package/THIRD-PARTY-NOTICES.txt"] == "" || part["package/LICENSE"] == "" {
			t.Errorf("%s holds %v of %s", name, slices.Sorted(maps.Keys(part)), part["package/package.json"])
		}
	}
}

func unpackTarball(t *testing.T, path string) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for archive := tar.NewReader(plain); ; {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		if !head.ModTime.Equal(tried.made) {
			t.Errorf("%s in %s is of %v, want the time of the commit", head.Name, path, head.ModTime)
		}
		files[head.Name] = string(content)
	}
}

func TestAWheelRecordsAllThatItHolds(t *testing.T) {
	root, notices, dist := distOf(t)
	out := t.TempDir()
	if err := makeWheels(root, notices, dist, out, tried); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(out, "footnote-1.2.3-py3-none-"+wheelPlatforms["linux/amd64"]+".whl")
	wheel, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer wheel.Close()
	contents := map[string]string{}
	for _, f := range wheel.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		contents[f.Name] = string(raw)
		if f.Name == "footnote-1.2.3.data/scripts/footnote" && f.Mode() != 0o755 {
			t.Errorf("the program's mode is %v, want that it may be started", f.Mode())
		}
	}
	record := contents["footnote-1.2.3.dist-info/RECORD"]
	for name, content := range contents {
		sum := sha256.Sum256([]byte(content))
		line := fmt.Sprintf("%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(content))
		if strings.HasSuffix(name, "/RECORD") {
			line = name + ",,\n"
		}
		if !strings.Contains(record, line) {
			t.Errorf("RECORD has no line %q", line)
		}
	}
	if contents["footnote-1.2.3.data/scripts/footnote"] != "program for linux/amd64" {
		t.Error("the wheel does not hold its platform's program")
	}
	for _, tag := range []string{"manylinux_2_17_x86_64", "manylinux2014_x86_64", "musllinux_1_1_x86_64"} {
		if !strings.Contains(contents["footnote-1.2.3.dist-info/WHEEL"], "\nTag: py3-none-"+tag+"\n") {
			t.Errorf("WHEEL does not name %s", tag)
		}
	}
}

func TestTheModelIsPackedWithItsFoldersAndItsLicence(t *testing.T) {
	model := filepath.Join(t.TempDir(), "all-MiniLM-L6-v2")
	for _, name := range []string{"model.safetensors", "1_Pooling/config.json", ".gitattributes"} {
		if err := writeFile(filepath.Join(model, name), []byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(t.TempDir(), "model.tar.gz")
	if err := makeModel(model, out, tried); err != nil {
		t.Fatal(err)
	}
	got := slices.Sorted(maps.Keys(unpackTarball(t, out)))
	want := []string{"all-MiniLM-L6-v2/1_Pooling/config.json", "all-MiniLM-L6-v2/LICENSE.txt",
		"all-MiniLM-L6-v2/model.safetensors"}
	if !slices.Equal(got, want) {
		t.Errorf("the archive holds %q, want %q", got, want)
	}
	if err := makeModel(t.TempDir(), out, tried); err == nil {
		t.Error("a model without files: no error")
	}
}

func TestVersionsForPython(t *testing.T) {
	for version, want := range map[string]string{
		"1.2.3": "1.2.3", "1.2.3-rc.1": "1.2.3rc1", "1.2.3-beta2": "1.2.3b2", "1.2.3-alpha.10": "1.2.3a10",
		"0.0.0-dev.g4462e41b": "0.0.0.dev0+dev.g4462e41b", "1.2.3+build": "1.2.3",
	} {
		if got := pythonVersion(version); got != want {
			t.Errorf("pythonVersion(%q) = %q, want %q", version, got, want)
		}
	}
}

// A bundle contains the program that it starts and the fields that it asks for.
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
