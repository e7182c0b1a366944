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

// webOrigin introduces the link to where a document is on the web.
func webOrigin(d corpus.Document) string {
	if chat.Hidden(d.Namespace) {
		return txtReadFrom
	}
	return txtPublishedAt
}

// fetchedAt is when it was read; zero: it was not.
func fetchedAt(d corpus.Document) time.Time {
	at, err := time.Parse(time.RFC3339, d.MetaText(corpus.MetaFetchedAt))
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
