package corpus_test

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract"
	"github.com/footnote/footnote/corpus/extract/picture"
	"github.com/footnote/footnote/sql/sqlite"
)

// zipOf is a ZIP archive of files: name, content, name, content…
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

// paths are the paths of the documents that are there, in their order, with their states.
func (sh *shelf) paths(t testing.TB) (paths []string) {
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

func TestTheFilesOfAnArchiveAreDocuments(t *testing.T) {
	sh := openShelf(t, t.TempDir(), nil)
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

func TestAnArchiveThatUnpacksToTooMuchIsBounded(t *testing.T) {
	sh := openShelf(t, t.TempDir(), nil)
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

// pictureOf is a picture without words, in base64.
func pictureOf(t *testing.T, side int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, side, side))); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// mailOf is a mail with HTML and pictures: of each its head and its body.
func mailOf(html string, pictures ...[2]string) string {
	mail := "From: a@example.com\r\nSubject: Roof\r\nContent-Type: multipart/related; boundary=b\r\n\r\n" +
		"--b\r\nContent-Type: text/html\r\n\r\n" + html + "\r\n"
	for _, p := range pictures {
		mail += "--b\r\nContent-Type: image/png" + p[0] + "\r\nContent-Transfer-Encoding: base64\r\n\r\n" +
			p[1] + "\r\n"
	}
	return mail + "--b--\r\n"
}

func openPictures(t *testing.T) *shelf {
	t.Helper()
	return openShelf(t, t.TempDir(), func(c *corpus.Config, _ *sqlite.DB) {
		c.Extractor = extract.New(nil, picture.Reader{})
	})
}

// A picture that a mail shows in its text, such as a logo, is no document of its own unless there are words in it.
func TestAPictureInAMailsTextIsNoDocumentWithoutWords(t *testing.T) {
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

// What somebody added stays, whatever mail shows the same.
func TestAPictureThatWasAddedStaysWhenAMailShowsIt(t *testing.T) {
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

// A file that somebody added keeps its meta when it comes in a mail as well, and stays when the mail goes.
func TestAFileThatWasAddedStaysWhenItsMailGoes(t *testing.T) {
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
