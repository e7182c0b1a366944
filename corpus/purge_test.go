package corpus_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/png"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/embed/embedtest"
	"github.com/footnote/footnote/corpus/extract"
	"github.com/footnote/footnote/corpus/extract/picture"
	"github.com/footnote/footnote/sql/sqlite"
)

// once returns err on the first call of failure, then nil.
type once struct{ err error }

func (o *once) failure() error {
	err := o.err
	o.err = nil
	return err
}

type blobsFailing struct {
	corpus.Blobs
	once
}

func (b *blobsFailing) Delete(ctx context.Context, sha256 string) error {
	if err := b.failure(); err != nil {
		return err
	}
	return b.Blobs.Delete(ctx, sha256)
}

type vectorsFailing struct {
	corpus.Vectors
	once
	asked map[string]int // deletions of vectors by document
}

func (v *vectorsFailing) DeleteVectors(ctx context.Context, id string, keep []string) error {
	v.asked[id]++
	if err := v.failure(); err != nil {
		return err
	}
	return v.Vectors.DeleteVectors(ctx, id, keep)
}

// A failed removal blocks nothing else, and is retried later by any process: for a deleted document, a replaced
// version and a rejected file.
func TestFailedRemovalIsRetried(t *testing.T) {
	errAway := errors.New("away")
	for what, originals := range map[string]int{"vectors": 1, "blobs": 1} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			bodies, vectors := &blobsFailing{}, &vectorsFailing{asked: map[string]int{}}
			sh := openTestLibrary(t, dir, func(c *corpus.Config, db *sqlite.DB) {
				bodies.Blobs, vectors.Vectors = c.Blobs, db.Vectors("hashing")
				c.Blobs, c.Vectors, c.Embedder = bodies, vectors, embedtest.Hashing{}
			})
			var added []corpus.Document
			for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
				d := sh.add(t, name, "The file "+name+".")
				added = append(added, d)
				if err := sh.Delete(t.Context(), chat.Local, d.ID); err != nil {
					t.Fatal(err)
				}
			}
			map[string]*once{"vectors": &vectors.once, "blobs": &bodies.once}[what].err = errAway
			if err := sh.PurgeBefore(t.Context(), time.Now().Add(time.Second)); !errors.Is(err, errAway) {
				t.Errorf("purge = %v, want %v", err, errAway)
			}
			if left := sh.originals(t, added); left != originals {
				t.Errorf("got %d originals left, want %d", left, originals)
			}
			for _, d := range added {
				if vectors.asked[d.ID] == 0 {
					t.Errorf("the vectors of %s were not to go, want them to", d.Filename)
				}
			}
			if err := sh.RemoveAt(t.Context(), time.Now()); err != nil || sh.originals(t, added) != originals {
				t.Errorf("%d originals left at once, %v; want %d, no error", sh.originals(t, added), err, originals)
			}
			if err := sh.RemoveAt(t.Context(), time.Now().Add(20*time.Second)); err != nil {
				t.Errorf("removing later: %v, want no error", err)
			}
			asked := 0
			for _, n := range vectors.asked {
				asked += n
			}
			if left := sh.originals(t, added); left != 0 || asked != len(added)+1 {
				t.Errorf("%d originals left, vectors removed %d times; want 0, %d", left, asked, len(added)+1)
			}
			if due, err := sh.DB.Documents().Removals(t.Context(), time.Now().Add(time.Hour)); err != nil ||
				len(due) > 0 {
				t.Errorf("%v are still to be removed, %v; want none", due, err)
			}
		})
	}
}

// originals returns the number of documents whose original exists.
func (sh *testLibrary) originals(t *testing.T, docs []corpus.Document) (n int) {
	t.Helper()
	for _, d := range docs {
		body, err := sh.Blobs.Open(t.Context(), d.SHA256)
		if err == nil {
			_ = body.Close()
			n++
		} else if chat.CodeOf(err) != chat.CodeNotFound {
			t.Fatal(err)
		}
	}
	return n
}

func TestFailedRemovalOfOriginalIsRetried(t *testing.T) {
	for what, leave := range map[string]func(*testLibrary, func()) (sha256 string){
		"of a replaced version": func(sh *testLibrary, fail func()) string {
			sh.start(t)
			first := sh.settled(t, sh.add(t, "a.txt", "The first version.").ID, corpus.StateReady)
			fail()
			sh.add(t, "a.txt", "The second version.")
			sh.wait(t)
			return first.SHA256
		},
		"of a refused file": func(sh *testLibrary, fail func()) string { // no other job runs, which would retry
			fail()
			sh.DB.Documents().SetLimits(chat.Limits{chat.DiskMiB: 1})
			text := strings.Repeat("0123456789abcde\n", 1<<16+1)
			if _, _, err := sh.Add(t.Context(), corpus.Upload{
				User: "alice", Filename: "a.txt", Body: strings.NewReader(text),
			}); err == nil {
				t.Fatal("a file over the limit was taken, want an error")
			}
			return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
		},
	} {
		t.Run(what, func(t *testing.T) {
			bodies := &blobsFailing{}
			sh := openTestLibrary(t, t.TempDir(), func(c *corpus.Config, _ *sqlite.DB) {
				bodies.Blobs, c.Blobs = c.Blobs, bodies
			})
			left := []corpus.Document{{SHA256: leave(sh, func() { bodies.err = errors.New("away") })}}
			if n := sh.originals(t, left); n != 1 {
				t.Fatalf("%d originals left, want 1: nothing failed", n)
			}
			if err := sh.RemoveAt(t.Context(), time.Now().Add(time.Minute)); err != nil {
				t.Errorf("removing later: %v, want no error", err)
			}
			if n := sh.originals(t, left); n != 0 {
				t.Errorf("%d originals left, want 0", n)
			}
		})
	}
}

// A file that is deleted and added again under another name is ingested as its new type.
func TestDeletedFileReturnsUnderNewName(t *testing.T) {
	sh := openTestLibrary(t, t.TempDir(), nil)
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

func TestDeletedDocumentIsPurged(t *testing.T) {
	sh := openTestLibrary(t, t.TempDir(), nil)
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
		t.Error("original was purged while another document has its bytes")
	}
	if !gone(other) {
		t.Error("original is kept after its last document was deleted")
	}
}

func TestOriginalOfReplacedVersionIsPurged(t *testing.T) {
	sh := openTestLibrary(t, t.TempDir(), nil)
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
		t.Error("original of the first version is kept, want it purged")
	}
	third := sh.add(t, "a.txt", "The third version.")
	sh.wait(t)
	if !has(shared) || !has(third) {
		t.Error("original of a document was purged")
	}
}

func TestPurgeKeepsOriginalOfConcurrentUpload(t *testing.T) {
	sh := openTestLibrary(t, t.TempDir(), nil)
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

// gate blocks readers of text parts until it opens.
type gate struct {
	corpus.Documents
	mu       sync.Mutex
	at, most int // running calls, now and at most
	entered  chan struct{}
	open     chan struct{}
}

func (g *gate) TextPart(ctx context.Context, s chat.Scope, id string, at int) (corpus.TextPart, error) {
	g.mu.Lock()
	g.at++
	g.most = max(g.most, g.at)
	g.mu.Unlock()
	g.entered <- struct{}{}
	<-g.open
	g.mu.Lock()
	g.at--
	g.mu.Unlock()
	return g.Documents.TextPart(ctx, s, id, at)
}

// Concurrent readers of texts leave database connections for others.
func TestTextReadsAreLimited(t *testing.T) {
	const readers = 50
	g := &gate{entered: make(chan struct{}, readers), open: make(chan struct{})}
	sh := openTestLibrary(t, t.TempDir(), func(c *corpus.Config, db *sqlite.DB) {
		g.Documents, c.Documents = c.Documents, g
	})
	d := sh.add(t, "a.txt", "A text.")
	var wg sync.WaitGroup
	for range readers {
		wg.Go(func() {
			if _, err := sh.TextPart(t.Context(), chat.Local, d.ID, 0); err != nil {
				t.Errorf("TextPart: %v, want no error", err)
			}
		})
	}
	<-g.entered
	<-g.entered
	close(g.open)
	wg.Wait()
	if g.most != 2 {
		t.Errorf("%d parts were read at once, want 2", g.most)
	}
}

// zipOf returns a ZIP archive of files: name, content, name, content…
func zipOf(t testing.TB, files ...string) string {
	t.Helper()
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	for file := range slices.Chunk(files, 2) {
		w, err := archive.Create(file[0])
		if err == nil {
			_, err = w.Write([]byte(file[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// paths returns the sorted paths of all documents, with their states.
func (sh *testLibrary) paths(t testing.TB) (paths []string) {
	t.Helper()
	docs, _, err := sh.List(t.Context(), chat.Local, corpus.Filter{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range docs {
		paths = append(paths, d.Path+" "+string(d.State))
	}
	slices.Sort(paths)
	return paths
}

func TestArchiveFilesBecomeDocuments(t *testing.T) {
	sh := openTestLibrary(t, t.TempDir(), nil)
	inner := zipOf(t, "deep.txt", "too deep")
	d := sh.add(t, "case.zip", zipOf(t, "letters/roof.md", "# The roof\n\nIt is dry.\n", "notes.txt", "Nothing else.\n",
		"../../evil.txt", "climbs out\n", "picture.gif", "GIF89a\x01\x02\x00\x00", "inner.zip", inner,
		"__MACOSX/._roof.md", "of another system", ".DS_Store", "likewise"))
	sh.start(t)
	d = sh.settled(t, d.ID, corpus.StateReady)
	sh.wait(t)
	want := []string{
		"case.zip ready", "case.zip/evil.txt ready", "case.zip/inner.zip failed", "case.zip/letters/roof.md ready",
		"case.zip/notes.txt ready",
	}
	if got := sh.paths(t); !slices.Equal(got, want) {
		t.Fatalf("documents = %q, want %q", got, want)
	}
	if got := d.Meta[corpus.MetaLeftOut]; got != "1 file that can't be read" {
		t.Errorf("left out: %v, want the picture", got)
	}
	for _, id := range d.MemberIDs() {
		m, err := sh.Document(t.Context(), chat.Local, id)
		if err != nil || m.MetaText(corpus.MetaParent) != d.ID {
			t.Errorf("%s has the parent %v, %v; want %s", m.Path, m.Meta[corpus.MetaParent], err, d.ID)
		}
	}

	sh.add(t, "case.zip", zipOf(t, "letters/roof.md", "# The roof\n\nIt leaks.\n", "new.txt", "It is new.\n"))
	sh.wait(t)
	want = []string{"case.zip ready", "case.zip/letters/roof.md ready", "case.zip/new.txt ready"}
	if got := sh.paths(t); !slices.Equal(got, want) {
		t.Errorf("after another version: %q, want %q", got, want)
	}

	if err := sh.Delete(t.Context(), chat.Local, d.ID); err != nil {
		t.Fatal(err)
	}
	if got := sh.paths(t); len(got) > 0 {
		t.Errorf("after a deletion: %q, want none", got)
	}
	if err := sh.Restore(t.Context(), chat.Local, d.ID); err != nil {
		t.Fatal(err)
	}
	if got := sh.paths(t); !slices.Equal(got, want) {
		t.Errorf("after it was undone: %q, want %q", got, want)
	}
}

func TestArchiveExpansionIsBounded(t *testing.T) {
	sh := openTestLibrary(t, t.TempDir(), nil)
	d := sh.add(t, "bomb.zip", zipOf(t, "big.txt", strings.Repeat("0", 80<<20), "small.txt", "It is small.\n"))
	sh.start(t)
	d = sh.settled(t, d.ID, corpus.StateReady)
	sh.wait(t)
	if got, want := sh.paths(t), []string{"bomb.zip ready", "bomb.zip/small.txt ready"}; !slices.Equal(got, want) {
		t.Errorf("documents = %q, want %q", got, want)
	}
	if got := d.Meta[corpus.MetaLeftOut]; got != "1 oversized file" {
		t.Errorf("left out: %v, want the large file", got)
	}
}

// pictureOf returns an image without text, in base64.
func pictureOf(t *testing.T, side int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, side, side))); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// mailOf returns an HTML mail with pictures, each with its header and body.
func mailOf(html string, pictures ...[2]string) string {
	mail := "From: a@example.com\r\nSubject: Roof\r\nContent-Type: multipart/related; boundary=b\r\n\r\n" +
		"--b\r\nContent-Type: text/html\r\n\r\n" + html + "\r\n"
	for _, p := range pictures {
		mail += "--b\r\nContent-Type: image/png" + p[0] + "\r\nContent-Transfer-Encoding: base64\r\n\r\n" +
			p[1] + "\r\n"
	}
	return mail + "--b--\r\n"
}

func openPictures(t *testing.T) *testLibrary {
	t.Helper()
	return openTestLibrary(t, t.TempDir(), func(c *corpus.Config, _ *sqlite.DB) {
		c.Extractor = extract.New(nil, picture.Reader{})
	})
}

// A picture that a mail displays in its text, such as a logo, becomes a document only if it contains text.
func TestInlineMailPictureWithoutTextIsSkipped(t *testing.T) {
	sh := openPictures(t)
	d := sh.add(t, "roof.eml", mailOf(`<p>It is dry.</p><img src="cid:logo%401"><img src="cid:line10">`,
		[2]string{"; name=logo.png\r\nContent-ID: <logo@1>", pictureOf(t, 40)},
		[2]string{"\r\nContent-ID: <line10>\r\nContent-Disposition: inline", pictureOf(t, 41)},
		[2]string{"; name=scan.png\r\nContent-ID: <line1>", pictureOf(t, 42)}))
	sh.start(t)
	sh.settled(t, d.ID, corpus.StateReady)
	sh.wait(t)
	if diff := cmp.Diff([]string{"roof.eml ready", "roof.eml/scan.png failed"}, sh.paths(t)); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
}

// A file that was added separately is kept, even if a mail displays the same.
func TestAddedPictureIsKeptWhenMailShowsIt(t *testing.T) {
	sh := openPictures(t)
	raw, err := base64.StdEncoding.DecodeString(pictureOf(t, 40))
	if err != nil {
		t.Fatal(err)
	}
	sh.start(t)
	own := sh.add(t, "own.png", string(raw))
	sh.settled(t, own.ID, corpus.StateFailed)
	d := sh.add(t, "roof.eml", mailOf(`<img src="cid:logo">It is dry.`,
		[2]string{"; name=logo.png\r\nContent-ID: <logo>", pictureOf(t, 40)}))
	sh.settled(t, d.ID, corpus.StateReady)
	sh.wait(t)
	if diff := cmp.Diff([]string{"own.png failed", "roof.eml ready"}, sh.paths(t)); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
}

// A file that was added separately keeps its metadata when a mail contains it, and stays when the mail is deleted.
func TestAddedFileIsKeptWhenMailIsDeleted(t *testing.T) {
	sh := openPictures(t)
	sh.start(t)
	own, _, err := sh.Add(t.Context(), corpus.Upload{
		User: chat.LocalUser, Filename: "own.txt", Body: strings.NewReader("The slates are sound."),
		Meta: map[string]any{"tag": "mine"},
	})
	if err != nil {
		t.Fatal(err)
	}
	sh.settled(t, own.ID, corpus.StateReady)
	d := sh.add(t, "roof.eml", "From: a@example.com\r\nSubject: Roof\r\n"+
		"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nSee the file.\r\n"+
		"--b\r\nContent-Type: text/plain; name=survey.txt\r\nContent-Disposition: attachment\r\n\r\n"+
		"The slates are sound.\r\n--b--\r\n")
	sh.settled(t, d.ID, corpus.StateReady)
	sh.wait(t)
	if diff := cmp.Diff([]string{"own.txt ready", "roof.eml ready"}, sh.paths(t)); diff != "" {
		t.Fatalf("documents (-want +got):\n%s", diff)
	}
	if err := sh.Delete(t.Context(), chat.Local, d.ID); err != nil {
		t.Fatal(err)
	}
	got, err := sh.Document(t.Context(), chat.Local, own.ID)
	if err != nil || got.Meta["tag"] != "mine" {
		t.Errorf("the file that was added: %v, %v; want it with its tag", got.Meta, err)
	}
}
