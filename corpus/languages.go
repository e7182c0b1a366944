package corpus

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/footnote/footnote/chat"
)

// languages remembers which languages a user's documents are in: a query is stemmed for each of them. The zero value is
// ready. Documents of a language that it doesn't know of yet are found by their unstemmed words for a moment.
type languages struct {
	mu    sync.Mutex
	users map[string]*known
}

// known are the languages of one user's documents, as they were read at a time.
type known struct {
	langs   []string // sorted
	version int64
	read    time.Time
}

const (
	languageSample = 500             // documents that are looked at
	languageAge    = 2 * time.Second // how long that holds, at least
)

// addLanguage notes a document's language.
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

// languagesOf returns the languages of a user's documents. They are read again when the library changed, at most every
// two seconds. Only the newest documents are looked at; a language that was seen once stays until the process ends, as
// stemming for one too many costs little.
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

// OtherLanguages returns the languages of the documents in reach, those of ids or all, if none of them is in lang or in
// one that can't be told; otherwise, and of more than 500 documents, none. A question in one language then has to be
// put in others to be found by its words.
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
