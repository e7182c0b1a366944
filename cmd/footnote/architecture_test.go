package main

import (
	"bytes"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const (
	root   = "../.."
	module = "github.com/footnote/footnote/"
)

// allowed says which packages of this module a package may import, by the longest prefix that fits; a trailing "/"
// stands for everything below. e2e may import everything; test files may import what they like.
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
		"sql/dbcopy",
		"sql/migrations", "sql/pack", "sql/postings", "sql/store"},
	"corpus/sources/folder": {},
	"agent/web":             {"chat", "corpus/webtext"},
	"server/export":         {"chat"},
	"corpus/sources":        {"chat", "text/locale"},
	"corpus/sources/addpage": {"chat", "corpus", "corpus/fair", "corpus/sources", "corpus/sources/request",
		"corpus/sources/webpage"},
	"corpus/sources/follow":               {"chat", "corpus", "corpus/fair", "corpus/sources", "corpus/sources/placestore"},
	"corpus/webtext":                      {"chat"},
	"corpus/sources/placestore":           {"chat"},
	"corpus/sources/placestore/storetest": {"chat", "corpus/sources/placestore"},
	"corpus/sources/":                     {"chat", "text/locale", "corpus/sources", "corpus/sources/", "corpus/webtext"},
	"agent/mcp":                           {"chat"},
	"agent":                               {"agent/run", "agent/tools", "chat", "corpus"},
	"agent/run": {"agent/ground", "agent/question", "agent/tools", "agent/tools/calc", "chat", "corpus",
		"corpus/quote", "corpus/support", "agent/llm", "agent/mcp", "agent/web"},
	"agent/run/eino": {"agent/run", "agent/llm"},
	"agent/ground":   {"chat", "corpus", "corpus/quote", "corpus/suggest", "corpus/support"},
	"agent/question": {"chat"},
	"agent/tools": {"agent/ground", "agent/tools/calc", "chat", "corpus", "corpus/extract", "corpus/table",
		"agent/llm", "agent/mcp", "agent/schema", "agent/web"},
	"agent/tools/calc":       {},
	"corpus/fair":            {},
	"agent/grid":             {"chat", "corpus", "corpus/fair"},
	"text/locale":            {},
	"agent/standing":         {"chat", "corpus", "corpus/fair", "agent/standing/compare"},
	"agent/standing/compare": {"chat", "corpus/quote"},
	"agent/standing/webhook": {"chat", "corpus/fair"},
	"views":                  {"chat", "corpus", "corpus/extract", "corpus/formula", "text/locale", "views/mathml"},
	"views/mathml":           {},
	"static":                 {},
	"docs":                   {},
	"text/english":           {},
	"docs/":                  {},
	"chat/keys":              {"chat"},
	"chat/grants":            {"chat", "chat/keys"},
	"chat/grants/":           {"chat", "chat/grants", "chat/keys"},
	"agent/schema":           {},
	"server": {
		"chat", "corpus", "chat/grants", "agent/grid", "chat/keys", "server/agui", "server/aisdk", "server/api",
		"server/ask", "server/find",
		"corpus/sources", "corpus/sources/addpage", "corpus/sources/follow", "server/folders", "server/httpio",
		"server/mcpserver", "server/modelchoice", "server/oauth", "server/openapi", "server/page", "server/runlog",
		"server/shares", "server/v1",
	},
	"server/openapi": {"chat", "corpus", "corpus/extract", "server/export", "corpus/sources/placestore", "views", "server/agui",
		"server/aisdk", "server/api",
		"server/ask",
		"server/find", "server/httpio", "server/mcpserver", "server/modelchoice", "server/runlog", "server/shares",
		"server/v1"},
	"server/api": {"chat", "corpus", "corpus/extract", "server/export", "agent/grid", "text/locale", "corpus/sources", "corpus/sources/addpage",
		"corpus/sources/follow",
		"corpus/sources/placestore", "views", "server/ask", "server/find", "server/httpio",
		"server/modelchoice", "server/runlog", "server/shares"},
	"server/oauth": {"chat", "chat/grants", "server/httpio"},
	"server/page": {"chat", "corpus", "corpus/extract", "corpus/quote", "chat/grants", "agent/grid", "chat/keys", "text/locale", "corpus/sources",
		"corpus/sources/addpage", "corpus/sources/follow",
		"corpus/sources/placestore", "corpus/sources/request", "static", "views",
		"server/ask", "server/folders", "server/httpio", "server/modelchoice", "server/runlog", "server/shares"},
	"server/folders":     {"chat", "server/httpio"},
	"server/shares":      {"chat", "server/httpio", "server/runlog"},
	"server/modelchoice": {"chat", "server/httpio"},
	"server/mcpserver":   {"chat", "corpus", "agent/schema", "server/ask", "server/find", "server/httpio", "server/runlog"},
	"server/v1":          {"chat", "server/ask", "server/httpio", "server/runlog"},
	"server/agui":        {"chat", "server/ask", "server/httpio", "server/runlog"},
	"server/aisdk":       {"chat", "server/ask", "server/httpio", "server/runlog"},
	"server/ask":         {"chat", "corpus", "server/httpio", "server/runlog"},
	"server/find":        {"chat", "corpus", "server/httpio"},
	"server/runlog":      {"chat", "server/httpio"},
	"server/httpio":      {"chat", "chat/keys", "text/locale"},

	// the rooms of the command: settings know none of them, and rooms know each other only where it is said; a room
	// without a line of its own is a client of the server
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
		"agent/grid", "chat/keys", "agent/llm", "agent/llm/", "agent/mcp", "corpus/sources", "corpus/sources/follow", "corpus/sources/placestore", "corpus/sources/registry",
		"server/api",
		"sql/postgres", "sql/sqlite", "agent/standing", "agent/standing/webhook", "views", "agent/web"},
	"cmd/footnote/documents": {"chat", "cmd/footnote/command", "cmd/footnote/remote", "corpus/extract", "corpus/sources/folder"},
	"cmd/footnote/watch": {"chat", "cmd/footnote/access", "cmd/footnote/command", "cmd/footnote/datadir",
		"cmd/footnote/documents", "cmd/footnote/remote", "cmd/footnote/settings", "corpus", "server/api",
		"server/folders", "corpus/sources/folder"},
	"cmd/footnote/serve": {"chat", "cmd/footnote/access", "cmd/footnote/command", "cmd/footnote/datadir",
		"cmd/footnote/release", "cmd/footnote/remote", "cmd/footnote/settings", "cmd/footnote/watch",
		"cmd/footnote/wire", "docs", "server", "server/api", "server/httpio", "server/modelchoice"},
	"cmd/footnote/ask":     {"agent/ground", "chat", "cmd/footnote/command", "cmd/footnote/remote"},
	"cmd/footnote/keys":    {"chat", "cmd/footnote/command", "chat/keys"},
	"cmd/footnote/upgrade": {"cmd/footnote/command", "cmd/footnote/release"},
	"cmd/footnote/evidence": {"chat", "cmd/footnote/command", "cmd/footnote/datadir", "cmd/footnote/wire", "corpus",
		"corpus/extract", "corpus/extract/worker", "views"},
	"cmd/footnote/backup": {"chat", "cmd/footnote/command", "cmd/footnote/datadir", "cmd/footnote/originals",
		"corpus/blobs", "sql/sqlite"},
	"cmd/footnote/migrate": {"chat", "cmd/footnote/command", "cmd/footnote/datadir", "cmd/footnote/originals",
		"cmd/footnote/settings", "corpus", "corpus/blobs", "corpus/milvus", "agent/llm/openai", "sql/dbcopy", "sql/postgres",
		"sql/sqlite"},
	"cmd/footnote/doctor": {"agent/run", "chat", "cmd/footnote/access", "cmd/footnote/command", "cmd/footnote/datadir",
		"cmd/footnote/originals", "cmd/footnote/remote", "cmd/footnote/settings", "cmd/footnote/wire", "corpus",
		"corpus/blobs", "corpus/extract/child", "corpus/extract/office", "corpus/extract/worker", "corpus/milvus",
		"agent/llm/anthropic", "agent/llm/nearby", "agent/llm/openai", "agent/llm/textcalls", "sql/sqlite"},
	"cmd/footnote/eval": {"chat", "cmd/footnote/command", "cmd/footnote/datadir", "cmd/footnote/documents",
		"cmd/footnote/eval/judge", "cmd/footnote/remote", "cmd/footnote/wire", "corpus"},
	"cmd/footnote/settings": {"agent/run", "agent/run/eino", "agent/tools", "chat", "corpus/blobs/s3", "corpus/milvus",
		"agent/llm/openai", "agent/mcp", "sql/postgres", "agent/web"},
	// main has the table of commands, and starts the processes that read files
	"cmd/footnote": {"cmd/footnote/", "corpus/extract/files"},
	"e2e/":         {"*"},

	"sql/librarytest": {"chat", "corpus", "corpus/blobs", "corpus/extract", "sql/sqlite"},
	"sql/runtest":     {"chat", "corpus", "corpus/embed/embedtest", "sql/librarytest", "sql/sqlite"},
}

// owners says which packages alone may import a driver or an SDK.
var owners = map[string][]string{
	"github.com/labstack/echo":        {"server/httpio"},
	"github.com/sony/gobreaker":       {"agent/llm/httpllm"},
	"github.com/kaptinlin/jsonrepair": {"agent/llm/textcalls"},
	"github.com/anthropics":           {"agent/llm/anthropic"},
	"github.com/cloudwego/eino":       {"agent/run/eino"},
	"github.com/eino-contrib":         {"agent/run/eino"},
	"github.com/openai/openai-go":     {"agent/llm/openai"},
	"modernc.org/sqlite":              {"sql/sqlite"},
	"github.com/jackc/pgx":            {"sql/postgres"},
	"github.com/riverqueue/river":     {"sql/postgres"},
	// Originals need writing and the machine's own keys, a place a list and keys of a user: nothing would be shared.
	"github.com/minio":                {"corpus/blobs/s3", "corpus/sources/bucket"},
	"github.com/milvus-io":            {"corpus/milvus"},
	"github.com/klippa-app/go-pdfium": {"corpus/extract/pdf"},
	"github.com/alecthomas/kong":      {"cmd/footnote"},
	"code.dny.dev/ssrf":               {"agent/web"},
	"github.com/fsnotify":             {"corpus/sources/folder"},
	"github.com/bmatcuk/doublestar":   {"corpus/sources/folder"},
	"github.com/modelcontextprotocol": {"agent/mcp", "server", "e2e/faults", "e2e/hostile"},
}

func TestImportsOnlyPointDown(t *testing.T) {
	for _, file := range goFiles(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		dir := path.Dir(file)
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if own, ok := strings.CutPrefix(imported, module); ok && !mayImport(dir, own) {
				t.Errorf("%s imports %s: arrows only point down", file, imported)
			}
			for driver, where := range owners {
				if strings.HasPrefix(imported, driver) && !under(dir, where) {
					t.Errorf("%s imports %s, which belongs to %s alone", file, imported, strings.Join(where, ", "))
				}
			}
		}
	}
}

// layers are the top-level folders from the lowest up. A folder imports those below it alone, not one beside it. e2e
// stands above all.
var layers = [][]string{{"text", "static", "docs"}, {"chat"}, {"corpus"}, {"sql", "agent", "views"}, {"server"}, {"cmd"}}

func TestFoldersOnlyImportLowerOnes(t *testing.T) {
	height := map[string]int{"deploy": 0, "e2e": len(layers)}
	for i, folders := range layers {
		for _, folder := range folders {
			height[folder] = i
		}
	}
	for _, file := range goFiles(t) {
		folder, _, _ := strings.Cut(file, "/")
		if _, ok := height[folder]; !ok {
			t.Errorf("%s is in no folder of the layout", file)
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			own, ok := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module)
			if other, _, _ := strings.Cut(own, "/"); ok && other != folder && height[other] >= height[folder] {
				t.Errorf("%s imports %s, which is not below it", file, own)
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

// generated are folders of the top level that are made from the source.
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
	if imported == "text" || imported == "text/english" { // leaves that anything may use
		return true
	}
	if strings.HasPrefix(imported, "e2e/") { // test programs and the scripted model stay out of what users install
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

func TestFilesStaySmall(t *testing.T) {
	const most = 400
	for _, file := range sources(t, ".go", ".templ", ".js", ".mjs", ".css", ".sql") {
		if strings.HasSuffix(file, "_templ.go") {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		if lines := bytes.Count(raw, []byte("\n")); lines > most {
			t.Errorf("%s has %d lines, over %d: which is the second thing it does?, want at most %d",
				file, lines, most, most)
		}
	}
}

func TestNoDrawerPackages(t *testing.T) {
	banned := map[string]bool{
		"utils": true, "util": true, "helpers": true, "common": true, "models": true, "types": true, "internal": true,
		"pkg": true, "misc": true,
	}
	for _, file := range goFiles(t) {
		for part := range strings.SplitSeq(path.Dir(file), "/") {
			if banned[part] {
				t.Errorf("%s lies in a package called %q: name what it is", file, part)
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
		t.Fatalf("no files with %v below %s", extensions, root)
	}
	return files
}
