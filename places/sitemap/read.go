package sitemap

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"golang.org/x/net/html/charset"

	"footnote/chat"
	"footnote/places"
	"footnote/places/request"
	"footnote/places/webpage"
)

// listed is what one file of a sitemap names: pages, each once, or further files.
type listed struct {
	pages, files []*url.URL
	seen         map[string]bool // pages
}

// read reads a file from address, packed or not. Addresses of other sites, pages that do not begin with a prefix and
// what is no address are left out. It fails for what is no sitemap. The limit is read one byte beyond, to tell a file
// of that size from a larger one. What was read before a mistake is dropped with the error. It reads what comes as it
// comes, so memory is bounded by what is named and not by the file.
func read(r io.Reader, address *url.URL, prefix string) (listed, error) {
	list := listed{seen: map[string]bool{}}
	start := bufio.NewReader(r)
	from := io.Reader(start)
	if magic, err := start.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		from = request.Unpack(start)
	}
	limited := &io.LimitedReader{R: from, N: maxBytes + 1}
	d := xml.NewDecoder(limited)
	d.CharsetReader = charset.NewReaderLabel
	root := ""
	for {
		token, err := d.Token()
		switch {
		case limited.N <= 0:
			return list, &chat.Error{
				Code:    chat.CodeTooLarge,
				Message: fmt.Sprintf("The sitemap is larger than %d MiB, so it is not read.", maxBytes>>20),
			}
		case errors.Is(err, io.EOF) && root != "":
			return list, nil
		case err != nil:
			return list, err
		}
		element, ok := token.(xml.StartElement)
		switch {
		case !ok:
		case root == "":
			root = element.Name.Local
			if root != "urlset" && root != "sitemapindex" {
				return list, errors.New("the root is neither urlset nor sitemapindex")
			}
		case element.Name.Local == "loc" && ownSpace(element.Name.Space):
			var text string
			if err := d.DecodeElement(&text, &element); err != nil {
				return list, err
			}
			u, err := request.Address(text)
			switch {
			case err != nil || webpage.SiteOf(u) != webpage.SiteOf(address):
			case root == "sitemapindex":
				list.files = append(list.files, u)
			case list.seen[u.String()], !strings.HasPrefix(u.String(), prefix), len(list.pages) > places.MaxItems:
			default:
				list.seen[u.String()] = true
				list.pages = append(list.pages, u)
			}
		}
	}
}

// ownSpace reports whether a namespace is that of sitemaps: pictures and films have a loc in others. The sitemap
// protocol's own, with http or https, and files that name none.
func ownSpace(space string) bool { return space == "" || strings.Contains(space, "schemas/sitemap/") }
