// Package docstest parses the documents for tests and runs their commands in a shell whose stubs record the calls
// of programs.
//
// Tests compare each call with the real program's arguments, so an example in a document can't use a flag or a
// command that does not exist. Blocks marked sh and inline code are parsed. No command has an effect: programs are
// stubs, and only small system tools run. It requires bash.
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

// Document is a document for users. Paths have slashes. The spans and links are in text order.
type Document struct {
	Name  string   // path relative to the root
	Text  string   // all of it
	Spans []string // inline code
	Links []string // targets of its links

	blocks []string // of commands
}

// Read parses the documents below root, except the changelog.
//
// They are README.md, CONTRIBUTING.md, and the documents, the decisions and the handbook below docs. CHANGELOG.md
// refers to removed features, so it is skipped. An unreadable file fails the test.
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

// parse extracts commands, code and links from a document.
func parse(name string, raw []byte) Document {
	d := Document{Name: filepath.ToSlash(name), Text: string(raw)}
	tree := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(raw))
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // it fails only if the callback does
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

// programs are replaced with stubs. Others run unchanged.
var programs = []string{"footnote", "make", "docker", "kubectl", "curl", "go", "pg_dump", "npm", "node"}

// command matches a span that is a command: variables, then a program with arguments.
var command = regexp.MustCompile(`^(?:[A-Z_]+=\S+ )*(?:bin/)?(?:` + strings.Join(programs, "|") + `) \S`)

// Call is a recorded call of a program. A path is reduced to its last segment, since bin/footnote is a stub as
// well.
type Call struct {
	Program string
	Args    []string
	Set     []string // names of the environment variables set for it
	Span    bool     // it is in running text, where arguments may be omitted
}

// String returns the call as a command line, without quoting.
func (c Call) String() string { return c.Program + " " + strings.Join(c.Args, " ") }

// Calls runs the document's commands in dir, which Workplace has created, and returns the calls in order: those of
// the blocks, then those in the text.
//
// A script that fails is an error of the test, and so is one that calls none of the programs. Commands may run
// repeatedly in the same dir.
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

// Workplace creates a directory with links to the files below root, and stubs that record the calls of programs.
//
// Everything below root is linked, except bin and names that start with a dot, so that commands find files but no
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

// recorder is the stub: it writes a program's name, arguments and variable names, with separators. The separators
// are control characters that are in no argument: 037 after each word, 035 after the words, 036 after a call.
const recorder = `#!/bin/sh
{
	printf '%s\037' "${0##*/}" "$@"
	printf '\035'
	env | sed -n 's/^\([A-Z_]*\)=.*/\1/p'
	printf '\036'
} >> "$RECORD_CALLS"
`

// runScript runs commands and returns the recorded calls. HOME is the workplace, and PATH starts with its stubs.
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
		t.Errorf("%s calls no known program:\n%s", name, script)
		return nil
	}
	var calls []Call
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(raw), "\036"), "\036") {
		words, variables, _ := strings.Cut(entry, "\035")
		args := strings.Split(strings.TrimSuffix(words, "\037"), "\037")
		call := Call{Program: args[0], Args: args[1:]}
		for _, variable := range strings.Fields(variables) {
			// These are set for every command.
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
