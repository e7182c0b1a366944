package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/locale"
)

// DefaultTopK is the default number of passages that a search shows whole; further documents have a snippet. The
// value was not measured.
const DefaultTopK = 10

// mostHits is the maximum number of passages of one search.
const mostHits = 50

// search is the search of the library, in the form of a tool.
type search struct {
	fields, output string // fields of a result, and of the output
	documents      bool   // the results are documents, with their passages
	semantic       bool   // searches by meaning alone, as a minimum score requires
	further        bool   // continues a search: returns passages that the run was not shown yet
	chunks         bool   // the names of its fields are those that its clients rely on
	text           bool   // the output has the results as one text, too, which is all that models get
}

const (
	passageFields = "n chunk_id doc_id filename title section page block_id content=text score similarity_score"
	chunkFields   = "chunk_text=text page_title=title section_heading=heading source_url similarity_score=similarity " +
		"rank n chunk_id doc_id"
)

// The searches.
var (
	foundDocuments = search{
		fields: "doc_id filename title score similarity_score snippet block_id page matches passages",
		output: "documents=results total_found=total_results notes corrected", documents: true,
	}
	foundPassages  = search{fields: passageFields, output: "query results total_results notes corrected"}
	foundByMeaning = search{fields: passageFields, output: foundPassages.output, semantic: true}
	foundFurther   = search{fields: passageFields, output: foundPassages.output, further: true}
	foundChunks    = search{
		fields: chunkFields, output: "results total_results query notes=given_notes corrected", chunks: true,
	}
	foundText = search{fields: chunkFields, output: foundChunks.output + " text", chunks: true, text: true}
)

// tool returns a row for a search tool.
func (s search) tool(name, sets string, preference int, params ...param) *Tool {
	t := &Tool{
		Name: name, sets: sets, preference: preference, params: params, Action: chat.ActionSearching,
		Capability: chat.CapabilitySearch, Retrieval: true, Cached: !s.further, Continues: s.further,
		Label: label("Searching for", "Searched for", "search", "query", chat.LabelQuote), run: s.run,
		forModel: without("chunk_id", "similarity_score"),
	}
	switch {
	case s.documents: // without what repeats the passages or is for the page
		t.forModel = eachObject(func(o object) object {
			if slices.ContainsFunc(o, func(f field) bool {
				raw, _ := f.value.(json.RawMessage)
				return f.name == "passages" && string(raw) != "[]"
			}) {
				o = o.without("snippet", "block_id", "page")
			}
			return o.without("matches", "similarity_score", "chunk_id")
		})
	case s.text:
		t.forModel = func(output json.RawMessage) any {
			var out struct{ Text string }
			_ = json.Unmarshal(output, &out) // it was encoded here
			return out.Text
		}
	case s.chunks:
		t.forModel, t.EchoedArg = without("chunk_id", "doc_id"), "query"
	case s.further:
		t.Label = label("Searching further for", "Searched further for", "search", "query", chat.LabelQuote)
		t.describe = func(d *Context, in args) string {
			return t.Label.Doing + ": " + text.Shorten(d.Sources.QueryOrLatest(in.Query), 120)
		}
	}
	return t
}

// run makes a search. Passage numbers are assigned when Output is called, not when the search ends. Every hit is added
// to the run's sources. A partial result, where an index did not answer, is transient and not cached.
func (s search) run(ctx context.Context, d *Context, in args) (Result, error) {
	var found corpus.Results
	var err error
	switch {
	case s.further:
		in.Query = d.Sources.QueryOrLatest(in.Query)
		found, err = d.searchFurther(ctx, in)
	case s.documents:
		// Twice as many passages as documents, since a document may have several.
		found, err = d.searchInReach(ctx, corpus.Query{
			Text: in.Query, Limit: min(mostHits, max(d.TopK, 2*in.MaxResults)),
		})
	case s.semantic || in.MinScore > 0:
		found, err = d.byMeaning(ctx, in.Query, in.TopK, in.MinScore)
	default:
		found, err = d.searchInReach(ctx, corpus.Query{Text: in.Query, Limit: in.TopK, Cosines: s.chunks})
	}
	if err != nil {
		return Result{}, err
	}
	r := Result{Transient: found.Partial, SourceChanges: SourceChanges{Hits: found.Results}}
	if s.documents {
		groups := groupByDocument(found.Results, in.MaxResults)
		r.SourceChanges.Hits = slices.Concat(groups...)
		r.Message = locale.Say("Found {1}", locale.Count(len(groups), "document"))
		r.Output = func(number Numberer) (any, chat.StepResult) {
			return s.foundDocuments(number, in.Query, groups, found, d.TopK)
		}
	} else {
		r.Message = locale.Say("Found {1}", locale.Count(len(found.Results), "passage"))
		r.Output = func(number Numberer) (any, chat.StepResult) { return s.found(number, in.Query, found) }
	}
	r.Summary = countHits(r.SourceChanges.Hits)
	return r, nil
}

// countHits formats the number of hits, for example "5 passages in 3 documents".
func countHits(hits []corpus.Result) locale.Message {
	documents := map[string]bool{}
	for _, hit := range hits {
		documents[hit.Document.ID] = true
	}
	if len(hits) == 0 {
		return "nothing found"
	}
	return locale.Say("{1} in {2}", locale.Count(len(hits), "passage"), locale.Count(len(documents), "document"))
}

// searchInReach searches the documents in reach, with reranking if the request has it on. All searches of the
// library by query use it, except rerank_documents, so that a question limited to some documents stays limited to
// them.
func (d *Context) searchInReach(ctx context.Context, q corpus.Query) (corpus.Results, error) {
	q.Documents, q.Rerank = d.DocumentIDs, d.Rerank
	found, err := d.Library.Search(ctx, d.Scope, q)
	if err != nil {
		return corpus.Results{}, fmt.Errorf("search: %w", err)
	}
	return found, nil
}

// byMeaning runs a semantic search. If the embedder is unavailable, it falls back to a lexical search, with a note
// and a partial result, which is not cached. If no passage reaches the threshold, a note reports the best score.
//
// The best score is rounded down to three digits, so that a search with the score of the note finds that passage.
func (d *Context) byMeaning(ctx context.Context, query string, limit int, least float64) (corpus.Results, error) {
	q := corpus.Query{Text: query, Limit: limit, Mode: corpus.ModeSemantic, MinScore: least}
	found, err := d.searchInReach(ctx, q)
	if err != nil && ctx.Err() == nil && chat.CodeOf(err) == chat.CodeUnavailable {
		q.Mode, q.MinScore = corpus.ModeLexical, 0
		found, err = d.searchInReach(ctx, q)
		found.Partial = true
		found.Notes = append(slices.Clip(found.Notes),
			"Semantic search did not answer: these passages are found by words, and no minimum score was applied.")
		return found, err
	}
	if err != nil || len(found.Results) > 0 || least == 0 {
		return found, err
	}
	q.Limit, q.MinScore = 1, 0
	best, err := d.searchInReach(ctx, q)
	if err == nil && len(best.Results) > 0 {
		found.Notes = append(slices.Clip(found.Notes), fmt.Sprintf(
			"No passage reaches a score of %.3g; the best has %.3g. Search with a lower one to see it.", least,
			math.Floor(best.Results[0].Score*1000)/1000,
		))
	}
	return found, err
}

// searchFurther continues a search: it returns passages that this run was not shown yet, by whichever tool. It searches
// again with the same query, so it stores no offset and works after a restart. If fewer than TopK passages are left, a
// note suggests other words.
func (d *Context) searchFurther(ctx context.Context, in args) (corpus.Results, error) {
	if in.Query == "" {
		return corpus.Results{}, refused("No search to continue. Use retrieve first, or give a query.")
	}
	found, err := d.searchInReach(ctx, corpus.Query{Text: in.Query, Limit: mostHits})
	var further []corpus.Result
	for _, hit := range found.Results {
		if len(further) < in.TopK && !d.Sources.Contains(hit.Passage.ID) {
			further = append(further, hit)
		}
	}
	if found.Results = further; len(further) < in.TopK {
		found.Notes = append(slices.Clip(found.Notes),
			"There are no further passages for this query. Other words may find more.")
	}
	return found, err
}

// searchOutput is the output of a search: its results with all fields. It is encoded with those that its tool names.
type searchOutput struct {
	search
	query     string
	notes     []string
	corrected map[string]string // typing errors of the query: typed → looked for as well
	results   []map[string]any
}

// found returns the output and the result of a search for passages, and assigns their numbers. The source of a chunk is
// the document's origin, such as a web page, or a link to the passage in the viewer. Its similarity is 0–1, that of the
// search if there are no embeddings.
func (s search) found(number Numberer, query string, found corpus.Results) (any, chat.StepResult) {
	out := searchOutput{
		search: s, query: query, notes: append([]string{}, found.Notes...), corrected: sureCorrections(found),
	}
	result := chat.StepResult{Query: query, Found: len(found.Results), Notes: found.Notes}
	for i, r := range found.Results {
		hit, p := documentHit(r.Document), r.Passage
		hit.N, hit.ChunkID, hit.Snippet = number(p, r.Document), p.ID, p.Text
		similarity := r.Score
		if r.Similarity != nil {
			similarity = *r.Similarity
		}
		similarity = min(1, max(0, similarity))
		heading := new(chat.SectionIn(hit.Title, p.Section))
		if *heading == "" {
			heading = nil // null: clients expect the field
		}
		source := r.Document.SourceURL()
		out.results = append(out.results, map[string]any{
			"n": hit.N, "rank": i + 1, "chunk_id": p.ID, "doc_id": hit.DocumentID, "title": hit.Title,
			"filename": r.Document.DisplayName(), "section": given(p.Section), "heading": heading,
			"page": given(r.Page), "block_id": r.Block, "text": p.Text, "score": r.Score,
			"similarity_score": given(r.Similarity), "similarity": similarity,
			"source_url": cmp.Or(source, chat.Link{Document: hit.DocumentID, Passage: p.ID}.String()),
		})
		if s.chunks {
			hit.Filename, hit.MIME, hit.SourceURL, hit.Similarity = "", "", source, &similarity
			hit.Section = chat.SectionIn(hit.Title, p.Section)
		} else {
			hit.BlockID, hit.Page, hit.Section = r.Block, r.Page, p.Section
			hit.Score, hit.Similarity = &r.Score, r.Similarity
		}
		result.Hits = append(result.Hits, hit)
	}
	if s.text && len(result.Hits) == 0 {
		result.Text = out.asText()
	}
	return out, result
}

// MarshalJSON encodes the fields that the tool names.
func (o searchOutput) MarshalJSON() ([]byte, error) {
	results := []object{}
	for _, r := range o.results {
		results = append(results, pick(o.fields, r))
	}
	values := map[string]any{"query": o.query, "results": results, "total_results": len(results), "notes": o.notes}
	if len(o.notes) > 0 {
		values["given_notes"] = o.notes
	}
	if len(o.corrected) > 0 {
		values["corrected"] = o.corrected
	}
	if o.text {
		values["text"] = o.asText()
	}
	return pick(o.output, values).MarshalJSON()
}

// clipTo truncates all passages to the same length, at least 60 characters. A text that repeats them gets half.
// Documents share the limit by their numbers of passages; each keeps its name and a snippet.
func (o searchOutput) clipTo(limit int) any {
	if o.text {
		limit /= 2
	}
	each := max(60, limit*8/10/max(1, len(o.results))-2*overhead)
	all := 0
	for _, r := range o.results {
		passages, _ := r["passages"].([]shownPassage)
		all += len(passages)
	}
	o.results = changed(o.results, func(r *map[string]any) {
		cut := maps.Clone(*r)
		if passages, ok := cut["passages"].([]shownPassage); ok {
			cut["snippet"] = CutText(cut["snippet"].(string), 300)
			cut["passages"] = cutPassages(passages, (limit*8/10-len(o.results)*400)*len(passages)/max(1, all))
		} else {
			cut["text"] = CutText(cut["text"].(string), each)
		}
		*r = cut
	})
	return o
}

// asText formats passages as text. Clients of this tool rely on the format: number, title and section, URL, relevance
// with two digits, and the passage. An empty result is a sentence.
func (o searchOutput) asText() string {
	if len(o.results) == 0 {
		return "No relevant content was found for: " + o.query
	}
	blocks := make([]string, len(o.results))
	for i, p := range o.results {
		name := p["title"].(string)
		if heading := p["heading"].(*string); heading != nil {
			name += ", " + *heading
		}
		blocks[i] = fmt.Sprintf("[%d] %s\nURL: %s\nRelevance: %.2f\nContent: %s",
			p["n"], name, p["source_url"], p["similarity"], p["text"])
	}
	return strings.Join(blocks, "\n\n")
}

// foundDocuments returns the output and the result of a search for documents, best first. The best passages of all
// documents are shown whole, up to whole; further documents have a snippet. Only whole passages get numbers, so a model
// has to read a document to cite a snippet. Score and similarity are the best passage's; block and page are those of
// the snippet, and matches are start and end offsets in it, in runes.
func (s search) foundDocuments(
	number Numberer, query string, groups [][]corpus.Result, found corpus.Results, whole int,
) (any, chat.StepResult) {
	out := searchOutput{
		search: s, query: query, notes: append([]string{}, found.Notes...), corrected: sureCorrections(found),
	}
	result := chat.StepResult{Query: query, Found: len(groups), Notes: found.Notes}
	for _, hits := range groups {
		best, doc, passages := hits[0], hits[0].Document, []shownPassage{}
		for _, hit := range hits[:min(whole, len(hits))] {
			passages = append(passages, showPassage(number, hit.Passage, doc))
		}
		whole -= len(passages)
		row := documentValues(doc)
		row["score"], row["similarity_score"], row["passages"] = best.Score, given(best.Similarity), passages
		row["snippet"], row["block_id"], row["page"] = best.Snippet.Text, given(best.Block), given(best.Page)
		if len(best.Snippet.Matches) > 0 {
			row["matches"] = best.Snippet.Matches
		}
		out.results = append(out.results, row)
		hit := documentHit(doc)
		hit.Score, hit.Similarity, hit.BlockID, hit.Page = &best.Score, best.Similarity, best.Block, best.Page
		hit.Snippet, hit.Matches = best.Snippet.Text, best.Snippet.Matches
		result.Hits = append(result.Hits, withPassages(hit, doc, passages)...)
	}
	return out, result
}

// groupByDocument groups hits by document, ordered by the best hit, at most limit documents. Hits of further
// documents are dropped. Hits of one document keep the order of the search.
func groupByDocument(hits []corpus.Result, limit int) [][]corpus.Result {
	var groups [][]corpus.Result
	at := map[string]int{}
	for _, hit := range hits {
		i, ok := at[hit.Document.ID]
		if !ok {
			if len(groups) == limit {
				continue
			}
			i = len(groups)
			at[hit.Document.ID] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], hit)
	}
	return groups
}

// rerankDocuments ranks given documents by a query. It returns snippets without numbers, which can't be cited. It runs
// one search over these documents and groups the hits by document, so a document's score is that of its best passage.
// Documents without a hit come last with the score 0, in the order of the call. Scores are comparable only within one
// call.
func rerankDocuments(ctx context.Context, d *Context, in args) (Result, error) {
	docs, notes, err := d.findAll(ctx, in.DocIDs)
	if err != nil {
		return Result{}, err
	}
	found, err := d.Library.Search(ctx, d.Scope, corpus.Query{
		Text: in.Query, Limit: mostHits, Documents: documentIDs(docs),
	})
	if err != nil {
		return Result{}, fmt.Errorf("search: %w", err)
	}
	groups := groupByDocument(found.Results, len(docs))
	summary := locale.Message("none of them fits")
	if len(groups) > 0 {
		summary = locale.Message(groups[0][0].Document.DisplayName() + " first")
	}
	for _, doc := range docs {
		if !slices.ContainsFunc(groups, func(g []corpus.Result) bool { return g[0].Document.ID == doc.ID }) {
			groups = append(groups, []corpus.Result{{Document: doc}})
		}
	}
	ranked := []object{}
	result := chat.StepResult{
		Query: in.Query, Found: len(groups), Notes: append(append([]string{}, notes...), found.Notes...),
	}
	for _, g := range groups {
		best, hit := g[0], documentHit(g[0].Document)
		hit.Score, hit.Snippet = &best.Score, best.Snippet.Text
		result.Hits = append(result.Hits, hit)
		values := documentValues(best.Document)
		values["score"], values["snippet"] = best.Score, given(best.Snippet.Text)
		ranked = append(ranked, pick("doc_id filename title score snippet", values))
	}
	return Result{
		Message: locale.Say("Ranked {1}", locale.Count(len(groups), "document")), Summary: summary,
		Output: func(Numberer) (any, chat.StepResult) {
			return map[string]any{"query": in.Query, "documents": ranked, "notes": result.Notes}, result
		},
		SourceChanges: SourceChanges{Documents: docs},
	}, nil
}

// sureCorrections returns the typing errors whose correction is beyond doubt: typed → used.
func sureCorrections(found corpus.Results) map[string]string {
	out := maps.Clone(found.Corrected)
	maps.DeleteFunc(out, func(typed, _ string) bool { return found.Guessed[typed] })
	return out
}
