// Package find is the search request and response of programs: it validates the query, counts it against the user's
// limit, and encodes passages. The API and the Model Context Protocol share it, so that limits and fields are the
// same. corpus.Library runs the search.
package find

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/text/english"
)

// Searcher validates searches and counts them against their users' limits.
type Searcher struct {
	Store chat.Store
}

// SearchQuery is the body of POST /search and /agent/retrieve.
type SearchQuery struct {
	// The query. Phrases in double quotes must match word for word; without a match, their words are searched.
	Query string `json:"query" api:"need,filled,max=chat.MaxQuestion"`
	// The number of passages to return; max_results of the tool search_documents counts documents instead.
	TopK      *int           `json:"top_k" api:"min=1,max=50,initial=5"`
	Namespace string         `json:"namespace" api:"form=namespace"`
	Filters   *SearchFilters `json:"filters"` // Restricts the search to matching documents.
	// The search mode: both indexes, keyword search or semantic search.
	Mode corpus.SearchMode `json:"mode" api:"initial=hybrid"`
	// The minimum similarity of passages. With any embedding model, a passage probably answers from 0.7. Ignored with a
	// note in a keyword search, or while there are no vectors.
	MinScore float64 `json:"min_score" api:"min=0,max=1"`
	// Rerank twice as many results and keep the best. Their score is the reranker's. A search by meaning alone is
	// not reranked.
	Rerank bool `json:"rerank"`
	// Have the language model check the first six results and rank those that state the answer first. This takes up to
	// 20 s. Default: the setting agent.check_passages for POST /agent/retrieve, false for POST /search.
	Check *bool `json:"check"`
}

// SearchFilters restrict a search to matching documents.
type SearchFilters struct {
	DocumentIDs []string       `json:"document_ids"`
	Title       string         `json:"title"` // A part of the title or file name.
	MIME        string         `json:"mime"`  // A media type, or its beginning, such as text/.
	Meta        map[string]any `json:"meta"`  // Fields of meta with the required values.
	// The year of the document's own date, from date, year or published in its meta; a month or a day of it as well.
	Year Year `json:"year"` // of the document's own date, and of the next two
	// The document's own date is on or after this: 2026-01-31, 2026-01 or 2026.
	DateFrom string `json:"date_from" api:"form=date"`
	DateTo   string `json:"date_to" api:"form=date"` // The document's own date is on or before this; as date_from.
	// Only documents added after this time, or after the start of this day in UTC.
	AddedAfter httpio.Moment `json:"added_after"`
	// Only documents added before this time, or before this day in UTC.
	AddedBefore httpio.Moment `json:"added_before"`
}

// Year is a date in a document's text, or a year as a number. Empty and null are unset.
type Year string

// UnmarshalJSON decodes the year. The decoder adds the field's name to its error.
func (y *Year) UnmarshalJSON(data []byte) error {
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return err
	}
	switch v := value.(type) {
	case nil:
		*y = ""
	case string:
		*y = Year(v)
	case float64:
		*y = Year(strconv.FormatFloat(v, 'f', -1, 64))
	default:
		return errors.New("invalid date")
	}
	return nil
}

// SearchResult is one passage.
type SearchResult struct {
	Text     string         `json:"text"`
	Score    float64        `json:"score" api:"min=0,max=1"`
	Rank     int            `json:"rank"`     // The rank in the list, from 1; a check changes it, not the score.
	Metadata searchMetadata `json:"metadata"` // The position of the passage.
	// Whether the language model judged that it states the answer; absent for a passage that was not checked.
	Answers *bool `json:"answers,omitempty"`
	// The measured precision of the model's judgement, if the model server returns log-probabilities. An uncertain yes
	// is below 0.5.
	Probability *float64 `json:"probability,omitempty" api:"min=0,max=1"`
}

// searchMetadata is the place of a passage. Start and End are rune offsets in the document's text.
type searchMetadata struct {
	ChunkID    string `json:"chunk_id"`
	DocumentID string `json:"document_id"`
	Title      string `json:"title"`
	Filename   string `json:"filename"`
	Section    string `json:"section"`
	Page       int    `json:"page"`
	Place      string `json:"place,omitempty"` // the page as text: "p. 4", "slide 7"
	Start      int    `json:"start"`
	End        int    `json:"end"`
	URL        string `json:"url"`
	SourceURL  string `json:"source_url,omitempty"` // the document's web address
}

// Query validates a search and builds the library's query. It fails with a chat.Error.
func (s *Searcher) Query(body SearchQuery) (corpus.Query, error) {
	q := corpus.Query{
		Text: body.Query, Limit: 5, Mode: cmp.Or(body.Mode, corpus.ModeHybrid), MinScore: body.MinScore,
		Rerank: body.Rerank, Places: true,
	}
	if corpus.Blank(q.Text) {
		return q, httpio.Invalid("The query is empty. Enter search terms.")
	}
	if err := chat.CheckNamespace(body.Namespace); err != nil {
		return q, err
	}
	if utf8.RuneCountInString(q.Text) > chat.MaxQuestion {
		return q, httpio.Invalid(
			"The query exceeds the limit of {1} characters. Use 2 to 20 words.",
			english.Digits(chat.MaxQuestion),
		)
	}
	if body.TopK != nil {
		q.Limit = *body.TopK
	}
	if q.Limit < 1 || q.Limit > 50 {
		return q, httpio.Invalid("top_k must be between 1 and 50.")
	}
	if q.MinScore < 0 || q.MinScore > 1 {
		return q, httpio.Invalid("min_score must be between 0 and 1.")
	}
	switch q.Mode {
	case corpus.ModeHybrid, corpus.ModeLexical, corpus.ModeSemantic:
	default:
		return q, httpio.Invalid(`mode must be "hybrid", "lexical" or "semantic".`)
	}
	if f := body.Filters; f != nil {
		if err := chat.CheckNames("filters.document_ids", f.DocumentIDs); err != nil {
			return q, err
		}
		q.Documents = f.DocumentIDs
		if !f.OnlyDocuments() {
			q.Filter = &corpus.Filter{
				Text: f.Title, MIME: f.MIME, Meta: f.Meta, AddedAfter: f.AddedAfter.Time,
				AddedBefore: f.AddedBefore.Time,
			}
		}
		for _, date := range []struct{ name, from, to string }{
			{"filters.year", string(f.Year), string(f.Year)}, {"filters.date_from", f.DateFrom, ""},
			{"filters.date_to", "", f.DateTo},
		} {
			if date.from+date.to == "" {
				continue
			}
			if err := q.Filter.Dated(date.name, date.from, date.to); err != nil {
				return q, err
			}
		}
	}
	return q, nil
}

// Spend validates a search and counts it against its user's limit.
func (s *Searcher) Spend(ctx context.Context, scope chat.Scope, body SearchQuery) error {
	if _, err := s.Query(body); err != nil {
		return err
	}
	return s.Store.Spend(ctx, scope.User, chat.ResourceSearches, 1)
}

// OnlyDocuments reports whether a filter has document ids and no other condition.
func (f SearchFilters) OnlyDocuments() bool {
	return f.Title == "" && f.MIME == "" && len(f.Meta) == 0 && f.Year == "" && f.DateFrom == "" && f.DateTo == "" &&
		f.AddedAfter.IsZero() && f.AddedBefore.IsZero()
}

// hitURL returns the viewer's address of a passage, on the page of its best match.
func hitURL(r corpus.Result) string {
	link := chat.Link{Document: r.Document.ID, Passage: r.Passage.ID}
	if r.Page > r.Passage.Page {
		link.Page = r.Page
	}
	return link.String()
}

// PassagesOf converts the results of a search, in their order.
func PassagesOf(found []corpus.Result) []SearchResult {
	out := make([]SearchResult, 0, len(found))
	for i, r := range found {
		p, d := r.Passage, r.Document
		out = append(out, SearchResult{Text: p.Text, Score: r.Score, Rank: i + 1, Metadata: searchMetadata{
			ChunkID: p.ID, DocumentID: d.ID, Title: d.Title, Filename: d.Filename, Section: p.Section, Page: r.Page,
			Place: r.Place,
			Start: p.Start, End: p.End, URL: hitURL(r), SourceURL: d.SourceURL(),
		}})
	}
	return out
}

// DocumentsQuery parses ?q=&sort=&limit=&namespace= of a list of documents. usual is the default limit.
func DocumentsQuery(c httpio.Context, usual int) (f corpus.Filter, err error) {
	f.Text, f.Sort = c.QueryParam("q"), c.QueryParam("sort")
	if f.Limit, err = httpio.QueryInt(c, "limit", usual, 1, chat.MaxPage); err != nil {
		return f, err
	}
	if !slices.Contains([]string{"", "newest", "oldest", "title"}, f.Sort) {
		return f, httpio.Invalid("sort must be newest, oldest or title.")
	}
	return f, chat.CheckNamespace(c.QueryParam("namespace"))
}
