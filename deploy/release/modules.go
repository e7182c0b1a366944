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

// platforms are what releases are built for, as GOOS/GOARCH. All six have to be built before packages are made.
var platforms = []string{
	"darwin/amd64", "darwin/arm64", "linux/amd64", "linux/arm64", "windows/amd64", "windows/arm64",
}

// buildTags are those of the Makefile. Other tags would link other modules, and the notices would be of another
// program.
const buildTags = "grpcnotrace,retrynotrace"

// part is a work by others that is linked into the program or embedded in it. Version is empty for what has none, such
// as PDFium's parts.
type part struct {
	Name    string // its module path, npm package or project
	Version string
	Files   map[string]string // texts of its licences, by their names below its folder
}

// licenceFile matches the names of files with licences and notices. Case does not count. A dot or a hyphen may follow,
// with anything behind.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|notice|patents|unlicense)([.-].*)?$`)

// apacheAbove are modules whose licence stands at the root of their repository, above their own folder: Apache 2.0.
// Each was looked at by hand; a new module without a licence is an error until somebody looks.
var apacheAbove = map[string]bool{"github.com/milvus-io/milvus-proto/go-api/v2": true}

//go:embed apache-2.0.txt
var apache string

// listed is what `go list` says of a package. Standard is for packages of Go's own library. Module is nil for these.
type listed struct {
	ImportPath string
	Dir        string
	Standard   bool
	Module     *goModule
}

// Main is this module. Replace without a version is a folder of this repository.
type goModule struct {
	Path, Version, Dir string
	Main               bool
	Replace            *struct{ Path, Version, Dir string }
}

// linkedModules finds every module with a package that is linked into the program on one of the platforms, with the
// licences in the folders of these packages and above. One without a licence is an error. Go itself is the last.
//
// on are platforms as GOOS/GOARCH. Modules that only tests or other platforms need are not among them. It calls the go
// command, which may fetch modules.
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

// addModules adds the modules of packages, but not those of this repository. Licences are added for each package,
// since a part of a module may have one of its own.
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

// sortedParts are the modules by their paths. One without a licence is an error. It fills in the licence of modules in
// apacheAbove.
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

// listPackages are all packages of the program on a platform. C is off, as in releases.
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

// goCommand runs go in dir with more variables, and returns what it prints. The error has what it said went wrong.
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

// addLicences reads the licences of a package: those in its folder and in each above it, up to its module's. Names in
// into are below the module's folder, with slashes. A package that is not in its module's folder is an error.
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
			// Code in a file with such a name, as license.go, is no licence.
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

// readText reads a licence with line ends of one kind. A mark of the order of bytes at its beginning is taken away.
func readText(path string) (string, error) {
	raw, err := os.ReadFile(path)
	return strings.ReplaceAll(strings.TrimPrefix(string(raw), "\ufeff"), "\r\n", "\n"), err
}

// goItself is the standard library and the runtime.
//
// Distributions may keep the licence elsewhere than in GOROOT; Debian's folder is looked at as well. PATENTS may be
// missing, LICENSE may not.
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

// embeddedParts are the files of others that are embedded in the program: what the page uses, and PDFium.
//
// The versions are those of package-lock.json and the texts those in node_modules, so “make vendor” has to have run.
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
	for _, name := range []string{"@fontsource/noto-sans-math", "htmx.org"} {
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
