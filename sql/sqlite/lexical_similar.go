package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"iter"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"

	"footnote/chat"
	"footnote/sql/bm25"
)

// maxKnownTerms bounds the memory of knownTerms to about 20 MiB; past it, it starts over.
const maxKnownTerms = 1 << 20

// knownTerms remembers, by hash, which terms the lexicon holds, so that they aren't written again with every passage.
type knownTerms struct {
	mu     sync.Mutex
	seed   maphash.Seed
	hashes map[uint64]struct{}
}

func (k *knownTerms) has(term string) (hash uint64, known bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.hashes == nil {
		k.seed, k.hashes = maphash.MakeSeed(), make(map[uint64]struct{})
	}
	hash = maphash.String(k.seed, term)
	_, known = k.hashes[hash]
	return hash, known
}

func (k *knownTerms) add(hashes iter.Seq[uint64]) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for hash := range hashes {
		if len(k.hashes) >= maxKnownTerms {
			clear(k.hashes)
		}
		k.hashes[hash] = struct{}{}
	}
}

// correctable reports whether a term may have been meant by a mistyped one: 3 to 32 runes with a letter among them.
func correctable(term string) bool {
	n := utf8.RuneCountInString(term)
	if n < 3 || n > 32 {
		return false
	}
	for _, r := range term {
		if unicode.IsLetter(r) {
			return true
		}
	}
	return false
}

// similarTerms is the lexicon by trigrams. It is read at the first use; later uses add what is new.
type similarTerms struct {
	mu     sync.Mutex
	last   int64 // lexicon.n of the newest term here
	terms  []string
	sizes  []uint8             // distinct trigrams of each term
	byGram map[uint64][]uint32 // places in terms
	shared []uint8             // of each term, all 0 between searches
}

// trigrams returns the distinct trigrams of a term between two spaces and one, so that its start counts most.
func trigrams(term string) []uint64 {
	runes := append([]rune{' ', ' '}, []rune(term)...)
	runes = append(runes, ' ')
	grams := make([]uint64, 0, len(runes))
	for i := range len(runes) - 2 {
		grams = append(grams, uint64(runes[i])<<42|uint64(runes[i+1])<<21|uint64(runes[i+2]))
	}
	slices.Sort(grams)
	return slices.Compact(grams)
}

func (st *similarTerms) update(ctx context.Context, db *DB) error {
	rows, err := db.query(ctx, `SELECT n, term FROM lexicon WHERE n > ? ORDER BY n`, st.last)
	if err != nil {
		return err
	}
	defer rows.Close()
	if st.byGram == nil {
		st.byGram = make(map[uint64][]uint32)
	}
	for rows.Next() {
		var term string
		if err := rows.Scan(&st.last, &term); err != nil {
			return failure(err)
		}
		grams := trigrams(term)
		for _, gram := range grams {
			st.byGram[gram] = append(st.byGram[gram], uint32(len(st.terms)))
		}
		st.terms = append(st.terms, term)
		st.sizes = append(st.sizes, uint8(len(grams)))
	}
	return failure(rows.Err())
}

// A candidate is a term and how alike it is, 0 to 1: the share of trigrams that both have.
type candidate struct {
	term  string
	alike float64
}

// candidates returns the n terms most like term, most alike first, ties in their order.
func (st *similarTerms) candidates(ctx context.Context, db *DB, term string, n int) ([]candidate, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if err := st.update(ctx, db); err != nil {
		return nil, err
	}
	grams := trigrams(term)
	st.shared = append(st.shared, make([]uint8, len(st.terms)-len(st.shared))...)
	var touched []uint32
	for _, gram := range grams {
		for _, place := range st.byGram[gram] {
			if st.shared[place]++; st.shared[place] == 1 {
				touched = append(touched, place)
			}
		}
	}
	var list []candidate
	least := 0.0 // of the list when it was last cut
	for _, place := range touched {
		both := int(st.shared[place])
		st.shared[place] = 0
		alike := float64(both) / float64(len(grams)+int(st.sizes[place])-both)
		if alike < least {
			continue
		}
		list = append(list, candidate{st.terms[place], alike})
		if len(list) >= 4*n {
			sortCandidates(list)
			list = list[:n]
			least = list[n-1].alike
		}
	}
	sortCandidates(list)
	return list[:min(n, len(list))], nil
}

func sortCandidates(list []candidate) {
	slices.SortFunc(list, func(a, b candidate) int { return cmp.Or(cmp.Compare(b.alike, a.alike), cmp.Compare(a.term, b.term)) })
}

// Similar returns body terms like term; see corpus.Lexical. A term that is indexed itself comes first.
func (l *Lexical) Similar(ctx context.Context, s chat.Scope, term string, k int) ([]string, error) {
	if term = foldTerm(term); k <= 0 || !correctable(term) {
		return nil, nil
	}
	dir, err := l.directory.current(ctx, l.db)
	if err != nil {
		return nil, fmt.Errorf("similar terms: %w", err)
	}
	spans := dir.InScope(s, nil)
	if len(spans) == 0 {
		return nil, nil
	}
	const spare = 32 // candidates that may turn out to be gone or another user's
	list, err := l.similar.candidates(ctx, l.db, term, k+spare)
	if err != nil {
		return nil, fmt.Errorf("similar terms: %w", err)
	}
	var found []string
	for _, c := range list {
		if len(found) == k {
			break
		}
		visible, err := l.inBodies(ctx, c.term, spans)
		if err != nil {
			return nil, fmt.Errorf("similar terms: %w", err)
		}
		if visible {
			found = append(found, c.term)
		}
	}
	return found, nil
}

// inBodies reports whether the body of a passage in spans holds a term: one must not learn another user's words.
func (l *Lexical) inBodies(ctx context.Context, term string, spans []bm25.Span) (bool, error) {
	rows, err := l.db.query(ctx, `SELECT doc FROM lexical_places WHERE term = ? AND col = 'b'`, term)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	for rows.Next() {
		var row uint32
		if err := rows.Scan(&row); err != nil {
			return false, failure(err)
		}
		for len(spans) > 0 && row >= spans[0].End() {
			spans = spans[1:]
		}
		if len(spans) == 0 {
			return false, nil
		}
		if row >= spans[0].First {
			return true, nil
		}
	}
	return false, failure(rows.Err())
}
