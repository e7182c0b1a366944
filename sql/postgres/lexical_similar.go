package postgres

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"footnote/chat"
	"footnote/corpus"
	"footnote/sql/bm25"
)

// maxKnownTerms bounds the memory of knownTerms to about 20 MiB; past it, it starts over.
const maxKnownTerms = 1 << 20

// knownTerms remembers, by hash, which terms the lexicon holds, so that they aren't sent again with every document.
type knownTerms struct {
	mu     sync.Mutex
	seed   maphash.Seed
	hashes map[uint64]struct{}
}

// fresh adds the terms of a passage that the lexicon may lack to list, as long as that has less than most.
func (k *knownTerms) fresh(terms corpus.Terms, list map[string]uint64, most int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.hashes == nil {
		k.seed, k.hashes = maphash.MakeSeed(), make(map[uint64]struct{})
	}
	for term := range strings.FieldsSeq(terms.Body) {
		term = foldTerm(term)
		hash := maphash.String(k.seed, term)
		if _, known := k.hashes[hash]; !known && len(list) < most && correctable(term) {
			list[legible(term)] = hash
		}
	}
}

// unknown returns the terms of passages that the lexicon may lack, sorted, with their hashes.
func (k *knownTerms) unknown(c *corpus.Content) (list []string, hashes []uint64) {
	fresh := make(map[string]uint64)
	for terms := range c.EachTerms() {
		k.fresh(terms, fresh, c.LearnedTerms())
	}
	for term, hash := range fresh {
		list, hashes = append(list, term), append(hashes, hash)
	}
	slices.Sort(list)
	return list, hashes
}

func (k *knownTerms) add(hashes []uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, hash := range hashes {
		if len(k.hashes) >= maxKnownTerms {
			clear(k.hashes)
		}
		k.hashes[hash] = struct{}{}
	}
}

// correctable reports whether a term may have been meant by a mistyped one: 3 to 32 runes with a letter among them.
func correctable(term string) bool {
	n := utf8.RuneCountInString(term)
	return n >= 3 && n <= 32 && strings.ContainsFunc(term, unicode.IsLetter)
}

// learn adds body terms to the lexicon, before the content that holds them and apart from it: terms that nothing holds do no
// harm, and replicas that learn the same ones don't wait for each other's documents. Sorted, so that they can't deadlock.
func (ds *Documents) learn(ctx context.Context, c *corpus.Content) error {
	list, hashes := ds.known.unknown(c)
	if len(list) == 0 {
		return nil
	}
	if _, err := ds.db.exec(ctx, contentTime, `INSERT INTO lexicon SELECT unnest($1::text[]) ON CONFLICT DO NOTHING`, list); err != nil {
		return fmt.Errorf("learn words: %w", err)
	}
	ds.known.add(hashes)
	return nil
}

// Similar returns body terms like term; see corpus.Lexical. A term that is indexed itself comes first. Trigrams with letters outside ASCII
// count only where the database's locale knows them: any but C.
func (l *Lexical) Similar(ctx context.Context, s chat.Scope, term string, k int) ([]string, error) {
	if term = foldTerm(term); k <= 0 || !correctable(term) {
		return nil, nil
	}
	found, err := l.similar(ctx, legibleScope(s), term, k)
	if err != nil {
		return nil, fmt.Errorf("similar terms: %w", err)
	}
	return found, nil
}

func (l *Lexical) similar(ctx context.Context, s chat.Scope, term string, k int) ([]string, error) {
	const spare = 32 // candidates that may turn out to be gone or another user's
	dir, err := l.directory.current(ctx, l.db)
	if err != nil {
		return nil, err
	}
	spans := dir.InScope(s, nil)
	if len(spans) == 0 {
		return nil, nil
	}
	var found []string
	for _, least := range likeness {
		list, err := query(ctx, l.db, longTime, value[string], `SELECT lexicon_similar($1, $2, $3)`, term, least, k+spare)
		if err != nil {
			return nil, err
		}
		visible, err := l.visible(ctx, list, spans, dir.Frequent())
		if err != nil {
			return nil, err
		}
		found = found[:0]
		for i, candidate := range list {
			if visible[i] && len(found) < k {
				found = append(found, candidate)
			}
		}
		if len(found) == k {
			break
		}
	}
	return found, nil
}

// likeness is how alike terms must be, from 0 to 1: little is looked for only when much finds too few, since that takes ten
// times as long.
var likeness = [...]float32{0.4, 0.15}

// visible reports for each term whether a passage in spans holds it: one must not learn another user's words.
func (l *Lexical) visible(ctx context.Context, terms []string, spans []bm25.Span, most int) ([]bool, error) {
	if len(terms) == 0 {
		return nil, nil
	}
	wanted := make([]int64, len(terms))
	for i, term := range terms {
		wanted[i] = markOf(term, 1)
	}
	lists, err := query(ctx, l.db, longTime, value[[]int64], `SELECT lexical_rows($1, 1, $2)`, wanted, most)
	if err != nil {
		return nil, err
	}
	visible := make([]bool, len(terms))
	for i, rows := range lists {
		if len(rows) == most && most < everything { // perhaps there are more
			one, err := l.visible(ctx, terms[i:i+1], spans, everything)
			if err != nil {
				return nil, err
			}
			visible[i] = one[0]
			continue
		}
		scored := make([]bm25.Scored, len(rows))
		for j, row := range sorted(rows) {
			scored[j].Row = uint32(row)
		}
		visible[i] = len(bm25.Within(scored, spans)) > 0
	}
	return visible, nil
}
