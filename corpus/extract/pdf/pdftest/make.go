// Package pdftest creates small PDFs for tests, including malicious ones.
package pdftest

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"crypto/md5"
	"crypto/rc4"
	"encoding/hex"
	"fmt"
	"hash/adler32"
	"image/color"
	"image/jpeg"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus"
)

// Sheet describes a page.
type Sheet struct {
	Content string
	Rotate  int
	Crop    string // "l b r t"
	Box     string // "l b r t"; empty: "0 0 600 800"
	Fonts   string // further ones, such as "/U 3 0 R "
	Picture []byte // a JPEG that fills the page, below its content
	Extra   string // entries of the page's dictionary, such as "/Annots [3 0 R]"
}

// Maker encodes a PDF object by object.
type Maker struct {
	objects []string // object n is objects[n-1]
	Trailer string
}

// Add adds an object and returns its number.
func (m *Maker) Add(format string, args ...any) int {
	m.objects = append(m.objects, fmt.Sprintf(format, args...))
	return len(m.objects)
}

// Stream adds a stream with a dictionary and returns its number.
func (m *Maker) Stream(dict string, data []byte) int {
	return m.Add("<<%s /Length %d>>\nstream\n%s\nendstream", dict, len(data), data)
}

// Bytes returns the file with the object root as its catalogue.
func (m *Maker) Bytes(root int) []byte {
	var b bytes.Buffer
	// The second line's bytes above 127 mark the file as binary (ISO 32000-1 §7.5.2).
	b.WriteString("%PDF-1.6\n%\xe2\xe3\xcf\xd3\n")
	offsets := make([]int, len(m.objects))
	for i, o := range m.objects {
		offsets[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	at := b.Len()
	// Each entry of the table has exactly 20 bytes: an offset of ten digits, a generation of five and a two-byte
	// line end (§7.5.4). Object 0 is always free.
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(m.objects)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(
		&b, "trailer\n<</Size %d /Root %d 0 R %s>>\nstartxref\n%d\n%%%%EOF\n", len(m.objects)+1, root, m.Trailer, at,
	)
	return b.Bytes()
}

// Fonts holds the resources of a page: Helvetica as F, bold as B, Courier as C.
const Fonts = "<</Font <</F <</Type /Font /Subtype /Type1 /BaseFont /Helvetica>> /B <</Type /Font /Subtype /Type1 " +
	"/BaseFont /Helvetica-Bold>> " +
	"/C <</Type /Font /Subtype /Type1 /BaseFont /Courier>> >> >>"

// Document returns a PDF of pages of about A4. extra is added to the catalogue.
func Document(extra string, sheets ...Sheet) []byte {
	var m Maker
	return m.Document(extra, sheets...)
}

// Document adds the pages and returns the whole file; see the function Document.
func (m *Maker) Document(extra string, sheets ...Sheet) []byte {
	pictures := make([]string, len(sheets))
	for i, s := range sheets {
		if s.Picture != nil {
			pictures[i] = m.addPicture(s.Picture)
		}
	}
	// Each page adds its content and itself, so that the number of their parent is known before it is added.
	parent := len(m.objects) + 2*len(sheets) + 1
	var kids []string
	for i, s := range sheets {
		if pictures[i] != "" {
			var left, bottom, right, top int // in whole points
			_, _ = fmt.Sscan(cmp.Or(s.Box, "0 0 600 800"), &left, &bottom, &right, &top)
			s.Content = fmt.Sprintf("q %d 0 0 %d %d %d cm /P Do Q\n", right-left, top-bottom, left, bottom) + s.Content
		}
		content := m.Stream("", []byte(s.Content))
		crop := ""
		if s.Crop != "" {
			crop = "/CropBox [" + s.Crop + "]"
		}
		pg := m.Add(
			"<</Type /Page /Parent %d 0 R /MediaBox [%s] %s %s /Rotate %d /Resources %s /Contents "+
				"%d 0 R>>",
			parent,
			cmp.Or(s.Box, "0 0 600 800"),
			crop,
			s.Extra,
			s.Rotate,
			strings.Replace(Fonts, "<</Font <<", "<<"+pictures[i]+"/Font <<"+s.Fonts, 1),
			content,
		)
		kids = append(kids, fmt.Sprintf("%d 0 R", pg))
	}
	m.Add("<</Type /Pages /Count %d /Kids [%s]>>", len(kids), strings.Join(kids, " "))
	root := m.Add("<</Type /Catalog /Pages %d 0 R %s>>", parent, extra)
	return m.Bytes(root)
}

// addPicture adds a JPEG and returns the resources that name it P.
func (m *Maker) addPicture(data []byte) string {
	size, err := jpeg.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		panic(err) // a test's own picture
	}
	space := "/DeviceRGB"
	if size.ColorModel == color.GrayModel {
		space = "/DeviceGray"
	}
	n := m.Stream(fmt.Sprintf("/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace %s "+
		"/BitsPerComponent 8 /Filter /DCTDecode", size.Width, size.Height, space), data)
	return fmt.Sprintf("/XObject <</P %d 0 R>> ", n)
}

// At returns an operator that shows s with its baseline beginning at x, y. Fonts: F, B (bold), C (fixed width).
func At(x, y, size int, font, s string) string {
	return fmt.Sprintf("BT /%s %d Tf 1 0 0 1 %d %d Tm (%s) Tj ET\n", font, size, x, y, s)
}

// Para returns operators that show lines one below the other.
func Para(x, y int, lines ...string) string {
	var b strings.Builder
	for i, l := range lines {
		b.WriteString(At(x, y-14*i, 12, "F", l))
	}
	return b.String()
}

// Turned returns content turned anticlockwise by quarters, with its lower left corner moved to x, y.
func Turned(quarters, x, y int, content string) string {
	turn := [4]string{"1 0 0 1", "0 1 -1 0", "-1 0 0 -1", "0 -1 1 0"}[quarters&3]
	return fmt.Sprintf("q %s %d %d cm\n%sQ\n", turn, x, y, content)
}

// Many returns a document of n pages.
func Many(n int) []byte {
	sheets := make([]Sheet, n)
	for i := range sheets {
		sheets[i].Content = Para(
			50, 600, fmt.Sprintf("This is page %d of a long document, and it", i),
			"has as many words as it needs to have.",
		)
	}
	return Document("", sheets...)
}

// Nested returns a document of one page with nested forms: each of levels shows the next one times times.
func Nested(levels, times int) []byte {
	var m Maker
	inner := m.forms(levels, times)
	return m.onePage(fmt.Sprintf("/Resources <</XObject <</X %d 0 R>> >>", inner), "/X Do")
}

// Stamped returns a page with a line of text and an annotation like Nested. It is fast to read and slow to render.
func Stamped(levels, times int) []byte {
	var m Maker
	note := m.Add("<</Type /Annot /Subtype /Stamp /Rect [0 0 600 800] /F 4 /AP <</N %d 0 R>> >>",
		m.forms(levels, times))
	return m.onePage(
		fmt.Sprintf("/Annots [%d 0 R] /Resources %s", note, Fonts), At(50, 700, 12, "F", "The text of this page."),
	)
}

// forms adds a form with a line of text, nested in levels others, each of which draws the next times times.
func (m *Maker) forms(levels, times int) int {
	inner := m.Stream("/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources "+Fonts, []byte(
		At(50, 700, 12, "F", "Deep down there is a line of text."),
	))
	for range levels {
		inner = m.Stream(fmt.Sprintf(
			"/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources <</XObject <</X %d 0 R>> >>", inner,
		),
			[]byte(strings.Repeat("/X Do\n", times)))
	}
	return inner
}

// onePage returns a file of one page with that content, and extra in the page's dictionary.
func (m *Maker) onePage(extra, content string) []byte {
	at := m.Stream("", []byte(content))
	page := m.Add("<</Type /Page /Parent %d 0 R /MediaBox [0 0 600 800] %s /Contents %d 0 R>>", at+2, extra, at)
	parent := m.Add("<</Type /Pages /Count 1 /Kids [%d 0 R]>>", page)
	return m.Bytes(m.Add("<</Type /Catalog /Pages %d 0 R>>", parent))
}

// Deflate compresses a stream.
func Deflate(data []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(data) // into memory, which does not fail
	_ = w.Close()
	return b.Bytes()
}

// Blanks returns that many mebibytes of spaces, compressed with deflate. It repeats the compressed block of one,
// since compressing all of them takes long.
func Blanks(mebibytes int) []byte {
	var b bytes.Buffer
	w, sum, mebibyte := zlib.NewWriter(&b), adler32.New(), bytes.Repeat([]byte(" "), 1<<20)
	pack := func() int {
		_, _ = w.Write(mebibyte) // into memory, which does not fail
		_ = w.Flush()
		return b.Len()
	}
	// The second mebibyte adds a whole block of deflate, which may be repeated in the stream.
	first, second := pack(), pack()
	again := bytes.Clone(b.Bytes()[first:second]) // it refers to nothing but spaces
	b.Write(bytes.Repeat(again, mebibytes-2))
	for range mebibytes {
		sum.Write(mebibyte)
	}
	// A stream of zlib ends with a last block and the Adler-32 of the data (RFC 1950 §2.2).
	b.Write([]byte{1, 0, 0, 0xff, 0xff}) // an empty last block
	return sum.Sum(b.Bytes())
}

// Encrypted returns a PDF that opens only with the password "secret".
func Encrypted() []byte {
	// Revision 2 of the standard security handler (ISO 32000-1 §7.6.3): the fixed padding of passwords, then O by
	// algorithm 3 and U by algorithm 4, each with a key of 40 bits, the first five bytes of an MD5.
	pad, _ := hex.DecodeString("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")
	padded := append([]byte("secret"), pad[:26]...)
	encrypt := func(key, data []byte) []byte {
		out := make([]byte, len(data))
		c, _ := rc4.NewCipher(key)
		c.XORKeyStream(out, data)
		return out
	}
	sum := md5.Sum(padded)
	owner := encrypt(sum[:5], padded)
	id := []byte("0123456789abcdef")
	sum = md5.Sum(bytes.Join([][]byte{padded, owner, {0xfc, 0xff, 0xff, 0xff}, id}, nil))
	user := encrypt(sum[:5], pad)
	m := Maker{Trailer: fmt.Sprintf(
		"/ID [<%x> <%x>] /Encrypt <</Filter /Standard /V 1 /R 2 /P -4 /O <%x> /U <%x>>>", id, id, owner, user,
	)}
	return m.Document("", Sheet{Content: At(50, 700, 12, "F", "hidden words")})
}

// Write stores a PDF as a file.
func Write(t testing.TB, data []byte) corpus.File {
	t.Helper()
	name := filepath.Join(t.TempDir(), "test.pdf")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return corpus.File{Path: name, Filename: "test.pdf", MIME: "application/pdf", Bytes: int64(len(data))}
}
