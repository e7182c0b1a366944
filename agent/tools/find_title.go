package tools

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
)

// titlesTried is the maximum number of candidate documents whose titles are compared.
const titlesTried = 20

// FindByTitle returns the newest document in reach whose title, or file name with or without its extension, equals
// name. The store returns documents that contain the name; they are then compared exactly, without case and accents
// (text.Fold). ok is false if no document matches.
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
