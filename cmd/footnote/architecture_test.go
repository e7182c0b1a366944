package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

const (
	root   = "../.."
	module = "github.com/footnote/footnote/"
)

// allowed maps each package of this module to the packages that it may import, by longest prefix; a trailing "/"
// means everything below. e2e and test files may import everything.
var allowed = map[string][]string{
	"chat":                    {},
	"chat/chattest":           {"chat"},
	"cmd/footnote/eval/judge": {"chat"},
	"agent/llm":               {},
	"agent/llm/":              {"agent/llm", "agent/llm/"},
	"agent/llm/offline":       {"agent/llm"},
	"corpus": {"chat", "corpus/fair", "corpus/align", "corpus/quote", "corpus/search", "corpus/suggest",
		"corpus/support"},
	"corpus/align":   {},
	"corpus/search":  {"corpus/support"},
	"corpus/quote":   {"chat"},
	"corpus/formula": {},
	"corpus/support": {},
	"corpus/suggest": {},
	"corpus/":        {"chat", "corpus", "corpus/", "corpus/fair"},
	"sql/": {"chat", "corpus", "corpus/fair", "chat/grants", "corpus/sources/placestore", "sql/bm25", "sql/cursor",
		"sql/migrations", "sql/pack", "sql/postings", "sql/store"},
	"corpus/sources/folder": {},
	"agent/web":             {"chat", "corpus/webtext"},
	"server/export":         {"chat"},
	"corpus/sources":        {"chat"},
	"corpus/sources/addpage": {"chat", "corpus", "corpus/fair", "corpus/sources", "corpus/sources/request",
		"corpus/sources/webpage"},
	"corpus/sources/follow": {"chat", "corpus", "corpus/fair", "corpus/sources",
		"corpus/sources/placestore"},
	"corpus/webtext":                      {"chat"},
	"corpus/sources/placestore":           {"chat"},
	"corpus/sources/placestore/storetest": {"chat", "corpus/sources/placestore"},
	"corpus/sources/": {"chat", "corpus/sources", "corpus/sources/",
		"corpus/webtext"},
	"agent/mcp": {"chat"},
	"agent":     {"agent/run", "agent/tools", "chat", "corpus"},
	"agent/run": {"agent/cite", "agent/question", "agent/tools", "agent/tools/calc", "chat", "corpus",
		"corpus/quote", "corpus/support", "agent/llm", "agent/mcp", "agent/web"},
	"agent/run/eino": {"agent/run", "agent/llm"},
	"agent/cite":     {"chat", "corpus", "corpus/quote", "corpus/suggest", "corpus/support"},
	"agent/question": {"chat"},
	"agent/tools": {"agent/cite", "agent/tools/calc", "chat", "corpus", "corpus/extract", "corpus/table",
		"agent/llm", "agent/mcp", "agent/schema", "agent/web"},
	"agent/tools/calc":       {},
	"corpus/fair":            {},
	"agent/grid":             {"chat", "corpus", "corpus/fair"},
	"text/locale":            {},
	"agent/standing":         {"chat", "corpus", "corpus/fair", "agent/standing/compare"},
	"agent/standing/compare": {"chat", "corpus/quote"},
	"agent/standing/webhook": {"chat", "corpus/fair"},
	"views":                  {"chat", "corpus", "corpus/extract", "corpus/formula"},
	"static":                 {},
	"docs":                   {},
	"text/english":           {},
	"text/lazy":              {},
	"docs/":                  {},
	"chat/keys":              {"chat"},
	"chat/grants":            {"chat", "chat/keys"},
	"chat/grants/":           {"chat", "chat/grants", "chat/keys"},
	"agent/schema":           {},
	"server": {
		"chat", "corpus", "chat/grants", "agent/grid", "chat/keys", "server/api",
		"server/ask", "server/find",
		"corpus/sources", "corpus/sources/addpage", "corpus/sources/follow", "server/folders", "server/httpio",
		"server/mcpserver", "server/modelchoice", "server/oauth", "server/openapi", "server/page", "server/relay",
		"server/runlog", "server/shares",
	},
	"server/openapi": {"chat", "corpus", "corpus/extract", "server/export", "corpus/sources/placestore", "views",
		"server/api", "server/ask", "server/find", "server/httpio", "server/mcpserver", "server/modelchoice",
		"server/relay", "server/runlog", "server/shares"},
	"server/api": {"chat", "corpus", "corpus/extract", "server/export", "agent/grid", "corpus/sources",
		"corpus/sources/addpage",
		"corpus/sources/follow",
		"corpus/sources/placestore", "views", "server/ask", "server/find", "server/httpio",
		"server/modelchoice", "server/runlog", "server/shares"},
	"server/oauth": {"chat", "chat/grants", "server/httpio"},
	"server/page": {"chat", "corpus", "corpus/extract", "corpus/quote", "chat/grants", "agent/grid", "chat/keys",
		"corpus/sources",
		"corpus/sources/addpage", "corpus/sources/follow",
		"corpus/sources/placestore", "corpus/sources/request", "static", "views",
		"server/ask", "server/find", "server/folders", "server/httpio", "server/modelchoice", "server/runlog",
		"server/shares"},
	"server/folders":     {"chat", "server/httpio"},
	"server/shares":      {"chat", "server/httpio", "server/runlog"},
	"server/modelchoice": {"chat", "server/httpio"},
	"server/mcpserver": {"chat", "corpus", "agent/schema", "server/ask", "server/find", "server/httpio",
		"server/runlog"},
	"server/relay":  {"chat", "server/ask", "server/httpio", "server/runlog"},
	"server/ask":    {"chat", "corpus", "server/httpio"},
	"server/find":   {"chat", "corpus", "server/httpio"},
	"server/runlog": {"chat", "server/httpio"},
	"server/httpio": {"chat", "chat/keys"},

	// The packages of the command: settings imports none of the others, and they import each other only as listed;
	// a package without a line is a client of the server.
	"cmd/footnote/":        {"chat", "cmd/footnote/command", "cmd/footnote/remote"},
	"cmd/footnote/release": {},
	"cmd/footnote/datadir": {"chat"},
	"cmd/footnote/remote":  {"chat"},
	"cmd/footnote/access":  {"chat", "cmd/footnote/datadir", "cmd/footnote/settings", "chat/keys"},
	"cmd/footnote/originals": {"chat", "cmd/footnote/datadir", "cmd/footnote/settings", "corpus", "corpus/blobs",
		"corpus/blobs/s3"},
	"cmd/footnote/command": {"chat", "cmd/footnote/datadir", "cmd/footnote/release", "cmd/footnote/remote",
		"cmd/footnote/settings"},
	"cmd/footnote/answering": {"agent", "agent/run", "chat", "cmd/footnote/settings", "agent/llm", "agent/llm/",
		"server/modelchoice"},
	"cmd/footnote/wire": {"agent", "agent/run", "agent/tools", "chat", "cmd/footnote/access", "cmd/footnote/answering",
		"cmd/footnote/datadir", "cmd/footnote/originals", "cmd/footnote/settings", "corpus", "corpus/", "chat/grants",
		"agent/grid", "chat/keys", "agent/llm", "agent/llm/", "agent/mcp", "corpus/sources", "corpus/sources/follow",
		"corpus/sources/placestore", "corpus/sources/registry",
		"server/api",
		"sql/postgres", "sql/sqlite", "agent/standing", "agent/standing/webhook", "views", "agent/web"},
	"cmd/footnote/documents": {"chat", "cmd/footnote/command", "cmd/footnote/remote", "corpus/extract",
		"corpus/sources/folder"},
	"cmd/footnote/watch": {"chat", "cmd/footnote/access", "cmd/footnote/command", "cmd/footnote/datadir",
		"cmd/footnote/documents", "cmd/footnote/remote", "cmd/footnote/settings", "corpus", "server/api",
		"server/folders", "corpus/sources/folder"},
	"cmd/footnote/serve": {"chat", "cmd/footnote/access", "cmd/footnote/command", "cmd/footnote/datadir",
		"cmd/footnote/release", "cmd/footnote/remote", "cmd/footnote/settings", "cmd/footnote/watch",
		"cmd/footnote/wire", "docs", "server", "server/api", "server/httpio", "server/modelchoice"},
	"cmd/footnote/ask":  {"agent/cite", "chat", "cmd/footnote/command", "cmd/footnote/remote"},
	"cmd/footnote/keys": {"chat", "cmd/footnote/command", "chat/keys"},
	"cmd/footnote/evidence": {"chat", "cmd/footnote/command", "cmd/footnote/datadir", "cmd/footnote/wire", "corpus",
		"corpus/extract", "corpus/extract/worker", "views"},
	"cmd/footnote/backup": {"chat", "cmd/footnote/command", "cmd/footnote/datadir", "cmd/footnote/originals",
		"corpus/blobs", "sql/postgres", "sql/sqlite"},
	"cmd/footnote/doctor": {"agent/run", "chat", "cmd/footnote/access", "cmd/footnote/command", "cmd/footnote/datadir",
		"cmd/footnote/originals", "cmd/footnote/remote", "cmd/footnote/settings", "cmd/footnote/wire", "corpus",
		"corpus/blobs", "corpus/extract/child", "corpus/extract/office", "corpus/extract/worker", "corpus/milvus",
		"agent/llm/anthropic", "agent/llm/nearby", "agent/llm/openai", "agent/llm/textcalls", "sql/sqlite"},
	"cmd/footnote/eval": {"chat", "cmd/footnote/command", "cmd/footnote/datadir", "cmd/footnote/documents",
		"cmd/footnote/eval/judge", "cmd/footnote/remote", "cmd/footnote/wire", "corpus"},
	"cmd/footnote/settings": {"agent/run", "agent/run/eino", "agent/tools", "chat", "corpus/blobs/s3", "corpus/milvus",
		"agent/llm/openai", "agent/mcp", "sql/postgres", "agent/web"},
	// main has the table of commands, and starts the worker processes that parse files.
	"cmd/footnote": {"cmd/footnote/", "corpus/extract/files"},
	"e2e/":         {"*"},

	"sql/librarytest": {"chat", "corpus", "corpus/blobs", "corpus/extract", "sql/sqlite"},
	"sql/runtest":     {"chat", "corpus", "corpus/embed/embedtest", "sql/librarytest", "sql/sqlite"},
}

// owners maps each driver or SDK to the only packages that may import it.
var owners = map[string][]string{
	"github.com/labstack/echo":        {"server/httpio"},
	"github.com/sony/gobreaker":       {"agent/llm/httpllm"},
	"github.com/go-json-experiment":   {"server/httpio"},
	"github.com/kaptinlin/jsonrepair": {"agent/llm/textcalls"},
	"github.com/anthropics":           {"agent/llm/anthropic"},
	"github.com/cloudwego/eino":       {"agent/run/eino"},
	"github.com/openai/openai-go":     {"agent/llm/openai"},
	"modernc.org/sqlite":              {"sql/sqlite"},
	"github.com/jackc/pgx":            {"sql/postgres"},
	"github.com/riverqueue/river":     {"sql/postgres"},
	// Originals need writes and the machine's own keys, a place needs a list and a user's keys: they would share no
	// code.
	"github.com/minio":                {"corpus/blobs/s3", "corpus/sources/bucket"},
	"github.com/milvus-io":            {"corpus/milvus"},
	"github.com/klippa-app/go-pdfium": {"corpus/extract/pdf"},
	"github.com/alecthomas/kong":      {"cmd/footnote"},
	"code.dny.dev/ssrf":               {"agent/web"},
	"github.com/fsnotify":             {"corpus/sources/folder"},
	"github.com/bmatcuk/doublestar":   {"corpus/sources/folder"},
	"github.com/modelcontextprotocol": {"agent/mcp", "server", "e2e/faults", "e2e/hostile"},
}

func TestImportsRespectLayers(t *testing.T) {
	for _, file := range goFiles(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		dir := path.Dir(file)
		for _, imported := range importsOf(t, file) {
			if own, ok := strings.CutPrefix(imported, module); ok && !mayImport(dir, own) {
				t.Errorf("%s imports %s of a higher layer", file, imported)
			}
			for driver, where := range owners {
				if strings.HasPrefix(imported, driver) && !under(dir, where) {
					t.Errorf("%s imports %s, want it only in %s", file, imported, strings.Join(where, ", "))
				}
			}
		}
	}
}

// importsOf returns the import paths of a Go file.
func importsOf(t *testing.T, file string) (paths []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, imported)
	}
	return paths
}

// layers are the top-level folders from the lowest up. A folder imports only those below it, not one beside it. e2e
// is above all.
var layers = [][]string{{"text", "static", "docs"}, {"chat"}, {"corpus"}, {"sql", "agent", "views"}, {"server"},
	{"cmd"}}

func TestFoldersImportOnlyLowerLayers(t *testing.T) {
	height := map[string]int{"deploy": 0, "e2e": len(layers)}
	for i, folders := range layers {
		for _, folder := range folders {
			height[folder] = i
		}
	}
	for _, file := range goFiles(t) {
		folder, _, _ := strings.Cut(file, "/")
		if _, ok := height[folder]; !ok {
			t.Errorf("%s is outside the folders of the layout", file)
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, imported := range importsOf(t, file) {
			own, ok := strings.CutPrefix(imported, module)
			if other, _, _ := strings.Cut(own, "/"); ok && other != folder && height[other] >= height[folder] {
				t.Errorf("%s imports %s, want only lower folders", file, own)
			}
		}
	}
	found, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for _, entry := range found {
		if name := entry.Name(); entry.IsDir() && !strings.HasPrefix(name, ".") && !generated[name] {
			folders = append(folders, name)
		}
	}
	if len(folders) != 12 {
		t.Errorf("the top level has the folders %v, want 12", folders)
	}
}

// generated are top-level folders with generated files.
var generated = map[string]bool{"bin": true, "dist": true, "node_modules": true, "vendor": true, "footnote-data": true}

func under(dir string, places []string) bool {
	for _, place := range places {
		if dir == place || strings.HasPrefix(dir, place+"/") {
			return true
		}
	}
	return false
}

func mayImport(dir, imported string) bool {
	switch imported { // leaf packages, allowed everywhere
	case "text", "text/english", "text/host", "text/lazy", "text/locale", "text/sse":
		return true
	}
	if strings.HasPrefix(imported, "e2e/") { // test programs and the scripted model are not released
		return strings.HasPrefix(dir, "e2e/")
	}
	rules, ok := allowed[dir]
	for prefix := dir; !ok && prefix != "."; {
		prefix = path.Dir(prefix)
		rules, ok = allowed[prefix+"/"]
	}
	for _, rule := range rules {
		if rule == "*" || rule == imported || strings.HasSuffix(rule, "/") && strings.HasPrefix(imported, rule) {
			return true
		}
	}
	return false
}

func TestFilesAreSmall(t *testing.T) {
	const most = 700
	for _, file := range sources(t, ".go", ".templ", ".js", ".mjs", ".css", ".sql") {
		if strings.HasSuffix(file, "_templ.go") {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		if lines := bytes.Count(raw, []byte("\n")); lines > most {
			t.Errorf("%s has %d lines, want at most %d",
				file, lines, most)
		}
	}
}

func TestNoUtilityPackages(t *testing.T) {
	banned := map[string]bool{
		"utils": true, "util": true, "helpers": true, "common": true, "models": true, "types": true, "internal": true,
		"pkg": true, "misc": true,
	}
	for _, file := range goFiles(t) {
		for part := range strings.SplitSeq(path.Dir(file), "/") {
			if banned[part] {
				t.Errorf("%s is in a package named %q, want a specific name", file, part)
			}
		}
	}
}

func goFiles(t *testing.T) []string { return sources(t, ".go") }

func sources(t *testing.T, extensions ...string) []string {
	t.Helper()
	var files []string
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() &&
			(strings.HasPrefix(entry.Name(), ".") && name != "." || entry.Name() == "node_modules" ||
				name == "static/vendor" || name == "footnote-data") {
			return fs.SkipDir
		}
		for _, extension := range extensions {
			if strings.HasSuffix(name, extension) {
				files = append(files, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("got no files with %v below %s, want some", extensions, root)
	}
	return files
}

// TestBinaryHasNoTestDependencies: dependencies of tests and of other programs must not be linked into the
// released binary, not even through a library. A module belongs to the binary if code that is built into it imports
// it. Any other module that our code imports is for tests or other programs. A module replaced by a folder of this
// repository is our own.
func TestBinaryHasNoTestDependencies(t *testing.T) {
	required := requiredModules(t)
	packages, modules := linked(t)
	for name := range packages {
		if strings.HasSuffix(name, "test") || strings.HasPrefix(name, "e2e/") {
			t.Errorf("binary links %s, want no test packages", name)
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
			t.Errorf("binary links %s, which only packages such as %s need; run go mod why -m %s", module, file, module)
		}
	}
}

// linked returns the directories of this module's packages in the binary, and the linked modules of others.
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

// requiredModules returns the modules that go.mod requires, without those replaced by folders of this repository.
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

// inModuleOfItsOwn reports whether a folder above the file, except the root, has a go.mod.
func inModuleOfItsOwn(file string) bool {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if _, err := os.Stat(filepath.Join(root, dir, "go.mod")); err == nil {
			return true
		}
	}
	return false
}

// moduleOf returns the module of a package, by longest prefix of its path, or "".
func moduleOf(modules map[string]bool, imported string) string {
	for ; imported != "."; imported = path.Dir(imported) {
		if modules[imported] {
			return imported
		}
	}
	return ""
}

// mostPlaces is the maximum number of places in the code that a question passes before its answer is stored. If the
// path grows, shorten it in the code, not here.
const mostPlaces = 12

// The code walk in docs/architecture.md is valid: each place is a file, and declares the identifiers named there.
func TestCodeWalkIsValid(t *testing.T) {
	_, section, _ := strings.Cut(rootFile(t, "docs/architecture.md"), "\n## How a question is answered\n")
	section, _, _ = strings.Cut(section, "\n## ")
	places := regexp.MustCompile(`(?m)^\d+\. `).Split(section, -1)[1:] // the introduction precedes the first
	if len(places) == 0 || len(places) > mostPlaces {
		t.Fatalf("the walk has %d places, want 1 to %d", len(places), mostPlaces)
	}
	span := regexp.MustCompile("`([^`]+)`")
	for i, place := range places {
		spans := span.FindAllStringSubmatch(place, -1)
		if len(spans) < 2 {
			t.Errorf("place %d names no file with an identifier: %s", i+1, place)
			continue
		}
		file := spans[0][1]
		declared := declaredIn(t, file)
		for _, name := range spans[1:] {
			if token.IsIdentifier(name[1]) && !declared[name[1]] {
				t.Errorf("place %d: %s lacks %s", i+1, file, name[1])
			}
		}
	}
}

// declaredIn returns the functions, methods and types of a file.
func declaredIn(t *testing.T, file string) map[string]bool {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Error(err)
		return nil
	}
	names := map[string]bool{}
	for _, decl := range parsed.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			names[decl.Name.Name] = true
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok {
					names[spec.Name.Name] = true
				}
			}
		}
	}
	return names
}
