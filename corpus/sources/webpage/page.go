package webpage

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/publicsuffix"

	"github.com/footnote/footnote/corpus/sources/request"
)

// page is the metadata of an HTML page. The text is parsed by the library. A canonical link is defined in RFC 6596.
//
// Its fields are untrusted; canonicalOf validates them.
type page struct {
	base      string // the first <base href>
	canonical string // the first <link rel=canonical>
	hash      string // of the words; empty if there are none, or not all were parsed
}

// readHead parses the metadata of an HTML page in one pass. Markup has times, tokens and advertisements that change
// with each request, so the hash is of the visible words. They are hashed with one space between them, so a change
// of the layout alone is no change.
//
// It builds no tree, so deep nesting costs no more than its length. Parsing stops at a tag or a text larger than
// request.MaxPart, and the page has no hash.
func readHead(text []byte) page {
	var p page
	sum, words := sha256.New(), 0
	z := html.NewTokenizer(bytes.NewReader(text))
	z.SetMaxBuf(request.MaxPart)
	hidden := false // inside scripts and styles, whose text ends at their end tag
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			if words > 0 && errors.Is(z.Err(), io.EOF) {
				p.hash = hex.EncodeToString(sum.Sum(nil)[:16])
			}
			return p
		case html.TextToken:
			if hidden {
				continue
			}
			for _, word := range bytes.Fields(z.Text()) {
				words++
				sum.Write(word)
				sum.Write([]byte{' '})
			}
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			name, more := z.TagName()
			tag := atom.Lookup(name)
			hidden = kind == html.StartTagToken && (tag == atom.Script || tag == atom.Style || tag == atom.Noscript)
			if more && kind != html.EndTagToken && (tag == atom.Link || tag == atom.Base) {
				p.readLink(tag, z)
			}
		}
	}
}

// readLink parses the attributes of a link or base element. The first element of each kind applies, as in browsers.
func (p *page) readLink(tag atom.Atom, z *html.Tokenizer) {
	rel, href := "", ""
	for more := true; more; {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch string(key) {
		case "rel":
			rel = string(value)
		case "href":
			href = string(value)
		}
	}
	switch {
	case tag == atom.Base && p.base == "":
		p.base = href
	case tag == atom.Link && p.canonical == "" && strings.EqualFold(strings.TrimSpace(rel), "canonical"):
		p.canonical = href
	}
}

// canonicalOf returns the canonical address of a page at u. It is empty without one, and if it is on another site or
// the site's home page, which some sites set for all pages. Other sites are rejected, as a page could claim to be
// theirs.
func (p page) canonicalOf(u *url.URL) string {
	if p.canonical == "" {
		return ""
	}
	base := u
	if b, err := u.Parse(p.base); err == nil {
		base = b
	}
	c, err := base.Parse(strings.TrimSpace(p.canonical))
	if err != nil {
		return ""
	}
	c, err = request.Address(c.String())
	if err != nil || SiteOf(c) != SiteOf(u) || strings.Trim(c.Path, "/") == "" && strings.Trim(u.Path, "/") != "" {
		return ""
	}
	return c.String()
}

// SiteOf returns the registrable domain of a host. It uses the public suffix list (publicsuffix.org), so
// a.example.co.uk and b.example.co.uk are one site.
func SiteOf(u *url.URL) string {
	if site, err := publicsuffix.EffectiveTLDPlusOne(strings.ToLower(u.Hostname())); err == nil {
		return site
	}
	return u.Hostname()
}
