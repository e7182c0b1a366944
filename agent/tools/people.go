package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
)

// people are the metadata properties with names of people, which match by any of their words: “Doe” and “Doe, John”
// match John Doe.
var people = []string{"author", "authors"}

// expandNames adds to a filter the names as documents write them. It reads the stored names once for each property
// and keeps the requested values. The maps of the filter are changed in place.
func (d *Context) expandNames(ctx context.Context, f corpus.Filter) (corpus.Filter, error) {
	for _, key := range people {
		asked := f.MetaAny[key]
		if one, ok := f.Meta[key]; ok {
			asked = []any{one}
		}
		if asked == nil {
			continue
		}
		written, err := d.Library.MetaTexts(ctx, d.Scope, key)
		if err != nil {
			return f, fmt.Errorf("read the names of people: %w", err)
		}
		wanted := slices.Clone(asked)
		words := make([][]string, len(asked))
		for i, one := range asked {
			words[i] = nameWords(fmt.Sprint(one))
		}
		for _, name := range written {
			has := nameWords(name)
			if slices.ContainsFunc(words, func(asked []string) bool { return isNamed(has, asked) }) {
				wanted = append(wanted, name)
			}
		}
		delete(f.Meta, key)
		if f.MetaAny == nil {
			f.MetaAny = map[string][]any{}
		}
		f.MetaAny[key] = wanted
	}
	return f, nil
}

// nameWords returns the words of a name, normalised without case and accents.
func nameWords(name string) []string {
	return strings.FieldsFunc(text.Fold(name), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsNumber(r)
	})
}

// isNamed reports whether a name has all requested words.
func isNamed(has, asked []string) bool {
	return len(asked) > 0 && !slices.ContainsFunc(asked, func(word string) bool { return !slices.Contains(has, word) })
}
