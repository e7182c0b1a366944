package postings

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/sql/bm25"
)

// maxSimilar limits the terms of all users in memory for typo correction: some 150 bytes each.
const maxSimilar = 1 << 18

// isCorrectable reports whether a term can be a correction of a typo: 3 to 32 runes with a letter. Shorter terms are
// similar to too many others, and longer ones are no words.
func isCorrectable(term string) bool {
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

// similarTerms is a trigram index of each user's terms. It is read at the first use and updated at later ones.
type similarTerms struct {
	mu    sync.Mutex
	users map[string]*trigramIndex
}

// trigramIndex is one user's terms. shared is a reused buffer, protected by the lock of similarTerms.
type trigramIndex struct {
	changed int64 // the newest change that was read
	known   map[string]bool
	terms   []sampledTerm
	sizes   []uint8             // distinct trigrams of each term
	byGram  map[uint64][]uint32 // indexes into terms
	shared  []uint8             // of each term, all 0 between searches
}

// sampledTerm is a term with the row of a passage that contains it; 0 without one.
type sampledTerm struct {
	term string
	row  uint32
}

// trigramsOf returns the distinct trigrams of a term, padded like PostgreSQL's pg_trgm: two spaces before and one
// after, so that its start has more weight. A rune takes 21 bits, so three fit into 63.
func trigramsOf(term string) []uint64 {
	runes := append([]rune{' ', ' '}, []rune(term)...)
	runes = append(runes, ' ')
	grams := make([]uint64, 0, len(runes))
	for i := range len(runes) - 2 {
		grams = append(grams, uint64(runes[i])<<42|uint64(runes[i+1])<<21|uint64(runes[i+2]))
	}
	slices.Sort(grams)
	return slices.Compact(grams)
}

// termsOf returns a user's up-to-date trigram index. When all users' terms exceed maxSimilar, the indexes of all
// other users are dropped and read again when needed. The caller holds mu.
func (st *similarTerms) termsOf(
	ctx context.Context, store Store, user string, segments []Segment,
) (*trigramIndex, error) {
	if st.users == nil {
		st.users = make(map[string]*trigramIndex)
	}
	t := st.users[user]
	if t == nil {
		t = &trigramIndex{known: make(map[string]bool), byGram: make(map[uint64][]uint32)}
		st.users[user] = t
	}
	if err := t.addSegments(ctx, store, user, segments); err != nil {
		delete(st.users, user) // incomplete
		return nil, err
	}
	total := 0
	for _, other := range st.users {
		total += len(other.terms)
	}
	if total > maxSimilar {
		clear(st.users)
		st.users[user] = t
	}
	return t, nil
}

// addSegments adds the terms of segments with newer content. Terms of a single passage are added last, while there
// is room, as a correction is likely a frequent term. Segments without newer changes, including merged ones, are
// skipped.
func (t *trigramIndex) addSegments(ctx context.Context, store Store, user string, segments []Segment) error {
	newest := t.changed
	var read []int64
	for _, s := range segments {
		if s.Changed <= t.changed {
			continue
		}
		newest, read = max(newest, s.Changed), append(read, s.Number)
		var rare []sampledTerm
		for p, err := range termPages(ctx, store, s.Number) {
			if err != nil {
				return err
			}
			if rare, err = t.addPage(p, rare); err != nil {
				return err
			}
		}
		for _, s := range rare {
			t.addTerm(s)
		}
	}
	if len(read) == 0 {
		return nil
	}
	there, err := allThere(ctx, store, user, read)
	if there { // else a segment may be incomplete: retry at the next use
		t.changed = newest
	}
	return err
}

// addPage adds the terms of a page and returns rare with those of a single passage.
func (t *trigramIndex) addPage(p Page, rare []sampledTerm) ([]sampledTerm, error) {
	if p.isBlock() {
		return rare, nil
	}
	page, err := readEntries(p)
	if err != nil {
		return rare, err
	}
	var e entry
	for {
		ok, err := page.nextEntry(&e)
		if !ok || err != nil {
			return rare, err
		}
		if !e.inBody || t.known[string(e.term)] || len(t.terms) >= maxSimilar || !isCorrectable(string(e.term)) {
			continue
		}
		row, err := e.firstRow(page.base)
		if err != nil {
			return rare, err
		}
		if e.count > 1 {
			t.addTerm(sampledTerm{string(e.term), row})
		} else if len(rare) < maxSimilar {
			rare = append(rare, sampledTerm{string(e.term), row})
		}
	}
}

// addTerm adds a term with its trigrams, unless it is known or there is no room. Terms are never removed;
// visibleTerms filters them.
func (t *trigramIndex) addTerm(s sampledTerm) {
	if len(t.terms) >= maxSimilar || t.known[s.term] {
		return
	}
	grams := trigramsOf(s.term)
	for _, gram := range grams {
		t.byGram[gram] = append(t.byGram[gram], uint32(len(t.terms)))
	}
	t.known[s.term] = true
	t.terms = append(t.terms, s)
	t.sizes = append(t.sizes, uint8(len(grams)))
}

// A candidate is a term with its similarity from 0 to 1: the Jaccard coefficient of the trigrams, as in pg_trgm.
type candidate struct {
	sampledTerm
	alike float64
}

// candidatesFor returns the n most similar terms, best first, ties in alphabetical order. It only visits terms with
// a common trigram. The list is truncated whenever it reaches four times n, so it need not be sorted as a whole.
func (t *trigramIndex) candidatesFor(term string, n int) []candidate {
	grams := trigramsOf(term)
	t.shared = append(t.shared, make([]uint8, len(t.terms)-len(t.shared))...)
	var touched []uint32
	for _, gram := range grams {
		for _, place := range t.byGram[gram] {
			if t.shared[place]++; t.shared[place] == 1 {
				touched = append(touched, place)
			}
		}
	}
	var list []candidate
	least := 0.0 // of the list when it was last truncated
	for _, place := range touched {
		both := int(t.shared[place])
		t.shared[place] = 0
		alike := float64(both) / float64(len(grams)+int(t.sizes[place])-both)
		if alike < least {
			continue
		}
		list = append(list, candidate{t.terms[place], alike})
		if len(list) >= 4*n {
			sortCandidates(list)
			list = list[:n]
			least = list[n-1].alike
		}
	}
	sortCandidates(list)
	return list[:min(n, len(list))]
}

func sortCandidates(list []candidate) {
	slices.SortFunc(
		list, func(a, b candidate) int { return cmp.Or(cmp.Compare(b.alike, a.alike), cmp.Compare(a.term, b.term)) },
	)
}

// Similar returns body terms similar to term; see corpus.Lexical. If term is indexed itself, it is first. It selects
// 32 more candidates than needed, since some may be of removed or hidden passages, or of another namespace.
func (x *Index) Similar(ctx context.Context, s chat.Scope, term string, k int) (like []string, err error) {
	if term = Fold(term); k <= 0 || !isCorrectable(term) {
		return nil, nil
	}
	s = x.store.Scope(s)
	err = x.readConsistently(ctx, s.User, func(r *reading) error {
		spans := r.InScope(s, nil)
		if len(spans) == 0 {
			return nil
		}
		const spare = 32 // candidates of removed or hidden passages, or of another namespace
		list, err := x.similarCandidates(ctx, r, s.User, term, k+spare)
		if err != nil {
			return err
		}
		like, err = r.visibleTerms(ctx, list, spans, k)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("similar terms: %w", err)
	}
	return like, nil
}

// similarCandidates returns the most similar terms. It holds the lock for all users meanwhile, since they share one
// memory limit.
func (x *Index) similarCandidates(ctx context.Context, r *reading, user, term string, n int) ([]candidate, error) {
	x.similar.mu.Lock()
	defer x.similar.mu.Unlock()
	t, err := x.similar.termsOf(ctx, x.store, user, r.segments)
	if err != nil {
		return nil, err
	}
	return t.candidatesFor(term, n), nil
}

// visibleTerms returns the first k candidates with a passage in the spans. Usually the row in which a term was
// spotted is one; only the other terms are looked up.
func (r *reading) visibleTerms(
	ctx context.Context, list []candidate, spans []bm25.Span, k int,
) (like []string, err error) {
	for len(list) > 0 && len(like) < k {
		some := list[:min(k-len(like), len(list))]
		list = list[len(some):]
		seen := make(map[string]bool)
		var unsure []string
		for _, c := range some {
			if seen[c.term] = anyWithin([]bm25.Scored{{Row: c.row}}, spans); !seen[c.term] {
				unsure = append(unsure, c.term)
			}
		}
		all, err := r.findTerms(ctx, unsure)
		if err != nil {
			return nil, err
		}
		for _, f := range all {
			rows, err := r.scoredPassages(ctx, f)
			if err != nil {
				return nil, err
			}
			seen[f.Term] = anyWithin(rows, spans)
		}
		for _, c := range some {
			if seen[c.term] {
				like = append(like, c.term)
			}
		}
	}
	return like, nil
}

// anyWithin reports whether one of the passages, in ascending order, is in the spans.
func anyWithin(rows []bm25.Scored, spans []bm25.Span) bool {
	for _, p := range rows {
		for len(spans) > 0 && p.Row >= spans[0].End() {
			spans = spans[1:]
		}
		if len(spans) == 0 {
			return false
		}
		if p.Row >= spans[0].First {
			return true
		}
	}
	return false
}
