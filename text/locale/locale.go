// Package locale translates the page's sentences. A sentence is defined once, in English, where it is used (T, N);
// its translations are in catalogue/, one file for each language, keyed by the English words. Plurals follow CLDR. What
// is said before the reader's language is known, such as an error or the message of a stored step, is a Message.
// A context carries the language; the default is English. The package imports nothing of the program but package
// english.
//
// To add a language of the page, add it to the list in text/locale/locale.go and write
// text/locale/catalogue/*.json. The language menu of the page then includes it, and browsers that request it get
// it.
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

// Language is a language of the page. It is immutable and safe for concurrent use.
type Language struct {
	Code        string // BCP 47 code, also for the attribute lang
	Name        string // in the language itself
	RightToLeft bool

	tag       language.Tag
	catalogue string                        // its catalogue file; empty: English
	words     func() map[string]translation // translations by English words
	numbers   *message.Printer
	alter     func(string) string // derives the language from English; nil: use the catalogue
}

// translation is a translated sentence: one form, or one for each plural form.
type translation struct {
	one   string // without plural forms
	forms map[plural.Form]string
}

//go:embed catalogue/*.json
var files embed.FS

// English is the source language.
var English = &Language{
	Code: "en", Name: "English", tag: language.English, words: func() map[string]translation { return nil },
}

// Languages lists all languages, English first.
var Languages = []*Language{
	English,
	translated("de", "Deutsch"),
	translated("fr", "Français"),
	translated("es", "Español"),
	translated("ja", "日本語"),
	translated("zh-Hans", "简体中文"),
}

// translated returns a language whose catalogue is parsed when a page is first rendered in it.
func translated(code, name string) *Language {
	l := &Language{Code: code, Name: name, tag: language.MustParse(code), catalogue: "catalogue/" + code + ".json"}
	l.numbers = message.NewPrinter(l.tag)
	l.words = sync.OnceValue(func() map[string]translation {
		words, err := readCatalogue(files, l.catalogue)
		if err != nil {
			panic(err) // it is embedded, and a test reads it
		}
		return words
	})
	return l
}

// readCatalogue decodes a JSON object of English sentences, each with its translation or, for a counted one, an
// object of CLDR's plural forms.
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

// pluralForms maps CLDR's names of plural forms.
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

// maxHeader is the maximum number of bytes of Accept-Language that are parsed.
const maxHeader = 256

// Find returns the language with a code, nil if it is not supported. The pseudo language of tests is found only by
// its code.
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

// Match returns the best language for a reader: the chosen code if it is supported, else the best match of the
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

// With returns a context with a language for translations.
func With(ctx context.Context, l *Language) context.Context {
	return context.WithValue(ctx, contextKey{}, l)
}

// Of returns the context's language; the default is English.
func Of(ctx context.Context) *Language {
	if l, ok := ctx.Value(contextKey{}).(*Language); ok {
		return l
	}
	return English
}

// Direction returns the value of the attribute dir.
func (l *Language) Direction() string {
	if l.RightToLeft {
		return "rtl"
	}
	return "ltr"
}
