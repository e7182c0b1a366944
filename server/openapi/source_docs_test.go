package openapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"go/ast"
	"go/build"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
)

// source_docs.json holds the comments and constants of the API's types. FOOTNOTE_WRITE_API=1 regenerates it.
func TestSourceCommentsAreCollected(t *testing.T) {
	g := gatherer{
		T: t, packages: map[string]*gathered{}, shared: map[string]string{},
		said: sourceDocs{
			Fields: map[string]string{}, Shared: map[string]string{}, Types: map[string][]string{},
			Codes: map[chat.Code]string{}, Names: map[string]any{},
		},
	}
	_, walk := describe(nil, "") // it fails for names that are not collected yet
	for reached := range walk.reached {
		g.packageOf(reached.PkgPath())
	}
	for reached := range walk.reached {
		if reached.Kind() == reflect.Struct {
			g.gatherFields(reached)
		} else if values := g.valuesOf(sourceName(reached)); len(values) > 0 && !g.openType(reached) {
			g.said.Types[sourceName(reached)] = values
		}
	}
	for name, spec := range g.packages["chat"].codes {
		code := g.packages["chat"].scope.Lookup(name).(*types.Const)
		g.said.Codes[chat.Code(constant.StringVal(code.Val()))] = sentence(spec.Doc, spec.Comment)
	}
	var want bytes.Buffer
	out := json.NewEncoder(&want)
	out.SetEscapeHTML(false)
	out.SetIndent("", "\t")
	if err := out.Encode(g.said); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("FOOTNOTE_WRITE_API") != "" {
		if err := os.WriteFile("source_docs.json", want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(sourceDocsFile, want.Bytes()) {
		t.Error("server/openapi/source_docs.json is out of date: run 'make generate' and commit it")
	}
}

func TestUnknownTagIsRejected(t *testing.T) {
	type asked struct {
		Wrong    string `api:"needed"`
		Form     string `api:"form=none"`
		Constant int    `api:"max=chat.MaxNothing"`
		Word     int    `api:"min=few"`
	}
	of := reflect.TypeFor[asked]()
	for i := range of.NumField() {
		if _, err := readField(of, of.Field(i), "x"); err == nil {
			t.Errorf("%s: no error, want one", of.Field(i).Tag)
		}
	}
}

// gatherer parses the source of the packages whose types the description refers to.
type gatherer struct {
	*testing.T

	packages map[string]*gathered // by the last element of their paths
	shared   map[string]string    // the field with the shared description, by name
	said     sourceDocs
}

// gathered is one package.
type gathered struct {
	scope *types.Scope
	types map[string]*ast.TypeSpec
	docs  map[string]*ast.CommentGroup // of types
	codes map[string]*ast.ValueSpec    // constants of a type Code
}

func (g *gatherer) packageOf(full string) {
	if g.packages[path.Base(full)] != nil {
		return
	}
	dir := filepath.Join("../..", strings.TrimPrefix(full, "github.com/footnote/footnote/"))
	listed, err := build.ImportDir(dir, 0)
	if err != nil {
		g.Fatal(err)
	}
	p, set := &gathered{
		types: map[string]*ast.TypeSpec{}, docs: map[string]*ast.CommentGroup{}, codes: map[string]*ast.ValueSpec{},
	}, token.NewFileSet()
	var files []*ast.File
	for _, name := range listed.GoFiles {
		file, err := parser.ParseFile(set, filepath.Join(dir, name), nil, parser.ParseComments)
		if err != nil {
			g.Fatal(err)
		}
		files = append(files, file)
		for _, decl := range file.Decls {
			if decl, ok := decl.(*ast.GenDecl); ok {
				p.add(decl)
			}
		}
	}
	// Constants are evaluated; declarations of other packages are missing, and constants that need them stay
	// unknown.
	config := types.Config{
		IgnoreFuncBodies: true, FakeImportC: true, Error: func(error) {}, Importer: noPackage{},
	}
	checked, _ := config.Check(full, set, files, nil)
	p.scope = checked.Scope()
	g.packages[path.Base(full)] = p
}

func (p *gathered) add(decl *ast.GenDecl) {
	for _, spec := range decl.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			p.types[spec.Name.Name], p.docs[spec.Name.Name] = spec, cmp.Or(spec.Doc, decl.Doc)
		case *ast.ValueSpec:
			if of, ok := spec.Type.(*ast.Ident); ok && of.Name == "Code" {
				p.codes[spec.Names[0].Name] = spec
			}
		}
	}
}

type noPackage struct{}

func (noPackage) Import(string) (*types.Package, error) { return nil, errors.New("not read") }

// openType reports whether a type's comment marks its set of values as open.
func (g *gatherer) openType(t reflect.Type) bool {
	doc := g.packages[path.Base(t.PkgPath())].docs[t.Name()]
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool { return c.Text == "//api:open" })
}

// valuesOf lists the constants of a named string type, in source order.
func (g *gatherer) valuesOf(name string) (values []string) {
	pkg, name, _ := strings.Cut(name, ".")
	var found []*types.Const
	for _, n := range g.packages[pkg].scope.Names() {
		c, ok := g.packages[pkg].scope.Lookup(n).(*types.Const)
		if !ok || c.Val().Kind() != constant.String {
			continue
		}
		if named, ok := c.Type().(*types.Named); ok && named.Obj().Name() == name {
			found = append(found, c)
		}
	}
	slices.SortFunc(found, func(a, b *types.Const) int { return int(a.Pos() - b.Pos()) })
	for _, c := range found {
		values = append(values, constant.StringVal(c.Val()))
	}
	return values
}

// gatherFields collects the descriptions of a struct's fields, and the constants in their tags.
func (g *gatherer) gatherFields(t reflect.Type) {
	spec := g.packages[path.Base(t.PkgPath())].types[t.Name()]
	if spec == nil {
		g.Fatalf("%v is not declared in its package's files", t)
	}
	for _, f := range spec.Type.(*ast.StructType).Fields.List {
		about := sentence(f.Doc, f.Comment)
		for _, name := range f.Names {
			field, _ := t.FieldByName(name.Name)
			tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if !name.IsExported() || tag == "-" {
				continue
			}
			source := sourceName(t) + "." + name.Name
			options := strings.Split(field.Tag.Get("api"), ",")
			if !slices.Contains(options, "shared") {
				if about != "" {
					g.said.Fields[source] = about
				}
			} else if about == "" || g.shared[tag] != "" {
				g.Errorf("%s can't be the shared one of %q: it has no sentence, or %s is", source, tag, g.shared[tag])
			} else {
				g.said.Shared[tag], g.shared[tag] = about, source
			}
			for _, option := range options {
				_, value, _ := strings.Cut(option, "=")
				for word := range strings.SplitSeq(value, "|") {
					g.gatherConstant(constantName(t, word))
				}
			}
		}
	}
}

// sentence returns the first paragraph of the first comment that ends one with a full stop.
func sentence(comments ...*ast.CommentGroup) string {
	for _, comment := range comments {
		about, _, _ := strings.Cut(comment.Text(), "\n\n")
		if about = strings.Join(strings.Fields(about), " "); strings.HasSuffix(about, ".") {
			return about
		}
	}
	return ""
}

func (g *gatherer) gatherConstant(source string) {
	if source == "" {
		return
	}
	pkg, name, _ := strings.Cut(source, ".")
	if g.packages[pkg] == nil {
		g.Errorf("a tag names %s, whose package has no type that the description reaches", source)
		return
	}
	switch o := g.packages[pkg].scope.Lookup(name).(type) {
	case *types.Const:
		g.said.Names[source] = constant.Val(o.Val())
	case *types.TypeName:
		g.said.Names[source] = g.valuesOf(source)
	default:
		g.Errorf("a tag names %s, which is neither a constant nor a type", source)
	}
}
