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
					t.Errorf("%s: a text that is no constant can't be translated", path)
				}
				found[text] = ""
			case name == "locale.N" && len(call.Args) == 2:
				one, ok := literal(call.Args[0])
				other, too := literal(call.Args[1])
				if !ok || !too {
					t.Errorf("%s: a text that is no constant can't be translated", path)
				}
				found[other] = one
			}
			return true
		})
	}
	return found
}

// speaking matches the packages whose sentences the page displays.
var speaking = regexp.MustCompile(`^(agent|chat|corpus|server|sql)/|` +
	`^cmd/footnote/(answering/(desk|services)|watch/chosen)\.go`)

// silent matches files without displayed sentences: descriptions and responses of APIs, test suites, other
// protocols.
var silent = regexp.MustCompile(`^server/(openapi|mcpserver|relay|export)/|` +
	`^agent/(grid|mcp|schema|web)/|^chat/grants/|` +
	`^sql/\w+/(migrat|upgrade|open|connect|copy|version)|` +
	`test/|^agent/llm/offline/([^t]|t[^o]|top)|_templ\.go$|` +
	`^server/api/(agent|ask|document_events|events|gather|health|query|retriev|runs|search|session)|` +
	`^server/httpio/(strict|value|query|legible)\.go`)

// returning lists the files whose functions return sentences.
var returning = []string{
	"agent/run/spent.go", "agent/llm/offline/tools.go", "server/modelchoice/desk.go", "cmd/footnote/answering/desk.go",
}

// fields contain sentences; said are calls whose first argument is a format string.
var (
	fields = []string{"Message", "Summary", "Detail", "Doing", "Done", "Failure", "Label", "Kind"}
	said   = []string{"chat.Invalid", "httpio.Invalid", "httpio.NotFound", "Invalid", "NotFound", "refusedResult"}
	verbs  = regexp.MustCompile(`%[-+# 0]*[\d.]*[a-zA-Z]`)
)

// gatherer collects the forms of sentences.
type gatherer struct{ forms map[string]bool }

// form returns the words of an expression with placeholders for run-time values; "" if it has no words.
func (g *gatherer) form(e ast.Expr, n *int) string {
	if text, ok := literal(e); ok {
		return text
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return g.form(e.X, n)
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return g.form(e.X, n) + g.form(e.Y, n)
		}
	case *ast.CallExpr:
		switch name := called(e.Fun); {
		case name == "english.Count" && len(e.Args) == 2:
			*n++
			if noun, ok := literal(e.Args[1]); ok {
				g.counted(noun)
			}
			return "{=" + strconv.Itoa(*n) + "}"
		case name == "english.Choose" && len(e.Args) == 3:
			*n++
			return "{" + strconv.Itoa(*n) + "}"
		case name == "fmt.Sprintf" && len(e.Args) > 0:
			if text, ok := literal(e.Args[0]); ok {
				return g.format(text, e.Args[1:], n)
			}
		}
	}
	*n++
	return "{" + strconv.Itoa(*n) + "}"
}

// format replaces the verbs of a fmt format string with placeholders.
func (g *gatherer) format(text string, args []ast.Expr, n *int) string {
	i := -1
	text = strings.ReplaceAll(text, "%%", "\x00")
	return strings.ReplaceAll(verbs.ReplaceAllStringFunc(text, func(verb string) string {
		i++
		if i < len(args) {
			hole := g.form(args[i], n)
			if verb == "%q" {
				return `"` + hole + `"`
			}
			return hole
		}
		*n++
		return "{" + strconv.Itoa(*n) + "}"
	}), "\x00", "%")
}

// counted adds the forms that english.Count produces for a noun.
func (g *gatherer) counted(noun string) {
	_, several, _ := strings.Cut(english.Count(2, noun), " ")
	g.forms["{n} "+noun+"\t{n} "+several] = true
}

// ofPrograms matches sentences that name a header, a field or a parameter: only API requests can cause them.
var ofPrograms = regexp.MustCompile(`\b[a-z]+_[a-z_]+\b|\bJSON\b|[Tt]he (field|parameter|body|context|header)|` +
	`\b(must be|must hold|agent\.|config\.|multipart|Idempotency-Key|X-API-Key|GET /|` +
	`Milvus|cursor|tool call|arguments)\b`)

var onlyHoles = regexp.MustCompile(`^(\{=?\d+\}|[\s\pP\pS\d])*$`)

// add adds the form of a sentence.
func (g *gatherer) add(e ast.Expr) {
	n := 0
	g.addForm(g.form(e, &n))
}

// addForm adds a form, unless it has only placeholders.
func (g *gatherer) addForm(form string) {
	form = strings.TrimSpace(form)
	if !onlyHoles.MatchString(form) && !ofPrograms.MatchString(form) && len(form) > 1 {
		g.forms[form] = true
	}
}

// counts reports whether an expression calls english.Count.
func counts(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && called(call.Fun) == "english.Count" {
			found = true
		}
		return !found
	})
	return found
}

// gather returns the forms of all sentences that other packages display on the page, in order.
func gather(files map[string]*ast.File) []string {
	g := &gatherer{forms: map[string]bool{}}
	for path, file := range files {
		if !speaking.MatchString(path) || silent.MatchString(path) {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				key, ok := n.Key.(*ast.Ident)
				switch {
				case ok && slices.Contains(fields, key.Name):
					g.add(n.Value)
				case ok && key.Name == "Noun":
					if noun, ok := literal(n.Value); ok {
						g.counted(noun)
					}
				}
			case *ast.AssignStmt:
				for i, to := range n.Lhs {
					at, ok := to.(*ast.SelectorExpr)
					if ok && slices.Contains(fields, at.Sel.Name) && len(n.Lhs) == len(n.Rhs) {
						g.add(n.Rhs[i])
					}
				}
			case *ast.ReturnStmt:
				if slices.Contains(returning, path) && len(n.Results) > 0 {
					g.add(n.Results[0])
				}
			case *ast.BinaryExpr:
				if n.Op == token.ADD && counts(n) {
					g.add(n)
					return false
				}
			case *ast.CallExpr:
				name := called(n.Fun)
				switch {
				case name == "fmt.Sprintf" && slices.ContainsFunc(n.Args, counts):
					g.add(n)
					return false
				case slices.Contains(said, name) && len(n.Args) > 0:
					if text, ok := literal(n.Args[0]); ok {
						holes := 0
						g.addForm(g.format(text, n.Args[1:], &holes))
					} else {
						g.add(n.Args[0])
					}
				}
			}
			return true
		})
	}
	forms := make([]string, 0, len(g.forms))
	for form := range g.forms {
		if form != "" {
			forms = append(forms, form)
		}
	}
	slices.Sort(forms)
	return forms
}

// The page translates sentences of other packages with the list that `make generate` writes.
func TestThePhrasesAreThoseOfTheProgram(t *testing.T) {
	want := strings.ReplaceAll(strings.Join(gather(sources(t)), "\x00"), "\n", `\n`)
	want = strings.ReplaceAll(want, "\x00", "\n") + "\n"
	if os.Getenv("FOOTNOTE_WRITE_PHRASES") != "" {
		if err := os.WriteFile("phrases.txt", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("phrases.txt")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("phrases.txt is not what the program says: run `make generate`, and translate what is new")
	}
}

// Every text must be translated before it is merged. FOOTNOTE_WRITE_TEXTS names a file to write all texts to, for
// translators.
func TestEveryTextIsInEveryLanguageAndNoOther(t *testing.T) {
	wanted := texts(t, sources(t))
	for line := range strings.Lines(phraseList) {
		one, more, counts := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if counts {
			wanted[more] = one
		} else if wanted[one] == "" {
			wanted[one] = ""
		}
	}
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
					t.Errorf("%s has no words for %q", l.Code, english)
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
				t.Errorf("%s has words for %q, which nobody says", l.Code, english)
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
				t.Errorf("%s: %q has no form for %d", l.Code, english, n)
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
				t.Errorf("%s: %q has the hole %s, which %q has not", l.Code, words, hole, english)
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
