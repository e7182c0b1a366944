// Package docstest reads the documents for tests: the commands in them, run in a shell in which the programs that they
// call only say how they were called.
//
// Tests that use it compare each call with what the program really takes, so an example in a document can't name a
// flag or a command that does not exist. Blocks marked sh and code in lines of text are read. Nothing that a document
// says is done: programs are stand-ins, and only small tools of the system run. It needs bash.
package docstest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// Document is one of the documents that people follow. Paths have slashes. The spans and links are in the order of the
// text.
type Document struct {
	Name  string   // its path below the root
	Text  string   // all of it
	Spans []string // what stands in it as code, in a line
	Links []string // where its links lead

	blocks []string // of commands
}

// Read reads the documents below root, but for the history of what was.
//
// They are README.md, CONTRIBUTING.md, and the documents, the decisions and the handbook below docs. CHANGELOG.md names
// what is no longer there, so it is left out. A file that can't be read ends the test.
func Read(t testing.TB, root string) []Document {
	t.Helper()
	var list []Document
	for _, pattern := range []string{
		"README.md", "CONTRIBUTING.md", "docs/*.md", "docs/decisions/*.md", "docs/handbook/*.md",
	} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name, err := filepath.Rel(root, file)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, parse(name, raw))
		}
	}
	return list
}

// parse finds commands, code and links in a document.
func parse(name string, raw []byte) Document {
	d := Document{Name: filepath.ToSlash(name), Text: string(raw)}
	tree := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(raw))
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // it fails only if this does
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.FencedCodeBlock:
			if string(n.Language(raw)) == "sh" {
				d.blocks = append(d.blocks, string(n.Lines().Value(raw)))
			}
		case *ast.CodeSpan:
			var code bytes.Buffer
			for piece := n.FirstChild(); piece != nil; piece = piece.NextSibling() {
				if words, ok := piece.(*ast.Text); ok {
					code.Write(words.Value(raw))
				}
			}
			d.Spans = append(d.Spans, strings.ReplaceAll(code.String(), "\n", " "))
		case *ast.Link:
			d.Links = append(d.Links, string(n.Destination))
		}
		return ast.WalkContinue, nil
	})
	return d
}

// programs are those whose calls are looked at. Others are run as they are.
var programs = []string{"footnote", "make", "docker", "kubectl", "curl", "go", "pg_dump", "npm", "node"}

// command is the form of a span that is a command: settings, then a program with something behind it.
var command = regexp.MustCompile(`^(?:[A-Z_]+=\S+ )*(?:bin/)?(?:` + strings.Join(programs, "|") + `) \S`)

// Call is how a program was called. A call with a path counts by its last part, since bin/footnote is a stand-in as
// well.
type Call struct {
	Program string
	Args    []string
	Set     []string // names of the variables that the commands set for it
	Span    bool     // it stands in a line of text, where what it is about may be left out
}

// String is the call as somebody would type it, without quoting.
func (c Call) String() string { return c.Program + " " + strings.Join(c.Args, " ") }

// Calls runs the document's commands in dir, which Workplace has made, and returns the calls in their order: those of
// the blocks, then those in the text.
//
// A script that fails is an error of the test, and so is one that calls none of the programs. Commands may be run
// again in the same dir.
func (d Document) Calls(t testing.TB, dir string) []Call {
	t.Helper()
	var calls []Call
	for _, script := range d.blocks {
		calls = append(calls, runScript(t, dir, d.Name, script)...)
	}
	for _, span := range d.Spans {
		if !command.MatchString(span) {
			continue
		}
		for _, call := range runScript(t, dir, d.Name, span) {
			call.Span = true
			calls = append(calls, call)
		}
	}
	return calls
}

// Workplace makes a directory in which commands find what lies below root, and in place of programs what records how
// they are called.
//
// Everything below root is linked, but for bin and what begins with a dot, so that commands find files and can't find
// built programs. The directory is removed with the test.
func Workplace(t testing.TB, root string) string {
	t.Helper()
	root, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.Name() == "bin" || strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		if err := os.Symlink(filepath.Join(root, entry.Name()), filepath.Join(dir, entry.Name())); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range programs {
		if err := os.WriteFile(filepath.Join(dir, "bin", name), []byte(recorder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// recorder writes a program's name and arguments, a mark behind each, and the names of its variables. The marks are
// control characters that no argument has: 037 behind each word, 035 behind the words, 036 behind a call.
const recorder = `#!/bin/sh
{
	printf '%s\037' "${0##*/}" "$@"
	printf '\035'
	env | sed -n 's/^\([A-Z_]*\)=.*/\1/p'
	printf '\036'
} >> "$RECORD_CALLS"
`

// runScript runs commands and returns the calls of programs. HOME is the workplace, and PATH has its stand-ins first.
func runScript(t testing.TB, dir, name, script string) []Call {
	t.Helper()
	record := filepath.Join(t.TempDir(), "calls")
	bash := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
	bash.Dir = dir
	bash.Env = []string{"PATH=" + filepath.Join(dir, "bin") + ":/usr/bin:/bin", "HOME=" + dir, "RECORD_CALLS=" + record}
	if out, err := bash.CombinedOutput(); err != nil {
		t.Errorf("%s: %v in\n%s%s", name, err, script, out)
		return nil
	}
	raw, err := os.ReadFile(record)
	if err != nil {
		t.Errorf("%s calls no program that is known:\n%s", name, script)
		return nil
	}
	var calls []Call
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(raw), "\036"), "\036") {
		words, variables, _ := strings.Cut(entry, "\035")
		args := strings.Split(strings.TrimSuffix(words, "\037"), "\037")
		call := Call{Program: args[0], Args: args[1:]}
		for _, variable := range strings.Fields(variables) {
			// These are there for every command.
			if !slices.Contains([]string{"PATH", "HOME", "RECORD_CALLS", "PWD", "OLDPWD", "SHLVL", "_"}, variable) {
				call.Set = append(call.Set, variable)
			}
		}
		calls = append(calls, call)
	}
	if len(calls) == 0 {
		t.Error(fmt.Sprintf("%s: no calls in %q", name, raw))
	}
	return calls
}
