package extract

import (
	"bytes"
	"context"
	"path"
	"strings"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/rtf"
)

// readEmbedded reads a document inside a Word file: RTF, a saved web page, HTML or text. Its whole page is read, since
// the author inserted all of it.
func readEmbedded(ctx context.Context, name string, data []byte) (x corpus.Extracted, err error) {
	defer func() {
		if recover() != nil { // only this part of the file is left out
			x, err = corpus.Extracted{}, brokenMarkup
		}
	}()
	if isRTF(data, name) {
		return rtf.ReadBytes(ctx, data)
	}
	head := data[:min(len(data), corpus.SniffBytes)]
	if isMHTML(head, name) || bytes.Contains(bytes.ToLower(head[:min(len(head), 512)]), []byte("mime-version:")) {
		pages, text := parseMail(ctx, data).pages()
		if len(pages) == 0 {
			return plainText(ctx, text, corpus.File{})
		}
		return embeddedPage(strings.Join(pages, "")), nil
	}
	src, err := decodeText(data, declaredCharset(data))
	if err != nil {
		return x, err
	}
	if ext := strings.ToLower(path.Ext(name)); ext == ".txt" || !strings.Contains(src, "<") {
		return plainText(ctx, src, corpus.File{})
	}
	return embeddedPage(src), nil
}

// embeddedPage returns the blocks of a whole page.
func embeddedPage(src string) corpus.Extracted {
	var w doctext.Writer
	writePage(&w, src)
	return w.Result()
}
