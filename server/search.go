package server

import (
	"cmp"
	"encoding/json"
	"net/http"
	"reflect"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"footnote/chat"
	"footnote/corpus"
	"footnote/english"
	"footnote/server/httpio"
)

// searchQuery is the body of POST /search and /agent/retrieve.
type searchQuery struct {
	Query     string            `json:"query"`
	TopK      *int              `json:"top_k"` // 1–50, default 5
	Namespace string            `json:"namespace"`
	Filters   *searchFilters    `json:"filters"`
	Mode      corpus.SearchMode `json:"mode"`
	MinScore  float64           `json:"min_score"` // 0–1, on the cosine
	Rerank    bool              `json:"rerank"`
}

// searchFilters narrow a search to some documents.
type searchFilters struct {
	DocumentIDs []string       `json:"document_ids"`
	Title       string         `json:"title"` // part of a title or file name
	MIME        string         `json:"mime"`  // or the beginning of one
	Meta        map[string]any `json:"meta"`
	Year        year           `json:"year"` // of the document's own date, and of the next two
	DateFrom    string         `json:"date_from"`
	DateTo      string         `json:"date_to"`
	AddedAfter  httpio.Moment  `json:"added_after"`
	AddedBefore httpio.Moment  `json:"added_before"`
}

// year is a date of a document's own in a text, or a year as a number. Empty and null are none.
type year string

// UnmarshalJSON fails with an error to which the decoder adds the field's name.
func (y *year) UnmarshalJSON(data []byte) error {
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return err
	}
	switch v := value.(type) {
	case nil:
		*y = ""
	case string:
		*y = year(v)
	case float64:
		*y = year(data)
	default:
		return &json.UnmarshalTypeError{Value: "value", Type: reflect.TypeFor[year]()}
	}
	return nil
}

// searchResponse is the answer to POST /search.
type searchResponse struct {
	Query        string         `json:"query"`
	TotalResults int            `json:"total_results"`
	Results      []searchResult `json:"results"`
	Notes        []string       `json:"notes,omitempty"`
}

// searchResult is one passage.
type searchResult struct {
	Text     string         `json:"text"`
	Score    float64        `json:"score"`
	Rank     int            `json:"rank"`
	Metadata searchMetadata `json:"metadata"`
}

// searchMetadata says where a passage stands. Start and End are rune offsets in the document's text.
type searchMetadata struct {
	ChunkID    string `json:"chunk_id"`
	DocumentID string `json:"document_id"`
	Title      string `json:"title"`
	Filename   string `json:"filename"`
	Section    string `json:"section"`
	Page       int    `json:"page"`
	Start      int    `json:"start"`
	End        int    `json:"end"`
	URL        string `json:"url"`
}

type found struct {
	results  []searchResult
	strategy string
	notes    []string
	step     chat.Step
}

// search answers POST /search.
func (s *Server) search(c echo.Context) error {
	var body searchQuery
	if err := s.bodies.ReadJSON(c, &body); err != nil {
		return err
	}
	if err := s.spendSearch(c.Request().Context(), httpio.Scope(c), body); err != nil {
		return err
	}
	f, err := s.find(c, body)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, searchResponse{body.Query, len(f.results), f.results, f.notes})
}

// find checks a search and runs it; the step it took is part of what it returns.
func (s *Server) find(c echo.Context, body searchQuery) (found, error) {
	q, err := s.corpusQuery(body)
	if err != nil {
		return found{}, err
	}
	scope := httpio.Scope(c)
	if err := s.library.CheckNamed(c.Request().Context(), scope, body.Namespace, q.Documents); err != nil {
		return found{}, err
	}
	start := time.Now()
	res, err := s.library.Search(c.Request().Context(), scope.In(body.Namespace), q)
	if err != nil {
		return found{}, err
	}
	f := found{results: passagesOf(res.Results), strategy: string(q.Mode), notes: httpio.NotNil(res.Notes)}
	if !s.library.Semantic() {
		f.strategy = string(corpus.ModeLexical)
	}
	f.step, err = searchStep(q, f, start)
	return f, err
}

func (s *Server) corpusQuery(body searchQuery) (corpus.Query, error) {
	q := corpus.Query{Text: body.Query, Limit: 5, Mode: cmp.Or(body.Mode, corpus.ModeHybrid), MinScore: body.MinScore, Rerank: body.Rerank}
	if corpus.Blank(q.Text) {
		return q, httpio.Invalid("The query is empty. Give the words to search for.")
	}
	if err := httpio.CheckNamespace(body.Namespace); err != nil {
		return q, err
	}
	if utf8.RuneCountInString(q.Text) > s.limits.Message {
		return q, httpio.Invalid("The query is longer than " + english.Digits(s.limits.Message) + " characters. Give two to twenty words.")
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
		if err := httpio.CheckNames("filters.document_ids", f.DocumentIDs); err != nil {
			return q, err
		}
		q.Documents = f.DocumentIDs
		if !f.onlyDocuments() {
			q.Filter = &corpus.Filter{Text: f.Title, MIME: f.MIME, Meta: f.Meta, AddedAfter: f.AddedAfter.Time, AddedBefore: f.AddedBefore.Time}
		}
		for _, date := range []struct{ name, from, to string }{
			{"filters.year", string(f.Year), string(f.Year)}, {"filters.date_from", f.DateFrom, ""}, {"filters.date_to", "", f.DateTo},
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

// searchStep is the search as one step of reasoning, for callers that want to see what was done.
func searchStep(q corpus.Query, f found, start time.Time) (chat.Step, error) {
	input, err := json.Marshal(map[string]any{"query": q.Text, "max_results": q.Limit})
	if err != nil {
		return chat.Step{}, err
	}
	output, err := json.Marshal(map[string]any{"total_found": len(f.results)})
	if err != nil {
		return chat.Step{}, err
	}
	return chat.Step{
		CallID: "search-1", Step: "search_documents", ActionType: chat.ActionSearching, ToolName: "search_documents",
		Message: "Found " + english.Count(len(f.results), "passage"), Timestamp: float64(start.UnixMicro()) / 1e6,
		ToolInput: input, ToolOutput: output, OutputSize: len(output), Status: chat.StatusComplete, ToolStatus: chat.StatusComplete,
		DurationMS: time.Since(start).Milliseconds(), Details: map[string]any{"strategy": f.strategy},
	}, nil
}
