package corpus

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
)

const (
	findAmong  = 1000 // documents compared by likeness, newest first
	sureEnough = 0.55 // likeness of a match that is taken …
	clearLead  = 0.08 // … if the next one is so much less alike
	hintFrom   = 0.2
	maxHints   = 3
)

// Find resolves an id, a title or a file name to a document in scope; CodeNotFound says what came nearest. An id is
// looked up first. Names are compared without case, diacritics and extension; a name that is only nearly one must be
// much nearer to its document than to any other. Of several with the same name the newest is taken.
func (l *Library) Find(ctx context.Context, s chat.Scope, idOrTitle string) (Document, error) {
	name := strings.Trim(strings.TrimSpace(idOrTitle), "\"'“”„«»`")
	if name == "" {
		return Document{}, invalidError("Name the document: its title, its file name or its id.")
	}
	// An id has no spaces; what looks like one and is not there may still be a title of one word.
	if len(name) <= 64 && !strings.ContainsAny(name, " /") {
		d, err := l.cfg.Documents.Get(ctx, s, name)
		if err == nil || chat.CodeOf(err) != chat.CodeNotFound {
			return d, err
		}
	}
	named, _, err := l.cfg.Documents.List(ctx, s, Filter{Text: name, Limit: findAmong})
	if err != nil {
		return Document{}, err
	}
	if d, ok := exactMatch(named, name); ok {
		return d, nil
	}
	all, _, err := l.cfg.Documents.List(ctx, s, Filter{Limit: findAmong})
	if err != nil {
		return Document{}, err
	}
	if len(all) == 0 {
		return Document{}, &chat.Error{Code: chat.CodeNotFound, Message: "There are no documents yet. Add some first."}
	}
	return nearestMatch(all, name)
}

// exactMatch returns the newest document whose title, file name or path is name, or that but for the extension.
func exactMatch(docs []Document, name string) (Document, bool) {
	name = text.Fold(name)
	// All whole names first: "notes.md" must not find "notes.md.txt" while there is one of that very name.
	for _, plain := range []func(string) string{text.Fold, stemOf} {
		for _, d := range docs {
			if plain(d.Title) == name || plain(d.Filename) == name || plain(d.Path) == name {
				return d, true
			}
		}
	}
	return Document{}, false
}

// stemOf folds a name without its extension.
func stemOf(name string) string { return text.Fold(strings.TrimSuffix(name, path.Ext(name))) }

// nearestMatch returns the one document whose name is most like name, or says which are near. Hints are given only for
// names that are somewhat alike, at most maxHints.
func nearestMatch(docs []Document, name string) (Document, error) {
	type named struct {
		Document
		alike float64
	}
	list := make([]named, 0, len(docs))
	wanted := nameTrigrams(name)
	for _, d := range docs {
		alike := max(nameLikeness(wanted, nameTrigrams(d.Title)), nameLikeness(wanted, nameTrigrams(d.Filename)))
		list = append(list, named{d, alike})
	}
	slices.SortStableFunc(list, func(a, b named) int { return cmp.Compare(b.alike, a.alike) })
	if list[0].alike >= sureEnough && (len(list) == 1 || list[0].alike-list[1].alike >= clearLead) {
		return list[0].Document, nil
	}
	var near []string
	for _, c := range list[:min(len(list), maxHints)] {
		if c.alike >= hintFrom {
			near = appendNew(near, "“"+shortenRunes(c.Title, 80)+"”")
		}
	}
	message := "There is no document “" + shortenRunes(name, 80) + "”."
	if len(near) > 0 {
		message += " The nearest: " + strings.Join(near, ", ") + "."
	} else {
		message += " List the documents to see their titles."
	}
	return Document{}, &chat.Error{Code: chat.CodeNotFound, Message: message, Err: errors.New("no unique match")}
}

// nameTrigrams returns the trigrams of a name's words, by which names are compared.
func nameTrigrams(name string) map[string]bool {
	if ext := path.Ext(name); len(ext) > 1 && len(ext) <= 6 {
		name = strings.TrimSuffix(name, ext)
	}
	out := make(map[string]bool)
	// A space at either side makes the first and the last letters of a word count as such.
	for _, term := range text.Terms(name, "") {
		r := []rune(" " + term + " ")
		for i := 0; i+3 <= len(r); i++ {
			out[string(r[i:i+3])] = true
		}
	}
	return out
}

// nameLikeness is how much two shapes share, 0–1. A name that is wholly part of the other counts more: people shorten.
// It is the Dice coefficient, mixed with the share of the shorter name that the other one has.
func nameLikeness(a, b map[string]bool) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	shared := 0
	for t := range a {
		if b[t] {
			shared++
		}
	}
	dice := 2 * float64(shared) / float64(len(a)+len(b))
	part := float64(shared) / float64(min(len(a), len(b)))
	return 0.6*dice + 0.4*part
}
