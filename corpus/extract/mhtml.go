package extract

import (
	"bytes"
	"cmp"
	"context"
	"strings"

	"github.com/footnote/footnote/corpus"
)

// readMHTML reads a saved web page (RFC 2557), as Chrome, Edge and Word write it: a mail with the page as its first
// HTML part, beside pictures and frames. The frames are read for a page without text. The page's address is not
// opened.
func readMHTML(ctx context.Context, f corpus.File) (corpus.Extracted, error) {
	data, err := readAll(f.Path, maxMail)
	if err != nil {
		return corpus.Extracted{}, err
	}
	saved := parseMail(ctx, data)
	pages, text := saved.pages()
	x, err := corpus.Extracted{}, error(noText)
	if len(pages) > 0 {
		x, err = readPage(ctx, pages[0], f)
	}
	if err != nil && len(pages) > 1 {
		x, err = readPage(ctx, strings.Join(pages[1:], ""), f)
	}
	if err != nil && text != "" {
		x, err = plainText(ctx, text, f)
	}
	x.Title = cmp.Or(x.Title, saved.subject)
	return x, err
}

// isMHTML detects a saved web page by its extension and its headers, or by a header that only browsers write.
func isMHTML(head []byte, name string) bool {
	head = bytes.TrimLeft(head, "\xef\xbb\xbf\r\n")
	if !hasHeaders(head) {
		return false
	}
	return extensionIs(name, ".mht", ".mhtml") || bytes.HasPrefix(head, []byte("From: <Saved by "))
}

// pages returns the HTML parts and the other text of a saved web page.
func (l letter) pages() (pages []string, text string) {
	for _, b := range l.bodies {
		if b.kind == htmlBody {
			pages = append(pages, b.text)
		} else {
			text += b.text
		}
	}
	return pages, text
}
