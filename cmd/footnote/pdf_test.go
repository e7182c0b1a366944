package main_test

import (
	"bytes"
	"crypto/md5"
	"crypto/rc4"
	"encoding/hex"
	"fmt"
	"strings"
)

// pdfMaker writes a PDF object by object.
type pdfMaker struct {
	objects []string
	trailer string
}

func (m *pdfMaker) add(format string, args ...any) int {
	m.objects = append(m.objects, fmt.Sprintf(format, args...))
	return len(m.objects)
}

// document adds a page for each content stream and returns the file.
func (m *pdfMaker) document(contents ...string) string {
	const font = "<</Font <</F <</Type /Font /Subtype /Type1 /BaseFont /Helvetica>> >> >>"
	parent := len(m.objects) + 2*len(contents) + 1
	var kids strings.Builder
	for _, content := range contents {
		stream := m.add("<</Length %d>>\nstream\n%s\nendstream", len(content), content)
		page := m.add("<</Type /Page /Parent %d 0 R /MediaBox [0 0 600 800] /Resources %s /Contents %d 0 R>>", parent,
			font, stream)
		fmt.Fprintf(&kids, "%d 0 R ", page)
	}
	m.add("<</Type /Pages /Count %d /Kids [%s]>>", len(contents), kids.String())
	root := m.add("<</Type /Catalog /Pages %d 0 R>>", parent)
	var b bytes.Buffer
	b.WriteString("%PDF-1.6\n%\xe2\xe3\xcf\xd3\n")
	offsets := make([]int, len(m.objects))
	for i, object := range m.objects {
		offsets[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	at := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(m.objects)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d /Root %d 0 R %s>>\nstartxref\n%d\n%%%%EOF\n", len(m.objects)+1, root,
		m.trailer, at)
	return b.String()
}

// pdfOf has a page for each line of text.
func pdfOf(lines ...string) string {
	pages := make([]string, len(lines))
	for i, line := range lines {
		pages[i] = "BT /F 12 Tf 1 0 0 1 50 700 Tm (" + line + ") Tj ET\n"
	}
	return new(pdfMaker).document(pages...)
}

// scannedPDF shows a picture and no text.
func scannedPDF() string {
	return new(pdfMaker).document("q 500 0 0 700 50 50 cm BI /W 2 /H 2 /BPC 8 /CS /G ID \x00\xff\xff\x00 EI Q")
}

// lockedPDF opens only with the password "secret": the standard handler's revision 2.
func lockedPDF() string {
	pad, _ := hex.DecodeString("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A") // a constant
	padded := append([]byte("secret"), pad[:26]...)
	lock := func(key, data []byte) []byte {
		out := make([]byte, len(data))
		c, _ := rc4.NewCipher(key) // 5 bytes are a good key
		c.XORKeyStream(out, data)
		return out
	}
	sum := md5.Sum(padded)
	owner := lock(sum[:5], padded)
	id := []byte("0123456789abcdef")
	sum = md5.Sum(bytes.Join([][]byte{padded, owner, {0xfc, 0xff, 0xff, 0xff}, id}, nil))
	m := pdfMaker{
		trailer: fmt.Sprintf("/ID [<%x> <%x>] /Encrypt <</Filter /Standard /V 1 /R 2 /P -4 /O <%x> /U <%x>>>", id, id,
			owner, lock(sum[:5], pad)),
	}
	return m.document("BT /F 12 Tf 1 0 0 1 50 700 Tm (hidden words) Tj ET\n")
}
