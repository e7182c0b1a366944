package corpus

import (
	"cmp"
	"maps"
	"slices"

	"github.com/footnote/footnote/chat"
)

// DisplayTitle is what readers see as a document's title: its file name where it has no title.
func (d Document) DisplayTitle() string { return cmp.Or(d.Title, d.Filename) }

// DisplayName is what readers see as a document's name: its title where it has no file name.
func (d Document) DisplayName() string { return cmp.Or(d.Filename, d.Title) }

// SourceURL is where a document comes from on the web: the page that was read, or what its owner says in
// meta.source_url. It is empty unless that is a link to http or https with a host.
func (d Document) SourceURL() string {
	key := MetaSourceURL
	if chat.IsInternal(d.Namespace) {
		key = MetaURL
	}
	return chat.WebLink(d.MetaText(key))
}

// MetaText is the text of a field of a document's metadata; empty for one that is absent or no text.
func (d Document) MetaText(key string) string {
	s, _ := d.Meta[key].(string)
	return s
}

// MetaWatched is the key of Meta under which a watched folder says which file a document is of. Its value is an object
// of the folder, the path below it and the time of the file, for the program that follows the folder.
const MetaWatched = "watched"

// MetaPlace and MetaPlaceItem are the keys of Meta under which a place that is followed says that a document is one of
// its items: its id, and a hash of the item's key.
const (
	MetaPlace     = "place"
	MetaPlaceItem = "place_item"
)

// ownMeta are the keys under which the program itself keeps something in Meta.
var ownMeta = []string{MetaWatched, MetaMembers, MetaParent, MetaTurned, MetaPlace, MetaPlaceItem}

// IsOwnMeta reports whether the program itself keeps something under a key of Meta.
func IsOwnMeta(key string) bool { return slices.Contains(ownMeta, key) }

// MetaLeftOut is the key of Meta under which a reader says what of a file is not in its text: "2 comments, 1 macro
// project".
const MetaLeftOut = "left_out"

// MetaHidden is the key of Meta under which a reader says which parts of a file its program hides: "slides 3, 7".
const MetaHidden = "hidden"

// ToldMeta is the metadata that models are told. It leaves out where a file lies on its user's machine, and ids. The
// document itself keeps all of it.
func (d Document) ToldMeta() map[string]any {
	told := maps.Clone(d.Meta)
	for _, key := range ownMeta {
		delete(told, key)
	}
	return told
}
