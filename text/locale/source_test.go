package locale

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/text/feature/plural"

	"github.com/footnote/footnote/text/english"
)

// sources returns the syntax trees of the program's own files, by path from the module's root.
func sources(t *testing.T) map[string]*ast.File {
	t.Helper()
	files, set := map[string]*ast.File{}, token.NewFileSet()
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && (name == "node_modules" || name == "testdata" || len(name) > 2 && name[0] == '.') {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		path, err = filepath.Rel("../..", path)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(path)], err = parser.ParseFile(
			set, filepath.Join("../..", path), nil, parser.SkipObjectResolution,
		)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 500 {
		t.Fatalf("%d files of Go, want at least 500", len(files))
	}
	return files
}

// literal returns the value of a string constant, including concatenated ones.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, ok := literal(e.X)
		right, too := literal(e.Y)
		return left + right, ok && too && e.Op == token.ADD
	case *ast.ParenExpr:
		return literal(e.X)
	}
	return "", false
}

// called returns the name of a called function: "T", "english.Count".
func called(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			return x.Name + "." + e.Sel.Name
		}
		return "." + e.Sel.Name
	}
	return ""
}

// texts returns the English words of all texts (with "") and of all counted texts (with the singular) in the
// program.
func texts(t *testing.T, files map[string]*ast.File) map[string]string {
	t.Helper()
	found := map[string]string{}
	for path, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			name := called(call.Fun)
			if inside := strings.HasPrefix(path, "text/locale/"); inside {
				name = "locale." + name
			}
			switch {
			case name == "locale.T" && len(call.Args) == 1:
				text, ok := literal(call.Args[0])
				if !ok {
					t.Errorf("%s: text is not a constant", path)
				}
				found[text] = ""
			case name == "locale.N" && len(call.Args) == 2:
				one, ok := literal(call.Args[0])
				other, too := literal(call.Args[1])
				if !ok || !too {
					t.Errorf("%s: text is not a constant", path)
				}
				found[other] = one
			}
			return true
		})
	}
	return found
}

// speaking matches the packages whose messages the page displays; silent those of them that only programs get.
var (
	speaking = regexp.MustCompile(`^(agent|chat|corpus|server|sql)/|` +
		`^cmd/footnote/(answering/(switcher|services)|watch/folder_set)\.go`)
	silent = regexp.MustCompile(`^server/(openapi|mcpserver|relay|export)/|` +
		`^agent/(grid|mcp|schema|web)/|^chat/grants/|` +
		`^sql/\w+/(migrat|upgrade|open|connect|copy|version)|` +
		`test/|^agent/llm/offline/([^t]|t[^o]|top)|_templ\.go$|` +
		`^server/api/(agent|ask|document_events|events|gather|health|query|retriev|runs|search|session)|` +
		`^server/httpio/(strict|value|query|legible)\.go`)
)

// returning lists the files whose functions return messages.
var returning = []string{
	"agent/llm/offline/tools.go", "server/modelchoice/chooser.go", "cmd/footnote/answering/switcher.go",
}

// ofPrograms matches sentences that name a header, a field or a parameter: only API requests can cause them.
var ofPrograms = regexp.MustCompile(`\b[a-z]+_[a-z_]+\b|\bJSON\b|[Tt]he (field|parameter|body|context|header)|` +
	`\b(must be|must hold|agent\.|config\.|multipart|Idempotency-Key|X-API-Key|GET /|` +
	`Milvus|cursor|tool call|arguments)\b`)

// fields contain messages; constructors have one as the first argument, Count a noun as the second.
var (
	fields       = []string{"Message", "Summary", "Detail", "Doing", "Done", "Failure", "Label", "Kind"}
	constructors = []string{"locale.Say", "chat.Invalid", "httpio.Invalid", "httpio.NotFound", "Invalid", "NotFound",
		"refused", "reads", "sources.Retried"}
	onlyHoles = regexp.MustCompile(`^(\{\d+\}|[\s\pP\pS\d])*$`)
)

// messages adds the forms of all messages that other packages display on the page; those of a counted noun have its
// singular.
func messages(files map[string]*ast.File, found map[string]string) {
	add := func(e ast.Expr) {
		form, ok := literal(e)
		if form = strings.TrimSpace(
			form,
		); ok && !onlyHoles.MatchString(form) && !ofPrograms.MatchString(form) &&
			len(form) > 1 {
			found[form] = found[form]
		}
	}
	count := func(e ast.Expr) {
		if noun, ok := literal(e); ok && noun != "" {
			_, several, _ := strings.Cut(english.Count(2, noun), " ")
			found["{n} "+several] = "{n} " + noun
		}
	}
	for path, file := range files {
		if !speaking.MatchString(path) || silent.MatchString(path) {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Noun" {
					count(n.Value)
				} else if ok && slices.Contains(fields, key.Name) {
					add(n.Value)
				}
			case *ast.AssignStmt:
				for i, to := range n.Lhs {
					at, ok := to.(*ast.SelectorExpr)
					if ok && slices.Contains(fields, at.Sel.Name) && len(n.Lhs) == len(n.Rhs) {
						add(n.Rhs[i])
					}
				}
			case *ast.ReturnStmt:
				if slices.Contains(returning, path) && len(n.Results) > 0 {
					add(n.Results[0])
				}
			case *ast.CallExpr:
				switch name := called(n.Fun); {
				case name == "locale.Count" && len(n.Args) == 2:
					count(n.Args[1])
				case name == "label" && len(n.Args) == 5: // of a tool
					add(n.Args[0])
					add(n.Args[1])
					count(n.Args[2])
				case slices.Contains(constructors, name) && len(n.Args) > 0:
					add(n.Args[0])
				}
			}
			return true
		})
	}
}

// Every text must be translated before it is merged. FOOTNOTE_WRITE_TEXTS names a file to write all texts to, for
// translators.
func TestCataloguesAreComplete(t *testing.T) {
	all := sources(t)
	wanted := texts(t, all)
	messages(all, wanted)
	if file := os.Getenv("FOOTNOTE_WRITE_TEXTS"); file != "" {
		writeTexts(t, file, wanted)
	}
	for _, l := range Languages[1:] {
		words, err := readCatalogue(files, l.catalogue)
		if err != nil {
			t.Fatal(err)
		}
		missing := 0
		for english, one := range wanted {
			said, there := words[english]
			switch {
			case !there:
				if missing++; missing < 6 {
					t.Errorf("%s lacks a translation of %q", l.Code, english)
				}
			case one != "" && said.forms == nil || one == "" && said.forms != nil:
				t.Errorf("%s: %q has plural forms: %v, want %v", l.Code, english, said.forms != nil, one != "")
			default:
				checkHoles(t, l, english, said)
			}
		}
		if missing > 5 {
			t.Errorf("%s lacks %d texts in all", l.Code, missing)
		}
		for english := range words {
			if _, used := wanted[english]; !used {
				t.Errorf("%s translates %q, which no source uses", l.Code, english)
			}
		}
	}
}

// checkHoles checks that a translation has only the placeholders of the English text, and all plural forms.
func checkHoles(t *testing.T, l *Language, english string, said translation) {
	t.Helper()
	all := []string{said.one}
	if said.forms != nil {
		all = nil
		for n := range 200 {
			form := plural.Cardinal.MatchPlural(l.tag, n, 0, 0, 0, 0)
			if said.forms[form] == "" && said.forms[plural.Other] == "" {
				t.Errorf("%s: %q lacks the form for %d", l.Code, english, n)
				return
			}
		}
		for _, words := range said.forms {
			all = append(all, words)
		}
	}
	for _, words := range all {
		for _, hole := range regexp.MustCompile(`\{[^}]*\}`).FindAllString(words, -1) {
			if !strings.Contains(english, hole) {
				t.Errorf("%s: %q has the placeholder %s, which %q lacks", l.Code, words, hole, english)
			}
		}
		for _, hole := range holes(english) {
			if !strings.HasPrefix(hole, "{=") && len(hole) > 3 && !strings.Contains(words, hole) {
				t.Errorf("%s: %q lacks the hole %s of %q", l.Code, words, hole, english)
			}
		}
	}
}

// writeTexts writes all texts as a catalogue without translations.
func writeTexts(t *testing.T, file string, wanted map[string]string) {
	t.Helper()
	all := map[string]any{}
	for english, one := range wanted {
		all[english] = ""
		if one != "" {
			all[english] = map[string]string{"one": one, "other": english}
		}
	}
	var b strings.Builder
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	if err := out.Encode(all); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
