package corpus

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/footnote/footnote/chat"
)

// languages caches the languages of users' documents: a query is stemmed for each of them. The zero value is ready
// to use. Documents in a new language are found only by unstemmed words for a moment.
type languages struct {
	mu    sync.Mutex
	users map[string]*known
}

// known is the cached set of languages of one user's documents.
type known struct {
	langs   []string // sorted
	version int64
	read    time.Time
}

const (
	languageSample = 500             // maximum documents read
	languageAge    = 2 * time.Second // minimum time before another read
)

// addLanguage adds a document's language to the cache.
func (l *languages) addLanguage(user, lang string) {
	if lang == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := l.users[user]; k != nil {
		k.addLanguage(lang)
	}
}

// addLanguage copies the list, which readers may hold.
func (k *known) addLanguage(lang string) {
	if i, ok := slices.BinarySearch(k.langs, lang); !ok {
		k.langs = slices.Insert(slices.Clone(k.langs), i, lang)
	}
}

// languagesOf returns the languages of a user's documents. It reads them again after a change of the library, at
// most every two seconds, from the newest documents only. A language stays cached until the process ends, as
// stemming for an extra one costs little.
func (l *languages) languagesOf(ctx context.Context, lib *Library, user string) ([]string, error) {
	s := chat.Scope{User: user}
	now, err := lib.KnownVersion(ctx, s)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	k := l.users[user]
	if k != nil && (k.version == now || time.Since(k.read) < languageAge) {
		langs := k.langs
		l.mu.Unlock()
		return langs, nil
	}
	l.mu.Unlock()
	found, _, err := lib.cfg.Documents.List(ctx, s, Filter{Limit: languageSample})
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.users == nil {
		l.users = make(map[string]*known)
	}
	if k = l.users[user]; k == nil {
		k = &known{}
		l.users[user] = k
	}
	k.version, k.read = now, time.Now()
	for _, d := range found {
		if d.Language != "" {
			k.addLanguage(d.Language)
		}
	}
	return k.langs, nil
}

// OtherLanguages returns the languages of the documents with ids, or of all, if none of them is in lang or in an
// unknown language. Otherwise, and for more than 500 documents, it returns none. A query in lang must then be
// translated for lexical search.
func (l *Library) OtherLanguages(ctx context.Context, s chat.Scope, ids []string, lang string) ([]string, error) {
	if len(ids) == 0 {
		all, err := l.languages.languagesOf(ctx, l, s.User)
		if err != nil || slices.Contains(all, lang) {
			return nil, err
		}
	}
	docs, more, err := l.cfg.Documents.List(ctx, s, Filter{IDs: ids, Limit: languageSample})
	if err != nil || more != "" {
		return nil, err
	}
	var others []string
	for _, d := range docs {
		if d.Language == "" || d.Language == lang {
			return nil, nil
		}
		others = appendNew(others, d.Language)
	}
	return others, nil
}
