package tools

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus"
)

func TestAModelIsNotToldWhereAFileLies(t *testing.T) {
	d := corpus.Document{Meta: map[string]any{
		"author": "Ada", corpus.MetaWatched: map[string]any{"folder": "/home/ada", "path": "a.md"},
	}}
	told, err := json.Marshal(listedDocuments([]corpus.Document{d}))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(told), "/home/ada") || !strings.Contains(string(told), `"author":"Ada"`) {
		t.Errorf("a model is told %s; want the author and no folder", told)
	}
	if len(d.Meta) != 2 {
		t.Errorf("the document has meta %v, want both keys as before", d.Meta)
	}
}
