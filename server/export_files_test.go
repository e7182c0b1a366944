package server

import (
	"archive/zip"
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
)

func TestConversationIsExportedAsFiles(t *testing.T) {
	b := newHarness(t)
	run := b.begin("Is the roof sound?")
	path := "/agent/session/" + run.SessionID + "/export"
	if got := b.send("GET", path, ""); got.status != http.StatusConflict {
		t.Errorf("without an answer: %d %s, want 409", got.status, got.body)
	}
	b.append(run.ID, script()...)
	for format, want := range map[string]struct{ kind, name, words string }{
		"":     {"text/markdown", ".md", "[^1]: “sound” Survey\\.pdf"},
		"html": {"text/html", ".html", `id="fn:1"`},
		"bib":  {"application/x-bibtex", ".bib", "title = {{Survey.pdf}}"},
		"csl":  {"application/vnd.citationstyles.csl+json", ".csl.json", `"title": "Survey.pdf"`},
		"ris":  {"application/x-research-info-systems", ".ris", "TI  - Survey.pdf"},
		"docx": {"application/vnd.openxmlformats", ".docx", ""},
	} {
		for _, path := range []string{path, "/agent/runs/" + run.ID + "/export"} {
			if strings.Contains(path, "/runs/") && (format == "" || format == "html") {
				continue // evidence has its own tests
			}
			got := b.send("GET", path+"?format="+format, "")
			name := got.header.Get("Content-Disposition")
			if got.status != 200 || !strings.HasPrefix(got.header.Get("Content-Type"), want.kind) ||
				!strings.HasSuffix(
					strings.TrimSuffix(name, `"`),
					want.name,
				) || !strings.Contains(got.body, want.words) {
				t.Errorf("%s as %q: %d, %v, %q, want %+v:\n%.800s", path, format, got.status,
					got.header.Get("Content-Type"), name, want, got.body)
			}
			if format != "docx" {
				continue
			}
			z, err := zip.NewReader(bytes.NewReader([]byte(got.body)), int64(len(got.body)))
			if err != nil {
				t.Errorf("%s: open Word file: %v", path, err)
				continue
			}
			if _, err := z.Open("word/footnotes.xml"); err != nil {
				t.Errorf("%s: open footnotes: %v", path, err)
			}
		}
	}
	if got := b.send("GET", path+"?format=pdf", ""); got.status != http.StatusBadRequest {
		t.Errorf("an unknown format: %d %s, want 400", got.status, got.body)
	}
	if err := b.store.DeleteSession(t.Context(), chat.Local, run.SessionID); err != nil {
		t.Fatal(err)
	}
	if got := b.send("GET", path, ""); got.status != http.StatusNotFound {
		t.Errorf("a deleted conversation: %d %s, want 404", got.status, got.body)
	}
}
