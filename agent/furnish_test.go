package agent

import (
	"os"
	"path/filepath"
	"sync"
)

// furnish opens a store that the documents are in.
func (h *house) furnish() {
	h.Helper()
	p := &plain
	if h.semantic {
		p = &semantic
	}
	p.once.Do(func() { p.files = furnished(h.tb, h.semantic) })
	for name, body := range p.files {
		if err := os.WriteFile(filepath.Join(filepath.Dir(h.path), name), body, 0o600); err != nil {
			h.Fatal(err)
		}
	}
	h.open()
}

// pattern is the files of a house with its documents, of which every test gets a copy.
type pattern struct {
	once  sync.Once
	files map[string][]byte
}

var plain, semantic pattern

// furnished puts the documents into a store and returns its files.
func furnished(t tb, semantic bool) map[string][]byte {
	t.Helper()
	dir := t.TempDir()
	h := &house{tb: t, path: filepath.Join(dir, "footnote.db"), semantic: semantic}
	h.open()
	h.add("Survey.md", survey)
	h.add("Handbook.md", handbook)
	if err := h.db.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}
