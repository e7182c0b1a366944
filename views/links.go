package views

import (
	"html"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/idna"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text/lazy"
	"github.com/footnote/footnote/text/locale"
)

// Longer addresses are rendered as text. The limit is arbitrary.
const maxAddress = 2_000 // bytes of an address that can be followed

var anchor = lazy.Regexp(`(?s)<a href="([^"]*)"[^>]*>(.*?)</a>`)

// drawLinks shows the host beside each link of sanitized HTML, unless the link's text is that address. away maps an
// address to the href of the link.
//
// s must be sanitized already. A link that can't be followed is replaced with its text.
func drawLinks(s string, away func(string) string) string {
	if !strings.Contains(s, "<a ") {
		return s
	}
	return anchor().ReplaceAllStringFunc(s, func(link string) string {
		parts := anchor().FindStringSubmatch(link)
		address, label := html.UnescapeString(parts[1]), parts[2]
		u, err := url.Parse(address)
		if err != nil || len(address) > maxAddress {
			return label
		}
		place := u.Opaque // of a mail address
		href := address
		if u.Scheme != "mailto" {
			host, ok := ShownHost(u)
			if !ok {
				return label
			}
			place, href = host, away(address)
		}
		drawn := `<a class="away" href="` + html.EscapeString(href) +
			`" rel="nofollow noreferrer noopener" target="_blank">` + label + `</a>`
		if saysAddress(html.UnescapeString(tags().ReplaceAllString(label, "")), address, place) {
			return drawn
		}
		return drawn + ` <bdi class="host">(` + html.EscapeString(clippedStart(place, 80)) + `)</bdi>`
	})
}

// saysAddress reports whether a link's text is its address or host.
//
// Such a link is rendered without its host, since its target is visible.
func saysAddress(label, address, place string) bool {
	label = strings.TrimSuffix(strings.TrimSpace(label), "/")
	address = strings.TrimSuffix(address, "/")
	_, bare, _ := strings.Cut(address, ":")
	bare = strings.TrimPrefix(bare, "//")
	return strings.HasPrefix(strings.ToLower(bare), place) && (label == address || label == bare || label == place)
}

// ShownHost returns the host of an http or https URL as ASCII, so that look-alike letters can't disguise it. It
// returns false for other URLs.
func ShownHost(u *url.URL) (host string, ok bool) {
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return "", false
	}
	name, err := idna.Lookup.ToASCII(u.Hostname())
	if err != nil {
		// Invalid host names exist and are resolved; Punycode encodes them without look-alike letters.
		if name, err = idna.Punycode.ToASCII(u.Hostname()); err != nil {
			return "", false
		}
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return "", false
	}
	// An IPv6 address is in brackets (RFC 3986, section 3.2.2).
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	if port := u.Port(); port != "" {
		name += ":" + port
	}
	return name, true
}

// LeavePath returns the URL of the confirmation page for an external link.
func LeavePath(address string) string { return "/leave?to=" + url.QueryEscape(address) }

// clippedStart keeps the end of a text, the significant part of a host.
//
// n is in bytes: an ASCII host has one byte for each character.
func clippedStart(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return "…" + s[len(s)-n:]
}

var (
	txtReadFrom    = locale.T("Web page, fetched from")
	txtPublishedAt = locale.T("Original at")
)

// webOrigin returns the label of the link to a document's source on the web.
func webOrigin(d corpus.Document) locale.Text {
	if chat.IsInternal(d.Namespace) {
		return txtReadFrom
	}
	return txtPublishedAt
}

// fetchedAt returns the time when a web page was fetched. It is zero for other documents.
//
// It applies only to internal namespaces, which hold the pages fetched for an answer.
func fetchedAt(d corpus.Document) time.Time {
	at, err := time.Parse(time.RFC3339, d.MetaText(corpus.MetaFetchedAt))
	if err != nil || !chat.IsInternal(d.Namespace) {
		return time.Time{}
	}
	return at
}

// webHost returns the host of a citation's link. It is empty for a link that is not of the web.
func webHost(address string) string {
	u, err := url.Parse(chat.WebLink(address))
	if err != nil {
		return ""
	}
	host, _ := ShownHost(u)
	return host
}
