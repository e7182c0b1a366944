package sqlite

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"footnote/chat"
	"footnote/corpus"
	"footnote/sql/bm25"
)

// Lexical is the corpus.Lexical of an open database: an FTS5 index read term by term and ranked by package bm25. FTS5's own
// ranking costs two microseconds a passage, reading a term's places a thirtieth of that. Nothing is in memory until the first
// search. It is safe for concurrent use and lives as long as its DB.
type Lexical struct {
	db        *DB
	index     index
	directory directory
	read      postingCache
	similar   similarTerms
}

var _ corpus.Lexical = (*Lexical)(nil)

// Lexical returns the database's index of words. Ask once and share the result: it keeps what it has read.
func (db *DB) Lexical() *Lexical { return &Lexical{db: db, index: index{db: db}} }

// SearchLexical finds passages by words; see corpus.Lexical.
func (l *Lexical) SearchLexical(ctx context.Context, s chat.Scope, q corpus.LexicalQuery, k int) ([]corpus.Hit, error) {
	if k <= 0 || len(q.Terms) == 0 && len(q.Phrases) == 0 {
		return nil, nil
	}
	hits, err := l.search(ctx, s, q, k)
	if err != nil {
		return nil, fmt.Errorf("lexical search: %w", err)
	}
	return hits, nil
}

func (l *Lexical) search(ctx context.Context, s chat.Scope, q corpus.LexicalQuery, k int) ([]corpus.Hit, error) {
	dir, err := l.directory.current(ctx, l.db)
	if err != nil {
		return nil, err
	}
	spans := dir.InScope(s, q.Documents)
	if len(spans) == 0 {
		return nil, nil
	}
	terms := slices.Clone(q.Terms)
	for _, phrase := range q.Phrases {
		terms = append(terms, phrase...)
	}
	scored, err := l.score(ctx, dir, terms)
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
	return l.hits(ctx, bm25.Best(bm25.Within(scored, spans), k), spans, k)
}

// score adds up BM25 over the terms that choose, rows ascending.
func (l *Lexical) score(ctx context.Context, dir *directorySnapshot, terms []string) ([]bm25.Scored, error) {
	all, err := l.postings(ctx, dir, indexed(terms))
	if err != nil {
		return nil, err
	}
	rows := make(map[string][]bm25.Scored, len(all))
	for _, p := range all {
		rows[p.Term] = p.rows
	}
	var lists [][]bm25.Scored
	for _, term := range dir.Choose(counts(all)) {
		list := rows[term]
		if list == nil { // frequent, and there is no rarer one
			if list, err = l.index.places(ctx, term); err != nil {
				return nil, err
			}
			list = dir.Weigh(list)
		}
		lists = append(lists, list)
	}
	return dir.Sum(lists), nil
}

func counts(all []postings) []bm25.Counted {
	out := make([]bm25.Counted, len(all))
	for i, p := range all {
		out[i] = p.Counted
	}
	return out
}

// readAtOnce is how many terms of one search are read side by side: half the readers, so that others find one free.
const readAtOnce = 2

// sideBySide reads something of each term, in the order of the terms.
func sideBySide[T any](ctx context.Context, terms []string, read func(context.Context, string) (T, error)) ([]T, error) {
	found := make([]T, len(terms))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(readAtOnce)
	for i, term := range terms {
		g.Go(func() (err error) {
			found[i], err = read(ctx, term)
			return err
		})
	}
	return found, g.Wait()
}

// indexed returns the terms as the index has them, each once, at most bm25.MaxTerms.
func indexed(terms []string) (folded []string) {
	for _, term := range terms {
		if term = foldTerm(term); term != "" && len(folded) < bm25.MaxTerms && !slices.Contains(folded, term) {
			folded = append(folded, term)
		}
	}
	return folded
}

// foldTerm is what the index makes of a term: it folds ASCII capitals and nothing else. A term that holds white space or
// controls is in no index: "".
func foldTerm(term string) string {
	if strings.ContainsFunc(term, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, term)
}

// phraseRows returns the rows that hold every phrase, ascending.
func (l *Lexical) phraseRows(ctx context.Context, phrases [][]string) ([]uint32, error) {
	var match []string
	for _, phrase := range phrases {
		var words []string
		for _, term := range phrase {
			if term = foldTerm(term); term == "" {
				return nil, nil
			}
			words = append(words, strings.ReplaceAll(term, `"`, `""`))
		}
		if len(words) > 0 {
			match = append(match, `"`+strings.Join(words, " ")+`"`)
		}
	}
	if len(match) == 0 {
		return nil, nil
	}
	var list string
	err := l.db.queryRow(ctx, `SELECT coalesce(group_concat(rowid), '') FROM lexical WHERE lexical MATCH ?`,
		[]any{strings.Join(match, " AND ")}, &list)
	if err != nil || list == "" {
		return nil, err
	}
	return parseRows(list)
}

// hits names the passages, best first, ties by id, at most k.
func (l *Lexical) hits(ctx context.Context, list []bm25.Scored, spans []bm25.Span, k int) ([]corpus.Hit, error) {
	if len(list) == 0 {
		return nil, nil
	}
	numbers := make([]uint32, len(list))
	for i, found := range list {
		numbers[i] = found.Row
	}
	wanted, err := toJSON(numbers)
	if err != nil {
		return nil, err
	}
	rows, err := l.db.query(ctx, `SELECT row, id FROM passages WHERE row IN (SELECT value FROM json_each(?))`, wanted)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	ids := make(map[uint32]string, len(list))
	for rows.Next() {
		var row uint32
		var id string
		if err := rows.Scan(&row, &id); err != nil {
			return nil, failure(err)
		}
		ids[row] = id
	}
	if err := rows.Err(); err != nil {
		return nil, failure(err)
	}
	return bm25.Hits(list, spans, ids, k), nil
}

// parseRows reads "12,15,16".
func parseRows(list string) ([]uint32, error) {
	rows := make([]uint32, 0, len(list)/5+1)
	var row uint32
	for i := range len(list) {
		switch b := list[i]; {
		case '0' <= b && b <= '9':
			row = row*10 + uint32(b-'0')
		case b == ',':
			rows = append(rows, row)
			row = 0
		default:
			return nil, errBadIndex
		}
	}
	return append(rows, row), nil
}
