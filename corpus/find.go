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
	"github.com/footnote/footnote/text/locale"
)

const (
	findAmong  = 1000 // maximum documents compared by similarity, newest first
	sureEnough = 0.55 // minimum similarity of an accepted match …
	clearLead  = 0.08 // … and its minimum lead over the next one
	hintFrom   = 0.2
	maxHints   = 3
)

// Find resolves an ID, a title or a file name to a document in scope; a CodeNotFound error names the closest
// matches. An ID has priority. Names are compared without case, diacritics and extension; an approximate match must
// lead clearly over all others. Among documents with the same name the newest is returned.
func (l *Library) Find(ctx context.Context, s chat.Scope, idOrTitle string) (Document, error) {
	name := strings.Trim(strings.TrimSpace(idOrTitle), "\"'“”„«»`")
	if name == "" {
		return Document{}, invalidError("Name the document: its title, its file name or its id.")
	}
	// An ID has no spaces; if there is no such document, the text may be a title of one word.
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
		return Document{}, &chat.Error{Code: chat.CodeNotFound, Message: "No documents yet. Add some first."}
	}
	return nearestMatch(all, name)
}

// exactMatch returns the newest document with the title, file name or path name, or the same without the extension.
func exactMatch(docs []Document, name string) (Document, bool) {
	name = text.Fold(name)
	// Compare full names first: "notes.md" must not find "notes.md.txt" if "notes.md" exists.
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

// nearestMatch returns the document with the most similar name, or an error with up to maxHints similar names.
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
	return Document{}, &chat.Error{
		Code:    chat.CodeNotFound,
		Message: locale.Message(message),
		Err:     errors.New("no unique match"),
	}
}

// nameTrigrams returns the trigrams of a name's words, for comparison.
func nameTrigrams(name string) map[string]bool {
	if ext := path.Ext(name); len(ext) > 1 && len(ext) <= 6 {
		name = strings.TrimSuffix(name, ext)
	}
	out := make(map[string]bool)
	// Spaces on both sides give weight to the first and the last letters of a word.
	for _, term := range text.Terms(name, "") {
		r := []rune(" " + term + " ")
		for i := 0; i+3 <= len(r); i++ {
			out[string(r[i:i+3])] = true
		}
	}
	return out
}

// nameLikeness returns the similarity of two trigram sets, 0–1: the Dice coefficient, mixed with the share of the
// smaller set in the other, since users abbreviate names.
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
