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

const root = "../.."

// allowed says which packages of this module a package may import, by the longest prefix that fits; a trailing "/"
// stands for everything below. e2e may import everything; test files may import what they like.
var allowed = map[string][]string{
	"chat":          {"corpus/text"},
	"chat/chattest": {"chat"},
	"eval":          {"chat"},
	"llm":           {},
	"llm/":          {"llm", "llm/"},
	"llm/offline":   {"llm", "corpus/text"},
	"corpus/text":   {},
	"corpus": {"chat", "fair", "corpus/align", "corpus/text", "corpus/quote", "corpus/search", "corpus/suggest",
		"corpus/support"},
	"corpus/align":   {},
	"corpus/search":  {"corpus/text", "corpus/support"},
	"corpus/quote":   {"chat", "corpus/text"},
	"corpus/formula": {"corpus/text"},
	"corpus/support": {"corpus/text"},
	"corpus/suggest": {"corpus/text"},
	"corpus/":        {"chat", "corpus", "corpus/", "fair"},
	"sql/": {"chat", "corpus", "fair", "grants", "corpus/text", "places/placestore", "sql/bm25", "sql/cursor",
		"sql/dbcopy",
		"sql/migrations", "sql/pack", "sql/postings", "sql/store"},
	"watch":                       {},
	"web":                         {"chat"},
	"export":                      {"chat"},
	"places":                      {"chat", "locale"},
	"places/addpage":              {"chat", "corpus", "fair", "places", "places/request", "places/webpage"},
	"places/follow":               {"chat", "corpus", "fair", "places", "places/placestore"},
	"places/placestore":           {"chat"},
	"places/placestore/storetest": {"chat", "places/placestore"},
	"places/":                     {"chat", "locale", "places", "places/", "web"},
	"mcp":                         {"chat"},
	"agent":                       {"agent/run", "agent/tools", "chat", "corpus", "corpus/text"},
	"agent/run": {"agent/ground", "agent/question", "agent/tools", "agent/tools/calc", "chat", "corpus",
		"corpus/text", "corpus/quote", "corpus/support", "llm", "mcp", "web"},
	"agent/run/eino": {"agent/run", "llm"},
	"agent/ground":   {"chat", "corpus", "corpus/text", "corpus/quote", "corpus/suggest", "corpus/support"},
	"agent/question": {"chat", "corpus/text"},
	"agent/tools": {"agent/ground", "agent/tools/calc", "chat", "corpus", "corpus/extract", "corpus/table",
		"corpus/text", "llm", "mcp", "schema", "web"},
	"agent/tools/calc": {"corpus/text"},
	"fair":             {},
	"grid":             {"chat", "corpus", "fair"},
	"locale":           {},
	"standing":         {"chat", "corpus", "fair", "standing/compare"},
	"standing/compare": {"chat", "corpus/quote", "corpus/text"},
	"standing/webhook": {"chat", "fair"},
	"views":            {"chat", "corpus", "corpus/extract", "corpus/formula", "corpus/text", "locale", "views/mathml"},
	"views/mathml":     {},
	"static":           {},
	"docs":             {},
	"english":          {},
	"docs/":            {},
	"keys":             {"chat"},
	"grants":           {"chat", "keys"},
	"grants/":          {"chat", "grants", "keys"},
	"schema":           {},
	"server": {
		"chat", "corpus", "grants", "grid", "keys", "server/agui", "server/aisdk", "server/api",
		"server/ask", "server/find",
		"places", "places/addpage", "places/follow", "server/folders", "server/httpio",
		"server/mcpserver", "server/modelchoice", "server/oauth", "server/openapi", "server/page", "server/runlog",
		"server/shares", "server/v1",
	},
	"server/openapi": {"chat", "corpus", "corpus/extract", "export", "places/placestore", "views", "server/agui",
		"server/aisdk", "server/api",
		"server/ask",
		"server/find", "server/httpio", "server/mcpserver", "server/modelchoice", "server/runlog", "server/shares",
		"server/v1"},
	"server/api": {"chat", "corpus", "corpus/extract", "export", "grid", "locale", "places", "places/addpage",
		"places/follow",
		"places/placestore", "views", "server/ask", "server/find", "server/httpio",
		"server/modelchoice", "server/runlog", "server/shares"},
	"server/oauth": {"chat", "grants", "server/httpio"},
	"server/page": {"chat", "corpus", "corpus/extract", "corpus/quote", "grants", "grid", "keys", "locale", "places",
		"places/addpage", "places/follow",
		"places/placestore", "places/request", "static", "views",
		"server/ask", "server/folders", "server/httpio", "server/modelchoice", "server/runlog", "server/shares"},
	"server/folders":     {"chat", "server/httpio"},
	"server/shares":      {"chat", "server/httpio", "server/runlog"},
	"server/modelchoice": {"chat", "server/httpio"},
	"server/mcpserver":   {"chat", "corpus", "schema", "server/ask", "server/find", "server/httpio", "server/runlog"},
	"server/v1":          {"chat", "server/ask", "server/httpio", "server/runlog"},
	"server/agui":        {"chat", "server/ask", "server/httpio", "server/runlog"},
	"server/aisdk":       {"chat", "server/ask", "server/httpio", "server/runlog"},
	"server/ask":         {"chat", "corpus", "server/httpio", "server/runlog"},
	"server/find":        {"chat", "corpus", "server/httpio"},
	"server/runlog":      {"chat", "server/httpio"},
	"server/httpio":      {"chat", "keys", "locale"},

	// the rooms of the command: settings know none of them, and rooms know each other only where it is said; a room
	// without a line of its own is a client of the server
	"cmd/footnote/":        {"chat", "cmd/footnote/command", "cmd/footnote/remote"},
	"cmd/footnote/release": {},
	"cmd/footnote/datadir": {"chat"},
	"cmd/footnote/remote":  {"chat"},
	"cmd/footnote/access":  {"chat", "cmd/footnote/datadir", "cmd/footnote/settings", "keys"},
	"cmd/footnote/originals": {"chat", "cmd/footnote/datadir", "cmd/footnote/settings", "corpus", "corpus/blobs",
		"corpus/blobs/s3"},
	"cmd/footnote/command": {"chat", "cmd/footnote/datadir", "cmd/footnote/release", "cmd/footnote/remote",
		"cmd/footnote/settings"},
	"cmd/footnote/answering": {"agent", "agent/run", "chat", "cmd/footnote/settings", "llm", "llm/",
		"server/modelchoice"},
	"cmd/footnote/wire": {"agent", "agent/run", "agent/tools", "chat", "cmd/footnote/access", "cmd/footnote/answering",
		"cmd/footnote/datadir", "cmd/footnote/originals", "cmd/footnote/settings", "corpus", "corpus/", "grants",
		"grid", "keys", "llm", "llm/", "mcp", "places", "places/follow", "places/placestore", "places/registry",
		"server/api",
		"sql/postgres", "sql/sqlite", "standing", "standing/webhook", "views", "web"},
	"cmd/footnote/documents": {"chat", "cmd/footnote/command", "cmd/footnote/remote", "corpus/extract", "watch"},
	"cmd/footnote/watch": {"chat", "cmd/footnote/access", "cmd/footnote/command", "cmd/footnote/datadir",
		"cmd/footnote/documents", "cmd/footnote/remote", "cmd/footnote/settings", "corpus", "server/api",
		"server/folders", "watch"},
	"cmd/footnote/serve": {"chat", "cmd/footnote/access", "cmd/footnote/command", "cmd/footnote/datadir",
		"cmd/footnote/release", "cmd/footnote/remote", "cmd/footnote/settings", "cmd/footnote/watch",
		"cmd/footnote/wire", "docs", "server", "server/api", "server/httpio", "server/modelchoice"},
	"cmd/footnote/ask":     {"agent/ground", "chat", "cmd/footnote/command", "cmd/footnote/remote"},
	"cmd/footnote/keys":    {"chat", "cmd/footnote/command", "keys"},
	"cmd/footnote/upgrade": {"cmd/footnote/command", "cmd/footnote/release"},
	"cmd/footnote/evidence": {"chat", "cmd/footnote/command", "cmd/footnote/datadir", "cmd/footnote/wire", "corpus",
		"corpus/extract", "corpus/extract/worker", "views"},
	"cmd/footnote/backup": {"chat", "cmd/footnote/command", "cmd/footnote/datadir", "cmd/footnote/originals",
		"corpus/blobs", "sql/sqlite"},
	"cmd/footnote/migrate": {"chat", "cmd/footnote/command", "cmd/footnote/datadir", "cmd/footnote/originals",
		"cmd/footnote/settings", "corpus", "corpus/blobs", "corpus/milvus", "llm/openai", "sql/dbcopy", "sql/postgres",
		"sql/sqlite"},
	"cmd/footnote/doctor": {"agent/run", "chat", "cmd/footnote/access", "cmd/footnote/command", "cmd/footnote/datadir",
		"cmd/footnote/originals", "cmd/footnote/remote", "cmd/footnote/settings", "cmd/footnote/wire", "corpus",
		"corpus/blobs", "corpus/extract/child", "corpus/extract/office", "corpus/extract/worker", "corpus/milvus",
		"llm/anthropic", "llm/nearby", "llm/openai", "llm/textcalls", "sql/sqlite"},
	"cmd/footnote/eval": {"chat", "cmd/footnote/command", "cmd/footnote/datadir", "cmd/footnote/documents",
		"cmd/footnote/remote", "cmd/footnote/wire", "corpus", "corpus/text", "eval"},
	"cmd/footnote/settings": {"agent/run", "agent/run/eino", "agent/tools", "chat", "corpus/blobs/s3", "corpus/milvus",
		"llm/openai", "mcp", "sql/postgres", "web"},
	// main has the table of commands, and starts the processes that read files
	"cmd/footnote": {"cmd/footnote/", "corpus/extract/files"},
	"e2e/":         {"*"},

	"corpus/librarytest": {"chat", "corpus", "corpus/blobs", "corpus/extract", "sql/sqlite"},
	"agent/run/runtest":  {"chat", "corpus", "corpus/embed/embedtest", "corpus/librarytest", "sql/sqlite"},
}

// owners says which packages alone may import a driver or an SDK.
var owners = map[string][]string{
	"github.com/labstack/echo":        {"server/httpio"},
	"github.com/sony/gobreaker":       {"llm/httpllm"},
	"github.com/kaptinlin/jsonrepair": {"llm/textcalls"},
	"github.com/anthropics":           {"llm/anthropic"},
	"github.com/cloudwego/eino":       {"agent/run/eino"},
	"github.com/eino-contrib":         {"agent/run/eino"},
	"github.com/openai/openai-go":     {"llm/openai"},
	"modernc.org/sqlite":              {"sql/sqlite"},
	"github.com/jackc/pgx":            {"sql/postgres"},
	"github.com/riverqueue/river":     {"sql/postgres"},
	// Originals need writing and the machine's own keys, a place a list and keys of a user: nothing would be shared.
	"github.com/minio":                {"corpus/blobs/s3", "places/bucket"},
	"github.com/milvus-io":            {"corpus/milvus"},
	"github.com/klippa-app/go-pdfium": {"corpus/extract/pdf"},
	"github.com/alecthomas/kong":      {"cmd/footnote"},
	"code.dny.dev/ssrf":               {"web"},
	"github.com/fsnotify":             {"watch"},
	"github.com/bmatcuk/doublestar":   {"watch"},
	"github.com/modelcontextprotocol": {"mcp", "server", "e2e/faults", "e2e/hostile"},
}

func TestImportsOnlyPointDown(t *testing.T) {
	for _, file := range goFiles(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		dir := path.Dir(landing(file))
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if own, ok := strings.CutPrefix(imported, "footnote/"); ok && !mayImport(dir, own) {
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

// landing is where a file belongs: the toys of doors_test.go obey the arrows of the rooms that they are put into.
func landing(file string) string {
	if _, toy, ok := strings.Cut(strings.TrimPrefix(file, "cmd/footnote/testdata/doors/"), "/"); ok &&
		strings.HasPrefix(file, "cmd/footnote/testdata/doors/") {
		return toy
	}
	return file
}

func under(dir string, places []string) bool {
	for _, place := range places {
		if dir == place || strings.HasPrefix(dir, place+"/") {
			return true
		}
	}
	return false
}

func mayImport(dir, imported string) bool {
	if imported == "english" { // a leaf that anything may use
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
