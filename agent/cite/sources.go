package cite

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
)

// Source is a passage in the model's context, with its number.
type Source struct {
	N               int
	Passage         corpus.Passage
	Document        corpus.Document
	Quotes          []string       // words that the model quotes from it
	EarlierCitation *chat.Citation // citation of an earlier answer under this number
}

// PassageRange identifies the text under one number: a passage, or a part of one such as a table row, which is
// [Start, End) of the document's text.
type PassageRange struct {
	PassageID  string
	Start, End int // range of a part; 0 for a whole passage
}

// rangeOf returns the range of a passage or of a part, which has its passage's id and its own range.
func rangeOf(p corpus.Passage) PassageRange {
	if !p.Part {
		return PassageRange{PassageID: p.ID}
	}
	return PassageRange{p.ID, p.Start, p.End}
}

// Sources holds a run's passages by number, and its known documents. A number is assigned once and never changes. It
// is safe for concurrent use. It contains all that an answer may cite or mention, and no other state of the run.
// Tools fill it through Tool.NoteResult and Tool.NoteOutcome; a resumed run restores it from the log.
type Sources struct {
	mu            sync.Mutex
	last          int
	byNumber      map[int]*Source
	byPassage     map[PassageRange]*Source
	documents     map[string]corpus.Document
	readDocuments []string            // ids of read documents, in order
	readParts     map[string]struct{} // parts of documents that were read
	empty         []string            // queries without results
	queries       []string            // queries of all completed searches, deduplicated
	searches      int
	shownToUser   bool                     // a document was opened for the user
	web           bool                     // the web was searched
	latest        string                   // query of the last search for passages
	scores        map[string]float64       // best search score of each passage
	hits          map[string]corpus.Result // last hit of each passage
	answers       map[int]bool             // verdicts by passage number: whether a checked quote answers the question
}

// NewSources returns the empty sources of a new run.
func NewSources() *Sources {
	return &Sources{
		byNumber: map[int]*Source{}, byPassage: map[PassageRange]*Source{},
		documents: map[string]corpus.Document{}, readParts: map[string]struct{}{}, scores: map[string]float64{},
		hits: map[string]corpus.Result{}, answers: map[int]bool{},
	}
}

// NoteChecked records a language model's verdict on whether words of a passage answer the question.
func (s *Sources) NoteChecked(n int, answers bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[n] = s.answers[n] || answers
}

// Answers reports whether checked words of a passage answer the question. It is false for an unchecked passage.
func (s *Sources) Answers(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answers[n]
}

// Number returns the passage's number, and assigns the next one if it has none. Tools call it when they encode their
// output, in the order of the calls, so that a run repeated from its log assigns the same numbers.
func (s *Sources) Number(p corpus.Passage, doc corpus.Document) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.documents[doc.ID] = doc
	if known, ok := s.byPassage[rangeOf(p)]; ok {
		return known.N
	}
	s.putPassage(s.last+1, p, doc)
	return s.last
}

// Restore assigns a passage the number that it had before a restart.
func (s *Sources) Restore(n int, p corpus.Passage, doc corpus.Document) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.documents[doc.ID] = doc
	if _, ok := s.byPassage[rangeOf(p)]; !ok {
		s.putPassage(n, p, doc)
	}
}

// putPassage stores a passage under a number. The caller holds s.mu.
func (s *Sources) putPassage(n int, p corpus.Passage, doc corpus.Document) {
	src := &Source{N: n, Passage: p, Document: doc}
	s.byNumber[n], s.byPassage[rangeOf(p)] = src, src
	s.last = max(s.last, n)
}

// Reserve prevents numbers up to n from being assigned again. A resumed run reserves the numbers of deleted
// passages, so that no footnote points to another passage.
func (s *Sources) Reserve(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = max(s.last, n)
}

// count returns the number of numbered passages.
func (s *Sources) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byNumber)
}

// IsEmpty reports whether the run has retrieved no passage yet.
func (s *Sources) IsEmpty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byPassage) == 0
}

// AddEarlier adds a passage of an earlier run under the given number. If this run retrieves it again, it gets
// another one. The number is far above the run's own (firstRecalled in agent/run), so that the log distinguishes
// them. It does not change the last assigned number.
func (s *Sources) AddEarlier(n int, p corpus.Passage, doc corpus.Document) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.documents[doc.ID] = doc
	s.byNumber[n] = &Source{N: n, Passage: p, Document: doc}
}

// AddCited adds the source of an earlier answer's footnote under the footnote's number.
func (s *Sources) AddCited(c chat.Citation, doc corpus.Document) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.documents[doc.ID] = doc
	s.byNumber[c.Number] = &Source{N: c.Number, Document: doc, EarlierCitation: &c, Passage: corpus.Passage{
		ID: c.ChunkID, DocumentID: doc.ID, FirstBlock: c.BlockID, LastBlock: c.BlockID, Page: c.Page,
		Section: c.Section, Start: c.Start, End: c.End, Text: c.Quote,
	}}
	s.last = max(s.last, c.Number)
}

// NoteShownToUser records that open_document opened a document for the user. The model has not read it.
func (s *Sources) NoteShownToUser() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shownToUser = true
}

// WasShownToUser reports whether a document was opened for the user in this run.
func (s *Sources) WasShownToUser() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shownToUser
}

// Unread returns the ids of documents with passages retrieved in this run that were not read yet. They are in the
// order of their first passage, at most `most` of them.
func (s *Sources) Unread(most int) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var shown []*Source
	for _, src := range s.byPassage {
		shown = append(shown, src)
	}
	slices.SortFunc(shown, func(a, b *Source) int { return a.N - b.N })
	var out []string
	for _, src := range shown {
		if len(out) < most && !slices.Contains(out, src.Document.ID) &&
			!slices.Contains(s.readDocuments, src.Document.ID) {
			out = append(out, src.Document.ID)
		}
	}
	return out
}

// At returns the source with a number.
func (s *Sources) At(n int) (Source, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	src, ok := s.byNumber[n]
	if !ok {
		return Source{}, false
	}
	return *src, true
}

// All returns a snapshot of every source, sorted by number. Quotes added later are not in it.
func (s *Sources) All() []Source {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Source, 0, len(s.byNumber))
	for _, src := range s.byNumber {
		out = append(out, *src)
	}
	slices.SortFunc(out, func(a, b Source) int { return a.N - b.N })
	return out
}

// AddQuote records words that the model quotes from a source.
func (s *Sources) AddQuote(n int, words string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if src, ok := s.byNumber[n]; ok {
		src.Quotes = append(slices.Clip(src.Quotes), words)
	}
}

// AddDocuments records documents that a tool listed.
func (s *Sources) AddDocuments(docs ...corpus.Document) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, doc := range docs {
		s.documents[doc.ID] = doc
	}
}

// Document returns a known document by its id.
func (s *Sources) Document(id string) (corpus.Document, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	doc, ok := s.documents[id]
	return doc, ok
}

// NoteReading records that the model read a part of a document: a page, or the first passage of a focused read. part
// identifies the part within the document; parts are deduplicated.
func (s *Sources) NoteReading(doc corpus.Document, part string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.documents[doc.ID] = doc
	if !slices.Contains(s.readDocuments, doc.ID) {
		s.readDocuments = append(s.readDocuments, doc.ID)
	}
	s.readParts[doc.ID+"\x00"+part] = struct{}{}
}

// NoteSearch records a completed search, and its query as empty if found is 0.
func (s *Sources) NoteSearch(query string, found int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.searches++
	s.queries = text.AppendNew(s.queries, query)
	s.addEmpty(query, found)
}

// NoteEmptySearch records the query of a search in the library's list if found is 0. It is no search for passages.
func (s *Sources) NoteEmptySearch(query string, found int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addEmpty(query, found)
}

// addEmpty records a query without results, deduplicated. The caller holds s.mu.
func (s *Sources) addEmpty(query string, found int) {
	if found == 0 && !slices.Contains(s.empty, query) {
		s.empty = append(s.empty, query)
	}
}

// NoteWebSearch records that the web was searched.
func (s *Sources) NoteWebSearch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.web = true
}

// SearchedWeb reports whether the web was searched in this run, with or without results.
func (s *Sources) SearchedWeb() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.web
}

// NoteLatestSearch records the query that retrieve_more continues.
func (s *Sources) NoteLatestSearch(query string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latest = query
}

// SearchedFor returns the queries of all completed searches: "roof; roof survey".
func (s *Sources) SearchedFor() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.queries, "; ")
}

// QueryOrLatest returns the query, or the latest one if it is empty.
func (s *Sources) QueryOrLatest(query string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cmp.Or(query, s.latest)
}

// NoteScore records a search score of a passage, and keeps the best.
func (s *Sources) NoteScore(passageID string, score float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scores[passageID] = max(s.scores[passageID], score)
}

// NoteHit records the latest search result for a passage, with its best words.
func (s *Sources) NoteHit(r corpus.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hits[r.Passage.ID] = r
}

// HitOf returns the latest hit of a passage, or the passage itself if it was only read.
func (s *Sources) HitOf(src Source) corpus.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.hits[src.Passage.ID]; ok {
		return r
	}
	return corpus.Result{
		Passage: src.Passage, Document: src.Document, Page: src.Passage.Page, Block: src.Passage.FirstBlock,
	}
}

// ScoreOf returns the best score of a passage; 0 for one that was only read.
func (s *Sources) ScoreOf(passageID string) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.scores[passageID]
}

// Contains reports whether a whole passage was retrieved.
func (s *Sources) Contains(passageID string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.byPassage[PassageRange{PassageID: passageID}]
	return ok
}

// Readings returns the documents that the model read, in order, and the number of their parts, the queries without
// results and the number of completed searches for passages. It excludes documents that were only opened for the
// user: see WasShownToUser.
func (s *Sources) Readings() (readDocs []corpus.Document, pages int, empty []string, searches int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range s.readDocuments {
		readDocs = append(readDocs, s.documents[id])
	}
	return readDocs, len(s.readParts), slices.Clone(s.empty), s.searches
}
