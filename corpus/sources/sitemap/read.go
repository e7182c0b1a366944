package sitemap

import (
	"bufio"
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"strings"

	"golang.org/x/net/html/charset"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources/request"
	"github.com/footnote/footnote/corpus/sources/webpage"
	"github.com/footnote/footnote/text/locale"
)

// read parses a sitemap file, compressed or not, and calls do for each page or further file. It skips invalid
// addresses, those of other sites, and pages without the prefix. It returns an error for other content, and the
// first error of do. The limit allows one byte more, to detect a larger file. Each element directly below the root
// is a part, so memory does not depend on their number.
func read(r io.Reader, address *url.URL, prefix string, do func(u *url.URL, isFile bool) error) error {
	start := bufio.NewReader(r)
	from := io.Reader(start)
	if magic, err := start.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		from = request.Unpack(start)
	}
	limited := &io.LimitedReader{R: from, N: maxBytes + 1}
	parts := request.NewParts(limited, request.MaxPart)
	d := xml.NewDecoder(parts)
	d.CharsetReader = charset.NewReaderLabel
	root, depth := "", 0
	for {
		token, err := d.Token()
		switch {
		case limited.N <= 0:
			return &chat.Error{
				Code:    chat.CodeTooLarge,
				Message: locale.Say("The sitemap exceeds the limit of {1} MiB.", maxBytes>>20),
			}
		case errors.Is(err, io.EOF) && root != "":
			return nil
		case err != nil:
			return err
		}
		element, ok := token.(xml.StartElement)
		if _, ends := token.(xml.EndElement); ends {
			if depth--; depth == 1 {
				parts.Next()
			}
		}
		if !ok {
			continue
		}
		depth++
		switch {
		case root == "":
			root = element.Name.Local
			if root != "urlset" && root != "sitemapindex" {
				return errors.New("the root is neither urlset nor sitemapindex")
			}
		case element.Name.Local == "loc" && ownSpace(element.Name.Space):
			var text string
			if err := d.DecodeElement(&text, &element); err != nil {
				return err
			}
			depth-- // DecodeElement read its end tag
			u, err := request.Address(text)
			isFile := root == "sitemapindex"
			if err != nil || webpage.SiteOf(u) != webpage.SiteOf(address) ||
				!isFile && !strings.HasPrefix(u.String(), prefix) {
				continue
			}
			if err := do(u, isFile); err != nil {
				return err
			}
		}
	}
}

// ownSpace reports whether a namespace is that of sitemaps, with http or https, or empty. Images and videos have a
// loc element in other namespaces.
func ownSpace(space string) bool { return space == "" || strings.Contains(space, "schemas/sitemap/") }
