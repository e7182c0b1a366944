package corpus_test

import (
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// A file that is deleted and added again under another name is read as what it is called now.
func TestADeletedFileComesBackUnderItsNewName(t *testing.T) {
	sh := openShelf(t, t.TempDir(), nil)
	sh.start(t)
	const body = "# Roof\n\nThe slates are *sound*.\n"
	d := sh.settled(t, sh.add(t, "roof.txt", body).ID, corpus.StateReady)
	if err := sh.Delete(t.Context(), chat.Local, d.ID); err != nil {
		t.Fatal(err)
	}
	d = sh.settled(t, sh.add(t, "survey.md", body).ID, corpus.StateReady)
	if d.Filename != "survey.md" || d.Path != "survey.md" || d.MIME != "text/markdown" || d.Title != "Roof" {
		t.Errorf("%s at %s of type %s, titled %q; want survey.md, text/markdown and Roof",
			d.Filename, d.Path, d.MIME, d.Title)
	}
	text, err := sh.Text(t.Context(), chat.Local, d.ID)
	if want := "Roof\n\nThe slates are sound."; err != nil || text != want {
		t.Errorf("text = %q, %v; want %q", text, err, want)
	}
}
