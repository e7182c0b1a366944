package agent

import (
	"context"
	"fmt"
	"path"
	"strings"

	"footnote/corpus"
	"footnote/corpus/text"
)

// titlesTried is how many documents whose titles hold the words are compared with them.
const titlesTried = 20

// entitled returns the newest document in reach whose title, or file name with or without its ending, is name.
func (d *desk) entitled(ctx context.Context, name string) (corpus.Document, bool, error) {
	docs, _, err := d.library.List(ctx, d.scope, corpus.Filter{Text: name, IDs: d.only, Limit: titlesTried})
	if err != nil {
		return corpus.Document{}, false, fmt.Errorf("look for a title: %w", err)
	}
	name = text.Fold(name)
	for _, doc := range docs {
		for _, known := range []string{doc.Title, doc.Filename, strings.TrimSuffix(doc.Filename, path.Ext(doc.Filename))} {
			if text.Fold(known) == name {
				return doc, true, nil
			}
		}
	}
	return corpus.Document{}, false, nil
}
