package corpus_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

func TestADeletedDocumentGoesForGood(t *testing.T) {
	sh := openShelf(t, t.TempDir(), nil)
	sh.start(t)
	d := sh.add(t, "a.txt", "The quick zebra jumps.")
	sh.settled(t, d.ID, corpus.StateReady)
	other, _, err := sh.Add(t.Context(), corpus.Upload{User: chat.LocalUser, Namespace: "other", Filename: "b.txt",
		Body: strings.NewReader("The quick zebra jumps.")})
	if err != nil || other.ID == d.ID {
		t.Fatalf("the same bytes in another namespace: %s, %v; want other than %s", other.ID, err, d.ID)
	}
	sh.wait(t)
	if err := sh.Delete(t.Context(), chat.Local, d.ID); err != nil {
		t.Fatal(err)
	}
	if err := sh.Restore(t.Context(), chat.Local, d.ID); err != nil {
		t.Fatal(err)
	}
	if found := titles(sh.search(t, corpus.Query{Text: "zebra"})); len(found) == 0 {
		t.Errorf("a restored document is not found: got %v, want some", len(found))
	}
	gone := func(d corpus.Document) bool {
		if err := sh.Delete(t.Context(), chat.Local, d.ID); err != nil {
			t.Fatal(err)
		}
		if err := sh.PurgeBefore(t.Context(), time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		body, err := sh.Blobs.Open(t.Context(), d.SHA256)
		if err == nil {
			_ = body.Close()
			return false
		}
		return chat.CodeOf(err) == chat.CodeNotFound
	}
	if gone(d) {
		t.Error("the original went while another document has its bytes")
	}
	if !gone(other) {
		t.Error("the original stayed after the last document with its bytes went")
	}
}

func TestTheOriginalOfAReplacedVersionGoes(t *testing.T) {
	sh := openShelf(t, t.TempDir(), nil)
	sh.start(t)
	has := func(d corpus.Document) bool {
		body, err := sh.Blobs.Open(t.Context(), d.SHA256)
		if err == nil {
			_ = body.Close()
		} else if chat.CodeOf(err) != chat.CodeNotFound {
			t.Fatal(err)
		}
		return err == nil
	}
	first := sh.settled(t, sh.add(t, "a.txt", "The first version.").ID, corpus.StateReady)
	shared, _, err := sh.Add(t.Context(), corpus.Upload{
		User: chat.LocalUser, Namespace: "other", Filename: "a.txt", Body: strings.NewReader("The second version."),
	})
	if err != nil {
		t.Fatal(err)
	}
	sh.add(t, "a.txt", "The second version.")
	sh.wait(t)
	if has(first) {
		t.Error("the original of the first version is still there")
	}
	third := sh.add(t, "a.txt", "The third version.")
	sh.wait(t)
	if !has(shared) || !has(third) {
		t.Error("an original went that a document has")
	}
}

func TestAnUploadNeverLosesItsOriginalToAPurge(t *testing.T) {
	sh := openShelf(t, t.TempDir(), nil)
	stop := make(chan struct{})
	purged := make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				purged <- nil
				return
			default:
			}
			if err := sh.PurgeBefore(context.Background(), time.Now().Add(time.Second)); err != nil {
				purged <- err
				return
			}
		}
	}()
	for range 150 {
		d, _, err := sh.Add(t.Context(), corpus.Upload{
			User: chat.LocalUser, Filename: "a.txt", Body: strings.NewReader("the same bytes"),
		})
		if chat.CodeOf(err) == chat.CodeUnavailable && err != nil {
			continue // it says so
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := sh.Blobs.Open(t.Context(), d.SHA256)
		if err != nil {
			t.Fatalf("a document that was taken has no original: %v, want no error", err)
		}
		_ = body.Close()
		if err := sh.Delete(t.Context(), chat.Local, d.ID); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	if err := <-purged; err != nil {
		t.Fatal(err)
	}
}
