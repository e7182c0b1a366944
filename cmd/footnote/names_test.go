package main_test

import (
	"slices"
	"strings"
	"testing"
)

// Files of one upload with the same name are all stored. Those without a readable name get distinct names. A later
// upload of the name is a new version.
func TestUploadKeepsFilesWithSameName(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	names := func(files ...file) (names, ids []string) {
		t.Helper()
		r := s.upload(files...)
		for _, d := range decode[uploadAnswer](t, r.body).Documents {
			name := d.Filename
			if d.RenamedFrom != "" {
				name += " from " + d.RenamedFrom
			}
			if state := s.settled(d.ID); state.Filename != d.Filename || state.State != "ready" {
				t.Errorf("%s is %+v; want Filename %v and State %q", d.Filename, state, d.Filename, "ready")
			}
			names, ids = append(names, name), append(ids, d.ID)
		}
		return names, ids
	}
	const one, two, three = "The first file tells of a mill.\n", "The second file tells of a weir.\n",
		"The third file tells of a bridge.\n"
	got, ids := names(file{"same.txt", one}, file{"same.txt", two}, file{"same.txt", one}, file{"same.txt", three},
		file{"same (2).txt", "A fourth file tells of a boat.\n"})
	want := []string{
		"same.txt", "same (2).txt from same.txt", "same.txt", "same (3).txt from same.txt",
		"same (2) (2).txt from same (2).txt",
	}
	if !slices.Equal(got, want) || ids[0] != ids[2] {
		t.Fatalf("the files are %q with ids %q, want %q", got, ids, want)
	}
	for i, body := range []string{one, two, one, three} {
		if text := s.send("GET", "/documents/"+ids[i]+"/text",
			nil).body; strings.TrimSpace(text) != strings.TrimSpace(body) {
			t.Errorf("%s holds %q", got[i], text)
		}
	}
	if got, again := names(file{
		"same.txt", "A new version tells of a tower.\n",
	}); !slices.Equal(got, []string{"same.txt"}) || again[0] != ids[0] {
		t.Errorf("a new version is %q with id %s, want that of the first, %s", got, again[0], ids[0])
	}
	got, _ = names(file{"\xff\xfe.txt", "Words of nobody.\n"}, file{"   .txt", "Words of no one.\n"},
		file{"\u200b\u3164.txt", "Words of none.\n"}, file{".notes.txt", "Words of a hidden file.\n"})
	want = []string{
		"unnamed.txt from \ufffd.txt", "unnamed (2).txt from    .txt", "unnamed (3).txt from \u200b\u3164.txt",
		".notes.txt",
	}
	if !slices.Equal(got, want) {
		t.Errorf("files without a name are %q, want %q", got, want)
	}
	if got, _ = names(file{"\u2060.txt", "Other words of none.\n"}); !slices.Equal(got,
		[]string{"unnamed (4).txt from \u2060.txt"}) {
		t.Errorf("later file = %q, want a new name", got)
	}
}
