package views

import (
	"net/url"
	"time"

	"footnote/chat"
	"footnote/corpus"
)

const (
	txtReadFrom    = "A page of the web, read from"
	txtPublishedAt = "Published at"
)

// webAddress is where a captured page was read, or where a document is on the web by its meta.source_url; empty for any other.
func webAddress(d corpus.Document) string {
	key := corpus.MetaSourceURL
	if chat.Hidden(d.Namespace) {
		key = corpus.MetaURL
	}
	address, _ := d.Meta[key].(string)
	return chat.WebLink(address)
}

// webOrigin introduces that address.
func webOrigin(d corpus.Document) string {
	if chat.Hidden(d.Namespace) {
		return txtReadFrom
	}
	return txtPublishedAt
}

// fetchedAt is when it was read; zero: it was not.
func fetchedAt(d corpus.Document) time.Time {
	text, _ := d.Meta[corpus.MetaFetchedAt].(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || !chat.Hidden(d.Namespace) {
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
