// Package registry lists the kinds of places.
//
// To add a kind of place, write its package under corpus/sources and add it here. GET /places/kinds and the form on
// the page then include it. Its names need a line in each file of the catalogue of package locale.
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

// Kinds returns all kinds, in the order of the page. Places of a kind that is removed stay in the store and are
// reported as unknown.
func Kinds() []sources.Kind {
	return []sources.Kind{
		webpage.Kind(), sitemap.Kind(), feed.Kind(), webdav.Kind(), bucket.Kind(), git.Kind(), paperless.Kind(),
		imap.Kind(), zotero.Kind(),
	}
}
