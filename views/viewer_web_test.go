package views

import (
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

func TestACapturedPageSaysWhereAndWhenItWasRead(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, namespace, url string
		want                 []string
	}{
		{"a page of the web", chat.WebNamespace("r1"), "https://example.org/slate?a=1",
			[]string{
				`href="https://example.org/slate?a=1"`,
				`on <time datetime="2026-11-21T09:30:00Z" data-as="date">21 November 2026, 09:30 UTC</time>`,
				"noreferrer",
			}},
		{"a document that says it is one", "default", "https://example.org/slate", nil},
		{"an address that is none", chat.WebNamespace("r1"), "javascript:alert(1)", nil},
	} {
		var b strings.Builder
		d := corpus.Document{
			Namespace: tt.namespace, Meta: map[string]any{
				corpus.MetaURL: tt.url, corpus.MetaFetchedAt: "2026-11-21T09:30:00Z",
			},
		}
		if err := readOn(d).Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		for _, want := range tt.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: no %s in %s", tt.name, want, b.String())
			}
		}
		if len(tt.want) == 0 && b.Len() > 0 {
			t.Errorf("%s: %s", tt.name, b.String())
		}
	}
}

func TestACitationOfThePageNamesItsSite(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := sourceRow(&Turn{}, chat.Citation{Number: 1, Title: "Slate", SourceURL: "https://example.org/slate"},
		false).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), ">example.org</a>") {
		t.Error(b.String())
	}
}

func TestADocumentIsLinkedToWhereItIsPublished(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://example.org/book": `href="https://example.org/book"`, "javascript:alert(1)": "",
	} {
		var b strings.Builder
		d := corpus.Document{Namespace: "default", Meta: map[string]any{corpus.MetaSourceURL: address}}
		if err := readOn(d).Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("the viewer shows %q for %q, want %q in it", got, address, want)
		}
		b.Reset()
		if err := sourceRow(&Turn{}, chat.Citation{Number: 1, Title: "Book", SourceURL: address},
			false).Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); strings.Contains(got, `data-testid="source-url"`) != (want != "") ||
			strings.Contains(got, "javascript:") {
			t.Errorf("the list of sources shows %q for %q, want no %q in it", got, address, "javascript:")
		}
	}
}
