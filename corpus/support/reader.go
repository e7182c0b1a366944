package support

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/footnote/footnote/text"
)

// reader parses phrases in a language. It caches words for all Judges. It is safe for concurrent use.
type reader struct {
	lang  string
	stop  func(string) bool
	roles map[string]role
	mu    sync.RWMutex
	words map[string]lexeme
	gram  map[string]relation
	about map[string]termSet // cache of known terms
}

// lexeme is the lexical entry of a word.
type lexeme struct {
	lower string
	terms []string
	role  role

	relation relation
}

// readers by language, from readerOf. text.Detect has few languages, so the map needs no limit.
var readers sync.Map

// readerOf returns the shared reader of a language, which is safe for concurrent use.
func readerOf(lang string) *reader {
	if r, ok := readers.Load(lang); ok {
		return r.(*reader)
	}
	r, _ := readers.LoadOrStore(lang, &reader{
		lang: lang, stop: text.Stops(cmp.Or(lang, "en")), roles: rolesOf(lang), words: map[string]lexeme{},
		gram:  relations[cmp.Or(lang, "en")],
		about: map[string]termSet{},
	})
	return r.(*reader)
}

// maxLexemes limits a reader's cache to a few megabytes: 32,768 words of about 100 bytes. A library has more words,
// but those of one answer's passages are a few thousand.
const maxLexemes = 1 << 15

// maxAbout is the maximum number of texts whose terms a reader caches: titles of documents, and the words that
// answers use about documents.
const maxAbout = 1 << 8

// knownTerms returns the terms of the subject of claims, with a cache. Callers must not change them.
func (r *reader) knownTerms(about string) termSet {
	r.mu.RLock()
	terms, ok := r.about[about]
	r.mu.RUnlock()
	if ok {
		return terms
	}
	terms = r.readSentence(about).terms
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.about) >= maxAbout {
		clear(r.about)
	}
	r.about[strings.Clone(about)] = terms
	return terms
}

// lookUp returns the lexeme of a word, with a cache of at most maxLexemes; a full cache is cleared.
func (r *reader) lookUp(raw string, gram bool) lexeme {
	r.mu.RLock()
	l, ok := r.words[raw]
	r.mu.RUnlock()
	if ok {
		return l
	}
	raw = strings.Clone(raw) // a copy, so that the cache does not retain the passage
	l = r.newLexeme(raw, gram)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.words) >= maxLexemes {
		clear(r.words)
	}
	r.words[raw] = l
	return l
}

// newLexeme determines the role of a word and its terms in this language and in English: passages and claims mix
// both, and an English name has another stem in German. The word itself is always one of the terms; its number and
// the key of its synonyms ("=close") may be.
func (r *reader) newLexeme(raw string, gram bool) lexeme {
	l := lexeme{lower: strings.ToLower(raw)}
	l.relation = r.gram[l.lower]
	known, ok := r.roles[l.lower]
	switch {
	case gram && text.IsStopGram(l.lower), l.lower == "one":
		l.role = silent
	case gram, telling[l.lower]:
	case ok:
		l.role = known
	case r.stop(l.lower):
		l.role = function
	}
	for _, lang := range []string{"", r.lang, "en"} {
		a := judging.Get(lang)
		for _, t := range a.Terms(raw) {
			if !slices.Contains(l.terms, t) {
				l.terms = append(l.terms, t)
			}
		}
		judging.Put(lang, a)
	}
	if n, ok := numerals[l.lower]; ok {
		l.terms = append(l.terms, n)
	}
	if s, ok := synonyms[l.lower]; ok {
		l.terms = append(l.terms, s)
	}
	return l
}
