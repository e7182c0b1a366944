package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// An answer is asked for, exported in each form, and checked against the library and against the originals; whatever is
// altered is caught.
func TestExportAndVerify(t *testing.T) {
	t.Parallel()
	data := newDir(t)
	originals := folder(t, books[0], books[1], file{"plan.pdf", pdfOf("The plan of the weir is drawn by Ada Brown.")})
	run := func(args ...string) result { return command(t, "", nil, append(args, "--data="+data)...) }
	if got := run("ingest", originals); got.code != 0 {
		t.Fatalf("ingest: %+v, want code 0", got)
	}
	asked := run("ask", "--json", "Who drew the plan of the weir?")
	id := regexp.MustCompile(`"run_id":"([0-9a-f-]{36})"`).FindStringSubmatch(asked.stdout)
	if asked.code != 0 || id == nil {
		t.Fatalf("ask: %+v, want code 0", asked)
	}
	out := t.TempDir()
	for _, format := range []string{"md", "html", "json"} {
		name := filepath.Join(out, "answer."+format)
		if got := run("export", id[1], "--format", format, "-o", name); got.code != 0 {
			t.Fatalf("export: %+v, want code 0", got)
		}
		for _, how := range [][]string{{"verify", name}, {"verify", name, "--documents", originals}} {
			if got := run(how...); got.code != 0 || !strings.Contains(got.stdout, "verified") {
				t.Errorf("%v: %+v; want code 0 and %q in it", how, got, "verified")
			}
		}
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		altered := filepath.Join(out, "altered."+format)
		changed := strings.Replace(string(raw), "Ada Brown", "Eve Brown", 1)
		if changed == string(raw) {
			t.Fatalf("%s has no words to alter", format)
		}
		if err := os.WriteFile(altered, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := run("verify", altered, "--documents", originals); got.code != 1 ||
			!strings.Contains(got.stdout, "✕") {
			t.Errorf("%s, altered: %+v; want code 1 and %q in it", format, got, "✕")
		}
	}
	name := filepath.Join(out, "answer.json")
	s := serve(t, data)
	// as it is, without anything around it
	for file, ok := range map[string]bool{name: true, filepath.Join(out, "altered.json"): false} {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got := s.send("POST", "/evidence/verify", string(raw))
		if got.status != 200 || loose[struct{ OK bool }](t, got.body).OK != ok {
			t.Errorf("%s as a body: %d %s, want 200", file, got.status, got.body)
		}
	}
	s.end(os.Interrupt)
	none := folder(t, books[0])
	missing := run("verify", name, "--documents", none, "--json")
	var report struct {
		OK        bool
		Citations []struct{ State string }
	}
	if err := json.Unmarshal([]byte(missing.stdout), &report); err != nil || missing.code != 1 || report.OK ||
		report.Citations[0].State != "missing" {
		t.Errorf("without the document: %+v, %v; want code 1", missing, err)
	}
	if err := os.WriteFile(filepath.Join(none, "plan.pdf"),
		[]byte(pdfOf("The plan of the weir is drawn by Eve Brown.")), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := run("verify", name, "--documents", none); got.code != 1 || !strings.Contains(got.stdout, "changed") {
		t.Errorf("with another version: %+v; want code 1 and %q in it", got, "changed")
	}
	if got := run("verify", filepath.Join(originals, books[0].name)); got.code != 1 ||
		!strings.Contains(got.stderr, "no evidence") {
		t.Errorf("a file without evidence: %+v; want code 1 and %q in it", got, "no evidence")
	}
	if got := run("export", "feedback"); got.code != 0 || !strings.HasPrefix(got.stdout, "run_id,") {
		t.Errorf("export feedback: %+v; want code 0 and %q at its beginning", got, "run_id,")
	}
}
