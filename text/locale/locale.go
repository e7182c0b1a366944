// Package locale says the page's sentences in the reader's language. A sentence is defined once, in English, where it
// is used (T, N); what it is in other languages stands in catalogue/, one file for each language, under the English
// words. Plurals follow CLDR. A context carries the language; without one it is English. It imports nothing of the
// program but package english.
//
// To add a language of the page, add it to the list in text/locale/locale.go and write text/locale/catalogue/*.json.
// The menu of
// the page then has it, and browsers that ask for it get it.
package locale

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Language is one that the page can be read in. It never changes, so many goroutines may use it.
type Language struct {
	Code        string // as BCP 47 and the attribute lang have it
	Name        string // in the language itself
	RightToLeft bool

	tag       language.Tag
	catalogue string                        // the file of its words; empty: they are English
	words     func() map[string]translation // by the English words
	numbers   *message.Printer
	alter     func(string) string // makes a language of English; nil: the catalogue does
}

// translation is what a sentence is in a language: one form, or one for each of the language's plurals.
type translation struct {
	one   string // without plurals
	forms map[plural.Form]string
}

//go:embed catalogue/*.json
var files embed.FS

// English is the language that everything is written in first.
var English = &Language{
	Code: "en", Name: "English", tag: language.English, words: func() map[string]translation { return nil },
}

// Languages are all, English first.
var Languages = []*Language{
	English,
	translated("de", "Deutsch"),
	translated("fr", "Français"),
	translated("es", "Español"),
	translated("ja", "日本語"),
	translated("zh-Hans", "简体中文"),
}

// translated is a language with a catalogue, which is read when a page is first drawn in it.
func translated(code, name string) *Language {
	l := &Language{Code: code, Name: name, tag: language.MustParse(code), catalogue: "catalogue/" + code + ".json"}
	l.numbers = message.NewPrinter(l.tag)
	l.words = sync.OnceValue(func() map[string]translation {
		words, err := readCatalogue(files, l.catalogue)
		if err != nil {
			panic(err) // it is part of the program, and a test reads it
		}
		return words
	})
	return l
}

// readCatalogue reads an object of English sentences, each with its translation or, for one that counts, with an object
// of CLDR's plural forms.
func readCatalogue(from fs.FS, name string) (map[string]translation, error) {
	body, err := fs.ReadFile(from, name)
	if err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(body, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	words := make(map[string]translation, len(all))
	for english, raw := range all {
		var t translation
		if err := json.Unmarshal(raw, &t.one); err != nil {
			var forms map[string]string
			if err := json.Unmarshal(raw, &forms); err != nil {
				return nil, fmt.Errorf("%s, %q: %w", name, english, err)
			}
			t.forms = make(map[plural.Form]string, len(forms))
			for form, said := range forms {
				f, known := pluralForms[form]
				if !known {
					return nil, fmt.Errorf("%s, %q: there is no plural form %q", name, english, form)
				}
				t.forms[f] = said
			}
		}
		words[english] = t
	}
	return words, nil
}

// pluralForms are CLDR's names of them.
var pluralForms = map[string]plural.Form{
	"other": plural.Other, "zero": plural.Zero, "one": plural.One, "two": plural.Two, "few": plural.Few,
	"many": plural.Many,
}

var matcher = func() language.Matcher {
	tags := make([]language.Tag, len(Languages))
	for i, l := range Languages {
		tags[i] = l.tag
	}
	return language.NewMatcher(tags)
}()

// maxHeader is how many bytes of Accept-Language are looked at.
const maxHeader = 256

// Find returns the language of a code, nil if the page does not speak it. That of tests is found by its code alone.
func Find(code string) *Language {
	if code == Pseudo.Code {
		return Pseudo
	}
	for _, l := range Languages {
		if l.Code == code {
			return l
		}
	}
	return nil
}

// Match returns the language that fits a reader best: chosen, a code, if the page speaks it, else the best of the
// header Accept-Language, else English.
func Match(chosen, accept string) *Language {
	if l := Find(chosen); l != nil {
		return l
	}
	if len(accept) > maxHeader {
		accept = accept[:max(0, strings.LastIndexByte(accept[:maxHeader], ','))]
	}
	tags, _, err := language.ParseAcceptLanguage(accept)
	if err != nil || len(tags) == 0 {
		return English
	}
	_, at, confidence := matcher.Match(tags...)
	if confidence == language.No {
		return English
	}
	return Languages[at]
}

type contextKey struct{}

// With returns a context in which sentences are said in a language.
func With(ctx context.Context, l *Language) context.Context {
	return context.WithValue(ctx, contextKey{}, l)
}

// Of is the context's language, English without one.
func Of(ctx context.Context) *Language {
	if l, ok := ctx.Value(contextKey{}).(*Language); ok {
		return l
	}
	return English
}

// Direction is the value of the attribute dir.
func (l *Language) Direction() string {
	if l.RightToLeft {
		return "rtl"
	}
	return "ltr"
}
