package corpus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/search"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/locale"
)

const (
	// vectorTimeout is the timeout of embedder and index together.
	defaultLimit  = 5
	searchDepth   = 60              // minimum number of hits requested from each index
	scoreDepth    = 200             // with a MinScore: number of hits with a cosine
	vectorTimeout = 3 * time.Second // internal timeout; lexical search answers without vectors
	maxFiltered   = 10000           // maximum documents selected by a filter
	maxQueryRunes = 32000
)

// Search returns the passages that match a query. It returns chat.CodeInvalid for an invalid query, and
// chat.CodeUnavailable if a semantic search fails. In hybrid search a failure of the vectors is only a note.
func (l *Library) Search(ctx context.Context, s chat.Scope, q Query) (Results, error) {
	q, err := checkQuery(q)
	if err != nil {
		return Results{}, err
	}
	se := &activeSearch{
		library: l, scope: s, query: q, seen: make(map[string]bool), corrected: make(map[string][]string),
		unsure: make(map[string]bool),
	}
	if q.Filter != nil {
		if q.Documents, err = l.selectedIDs(ctx, s, q); err != nil {
			return Results{}, err
		}
		if len(q.Documents) == 0 {
			return Results{Notes: []string{"No document matches the filter."}}, nil
		}
		se.query = q
	}
	if se.langs, err = l.languages.languagesOf(ctx, l, s.User); err != nil {
		return Results{}, fmt.Errorf("languages of the library: %w", err)
	}
	se.words = text.QueryWords(q.Text, se.langs)
	se.phrases = text.Phrases(q.Text)
	if q.Rerank && !(q.Mode == ModeSemantic && l.Semantic()) {
		return se.rerankResults(ctx)
	}
	found, err := se.runSearch(ctx)
	if err == nil && q.Cosines {
		err = se.addCosines(ctx, &found)
	}
	se.addSimilarities(&found)
	return found, err
}

// prioritiseFound prioritises the embedding of documents that lexical search found.
func (se *activeSearch) prioritiseFound(ctx context.Context, found Results) {
	for _, r := range found.Results {
		if se.library.waiting.prioritise(r.Document.ID) {
			se.library.prioritiseEmbedding(ctx, r.Document.ID)
		}
	}
}

// checkQuery sets the defaults of a query and validates it. It returns chat.CodeInvalid with a user-facing message.
func checkQuery(q Query) (Query, error) {
	q.Text = strings.TrimSpace(q.Text)
	switch q.Mode {
	case "":
		q.Mode = ModeHybrid
	case ModeHybrid, ModeLexical, ModeSemantic:
	default:
		return q, invalidError("The search mode must be hybrid, lexical or semantic.")
	}
	switch {
	case q.Text == "":
		return q, invalidError("The search is empty. Type the words to look for.")
	case q.Limit < 0 || q.Limit > MostResults:
		return q, invalidError("A search can return 1 to 100 passages.")
	case q.MinScore < 0 || q.MinScore > 1:
		return q, invalidError("The minimum score must be between 0 and 1.")
	case q.Limit == 0:
		q.Limit = defaultLimit
	}
	if short := []rune(q.Text); len(short) > maxQueryRunes {
		q.Text = string(short[:maxQueryRunes])
	}
	return q, nil
}

// invalidError returns a CodeInvalid error with a user-facing message.
func invalidError(sentence string) error {
	return &chat.Error{Code: chat.CodeInvalid, Message: locale.Message(sentence)}
}

// selectedIDs returns the IDs of the documents selected by both the filter and the document list.
func (l *Library) selectedIDs(ctx context.Context, s chat.Scope, q Query) ([]string, error) {
	f := *q.Filter
	if len(q.Documents) > 0 {
		if len(f.IDs) > 0 {
			f.IDs = intersectIDs(f.IDs, q.Documents)
			if len(f.IDs) == 0 {
				return nil, nil
			}
		} else {
			f.IDs = q.Documents
		}
	}
	var ids []string
	for f.Limit, f.Cursor = 1000, ""; ; {
		docs, next, err := l.cfg.Documents.List(ctx, s, f)
		if err != nil {
			return nil, fmt.Errorf("select documents: %w", err)
		}
		for _, d := range docs {
			ids = append(ids, d.ID)
		}
		if f.Cursor = next; next == "" || len(ids) >= maxFiltered {
			return ids, nil
		}
	}
}

// intersectIDs returns the IDs of a that are also in b, in the order of a.
func intersectIDs(a, b []string) []string {
	in := make(map[string]bool, len(b))
	for _, s := range b {
		in[s] = true
	}
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return !in[s] })
}

// activeSearch is the state of one search. The query embedding runs in a goroutine that writes only values,
// vectorErr and scale, each under its Once.
type activeSearch struct {
	library   *Library
	scope     chat.Scope
	query     Query
	langs     []string
	words     []text.Word
	phrases   []string
	corrected map[string][]string // by word: the terms that correct or complete it
	unsure    map[string]bool     // corrected words that count only together with another one
	seen      map[string]bool     // words that occur in a result
	notes     []string
	partial   bool // an index failed
	early     bool // no document has vectors yet

	embed     sync.Once
	values    []float32 // the query's vector
	vectorErr error
	measure   sync.Once
	scale     search.Scale // maps cosines to similarities; set with the first vector hits
	nonsense  float64      // the cosine of the query with its nonsense; 0 in semantic mode
}

// runSearch searches for the quoted phrases and, if no passage has them, for their words. It drops the notes of the
// first attempt.
func (se *activeSearch) runSearch(ctx context.Context) (Results, error) {
	found, err := se.searchOnce(ctx)
	if err != nil || len(found.Results) > 0 || len(se.phrases) == 0 {
		return found, err
	}
	quoted := "“" + strings.Join(se.phrases, "” and “") + "”"
	se.phrases, se.notes = nil, nil
	if found, err = se.searchOnce(ctx); len(found.Results) > 0 {
		note := "Nothing found has " + quoted + " word for word: these results have some of the words."
		found.Notes = append([]string{note}, found.Notes...)
	}
	return found, err
}

// searchOnce runs lexical and vector search concurrently, as the mode and the available indexes allow. It requests
// more hits than the limit (searchDepth), since the fused order differs from both.
func (se *activeSearch) searchOnce(ctx context.Context) (Results, error) {
	byMeaning := se.query.Mode != ModeLexical && se.library.Semantic()
	if se.query.Mode == ModeSemantic && !byMeaning {
		se.addNote("Semantic search is off: these results are found by words. Set an embedding model to turn it on.")
	}
	byWords := se.query.Mode != ModeSemantic || !byMeaning
	depth := max(searchDepth, 3*se.query.Limit)
	if se.query.MinScore > 0 && byMeaning {
		depth = max(depth, scoreDepth)
	}
	var vectors chan vectorHits
	if byMeaning {
		vectors = make(chan vectorHits, 1) // buffered: the sender never blocks, and ends at the latest by its timeout
		go func() { vectors <- se.searchVectors(ctx, depth) }()
	}
	var byWord, byVector []Hit
	var err error
	if byWords {
		if byWord, err = se.searchLexical(ctx, depth); err != nil {
			return Results{}, err
		}
	}
	if byMeaning {
		found := <-vectors
		byVector = found.hits
		switch {
		case found.err != nil && ctx.Err() != nil:
			return Results{}, ctx.Err()
		case found.err != nil:
			se.library.cfg.Log.ErrorContext(ctx, "semantic search failed", "error", found.err)
			if se.query.Mode == ModeSemantic {
				return Results{}, unansweredError(found.err)
			}
			byMeaning, se.partial = false, true
			se.addNote("Semantic search is off: it did not answer. These results are found by words.")
		}
	}
	if byMeaning && se.query.Mode == ModeSemantic && se.library.waiting.hasWaiting(se.scope.User) {
		se.partial, se.early = true, len(byVector) == 0
		if byWords, byMeaning = se.early, !se.early; byWords {
			se.addNote("The documents are still being prepared for semantic search: these results are found by words.")
			if byWord, err = se.searchLexical(ctx, depth); err != nil {
				return Results{}, err
			}
		} else {
			se.addNote("Some documents are still being prepared for semantic search, which does not find them yet.")
		}
	}
	if !byMeaning && se.query.MinScore > 0 {
		se.addNote(se.whyUnscored())
	}
	out := Results{}
	if out.Results, err = se.readResults(ctx, se.rankHits(byWord, byVector, byWords, byMeaning)); err != nil {
		return Results{}, err
	}
	if byWords {
		if out.Corrected, err = se.correctWords(ctx); err != nil {
			return Results{}, err
		}
	}
	if len(se.corrected) > 0 {
		if byWord, err = se.searchLexical(ctx, depth); err != nil {
			return Results{}, err
		}
		if out.Results, err = se.readResults(ctx, se.rankHits(byWord, byVector, byWords, byMeaning)); err != nil {
			return Results{}, err
		}
		out.Guessed = se.unsure
		se.noteCorrections(out.Corrected)
	}
	if !se.query.Typing {
		se.prioritiseFound(ctx, out)
	}
	out.Notes, out.Partial = se.notes, se.partial
	return out, nil
}

// whyUnscored returns the note on why the minimum score was not applied.
func (se *activeSearch) whyUnscored() string {
	switch {
	case se.early:
		return "The minimum score was ignored: it needs semantic search, which is still being prepared."
	case se.partial:
		return "The minimum score was ignored: it needs semantic search, which did not answer."
	case se.library.Semantic():
		return "The minimum score was ignored: it is on the nearness in meaning, which a search by words does not " +
			"look at."
	default:
		return "The minimum score was ignored: it needs semantic search, which is off."
	}
}

// unansweredError returns the error of a semantic search when the embedding model or the vector index fails.
func unansweredError(err error) error {
	if _, ok := errors.AsType[*chat.Error](err); ok {
		return fmt.Errorf("semantic search: %w", err)
	}
	return &chat.Error{
		Code:    chat.CodeUnavailable,
		Message: "Semantic search is unavailable. Try again in a moment, or use keyword search.",
		Err:     err,
	}
}

// addNote adds a user-facing note about how the search was run.
func (se *activeSearch) addNote(s string) { se.notes = append(se.notes, s) }

// vectorHits is the result or the error of a vector search.
type vectorHits struct {
	hits []Hit
	err  error
}

// searchVectors runs a vector search in the query's documents.
func (se *activeSearch) searchVectors(ctx context.Context, depth int) vectorHits {
	return se.vectorIn(ctx, se.query.Documents, depth)
}

// vectorIn runs a vector search in documents, or in the whole scope if there are none.
func (se *activeSearch) vectorIn(ctx context.Context, documents []string, depth int) vectorHits {
	ctx, cancel := context.WithTimeout(ctx, vectorTimeout)
	defer cancel()
	values, err := se.queryVector(ctx)
	if err != nil {
		return vectorHits{err: err}
	}
	hits, err := se.library.cfg.Vectors.SearchVectors(ctx, se.scope, values, documents, depth)
	if len(hits) > 0 {
		se.measureScale(ctx)
	}
	return vectorHits{hits, err}
}

// queryVector returns the query's embedding, computed once; a failure is not retried. In hybrid mode it also embeds
// the query's nonsense text, to weigh cosines against words.
func (se *activeSearch) queryVector(ctx context.Context) ([]float32, error) {
	se.embed.Do(func() {
		ctx, cancel := context.WithTimeout(ctx, vectorTimeout)
		defer cancel()
		texts := []string{se.query.Text}
		if se.query.Mode != ModeSemantic {
			texts = append(texts, search.Nonsense(se.query.Text))
		}
		vectors := make([][]float32, len(texts))
		embedding, ctx := errgroup.WithContext(ctx)
		for i, text := range texts {
			embedding.Go(func() (err error) {
				vectors[i], err = se.library.cfg.Embedder.EmbedQuery(ctx, text)
				return err
			})
		}
		if err := embedding.Wait(); err != nil {
			se.vectorErr = fmt.Errorf("embed the query: %w", err)
			return
		}
		se.values = vectors[0]
		if len(vectors) > 1 {
			se.nonsense = search.Cosine(vectors[0], vectors[1])
		}
	})
	return se.values, se.vectorErr
}

// searchLexical searches for the query's words and their corrections. Phrases are analysed once for each language.
// For a passage found in several languages the best share counts.
func (se *activeSearch) searchLexical(ctx context.Context, depth int) ([]Hit, error) {
	q := LexicalQuery{Documents: se.query.Documents, Words: se.wordTerms()}
	if len(q.Words) == 0 {
		return nil, nil
	}
	if len(se.phrases) == 0 {
		return se.queryLexical(ctx, q, depth)
	}
	found := make(map[string]Hit)
	var asked []string
	// "" is for documents of unknown language, whose words are not stemmed.
	for _, lang := range append([]string{""}, se.langs...) {
		q.Phrases = nil
		key := ""
		for _, p := range se.phrases {
			if terms := text.Terms(p, lang); len(terms) > 0 {
				q.Phrases = append(q.Phrases, terms)
				key += strings.Join(terms, " ") + "\n"
			}
		}
		// Skip languages with the same terms: they would find the same passages.
		if slices.Contains(asked, key) {
			continue
		}
		asked = append(asked, key)
		hits, err := se.queryLexical(ctx, q, depth)
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			if known, ok := found[h.PassageID]; !ok || h.Share > known.Share {
				found[h.PassageID] = h
			}
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.PassageID, b.PassageID))
	}), nil
}

// wordTerms returns the terms of each query word, with corrections.
func (se *activeSearch) wordTerms() (words [][]string) {
	for _, w := range se.expandedWords() {
		words = append(words, w.Terms)
	}
	return words
}

// expandedWords returns the query's words with the terms that correct or complete them.
func (se *activeSearch) expandedWords() []text.Word {
	words := slices.Clone(se.words)
	for i, w := range words {
		words[i].Terms = appendNew(slices.Clip(w.Terms), se.corrected[w.Text]...)
	}
	return words
}

// queryLexical returns the k best hits of the lexical index.
func (se *activeSearch) queryLexical(ctx context.Context, q LexicalQuery, k int) ([]Hit, error) {
	hits, err := se.library.cfg.Lexical.SearchLexical(ctx, se.scope, q, k)
	if err != nil {
		return nil, fmt.Errorf("lexical search: %w", err)
	}
	return hits, nil
}

// appendNew appends the strings that are not yet in a list.
func appendNew(list []string, more ...string) []string {
	for _, m := range more {
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

// maxCorrected is the maximum number of query words that are checked for typos.
const maxCorrected = 6

// correctWords returns likely corrections of the query words that no document has. Words that occur in a result are
// skipped. The last word while typing is completed instead. At most maxCorrected words are checked, each with a few
// queries.
func (se *activeSearch) correctWords(ctx context.Context) (map[string]string, error) {
	if len(se.phrases) > 0 {
		return nil, nil // quoted words are meant exactly
	}
	var out map[string]string
	looked := 0
	for i, w := range se.words {
		typed := i+1 == len(se.words) && se.isTyped(w)
		// Bigrams of scripts without spaces can't be typos.
		if se.seen[w.Text] || !typed && (w.Gram || !search.Correctable(w.Text)) {
			continue
		}
		if looked++; looked > maxCorrected {
			break
		}
		known, err := se.queryLexical(ctx, LexicalQuery{Words: [][]string{w.Terms}}, 1)
		if err != nil {
			return nil, err
		}
		if len(known) > 0 {
			continue
		}
		if typed {
			if completed, err := se.completeWord(ctx, w); err != nil {
				return nil, err
			} else if completed || !search.Correctable(w.Text) {
				continue
			}
		}
		meant, err := se.correctWord(ctx, w)
		if err != nil {
			return nil, err
		}
		if meant.word != "" {
			if out == nil {
				out = make(map[string]string)
			}
			out[w.Text] = meant.word
			se.corrected[w.Text] = append(se.corrected[w.Text], meant.term)
			se.unsure[w.Text] = meant.sure == search.MaybeMeant
		}
	}
	return out, nil
}

// onlyUnsure reports whether a passage has only uncertain corrections. Such a word counts only together with
// another word of the query.
func (se *activeSearch) onlyUnsure(held map[string]bool) bool {
	for word := range held {
		if !se.unsure[word] {
			return false
		}
	}
	return len(held) > 0
}

// noteHeading marks in held the words in the heading above a passage, which count as matches.
func noteHeading(a *text.Analyser, heading string, words []text.Word, held map[string]bool) {
	for _, span := range a.Spans(heading) {
		for _, w := range words {
			if slices.Contains(w.Terms, span.Term) {
				held[w.Text] = true
			}
		}
	}
}

// noteCorrections adds a note for each correction that occurs in a result and drops the others.
func (se *activeSearch) noteCorrections(corrected map[string]string) {
	for _, w := range se.words {
		meant, ok := corrected[w.Text]
		switch {
		case ok && se.seen[w.Text]:
			se.addNote("No document has “" + w.Text + "”: “" + meant + "” was looked for as well.")
		case ok:
			delete(corrected, w.Text)
		}
	}
}
