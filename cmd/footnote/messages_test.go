package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var namesSetting = regexp.MustCompile(`[A-Z]{2,}_[A-Z_]{2,}|'footnote |--[a-z]{3,}|/srv|footnote\.yaml|data directory`)

// serverCodes are the codes of failures that the user did not cause: 500, 503 and those that end a run.
var serverCodes = []string{"CodeUnavailable", "CodeInternal", "CodeModelFailed", "CodeDiskFull", "CodeTimeout"}

// atStart are the messages that only a terminal shows: the server does not start.
var atStart = []string{
	"sql/postgres/copy.go", "sql/postgres/migrate.go", "sql/postgres/open.go", "sql/sqlite/migrate.go",
	"sql/sqlite/snapshot.go",
}

// A server failure names settings and paths only in its Hint, since users with keys see its Message.
func TestServerErrorMessagesOmitSettings(t *testing.T) {
	found := 0
	for _, dir := range []string{"agent", "chat", "corpus", "server", "sql"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			rel, err := filepath.Rel(root, name)
			if err != nil || slices.Contains(atStart, filepath.ToSlash(rel)) {
				return err
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, name, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				literal, ok := n.(*ast.CompositeLit)
				if !ok {
					return true
				}
				code, message := fieldsOf(literal)
				if !slices.Contains(serverCodes, code) {
					return true
				}
				found++
				if bad := namesSetting.FindString(message); bad != "" {
					t.Errorf("%s: the message names %q: put that sentence into Hint, want nothing",
						files.Position(literal.Pos()), bad)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 20 {
		t.Errorf("only %d messages were looked at, want at least 20", found)
	}
}

// fieldsOf returns a literal's Code, without its package, and all text of its Message.
func fieldsOf(literal *ast.CompositeLit) (code, message string) {
	for _, element := range literal.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		name, ok := pair.Key.(*ast.Ident)
		if !ok {
			continue
		}
		switch name.Name {
		case "Code":
			if selected, ok := pair.Value.(*ast.SelectorExpr); ok {
				code = selected.Sel.Name
			} else if plain, ok := pair.Value.(*ast.Ident); ok {
				code = plain.Name
			}
		case "Message":
			ast.Inspect(pair.Value, func(n ast.Node) bool {
				if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
					if value, err := strconv.Unquote(text.Value); err == nil {
						message += value
					}
				}
				return true
			})
		}
	}
	return code, message
}
