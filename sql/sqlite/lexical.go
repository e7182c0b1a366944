package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"footnote/chat"
	"footnote/corpus"
)

// Limits of one lexical search. Work grows with the passages that hold the query's terms, so frequent terms don't choose
// passages as long as rarer ones can.
const (
	maxQueryTerms   = 64
	frequentShare   = 8     // a term in more than one of 8 passages is frequent …
	frequentAtLeast = 1500  // … unless that is fewer than this
	maxPostings     = 20000 // of one search, and a tenth of all passages more; rarest terms first
	maxTies         = 1000  // passages as good as the last one, of which the first by id are taken
)

// Lexical is the corpus.Lexical of an open database: an FTS5 index read term by term and ranked by BM25 in Go. FTS5's own
// ranking costs two microseconds a passage, reading a term's places a tenth of that. Nothing is in memory until the first
// search. It is safe for concurrent use and lives as long as its DB.
type Lexical struct {
	db        *DB
	directory directory
	postings  postingCache
	similar   similarTerms
}

var _ corpus.Lexical = (*Lexical)(nil)

// Lexical returns the database's index of words. Ask once and share the result: it keeps what it has read.
func (db *DB) Lexical() *Lexical { return &Lexical{db: db} }

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
	spans := dir.inScope(s, q.Documents)
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
		scored = onlyRows(scored, rows)
	}
	return l.hits(ctx, best(within(scored, spans), k), spans, k)
}

// A scored is a passage by its row in the index, with its score so far.
type scored struct {
	row   uint32
	score float32
}

// score adds up BM25 over the terms that choose, rows ascending.
func (l *Lexical) score(ctx context.Context, dir *directorySnapshot, terms []string) ([]scored, error) {
	chosen, err := l.choose(ctx, dir, terms)
	if err != nil {
		return nil, err
	}
	var sum, next []scored
	for _, term := range chosen {
		list, err := l.postings.get(ctx, l.db, dir, term)
		if err != nil {
			return nil, err
		}
		n, found := float64(dir.passages), float64(len(list))
		idf := float32(math.Log(1 + (n-found+0.5)/(found+0.5)))
		sum, next = addScores(next[:0], sum, list, idf), sum
	}
	return sum, nil
}

// addScores merges list, times idf, into sum; the result is appended to out.
func addScores(out, sum, list []scored, idf float32) []scored {
	for len(sum) > 0 && len(list) > 0 {
		switch a, b := sum[0], list[0]; {
		case a.row < b.row:
			out, sum = append(out, a), sum[1:]
		case a.row > b.row:
			out, list = append(out, scored{b.row, b.score * idf}), list[1:]
		default:
			out, sum, list = append(out, scored{a.row, a.score + b.score*idf}), sum[1:], list[1:]
		}
	}
	out = append(out, sum...)
	for _, b := range list {
		out = append(out, scored{b.row, b.score * idf})
	}
	return out
}

// choose returns the terms that take part in a search, rarest first.
func (l *Lexical) choose(ctx context.Context, dir *directorySnapshot, terms []string) ([]string, error) {
	type counted struct {
		term  string
		found int
	}
	frequent := max(frequentAtLeast, dir.passages/frequentShare)
	var all []counted
	seen := make(map[string]bool, len(terms))
	for _, term := range terms {
		if term = foldTerm(term); term == "" || seen[term] || len(seen) == maxQueryTerms {
			continue
		}
		seen[term] = true
		n, err := l.postings.frequency(ctx, l.db, dir, term, frequent)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			all = append(all, counted{term, n})
		}
	}
	slices.SortFunc(all, func(a, b counted) int { return cmp.Or(cmp.Compare(a.found, b.found), cmp.Compare(a.term, b.term)) })
	var chosen []string
	total := 0
	for _, c := range all {
		if total += c.found; len(chosen) > 0 && (c.found > frequent || total > maxPostings+dir.passages/10) {
			break
		}
		chosen = append(chosen, c.term)
	}
	return chosen, nil
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

// onlyRows keeps to rows; those without a score have 0.
func onlyRows(list []scored, rows []uint32) []scored {
	out := make([]scored, 0, len(rows))
	for _, row := range rows {
		for len(list) > 0 && list[0].row < row {
			list = list[1:]
		}
		if len(list) > 0 && list[0].row == row {
			out = append(out, list[0])
		} else {
			out = append(out, scored{row: row})
		}
	}
	return out
}

// within keeps what lies in the spans.
func within(list []scored, spans []span) []scored {
	out := list[:0]
	for _, found := range list {
		for len(spans) > 0 && found.row >= spans[0].end() {
			spans = spans[1:]
		}
		if len(spans) == 0 {
			break
		}
		if found.row >= spans[0].first {
			out = append(out, found)
		}
	}
	return out
}

// best returns the k best of list, and those as good as the last of them.
func best(list []scored, k int) []scored {
	if len(list) <= k {
		return list
	}
	top := make([]float32, 0, k) // a heap, the least on top
	for _, found := range list {
		if len(top) < k {
			top = append(top, found.score)
			for i := len(top) - 1; i > 0 && top[i] < top[(i-1)/2]; i = (i - 1) / 2 {
				top[i], top[(i-1)/2] = top[(i-1)/2], top[i]
			}
		} else if found.score > top[0] {
			top[0] = found.score
			sink(top)
		}
	}
	var out []scored
	ties := 0
	for _, found := range list {
		if found.score == top[0] {
			ties++
		}
		if found.score > top[0] || found.score == top[0] && ties <= k+maxTies {
			out = append(out, found)
		}
	}
	return out
}

func sink(heap []float32) {
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(heap); child++ {
			if heap[child] < heap[least] {
				least = child
			}
		}
		if least == i {
			return
		}
		heap[i], heap[least] = heap[least], heap[i]
		i = least
	}
}

// hits names the passages, best first, ties by id, at most k.
func (l *Lexical) hits(ctx context.Context, list []scored, spans []span, k int) ([]corpus.Hit, error) {
	if len(list) == 0 {
		return nil, nil
	}
	numbers := make([]uint32, len(list))
	scores := make(map[uint32]float32, len(list))
	for i, found := range list {
		numbers[i] = found.row
		scores[found.row] = found.score
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
	type named struct {
		corpus.Hit
		score float32
	}
	var all []named
	for rows.Next() {
		var row uint32
		var hit named
		if err := rows.Scan(&row, &hit.PassageID); err != nil {
			return nil, failure(err)
		}
		i, ok := slices.BinarySearchFunc(spans, row, span.position)
		if !ok {
			continue
		}
		hit.DocumentID, hit.score = spans[i].document.id, scores[row]
		all = append(all, hit)
	}
	if err := rows.Err(); err != nil {
		return nil, failure(err)
	}
	slices.SortFunc(all, func(a, b named) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.PassageID, b.PassageID))
	})
	hits := make([]corpus.Hit, 0, min(k, len(all)))
	for _, hit := range all[:min(k, len(all))] {
		hits = append(hits, hit.Hit)
	}
	return hits, nil
}
