package lazy

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestExpressionsAreValid compiles the constant arguments of Regexp in the program. It type-checks each package
// without its imports, which is enough for constants.
func TestExpressionsAreValid(t *testing.T) {
	t.Parallel()
	files := token.NewFileSet()
	packages := map[string][]*ast.File{}
	for _, root := range []string{"agent", "chat", "cmd", "corpus", "server", "text", "views"} {
		err := filepath.WalkDir(filepath.Join("../..", root), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			packages[filepath.Dir(path)] = append(packages[filepath.Dir(path)], file)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	compiled := 0
	for dir, list := range packages {
		info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
		config := types.Config{Error: func(error) {}}
		_, _ = config.Check(dir, files, list, &info) // imports are missing
		for _, file := range list {
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || types.ExprString(call.Fun) != "lazy.Regexp" {
					return true
				}
				if value := info.Types[call.Args[0]].Value; value != nil {
					compiled++
					if _, err := regexp.Compile(constant.StringVal(value)); err != nil {
						t.Errorf("%s: %v", files.Position(call.Pos()), err)
					}
				}
				return true
			})
		}
	}
	if compiled < 100 {
		t.Errorf("%d expressions are compiled, want at least 100", compiled)
	}
}
