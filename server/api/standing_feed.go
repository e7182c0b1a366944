package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/views"
)

// maxEntries is how many changes a feed shows, newest first.
// It is a choice.
const maxEntries = 50

// atomFeed is a feed as RFC 4287 has it.
type atomFeed struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string      `xml:"id"`
	Title   string      `xml:"title"`
	Updated string      `xml:"updated"`
	Author  string      `xml:"author>name"`
	Entries []atomEntry `xml:"entry"`
}

type atomEntry struct {
	ID      string   `xml:"id"`
	Title   string   `xml:"title"`
	Updated string   `xml:"updated"`
	Link    atomLink `xml:"link"`
	Content atomText `xml:"content"`
}

type atomLink struct {
	Href string `xml:"href,attr"`
}

type atomText struct {
	Type string `xml:"type,attr"`
	Text string `xml:",chardata"`
}

// StandingFeed answers GET /standing/feed/{token}: what changed for the user whose token it is.
//
// It answers anybody who has the address, without a key: readers of feeds can't send one. So it ends with the last key
// of its user (404), the token is looked up by its hash, and search engines are told to leave it alone. 304 for a
// reader that has it; the ETag is the hash of the body.
func (a *Handlers) StandingFeed(c httpio.Context) error {
	ctx := c.Request().Context()
	scope, err := a.Store.StandingFeed(ctx, sha256.Sum256([]byte(c.Param("token"))))
	if err == nil && a.Guard.Gone(scope.User) {
		err = chat.NoSuch("feed")
	}
	if err != nil {
		return err
	}
	all, err := a.Store.AllStanding(ctx, scope)
	if err != nil {
		return err
	}
	feed := atomFeed{ID: "urn:footnote:kept", Title: views.KeptTitle.In(ctx), Author: "Footnote"}
	// Atom requires a time also of a feed without entries (RFC 4287, section 4.1.1).
	newest := time.Unix(0, 0)
	for _, kept := range all {
		for _, change := range kept.Changes {
			feed.Entries = append(feed.Entries, entryOf(c, kept, change))
			if change.At.After(newest) {
				newest = change.At
			}
		}
	}
	slices.SortFunc(feed.Entries, func(x, y atomEntry) int { return strings.Compare(y.Updated, x.Updated) })
	feed.Entries = feed.Entries[:min(len(feed.Entries), maxEntries)]
	feed.Updated = newest.UTC().Format(time.RFC3339)
	var body bytes.Buffer
	body.WriteString(xml.Header)
	if err := xml.NewEncoder(&body).Encode(feed); err != nil {
		return err
	}
	sum := sha256.Sum256(body.Bytes())
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	head := c.Response().Header()
	head.Set("ETag", tag)
	head.Set("Cache-Control", "private, no-cache")
	head.Set("X-Robots-Tag", "noindex")
	if c.Request().Header.Get("If-None-Match") == tag {
		return c.NoContent(http.StatusNotModified)
	}
	return c.Blob(http.StatusOK, "application/atom+xml; charset=utf-8", body.Bytes())
}

// entryOf is a change as an entry: the sentence as its title, and each difference as a line.
func entryOf(c httpio.Context, kept chat.Standing, change chat.Change) atomEntry {
	ctx := c.Request().Context()
	lines := []string{kept.Request.Message}
	for _, d := range change.Differences {
		lines = append(lines, views.ChangeSentence(ctx, d))
	}
	return atomEntry{
		ID: "urn:uuid:" + change.ID, Title: lines[min(1, len(lines)-1)],
		Updated: change.At.UTC().Format(time.RFC3339),
		Link:    atomLink{httpio.Origin(c) + "/standing#kept-" + kept.ID},
		Content: atomText{"text", strings.Join(lines, "\n\n")},
	}
}

// DropFeed answers DELETE /standing/feed: no address shows the user's changes any more.
func (a *Handlers) DropFeed(c httpio.Context) error {
	if err := a.Store.SetStandingFeed(c.Request().Context(), httpio.Scope(c), nil); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
