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

// page is what HTML says beside its text, which the library reads. A canonical link is RFC 6596's.
//
// Its fields are as the page has them, so they may be anything; canonicalOf decides what is believed.
type page struct {
	base      string // the first <base href>
	canonical string // the first <link rel=canonical>
	hash      string // of the words; empty when there are none, or not all were read
}

// lookAt reads HTML from its beginning to its end, once. Pages carry times, tokens and advertisements in their markup
// that are others each time, so the hash is one of what people see. Words are hashed with one space between them, so a
// change of the layout alone is none.
//
// It does not parse the page into a tree, so a page that is nested deeply costs no more than its length. A page with a
// tag or a text of more than request.MaxPart is not looked at to its end, and has no hash.
func lookAt(text []byte) page {
	var p page
	sum, words := sha256.New(), 0
	z := html.NewTokenizer(bytes.NewReader(text))
	z.SetMaxBuf(request.MaxPart)
	hidden := false // inside of scripts and styles, which hold text up to their end
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

// readLink reads the attributes of a link or base element. The first of each counts, as in browsers.
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

// canonicalOf is the address that a page at u says is its own; empty if it says none, or one of another site, or that
// of the site's first page, which careless sites say of all. Another site may not be named: a page could pass itself
// off as anybody's.
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

// SiteOf is the part of a host's name that one owner has. It goes by the public suffix list (publicsuffix.org), so
// a.example.co.uk and b.example.co.uk are one site.
func SiteOf(u *url.URL) string {
	if site, err := publicsuffix.EffectiveTLDPlusOne(strings.ToLower(u.Hostname())); err == nil {
		return site
	}
	return u.Hostname()
}
