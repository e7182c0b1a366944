package views

import (
	"strings"
	"testing"

	"github.com/a-h/templ"
)

func TestAPageWithoutScriptsLoadsItselfAgain(t *testing.T) {
	// without: the documents, while they are read in
	for session, want := range map[string]string{"s1": `content="2; url=/c/s1"`, "": `content="2"`} {
		var b strings.Builder
		page := Page{
			Running: true, Session: session, Assets: Assets{Path: func(name string) string { return "/" + name }},
		}
		if err := Layout(page, templ.NopComponent, nil).Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), `http-equiv="refresh" `+want) {
			t.Errorf("the page of session %q does not load itself again by %s", session, want)
		}
	}
}
