package tools

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
)

// titlesTried is how many documents whose titles hold the words are compared with them.
const titlesTried = 20

// FindByTitle returns the newest document in reach whose title, or file name with or without its ending, is name. The
// store finds titles that hold the name; equal they must be here, without case. ok is false when none is. Case and
// accents don't count (text.Fold).
func (d *Context) FindByTitle(ctx context.Context, name string) (corpus.Document, bool, error) {
	docs, _, err := d.Library.List(ctx, d.Scope, corpus.Filter{Text: name, IDs: d.DocumentIDs, Limit: titlesTried})
	if err != nil {
		return corpus.Document{}, false, fmt.Errorf("look for a title: %w", err)
	}
	name = text.Fold(name)
	for _, doc := range docs {
		for _, known := range []string{
			doc.Title, doc.Filename, strings.TrimSuffix(doc.Filename, path.Ext(doc.Filename)),
		} {
			if text.Fold(known) == name {
				return doc, true, nil
			}
		}
	}
	return corpus.Document{}, false, nil
}
