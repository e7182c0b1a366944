//go:build linux

package main

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"
)

// pdfFile assembles objects, numbered from 1; the first is the catalogue. The offsets of the cross-reference table
// are computed here, so every file is well formed: only its content is hostile.
func pdfFile(objects []string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	at := make([]int, len(objects))
	for i, o := range objects {
		at[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, offset := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return b.Bytes()
}

// pdfStream returns a stream with its length. dictionary has further entries.
func pdfStream(dictionary, content string) string {
	return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", dictionary, len(content), content)
}

// deflatedStream returns a stream with compressed content. A few KB can decompress to hundreds of MB.
func deflatedStream(dictionary, content string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write([]byte(content)) // into memory
	_ = w.Close()
	return pdfStream(dictionary+" /Filter /FlateDecode", b.String())
}

// Helvetica is one of the 14 standard PDF fonts, so no font has to be embedded.
const helvetica = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"

// onePage returns a file of one page with this content; more objects start at number 6. content is object 4 and
// must be a stream. resources are the page's resources besides its font F.
func onePage(content string, resources string, more ...string) []byte {
	return pdfFile(append([]string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> " +
			resources + " >> >>",
		content, helvetica,
	}, more...))
}

// nestedForms returns a page with nested forms: levels deep, each drawing the next calls times, with text at the
// bottom. The text is drawn calls to the power of levels times: 10¹² for 12 levels of ten.
func nestedForms(levels, calls int) []byte {
	var more []string
	for level := range levels {
		draw, resources := "BT /F 12 Tf (text) Tj ET", "/Resources << /Font << /F 5 0 R >> >>"
		if level < levels-1 {
			draw = strings.Repeat("/X Do ", calls)
			resources = fmt.Sprintf("/Resources << /XObject << /X %d 0 R >> >>", 7+level)
		}
		more = append(more, pdfStream("/Type /XObject /Subtype /Form /BBox [0 0 612 792] "+resources, draw))
	}
	return onePage(pdfStream("", strings.Repeat("/X Do ", calls)), "/XObject << /X 6 0 R >>", more...)
}

// hostilePDFs are expensive to parse; hostileDrawings in pictures.go are only expensive to render.
func hostilePDFs() []hostileFile {
	return []hostileFile{
		{"PDF, forms in forms: 12 levels × 10 calls", "forms.pdf", func() []byte { return nestedForms(12, 10) }},
		{"PDF, forms in forms: 6 levels × 10 calls", "forms6.pdf", func() []byte { return nestedForms(6, 10) }},
		// Compressed about 400 times.
		{"PDF, 400 MiB of text in 1 MiB", "bomb.pdf", func() []byte {
			return onePage(deflatedStream(
				"", strings.Repeat("BT /F 1 Tf (aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa) Tj ET\n", 7_000_000),
			), "")
		}},
		{"PDF, ten million glyphs on a page", "glyphs.pdf", func() []byte {
			return onePage(deflatedStream(
				"",
				"BT /F 1 Tf "+strings.Repeat("(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa ) Tj\n", 200_000)+" ET",
			), "")
		}},
		{"PDF, 100,000 words that stand apart on a page", "words.pdf", func() []byte {
			// Each word has a unique position, in a square of 316 × 316: to find lines and columns, a parser may
			// compare all pairs.
			const side = 316
			var content strings.Builder
			for i := range side * side {
				fmt.Fprintf(&content, "BT /F 1 Tf 1 0 0 1 %d %d Tm (w) Tj ET\n", 10+6*(i%side), 1990-6*(i/side))
			}
			return pdfFile([]string{
				"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
				"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 2000 2000] /Contents 4 0 R /Resources << /Font << /F 5 " +
					"0 R >> >> >>",
				deflatedStream("", content.String()), helvetica,
			})
		}},
		// All pages share one content.
		{"PDF, 60,000 pages", "pages.pdf", func() []byte {
			const n = 60_000
			var kids strings.Builder
			objects := []string{"<< /Type /Catalog /Pages 2 0 R >>", "", pdfStream(
				"", "BT /F 12 Tf 72 700 Td (A page of text.) Tj ET",
			), helvetica}
			for i := range n {
				fmt.Fprintf(&kids, "%d 0 R ", 5+i)
				objects = append(
					objects,
					"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 3 0 R /Resources << /Font << /F "+
						"4 0 R >> >> >>",
				)
			}
			objects[1] = fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", &kids, n)
			return pdfFile(objects)
		}},
		// A page tree with a cycle has no end.
		{"PDF, pages that are their own parents", "cycle.pdf", func() []byte {
			return pdfFile([]string{
				"<< /Type /Catalog /Pages 2 0 R >>",
				"<< /Type /Pages /Kids [2 0 R 2 0 R 3 0 R] /Count 3 /Parent 2 0 R >>",
				"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] >>",
			})
		}},
		// A recursive parser overflows its stack.
		{"PDF, arrays in arrays, 100,000 deep", "deep.pdf", func() []byte {
			return pdfFile([]string{"<< /Type /Catalog /Pages 2 0 R /A " + strings.Repeat("[", 100_000) +
				strings.Repeat("]", 100_000) + " >>",
				"<< /Type /Pages /Kids [3 0 R] /Count 1 >>", "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] >>"})
		}},
		// It would be 10.8 GB in memory; there are 8 MiB of it in the file, all zero.
		{"PDF, an image of 60,000 × 60,000 points", "image.pdf", func() []byte {
			return onePage(pdfStream(
				"", "BT /F 12 Tf 72 700 Td (An image.) Tj ET q 600 0 0 700 0 0 cm /I Do Q",
			), "/XObject << /I 6 0 R >>",
				deflatedStream(
					"/Type /XObject /Subtype /Image /Width 60000 /Height 60000 /BitsPerComponent 8 /ColorSpace "+
						"/DeviceRGB",
					strings.Repeat("\x00", 8*mib),
				))
		}},
	}
}
