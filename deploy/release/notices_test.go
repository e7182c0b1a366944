package main

import (
	"debug/buildinfo"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

const sources = "../.."

func TestTheNoticesNameEveryModuleThatIsLinked(t *testing.T) {
	parts, err := linkedModules(t.Context(), sources, []string{"linux/amd64"})
	if err != nil {
		t.Fatal(err)
	}
	page := string(notices(parts))
	const others = "{{with .Module}}{{if not (or .Main (and .Replace (not .Replace.Version)))}}" +
		"{{.Path}} {{.Version}}{{end}}{{end}}"
	out, err := exec.Command("go", "list", "-deps", "-tags="+buildTags, "-f="+others, sources+"/cmd/footnote").Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := slices.Compact(slices.Sorted(strings.SplitSeq(strings.TrimSpace(string(out)), "\n")))
	if len(linked) < 50 {
		t.Fatalf("%d modules are linked, want some more", len(linked))
	}
	for _, module := range linked {
		if module != "" && (!strings.Contains(page, "\n  "+module+"\n") || !strings.Contains(page, "\n"+module+" (")) {
			t.Errorf("the notices don't name %q, or have no licence of it", module)
		}
	}
	for _, licence := range []string{"2009 The Go Authors", "Apache License", "Permission is hereby granted"} {
		if !strings.Contains(page, licence) {
			t.Errorf("the notices hold no %q", licence)
		}
	}
}

func TestALinkedModuleWithoutALicenceIsNoticed(t *testing.T) {
	dir := t.TempDir()
	inner := filepath.Join(dir, "inner")
	if err := writeFile(filepath.Join(inner, "inner.go"), []byte("package inner\n")); err != nil {
		t.Fatal(err)
	}
	p := listed{Dir: inner, Module: &goModule{Path: "example.org/bare", Version: "v1.0.0", Dir: dir}}
	found := map[string]part{}
	if err := addModules(found, []listed{p}); err != nil {
		t.Fatal(err)
	}
	if parts, err := sortedParts(found); err == nil || !strings.Contains(err.Error(), "example.org/bare is linked") {
		t.Errorf("sortedParts = %v, %v; want an error that names the module", parts, err)
	}
	for _, name := range []string{"LICENSE.md", "inner/NOTICE"} {
		if err := writeFile(filepath.Join(dir, name), []byte("Do as you like.")); err != nil {
			t.Fatal(err)
		}
	}
	if err := addModules(found, []listed{p}); err != nil || len(found["example.org/bare"].Files) != 2 {
		t.Errorf("with licences: %v, %v; want both files", found, err)
	}
	p.Module.Dir = ""
	if err := addModules(found, []listed{p}); err == nil {
		t.Error("a package outside its module: no error")
	}
}

func TestEachTextStandsOnceBelowAllItIsFor(t *testing.T) {
	page := string(notices([]part{
		{Name: "example.org/a", Version: "v1.0.0", Files: map[string]string{"LICENSE": "Do as you\nlike.\n"}},
		{Name: "example.org/b", Version: "v2.0.0", Files: map[string]string{"COPYING": "Do as  you like."}},
	}))
	if strings.Count(page, "Do as") != 1 ||
		!strings.Contains(page, "example.org/a v1.0.0 (LICENSE)\n"+
			"example.org/b v2.0.0 (COPYING)\n\nDo as you\nlike.\n") {
		t.Errorf("the notices are\n%s", page)
	}
}

// The bill lists a program's build info: here that of the test itself.
func TestTheBillOfMaterialsListsWhatIsLinked(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	info.Deps = []*debug.Module{
		{Path: "github.com/A/b", Version: "v1.2.0", Sum: "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="},
		{Path: "example.org/ours", Version: "v1.0.0", Replace: &debug.Module{Path: "./ours"}},
	}
	b := billOf(info, []part{{Name: "htmx.org", Version: "4.0.1"}}, tried)
	var names []string
	for _, c := range b.Components {
		names = append(names, c.PURL)
	}
	want := []string{"pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go"), "pkg:golang/github.com/a/b@v1.2.0",
		"pkg:npm/htmx.org@4.0.1"}
	if !slices.Equal(names, want) || b.Metadata.Timestamp != "2025-11-24T16:00:00Z" {
		t.Errorf("the bill of %s lists %q, want %q", b.Metadata.Timestamp, names, want)
	}
	if got := b.Components[1].Hashes[0].Content; got != strings.Repeat("0", 64) {
		t.Errorf("the hash of a module is %s", got)
	}
}
