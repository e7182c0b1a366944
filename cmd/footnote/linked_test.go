package main

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

// TestTheBinaryLinksNothingOfTests: what only tests and other programs of this module need stays out of what users
// install, also when a library would bring it in. A module is the binary's when code that is built into it imports it;
// any other that our code imports is for tests or for other programs, and must not be linked. What a folder of this
// repository stands in for is our own.
func TestTheBinaryLinksNothingOfTests(t *testing.T) {
	required := requiredModules(t)
	packages, modules := linked(t)
	for name := range packages {
		if strings.HasSuffix(name, "test") || strings.HasPrefix(name, "e2e/") {
			t.Errorf("the binary links %s, which is for tests", name)
		}
	}
	ours, others := map[string]bool{}, map[string]string{} // modules; the second with a file that imports it
	for _, file := range goFiles(t) {
		if inModuleOfItsOwn(file) {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		built := packages[path.Dir(file)] && !strings.HasSuffix(file, "_test.go")
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			module := moduleOf(required, imported)
			switch {
			case module == "": // the standard library, or this module
			case built:
				ours[module] = true
			default:
				others[module] = file
			}
		}
	}
	if len(ours) == 0 || len(others) == 0 {
		t.Fatalf("modules that the binary imports: %d, others: %d; want some of both", len(ours), len(others))
	}
	for module, file := range others {
		if !ours[module] && modules[module] {
			t.Errorf("the binary links %s, which of our code only such as %s imports: cut the chain that brings it in "+
				"(go mod why -m %s)", module, file, module)
		}
	}
}

// linked returns the directories of this module's packages that the binary is built of, and the modules of others.
func linked(t *testing.T) (packages, modules map[string]bool) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Module", "./cmd/footnote")
	command.Dir, command.Stderr = root, os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	packages, modules = map[string]bool{}, map[string]bool{}
	for list := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Module     *struct {
				Path string
				Main bool
			}
		}
		err := list.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages, modules
		}
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case p.Module == nil: // the standard library
		case p.Module.Main:
			packages[strings.TrimPrefix(p.ImportPath, module)] = true
		default:
			modules[p.Module.Path] = true
		}
	}
}

// requiredModules returns the modules that go.mod requires, but for those that folders of this repository replace.
func requiredModules(t *testing.T) map[string]bool {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := modfile.Parse("go.mod", raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	required := map[string]bool{}
	for _, require := range parsed.Require {
		required[require.Mod.Path] = true
	}
	for _, replaced := range parsed.Replace {
		if replaced.New.Version == "" {
			delete(required, replaced.Old.Path)
		}
	}
	return required
}

// inModuleOfItsOwn says whether a folder above the file has a go.mod, but for the root.
func inModuleOfItsOwn(file string) bool {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if _, err := os.Stat(filepath.Join(root, dir, "go.mod")); err == nil {
			return true
		}
	}
	return false
}

// moduleOf returns the module of a package: the longest that begins its path, or "".
func moduleOf(modules map[string]bool, imported string) string {
	for ; imported != "."; imported = path.Dir(imported) {
		if modules[imported] {
			return imported
		}
	}
	return ""
}
