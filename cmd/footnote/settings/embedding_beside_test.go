package settings

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTheShippedModelIsFoundByThePlaceOfTheProgram(t *testing.T) {
	for _, tt := range []struct{ name, program, link, model, want string }{
		{"unpacked beside the program", "app/footnote", "", "app/all-MiniLM-L6-v2", "app/all-MiniLM-L6-v2"},
		{"installed by a package", "usr/bin/footnote", "", "usr/share/footnote/all-MiniLM-L6-v2",
			"usr/share/footnote/all-MiniLM-L6-v2"},
		{"a link to the program is in the path", "cellar/1.0/bin/footnote", "bin/footnote",
			"cellar/1.0/share/footnote/all-MiniLM-L6-v2", "cellar/1.0/share/footnote/all-MiniLM-L6-v2"},
		{"beside the link", "cellar/1.0/bin/footnote", "bin/footnote", "share/footnote/all-MiniLM-L6-v2",
			"share/footnote/all-MiniLM-L6-v2"},
		{"another model", "app/footnote", "", "app/bge-small", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			in := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
			for _, file := range []string{tt.program, tt.model + "/model.safetensors"} {
				if err := os.MkdirAll(filepath.Dir(in(file)), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(in(file), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			started, want := in(tt.program), ""
			if tt.link != "" {
				started = in(tt.link)
				if err := os.MkdirAll(filepath.Dir(started), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(in(tt.program), started); err != nil {
					t.Skipf("links can't be made here: %v", err)
				}
			}
			if tt.want != "" {
				want = in(tt.want)
			}
			if got := modelBeside(started); got != want {
				t.Errorf("modelBeside = %q, want %q", got, want)
			}
		})
	}
}

func TestASettingGoesBeforeTheShippedModel(t *testing.T) {
	for _, named := range []string{"/models/bge-small", ""} {
		s := &Settings{embeddingSettings: embeddingSettings{EmbeddingDir: &named}}
		if got := s.EmbeddingFolder(); got != named {
			t.Errorf("FOOTNOTE_EMBEDDING_DIR=%q: the folder is %q", named, got)
		}
	}
}
