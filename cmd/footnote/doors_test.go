package main_test

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"footnote/cmd/footnote/testdata/doors/vectors/corpus/toy"
	"footnote/corpus"
	"footnote/corpus/corpustest"
	"footnote/e2e/scripted"
	"footnote/sql/sqlite"
)

const root = "../.."

// toys is where the toys are: a directory for each door, with files at the places where they belong below the root.
const toys = "testdata/doors"

// door is one way to add something to the program, which a package comment describes in a paragraph “To add …”. Its toy
// is what somebody would add who follows that: an entry, and files of its own.
type door struct {
	adds    string // as the paragraph says it
	toy     string // the directory in toys; empty: the entry is all there is to it
	table   string // the file that gets the entry; empty: the files are all there is to it
	after   string // the text in it that the entry stands behind
	entry   string
	imports string // the package that the entry needs
	shows   func(h house)
}

// house is a server of the program with all toys in it, as the test of one door sees it.
type house struct {
	*server
	program string
	model   *modelServer
}

// command runs a command of that program to its end.
func (h house) command(args ...string) result {
	return commandOf(h.t, h.program, "", nil, args...)
}

// has fails the test unless an answer is good and has all words.
func (h house) has(path, accept, language string, words ...string) {
	h.t.Helper()
	r := h.send("GET", path, nil, header{"Accept", accept}, header{"Accept-Language", language})
	for _, word := range words {
		if r.status != 200 || !strings.Contains(r.body, word) {
			h.t.Errorf("GET %s: %d without %q, want 200 and it", path, r.status, word)
		}
	}
}

// Whoever follows a paragraph “To add …” has added something that is there wherever it has to be. One program is built
// with an entry and files for each; the module itself stays as it is.
func TestWhatIsAddedByOneEntryAndOneFileIsThere(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "footnote")
	if err := build(program, "grpcnotrace,retrynotrace", "-overlay="+overlay(t)); err != nil {
		t.Fatal("build footnote with all toys: ", err)
	}
	m := newModel(t, scripted.Config{Script: playing(t)})
	config := filepath.Join(t.TempDir(), "footnote.yaml")
	if err := os.WriteFile(config, []byte("toys: 12\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serveProgram(t, program, "127.0.0.1:0", newDir(t),
		append(m.env(), "FOOTNOTE_CONFIG="+config, "OPENAI_EMBEDDING_MODEL=scripted-embedding")...)
	for _, d := range doors {
		t.Run(strings.TrimPrefix(d.adds, "a "), func(t *testing.T) {
			here := *s
			here.t = t // whose failures those of this door are
			d.shows(house{&here, program, m})
		})
	}
}

// overlay writes what go build is told with -overlay: the files that it is to read instead of others, and those that it
// is to find beside them.
func overlay(t *testing.T) (name string) {
	t.Helper()
	dir, top := t.TempDir(), absolute(t, root)
	var list struct{ Replace map[string]string }
	list.Replace = map[string]string{}
	for i, d := range doors {
		for _, file := range d.files(t) {
			list.Replace[filepath.Join(top, file)] = absolute(t, filepath.Join(toys, d.toy, file))
		}
		if d.table == "" {
			continue
		}
		text := read(t, filepath.Join(root, d.table))
		if n := strings.Count(text, d.after); n != 1 {
			t.Fatalf("%s has %d times %q, want it once: the entry goes behind it", d.table, n, d.after)
		}
		text = strings.Replace(text, d.after, d.after+d.entry, 1)
		if d.imports != "" {
			text = strings.Replace(text, "\nimport (\n", "\nimport (\n\t\""+d.imports+"\"\n", 1)
		}
		changed := filepath.Join(dir, string(rune('a'+i))+filepath.Base(d.table))
		if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		list.Replace[filepath.Join(top, d.table)] = changed
	}
	raw, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	name = filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(name, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func read(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func absolute(t *testing.T, name string) string {
	t.Helper()
	name, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// files are the toy's, by the places where they belong.
func (d door) files(t *testing.T) (files []string) {
	t.Helper()
	if d.toy == "" {
		return nil
	}
	err := fs.WalkDir(os.DirFS(filepath.Join(toys, d.toy)), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// way is a paragraph of a package comment that says how something is added.
type way struct {
	dir   string   // of the package, below the root
	files []string // the paths in it, in their order: patterns, but for that of a table
}

// ways are the paragraphs of all package comments that begin with "To add", by what they add.
func ways(t *testing.T) map[string]way {
	t.Helper()
	found := map[string]way{}
	file := regexp.MustCompile(`[\w*-]+(?:/[\w*-]+)+\.(?:go|md|json|txt)`)
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			if strings.HasPrefix(e.Name(), ".") && name != "." || e.Name() == "node_modules" || e.Name() == "testdata" {
				return fs.SkipDir
			}
			return nil
		case path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil,
			parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		for paragraph := range strings.SplitSeq(parsed.Doc.Text(), "\n\n") {
			text, ok := strings.CutPrefix(strings.ReplaceAll(paragraph, "\n", " "), "To add ")
			if !ok {
				continue
			}
			adds, rest, _ := strings.Cut(text, ", ")
			if before, twice := found[adds]; twice {
				t.Errorf("%s and %s both say how to add %s", before.dir, path.Dir(name), adds)
			}
			found[adds] = way{path.Dir(name), file.FindAllString(rest, -1)}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Package comments say what the toys do: each paragraph that begins with "To add" names the file with the table, which
// is in its package, then where files of its own go, and has a toy that does so. No toy is without a paragraph.
func TestEveryWayToAddSomethingHasItsToy(t *testing.T) {
	rest := ways(t)
	for _, d := range doors {
		w, ok := rest[d.adds]
		if !ok {
			t.Errorf("to add %s there is a toy, but no package comment says how", d.adds)
			continue
		}
		delete(rest, d.adds)
		patterns := w.files
		if d.table != "" {
			if len(patterns) == 0 || patterns[0] != d.table || w.dir != path.Dir(d.table) {
				t.Errorf("to add %s the comment of %s opens %q, its toy %q", d.adds, w.dir, patterns, d.table)
				continue
			}
			patterns = patterns[1:]
		}
		files := d.files(t)
		for _, pattern := range patterns {
			before := len(files)
			files = slices.DeleteFunc(files, func(file string) bool {
				fits, err := path.Match(pattern, file)
				return err == nil && fits
			})
			if len(files) == before {
				t.Errorf("to add %s the comment writes %s, its toy nothing there", d.adds, pattern)
			}
		}
		if len(files) > 0 {
			t.Errorf("to add %s the toy writes %q, which the comment does not name", d.adds, files)
		}
	}
	for adds, w := range rest {
		t.Errorf("to add %s the comment of %s says how, but there is no toy", adds, w.dir)
	}
	entries, err := os.ReadDir(toys)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !slices.ContainsFunc(doors, func(d door) bool { return d.toy == entry.Name() }) {
			t.Errorf("%s/%s is the toy of no door", toys, entry.Name())
		}
	}
}

// A store that keeps what the port's comments promise has to show it to the port's suite, and nothing more.
func TestAToyStorePassesTheSuiteOfItsPort(t *testing.T) {
	t.Parallel()
	corpustest.TestVectors(t, func(t *testing.T) corpus.Vectors {
		db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "toy.db"), discard)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return toy.Over(func(model string) corpus.Vectors { return db.Vectors(model) }, discard)("toy")
	})
}
