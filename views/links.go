package views

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"time"

	"golang.org/x/net/idna"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text/locale"
)

// It is a choice.
const maxAddress = 2_000 // bytes of an address that can be followed

var anchor = regexp.MustCompile(`(?s)<a href="([^"]*)"[^>]*>(.*?)</a>`)

// drawLinks shows beside each link of safe HTML where it leads, unless its words say just that. away makes the
// address that is followed of the link's own.
//
// s must be safe already. A link that can't be followed becomes its words.
func drawLinks(s string, away func(string) string) string {
	if !strings.Contains(s, "<a ") {
		return s
	}
	return anchor.ReplaceAllStringFunc(s, func(link string) string {
		parts := anchor.FindStringSubmatch(link)
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
		if saysAddress(html.UnescapeString(tags.ReplaceAllString(label, "")), address, place) {
			return drawn
		}
		return drawn + ` <bdi class="host">(` + html.EscapeString(clippedStart(place, 80)) + `)</bdi>`
	})
}

// saysAddress reports whether a link's words are its address or host.
//
// Such a link needs no host beside it, since its reader sees where it leads.
func saysAddress(label, address, place string) bool {
	label = strings.TrimSuffix(strings.TrimSpace(label), "/")
	address = strings.TrimSuffix(address, "/")
	_, bare, _ := strings.Cut(address, ":")
	bare = strings.TrimPrefix(bare, "//")
	return strings.HasPrefix(strings.ToLower(bare), place) && (label == address || label == bare || label == place)
}

// ShownHost is the host of an http or https address as it may be shown: in ASCII, so that letters that look like
// others can't pretend to be another host. It is false for any other address.
func ShownHost(u *url.URL) (host string, ok bool) {
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return "", false
	}
	name, err := idna.Lookup.ToASCII(u.Hostname())
	if err != nil {
		// Names that are no proper ones exist and are looked up; Punycode shows them without letters that deceive.
		if name, err = idna.Punycode.ToASCII(u.Hostname()); err != nil {
			return "", false
		}
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return "", false
	}
	// An address of IPv6 stands in brackets (RFC 3986, section 3.2.2).
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	if port := u.Port(); port != "" {
		name += ":" + port
	}
	return name, true
}

// LeavePath is the page that asks before a link leads away.
func LeavePath(address string) string { return "/leave?to=" + url.QueryEscape(address) }

// clippedStart returns the end of a text, which is what counts of a host.
//
// n counts bytes: a host in ASCII has one for a character.
func clippedStart(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return "…" + s[len(s)-n:]
}

var (
	txtReadFrom    = locale.T("A page of the web, read from")
	txtPublishedAt = locale.T("Published at")
)

// webOrigin introduces the link to where a document is on the web.
func webOrigin(d corpus.Document) locale.Text {
	if chat.IsInternal(d.Namespace) {
		return txtReadFrom
	}
	return txtPublishedAt
}

// fetchedAt is when it was read; zero: it was not.
//
// It counts only in internal namespaces, which hold pages that were read on the way to an answer.
func fetchedAt(d corpus.Document) time.Time {
	at, err := time.Parse(time.RFC3339, d.MetaText(corpus.MetaFetchedAt))
	if err != nil || !chat.IsInternal(d.Namespace) {
		return time.Time{}
	}
	return at
}

// webHost is the name of the site that a citation's link leads to; empty for no link of the web.
func webHost(address string) string {
	u, err := url.Parse(chat.WebLink(address))
	if err != nil {
		return ""
	}
	host, _ := ShownHost(u)
	return host
}
