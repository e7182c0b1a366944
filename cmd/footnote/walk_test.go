package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mostPlaces is how many places somebody may have to open to follow a question to its stored answer. A way that becomes
// longer is made shorter in the code, not here.
const mostPlaces = 12

// The walk through the code in docs/architecture.md can be taken: each place is a file, and declares what is named of
// it.
func TestAQuestionCanBeFollowedToItsAnswer(t *testing.T) {
	_, section, _ := strings.Cut(rootFile(t, "docs/architecture.md"), "\n## How a question is answered\n")
	section, _, _ = strings.Cut(section, "\n## ")
	places := regexp.MustCompile(`(?m)^\d+\. `).Split(section, -1)[1:] // before the first there is the introduction
	if len(places) == 0 || len(places) > mostPlaces {
		t.Fatalf("the walk has %d places, want 1 to %d", len(places), mostPlaces)
	}
	span := regexp.MustCompile("`([^`]+)`")
	for i, place := range places {
		spans := span.FindAllStringSubmatch(place, -1)
		if len(spans) < 2 {
			t.Errorf("place %d names no file with something to look for: %s", i+1, place)
			continue
		}
		file := spans[0][1]
		declared := declaredIn(t, file)
		for _, name := range spans[1:] {
			if token.IsIdentifier(name[1]) && !declared[name[1]] {
				t.Errorf("place %d: %s declares no %s", i+1, file, name[1])
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
