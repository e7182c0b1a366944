// Package registry names every kind of place that is followed.
//
// To add a kind of place, write its package under corpus/sources and add it here. GET /places/kinds and the form on the
// page then have it. Its names need a line in each file of the catalogue of package locale.
package registry

import (
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/bucket"
	"github.com/footnote/footnote/corpus/sources/feed"
	"github.com/footnote/footnote/corpus/sources/git"
	"github.com/footnote/footnote/corpus/sources/imap"
	"github.com/footnote/footnote/corpus/sources/paperless"
	"github.com/footnote/footnote/corpus/sources/sitemap"
	"github.com/footnote/footnote/corpus/sources/webdav"
	"github.com/footnote/footnote/corpus/sources/webpage"
	"github.com/footnote/footnote/corpus/sources/zotero"
)

// Kinds are all kinds, in the order in which the page offers them. A kind that is left out stays in the store and is
// told as unknown.
func Kinds() []sources.Kind {
	return []sources.Kind{
		webpage.Kind(), sitemap.Kind(), feed.Kind(), webdav.Kind(), bucket.Kind(), git.Kind(), paperless.Kind(),
		imap.Kind(), zotero.Kind(),
	}
}
