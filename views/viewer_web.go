package views

import (
	"net/url"
	"time"

	"footnote/chat"
	"footnote/corpus"
)

const txtReadFrom = "A page of the web, read from"

// webAddress is where a captured page was read; empty for a document, whatever its own data say.
func webAddress(d corpus.Document) string {
	address, _ := d.Meta[corpus.MetaURL].(string)
	u, err := url.Parse(address)
	if !chat.Hidden(d.Namespace) || err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return address
}

// fetchedAt is when it was read, in words.
func fetchedAt(d corpus.Document) string {
	text, _ := d.Meta[corpus.MetaFetchedAt].(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return ""
	}
	return "on " + at.UTC().Format("2 January 2006, 15:04 UTC")
}

// webHost is the name of the site that a citation's page was read from; empty for documents.
func webHost(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
