// Package registry names every kind of place that is followed.
//
// To add a kind of place, add it to places/registry/registry.go and write its package, places/*/*.go. GET /places/kinds
// and the form on the page then have it. Its names need a line in each file of the catalogue of package locale.
package registry

import (
	"footnote/places"
	"footnote/places/bucket"
	"footnote/places/feed"
	"footnote/places/git"
	"footnote/places/imap"
	"footnote/places/paperless"
	"footnote/places/sitemap"
	"footnote/places/webdav"
	"footnote/places/webpage"
	"footnote/places/zotero"
)

// Kinds are all kinds, in the order in which the page offers them. A kind that is left out stays in the store and is
// told as unknown.
func Kinds() []places.Kind {
	return []places.Kind{
		webpage.Kind(), sitemap.Kind(), feed.Kind(), webdav.Kind(), bucket.Kind(), git.Kind(), paperless.Kind(),
		imap.Kind(), zotero.Kind(),
	}
}
