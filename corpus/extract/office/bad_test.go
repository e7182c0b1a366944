package office_test

import (
	"archive/zip"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

const word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

// wordFile writes a Word file with a body and the relationships of its document.
func wordFile(t testing.TB, body, relationships string) corpus.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bad.docx")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	archive := zip.NewWriter(file)
	const office = "http://schemas.openxmlformats.org/"
	for name, content := range map[string]string{
		"[Content_Types].xml": `<Types xmlns="` + office + `package/2006/content-types">
			<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
			<Override PartName="/word/document.xml" ContentType="` + word + `.main+xml"/></Types>`,
		"_rels/.rels": `<Relationships xmlns="` + office + `package/2006/relationships"><Relationship Id="r1"
			Type="` + office + `officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/>
			</Relationships>`,
		"word/_rels/document.xml.rels": `<Relationships xmlns="` + office + `package/2006/relationships">` +
			relationships + `</Relationships>`,
		"word/document.xml": `<w:document xmlns:w="` + office + `wordprocessingml/2006/main"
			xmlns:r="` + office + `officeDocument/2006/relationships" xmlns:a="` + office + `drawingml/2006/main"
			xmlns:wp="` + office + `drawingml/2006/wordprocessingDrawing"
			xmlns:pic="` + office + `drawingml/2006/picture"><w:body>` + body + `</w:body></w:document>`,
	} {
		w, err := archive.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(archive.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
	return corpus.File{Path: path, Filename: "bad.docx", MIME: word}
}

func TestNothingOfAFileActsWhenItIsDrawn(t *testing.T) {
	needOffice(t)
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(server.Close)
	picture := `<w:p><w:r><w:drawing><wp:inline><wp:extent cx="900000" cy="900000"/><wp:docPr id="1" name="p"/>
		<a:graphic>
		<a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic><pic:nvPicPr>
		<pic:cNvPr id="1" name="p"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:link="r2"/></pic:blipFill>
		<pic:spPr/></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>`
	field := `<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>INCLUDETEXT "` + server.URL +
		`/text.docx"</w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>`
	outside := func(id, kind, name string) string {
		return `<Relationship Id="` + id + `" TargetMode="External" Target="` + server.URL + name + `"
			Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/` + kind + `"/>`
	}
	f := wordFile(t, `<w:p><w:r><w:t>The roof is dry.</w:t></w:r></w:p>`+picture+field,
		outside("r2", "image", "/picture.png")+outside("r3", "attachedTemplate", "/template.dotm"))
	to := filepath.Join(t.TempDir(), "drawn.pdf")
	if err := newOffice(t).PDF(t.Context(), f, to); err != nil {
		t.Fatalf("PDF: %v", err)
	}
	if head, err := os.ReadFile(to); err != nil || !strings.HasPrefix(string(head), "%PDF-") {
		t.Errorf("it made %.20q, %v; want a PDF", head, err)
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("the server that the file names was asked %d times, want never", n)
	}
}

func TestWhatCannotBeDrawnSaysSo(t *testing.T) {
	needOffice(t)
	broken := filepath.Join(t.TempDir(), "broken.docx")
	if err := os.WriteFile(broken, []byte("PK\x03\x04 not an archive"), 0o600); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "drawn.pdf")
	err := newOffice(t).PDF(t.Context(), corpus.File{Path: broken, MIME: word}, to)
	if failure, ok := errors.AsType[*chat.Error](
		err,
	); !ok || failure.Code != chat.CodeUndrawable ||
		failure.Message == "" {
		t.Errorf("PDF: %v, want a sentence that it can't be drawn", err)
	}
	if _, err := os.Stat(to); err == nil {
		t.Error("something was written for a file that can't be drawn")
	}
}

func TestDrawingEndsWithItsCaller(t *testing.T) {
	needOffice(t)
	t.Setenv("TMPDIR", t.TempDir())
	rows := strings.Repeat(`<w:p><w:r><w:t>The roof is dry, and the cellar is not.</w:t></w:r></w:p>`, 200_000)
	f := wordFile(t, rows, "")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	err := newOffice(t).PDF(ctx, f, filepath.Join(t.TempDir(), "drawn.pdf"))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("PDF: %v, want the end of the context", err)
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "footnote-office-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v; want nothing", left, err)
	}
}
