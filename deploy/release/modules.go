package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// platforms are the release platforms, as GOOS/GOARCH. All six must be built before packages are written.
var platforms = []string{
	"darwin/amd64", "darwin/arm64", "linux/amd64", "linux/arm64", "windows/amd64", "windows/arm64",
}

// buildTags are those of the Makefile. Other tags would link other modules, and the notices would not match the
// program.
const buildTags = "grpcnotrace,retrynotrace"

// part is a third-party work that is linked into the program or embedded in it. Version is empty for a work without
// one, such as PDFium's parts.
type part struct {
	Name    string // its module path, npm package or project
	Version string
	Files   map[string]string // licence texts, by file name relative to its folder
}

// licenceFile matches the names of files with licences and notices, case-insensitive. A dot or hyphen with any
// suffix may follow.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|notice|patents|unlicense)([.-].*)?$`)

// apacheAbove are modules whose licence is at the root of their repository, above their own folder: Apache 2.0.
// Each was checked by hand; a new module without a licence is an error until it is checked.
var apacheAbove = map[string]bool{"github.com/milvus-io/milvus-proto/go-api/v2": true}

//go:embed apache-2.0.txt
var apache string

// listed is a package in the output of `go list`. Standard marks packages of Go's standard library, whose Module is
// nil.
type listed struct {
	ImportPath string
	Dir        string
	Standard   bool
	Module     *goModule
}

// Main is this module. A Replace without a version is a folder of this repository.
type goModule struct {
	Path, Version, Dir string
	Main               bool
	Replace            *struct{ Path, Version, Dir string }
}

// linkedModules returns every module that is linked into the program on one of the platforms. Licences are read
// from the folders of its linked packages and above. A module without a licence is an error. Go itself is the last.
//
// on lists platforms as GOOS/GOARCH. Modules that only tests or other platforms need are not included. It runs the
// go command, which may download modules.
func linkedModules(ctx context.Context, root string, on []string) ([]part, error) {
	found := map[string]part{}
	for _, platform := range on {
		packages, err := listPackages(ctx, root, platform)
		if err != nil {
			return nil, err
		}
		if err := addModules(found, packages); err != nil {
			return nil, err
		}
	}
	parts, err := sortedParts(found)
	if err != nil {
		return nil, err
	}
	golang, err := goItself(ctx, root)
	return append(parts, golang), err
}

// addModules adds the modules of packages, except those of this repository. Licences are added for each package,
// since a part of a module may have its own.
func addModules(found map[string]part, packages []listed) error {
	for _, p := range packages {
		if p.Standard || p.Module == nil || p.Module.Main ||
			p.Module.Replace != nil && p.Module.Replace.Version == "" {
			continue
		}
		path := p.Module.Path
		if found[path].Files == nil {
			found[path] = part{Name: path, Version: p.Module.Version, Files: map[string]string{}}
		}
		if err := addLicences(found[path].Files, p.Module.Dir, p.Dir); err != nil {
			return err
		}
	}
	return nil
}

// sortedParts returns the modules sorted by path. A module without a licence is an error. The licence of modules in
// apacheAbove is filled in.
func sortedParts(found map[string]part) (parts []part, err error) {
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if len(found[name].Files) == 0 && apacheAbove[name] {
			found[name].Files["Apache-2.0"] = apache
		}
		if len(found[name].Files) == 0 {
			return nil, fmt.Errorf("%s is linked, and its folder has no licence", name)
		}
		parts = append(parts, found[name])
	}
	return parts, nil
}

// listPackages returns all packages of the program on a platform. cgo is off, as in releases.
func listPackages(ctx context.Context, root, platform string) ([]listed, error) {
	system, processor, _ := strings.Cut(platform, "/")
	out, err := goCommand(ctx, root, []string{"GOOS=" + system, "GOARCH=" + processor, "CGO_ENABLED=0"},
		"list", "-deps", "-tags="+buildTags, "-json=ImportPath,Dir,Standard,Module", "./cmd/footnote")
	if err != nil {
		return nil, err
	}
	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("read what go list says: %w", err)
		}
		packages = append(packages, p)
	}
}

// goCommand runs go in dir with additional variables, and returns its output. The error contains its standard
// error.
func goCommand(ctx context.Context, dir string, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stderr = dir, append(os.Environ(), env...), &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return out, nil
}

// addLicences reads the licences of a package: those in its folder and in each parent, up to its module's. Names in
// into are relative to the module's folder, with slashes. A package outside its module's folder is an error.
func addLicences(into map[string]string, module, dir string) error {
	if dir != module && !strings.HasPrefix(dir, module+string(filepath.Separator)) {
		return fmt.Errorf("%s is not in the folder of its module, %q", dir, module)
	}
	for {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, entry := range entries {
			// Source code with such a name, like license.go, is not a licence.
			if !entry.Type().IsRegular() || !licenceFile.MatchString(entry.Name()) ||
				strings.HasSuffix(entry.Name(), ".go") {
				continue
			}
			path := filepath.Join(dir, entry.Name())
			name, err := filepath.Rel(module, path)
			if err != nil {
				return err
			}
			if into[filepath.ToSlash(name)], err = readText(path); err != nil {
				return err
			}
		}
		if dir == module {
			return nil
		}
		dir = filepath.Dir(dir)
	}
}

// readText reads a licence and normalises its line ends. A byte order mark is removed.
func readText(path string) (string, error) {
	raw, err := os.ReadFile(path)
	return strings.ReplaceAll(strings.TrimPrefix(string(raw), "\ufeff"), "\r\n", "\n"), err
}

// goItself returns the standard library and the runtime.
//
// Distributions may keep the licence outside GOROOT, so Debian's folder is searched as well. PATENTS is optional,
// LICENSE is required.
func goItself(ctx context.Context, root string) (part, error) {
	out, err := goCommand(ctx, root, nil, "env", "GOROOT", "GOVERSION")
	if err != nil {
		return part{}, err
	}
	goroot, version, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	golang := part{Name: "Go, its runtime and standard library", Version: version, Files: map[string]string{}}
	for _, name := range []string{"LICENSE", "PATENTS"} {
		for _, dir := range []string{goroot, "/usr/share/doc/golang"} {
			text, err := readText(filepath.Join(dir, name))
			if err == nil {
				golang.Files[name] = text
				break
			}
		}
	}
	if golang.Files["LICENSE"] == "" {
		return part{}, fmt.Errorf("%s has no LICENSE", goroot)
	}
	return golang, nil
}

// embeddedParts returns the third-party files that are embedded in the program: those of the page, and PDFium.
//
// The versions are those of package-lock.json and the texts those in node_modules, so “make vendor” must have run.
// PDFium's texts are in this folder, and it has no version here.
func embeddedParts(root string) ([]part, error) {
	var lock struct {
		Packages map[string]struct{ Version string } `json:"packages"`
	}
	raw, err := os.ReadFile(filepath.Join(root, "package-lock.json"))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(raw, &lock); err != nil {
		return nil, fmt.Errorf("read package-lock.json: %w", err)
	}
	var parts []part
	for _, name := range []string{"@fontsource/noto-sans-math", "htmx.org", "temml"} {
		dir := "node_modules/" + name
		if lock.Packages[dir].Version == "" {
			return nil, fmt.Errorf("package-lock.json does not name %s", name)
		}
		text, err := readText(filepath.Join(root, dir, "LICENSE"))
		if err != nil {
			return nil, fmt.Errorf("make vendor first: %w", err)
		}
		parts = append(parts, part{
			Name: name, Version: lock.Packages[dir].Version, Files: map[string]string{"LICENSE": text},
		})
	}
	pdfium, err := readText(filepath.Join(root, "deploy", "release", "pdfium-licences.txt"))
	if err != nil {
		return nil, err
	}
	return append(parts, part{
		Name: "PDFium, and what it is built with", Files: map[string]string{"pdfium-licences.txt": pdfium},
	}), nil
}
