// Package toy is the kind of place that has one document.
package toy

import (
	"context"
	"io"
	"iter"
	"strings"

	"footnote/locale"
	"footnote/places"
)

// box has the words of its document.
type box struct{ words string }

// Kind is a box of toys.
func Kind() places.Kind {
	return places.Kind{
		Name: "toy", Title: locale.T("Toy box"), Help: locale.T("One document."),
		Fields: []places.Field{{Name: "words", Title: locale.T("Words"), Required: true}},
		Open:   func(s places.Settings, _ places.Net) (places.Place, error) { return box{s["words"]}, nil },
	}
}

// Check implements places.Place.
func (box) Check(context.Context) error { return nil }

// List implements places.Place.
func (b box) List(context.Context) iter.Seq2[places.Item, error] {
	return func(yield func(places.Item, error) bool) {
		yield(places.Item{Key: "toy", Version: b.words, Name: "attic.md", Size: -1}, nil)
	}
}

// Fetch implements places.Place.
func (b box) Fetch(context.Context, places.Item, string) (places.Content, error) {
	return places.Content{Body: io.NopCloser(strings.NewReader(b.words)), Version: b.words}, nil
}
