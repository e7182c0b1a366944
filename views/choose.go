package views

import (
	"slices"

	"footnote/corpus"
	"footnote/english"
)

// Chooser offers documents that a question can be narrowed to.
type Chooser struct {
	Documents []corpus.Document // the newest ones, or those that a search found
	Chosen    []corpus.Document
	Ready     int // how many there are in all
}

func (c Chooser) all() string {
	if c.Ready == 1 {
		return "The one document"
	}
	return "All " + english.Count(c.Ready, "document")
}

// some is the label for several chosen documents, with {n} in the place of their number.
func (c Chooser) some() string { return "{n} of " + english.Count(c.Ready, "document") }

func (c Chooser) label() string {
	switch len(c.Chosen) {
	case 0:
		return c.all()
	case 1:
		return documentTitle(c.Chosen[0])
	default:
		return english.Digits(len(c.Chosen)) + " of " + english.Count(c.Ready, "document")
	}
}

// rest are the offered documents that were not chosen yet.
func (c Chooser) rest() []corpus.Document {
	var rest []corpus.Document
	for _, d := range c.Documents {
		if !slices.ContainsFunc(c.Chosen, func(chosen corpus.Document) bool { return chosen.ID == d.ID }) {
			rest = append(rest, d)
		}
	}
	return rest
}
