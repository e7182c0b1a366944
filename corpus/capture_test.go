package corpus_test

import (
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

func TestACapturedPageIsReadAtOnceAndFoundByItsNamespaceOnly(t *testing.T) {
	t.Parallel()
	l := openShelf(t, t.TempDir(), nil)
	page := corpus.Upload{
		User: chat.LocalUser, Namespace: chat.WebNamespace("r1"), Filename: "example.org-roofs.html",
		Meta: map[string]any{corpus.MetaURL: "https://example.org/roofs"},
		Body: strings.NewReader(
			"<html><title>Roofs</title><body><h1>Roofs</h1><p>Slate lasts a hundred " +
				"years.</p><script>alert(1)</script></body></html>",
		),
	}
	d, err := l.Capture(t.Context(), page)
	if err != nil || d.State != corpus.StateReady || d.Meta[corpus.MetaURL] != "https://example.org/roofs" {
		t.Fatalf("Capture = %+v, %v; want State %v and Meta[corpus.MetaURL] %q",
			d, err, corpus.StateReady, "https://example.org/roofs")
	}
	text, err := l.Text(t.Context(), chat.Local, d.ID)
	if err != nil || !strings.Contains(text, "Slate lasts") || strings.Contains(text, "alert") {
		t.Errorf("Text = %q, %v; want %q in it and no %q in it", text, err, "Slate lasts", "alert")
	}
	for scope, want := range map[string]int{"": 0, d.Namespace: 1, "default": 0} {
		got, err := l.Search(t.Context(), chat.Local.In(scope), corpus.Query{Text: "slate"})
		if err != nil || len(got.Results) != want {
			t.Errorf("Search in %q = %d results, %v; want %d", scope, len(got.Results), err, want)
		}
	}
	page.Body = strings.NewReader("\x00\x01\x02\x03")
	if _, err := l.Capture(t.Context(), page); err == nil || chat.CodeOf(err) != chat.CodeUnsupported {
		t.Errorf("a binary page: %v, want %v", err, chat.CodeUnsupported)
	}
	page.Body = strings.NewReader("<html><body><script>1</script></body></html>")
	if _, err := l.Capture(t.Context(), page); err == nil || chat.CodeOf(err) != chat.CodeUnsupported {
		t.Errorf("a page without text: %v, want %v", err, chat.CodeUnsupported)
	}
	if docs, _, err := l.List(t.Context(), chat.Local.In(d.Namespace), corpus.Filter{}); err != nil || len(docs) != 1 {
		t.Errorf("List = %+v, %v: pages that can't be read are not kept; want 1 doc", docs, err)
	}
	page.Namespace = "default"
	if _, err := l.Capture(t.Context(), page); err == nil {
		t.Error("a page was captured into a namespace that is searched")
	}
}
