package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"footnote/chat"
	"footnote/corpus"
	"footnote/sql/bm25"
)

// Lexical is the corpus.Lexical of a database: a GIN index says which passages hold a term and how often, package bm25 ranks them here, as in
// the embedded mode. PostgreSQL's own ranking knows no BM25 and reads every passage it ranks. Nothing is in memory until the first
// search. It is safe for concurrent use and lives as long as its DB.
type Lexical struct {
	db        *DB
	directory directory
	postings  postingCache
}

var _ corpus.Lexical = (*Lexical)(nil)

// Lexical returns the database's index of words. Ask once and share the result: it keeps what it has read.
func (db *DB) Lexical() *Lexical { return &Lexical{db: db} }

// SearchLexical finds passages by words; see corpus.Lexical.
func (l *Lexical) SearchLexical(ctx context.Context, s chat.Scope, q corpus.LexicalQuery, k int) ([]corpus.Hit, error) {
	if k <= 0 || len(q.Terms) == 0 && len(q.Phrases) == 0 {
		return nil, nil
	}
	hits, err := l.search(ctx, legibleScope(s), q, k)
	if err != nil {
		return nil, fmt.Errorf("lexical search: %w", err)
	}
	return hits, nil
}

func (l *Lexical) search(ctx context.Context, s chat.Scope, q corpus.LexicalQuery, k int) ([]corpus.Hit, error) {
	terms := slices.Clone(q.Terms)
	for _, phrase := range q.Phrases {
		terms = append(terms, phrase...)
	}
	dir, scored, err := l.score(ctx, folded(terms))
	if err != nil {
		return nil, err
	}
	if len(q.Phrases) > 0 {
		rows, err := l.phraseRows(ctx, q.Phrases)
		if err != nil {
			return nil, err
		}
		scored = bm25.Only(scored, rows)
	}
	spans := dir.InScope(s, q.Documents)
	return l.hits(ctx, bm25.Best(bm25.Within(scored, spans), k), spans, k)
}

// folded returns the terms that can be in the index, each once.
func folded(terms []string) (list []string) {
	seen := make(map[string]bool, len(terms))
	for _, term := range terms {
		if term = foldTerm(term); term != "" && !seen[term] && len(list) < bm25.MaxTerms {
			seen[term] = true
			list = append(list, term)
		}
	}
	return list
}

// score adds up BM25 over the terms that choose, rows ascending. When the index changes in between, it starts over: so a
// document that is being replaced is found in one version or the other.
func (l *Lexical) score(ctx context.Context, terms []string) (dir *snapshot, sum []bm25.Scored, err error) {
	for range attempts {
		if dir, err = l.directory.current(ctx, l.db); err != nil || dir.Passages == 0 {
			return dir, nil, err
		}
		lists, same, err := l.lists(ctx, dir, terms)
		if err != nil {
			return dir, nil, err
		}
		sum = dir.Sum(lists)
		if same {
			break
		}
	}
	return dir, sum, nil
}

// read returns the postings of terms, but for those of frequent ones, and in how many passages each is. same is false if dir is out of date.
func (l *Lexical) read(ctx context.Context, dir *snapshot, terms []string) (known map[string][]bm25.Scored, all []bm25.Counted, same bool, err error) {
	known, frequent := l.postings.look(dir, terms)
	var missing []string
	for _, term := range terms {
		if _, listed := known[term]; !listed && frequent[term] == 0 {
			missing = append(missing, term)
		}
	}
	same = true
	if len(missing) > 0 {
		var cut []string
		if cut, same, err = l.fetch(ctx, dir, missing, dir.Frequent(), known); err != nil {
			return nil, nil, same, err
		}
		if err := l.count(ctx, dir, cut, frequent); err != nil {
			return nil, nil, same, err
		}
	}
	for _, term := range terms {
		n, ok := frequent[term]
		if !ok {
			n = len(known[term])
		}
		all = append(all, bm25.Counted{Term: term, Found: n})
	}
	return known, all, same, nil
}

// lists returns the postings of the terms that choose, rarest first. same is false if dir is out of date.
func (l *Lexical) lists(ctx context.Context, dir *snapshot, terms []string) (lists [][]bm25.Scored, same bool, err error) {
	known, all, same, err := l.read(ctx, dir, terms)
	if err != nil {
		return nil, same, err
	}
	for _, term := range dir.Choose(all) {
		if _, ok := known[term]; !ok { // a frequent one: nothing is rarer
			_, upToDate, err := l.fetch(ctx, dir, []string{term}, everything, known)
			if err != nil {
				return nil, same, err
			}
			same = same && upToDate
		}
		lists = append(lists, known[term])
	}
	return lists, same, nil
}

// fetch adds the postings of terms to known and to the cache, but for terms with more than most, which it returns.
func (l *Lexical) fetch(ctx context.Context, dir *snapshot, terms []string, most int, known map[string][]bm25.Scored) (cut []string, same bool, err error) {
	fetched, same, err := fetch(ctx, l.db, dir, terms, most+1)
	if err != nil {
		return nil, same, err
	}
	for i, list := range fetched {
		if len(list) > most {
			cut = append(cut, terms[i])
			continue
		}
		known[terms[i]] = dir.Weigh(list)
		if same {
			l.postings.keep(dir, terms[i], known[terms[i]])
		}
	}
	return cut, same, nil
}

// count adds the counts of frequent terms to those known and to the cache.
func (l *Lexical) count(ctx context.Context, dir *snapshot, terms []string, known map[string]int) error {
	if len(terms) == 0 {
		return nil
	}
	numbers, err := counts(ctx, l.db, terms)
	if err != nil {
		return err
	}
	for i, n := range numbers {
		known[terms[i]] = max(n, 1)
		l.postings.keepCount(dir, terms[i], max(n, 1))
	}
	return nil
}

// phraseRows returns the rows that hold every phrase, ascending.
func (l *Lexical) phraseRows(ctx context.Context, phrases [][]string) ([]uint32, error) {
	var wanted []int64
	var texts []string
	for _, phrase := range phrases {
		words := make([]string, 0, len(phrase))
		for _, term := range phrase {
			if term = foldTerm(term); term == "" {
				return nil, nil
			}
			words, wanted = append(words, term), append(wanted, markOf(term, 1))
		}
		if len(words) > 0 {
			texts = append(texts, " "+strings.Join(words, " ")+" ")
		}
	}
	if len(texts) == 0 {
		return nil, nil
	}
	found, err := query(ctx, l.db, longTime, value[int64], `SELECT lexical_phrases($1, $2)`, wanted, texts)
	if err != nil {
		return nil, err
	}
	rows := make([]uint32, len(found))
	for i, row := range sorted(found) {
		rows[i] = uint32(row)
	}
	return rows, nil
}

// hits names the passages, best first, ties by id, at most k.
func (l *Lexical) hits(ctx context.Context, list []bm25.Scored, spans []bm25.Span, k int) ([]corpus.Hit, error) {
	if len(list) == 0 {
		return nil, nil
	}
	numbers := make([]int64, len(list))
	for i, found := range list {
		numbers[i] = int64(found.Row)
	}
	type passage struct {
		row int64
		id  string
	}
	read := func(row scanner) (p passage, err error) {
		err = row.Scan(&p.row, &p.id)
		return p, err
	}
	named, err := query(ctx, l.db, longTime, read, `SELECT row, id FROM passages WHERE row = ANY ($1)`, numbers)
	if err != nil {
		return nil, err
	}
	ids := make(map[uint32]string, len(named))
	for _, p := range named {
		ids[uint32(p.row)] = p.id
	}
	return bm25.Hits(list, spans, ids, k), nil
}
