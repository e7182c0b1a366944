package main_test

import (
	"encoding/json"
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

// door is one way to add something to the program: a row of the table "To add something" in CONTRIBUTING.md. Its toy
// is what somebody would add who follows the row: an entry, and files of its own.
type door struct {
	adds    string // as the row says it
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

// Whoever follows a row of CONTRIBUTING's table has added something that is there wherever it has to be. One program is
// built with an entry and files for each row; the module itself stays as it is.
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

// CONTRIBUTING's table says what the toys do: each row names the file with the table and where its own files go, and
// has a toy that does so. No toy is without a row.
func TestEveryRowOfWhatCanBeAddedHasItsToy(t *testing.T) {
	_, section, _ := strings.Cut(read(t, filepath.Join(root, "CONTRIBUTING.md")), "\n### To add something\n")
	section, _, _ = strings.Cut(section, "\n### ")
	section, _, _ = strings.Cut(section, "\n## ")
	span := regexp.MustCompile("`([^`]+)`")
	rest := slices.Clone(doors)
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 4 || strings.HasPrefix(cells[0], "--") || strings.HasPrefix(line, "| to add ") {
			continue
		}
		adds := strings.TrimSpace(cells[0])
		i := slices.IndexFunc(rest, func(d door) bool { return d.adds == adds })
		if i < 0 {
			t.Errorf("to add %s there is a row, but no toy", adds)
			continue
		}
		d := rest[i]
		rest = slices.Delete(rest, i, i+1)
		open := ""
		if found := span.FindStringSubmatch(cells[1]); found != nil {
			open = found[1]
		}
		if open != d.table {
			t.Errorf("to add %s the row opens %q, its toy %q", adds, open, d.table)
		}
		files := d.files(t)
		for _, found := range span.FindAllStringSubmatch(cells[2], -1) {
			before := len(files)
			files = slices.DeleteFunc(files, func(file string) bool {
				fits, err := path.Match(found[1], file)
				return err == nil && fits
			})
			if len(files) == before && strings.Contains(found[1], "/") {
				t.Errorf("to add %s the row writes %s, its toy nothing there", adds, found[1])
			}
		}
		if len(files) > 0 {
			t.Errorf("to add %s the toy writes %q, which the row does not name", adds, files)
		}
	}
	for _, d := range rest {
		t.Errorf("to add %s there is a toy, but no row", d.adds)
	}
	entries, err := os.ReadDir(toys)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !slices.ContainsFunc(doors, func(d door) bool { return d.toy == entry.Name() }) {
			t.Errorf("%s/%s is the toy of no row", toys, entry.Name())
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
