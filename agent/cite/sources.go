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

// Source is a passage that was shown to the model, under its number.
type Source struct {
	N               int
	Passage         corpus.Passage
	Document        corpus.Document
	Quotes          []string       // what the model says it quotes from it
	EarlierCitation *chat.Citation // that an earlier answer has of it, under this number
}

// PassageRange names what was shown under one number: a passage, or a part of one such as a row of a table, which is
// [Start, End) of its document's text.
type PassageRange struct {
	PassageID  string
	Start, End int // of a part; 0 of a whole passage
}

// rangeOf names a passage, or a part of one: that has the id of its passage and a range of its own.
func rangeOf(p corpus.Passage) PassageRange {
	if !p.Part {
		return PassageRange{PassageID: p.ID}
	}
	return PassageRange{p.ID, p.Start, p.End}
}

// Sources are the passages of a run by number, and the documents it knows of. A number is given once and never changes.
// It is safe for concurrent use. It keeps everything that an answer may cite or speak of, and nothing else of the run.
// It is filled by tools through Tool.NoteResult and Tool.NoteOutcome, and filled again from the log when a run is
// resumed.
type Sources struct {
	mu            sync.Mutex
	last          int
	byNumber      map[int]*Source
	byPassage     map[PassageRange]*Source
	documents     map[string]corpus.Document
	readDocuments []string            // documents read, in order
	readParts     map[string]struct{} // reading pages seen
	empty         []string            // searches that found nothing
	queries       []string            // of every search that was completed, each once
	searches      int
	shownToUser   bool                     // the viewer was opened for the user
	web           bool                     // the web was searched
	latest        string                   // the last search for passages
	scores        map[string]float64       // the best one of each passage that searches found
	hits          map[string]corpus.Result // the last hit of each
	answers       map[int]bool             // of checked passages by number: whether one of its quotes answers
}

// NewSources makes those of a run that was shown nothing yet.
func NewSources() *Sources {
	return &Sources{
		byNumber: map[int]*Source{}, byPassage: map[PassageRange]*Source{},
		documents: map[string]corpus.Document{}, readParts: map[string]struct{}{}, scores: map[string]float64{},
		hits: map[string]corpus.Result{}, answers: map[int]bool{},
	}
}

// NoteChecked notes whether words of a passage answer the question, as a language model judged them.
func (s *Sources) NoteChecked(n int, answers bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[n] = s.answers[n] || answers
}

// Answers reports whether checked words of a passage answer the question. known is false for one that was not checked.
func (s *Sources) Answers(n int) (answers, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answers, known = s.answers[n]
	return answers, known
}

// Number returns the passage's number, a new one if it has none. Tools call it when they make their output, in the
// order of the calls, so a run that is made again from its log gives out the same numbers.
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

// Restore gives a passage the number it had before a restart.
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

// Reserve keeps numbers up to n from being given out again. A resumed run reserves the numbers of passages that are
// gone by now: a footnote must never point at another one.
func (s *Sources) Reserve(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = max(s.last, n)
}

// count returns how many passages have a number.
func (s *Sources) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byNumber)
}

// IsEmpty reports whether no passage was shown yet in this run.
func (s *Sources) IsEmpty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byPassage) == 0
}

// AddEarlier gives a passage of an earlier run a number of its own. Shown again in this run it gets one like all
// others. Its number is far from the run's own (firstRecalled in agent/run), so that both can be told apart in the log.
// It does not move the last number.
func (s *Sources) AddEarlier(n int, p corpus.Passage, doc corpus.Document) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.documents[doc.ID] = doc
	s.byNumber[n] = &Source{N: n, Passage: p, Document: doc}
}

// AddCited gives the source of a footnote of an earlier answer that footnote's number.
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

// NoteShownToUser notes that the viewer was opened for the user, by open_document. The model has read nothing by that.
func (s *Sources) NoteShownToUser() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shownToUser = true
}

// WasShownToUser reports whether the viewer was opened for the user in this run.
func (s *Sources) WasShownToUser() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shownToUser
}

// Unread returns the first documents of which passages were shown in this run and which were not read yet. They come in
// the order in which their passages were first shown, at most `most` of them.
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

// All returns every source, by number. They are copies: a quote that is added later is not in them.
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

// AddQuote remembers the words that the model cites from a source.
func (s *Sources) AddQuote(n int, words string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if src, ok := s.byNumber[n]; ok {
		src.Quotes = append(slices.Clip(src.Quotes), words)
	}
}

// AddDocuments remembers a document that was listed.
func (s *Sources) AddDocuments(docs ...corpus.Document) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, doc := range docs {
		s.documents[doc.ID] = doc
	}
}

// Document is one that the run knows of, by its id.
func (s *Sources) Document(id string) (corpus.Document, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	doc, ok := s.documents[id]
	return doc, ok
}

// NoteReading notes that the model read a part of a document: a reading page, or a passage that a focused reading
// began with. part tells the parts of one document apart; the same one again counts once.
func (s *Sources) NoteReading(doc corpus.Document, part string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.documents[doc.ID] = doc
	if !slices.Contains(s.readDocuments, doc.ID) {
		s.readDocuments = append(s.readDocuments, doc.ID)
	}
	s.readParts[doc.ID+"\x00"+part] = struct{}{}
}

// NoteSearch notes a search, and its words if nothing was found. It is called for every completed search, also one that
// found something.
func (s *Sources) NoteSearch(query string, found int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.searches++
	s.queries = text.AppendNew(s.queries, query)
	s.addEmpty(query, found)
}

// NoteEmptySearch notes the words of a search of the library's list if nothing was found: no search of what stands in
// documents.
func (s *Sources) NoteEmptySearch(query string, found int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addEmpty(query, found)
}

// addEmpty notes the words of a search that found nothing, each once. The caller holds s.mu.
func (s *Sources) addEmpty(query string, found int) {
	if found == 0 && !slices.Contains(s.empty, query) {
		s.empty = append(s.empty, query)
	}
}

// NoteWebSearch notes that the web was searched.
func (s *Sources) NoteWebSearch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.web = true
}

// SearchedWeb reports whether the web was searched in this run, whatever came of it.
func (s *Sources) SearchedWeb() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.web
}

// NoteLatestSearch remembers the search that retrieve_more goes on with.
func (s *Sources) NoteLatestSearch(query string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latest = query
}

// SearchedFor are the words of all searches that were completed: "roof; roof survey".
func (s *Sources) SearchedFor() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.queries, "; ")
}

// QueryOrLatest is the query, or the last one if it is empty.
func (s *Sources) QueryOrLatest(query string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cmp.Or(query, s.latest)
}

// NoteScore notes how well a passage fitted a search.
func (s *Sources) NoteScore(passageID string, score float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scores[passageID] = max(s.scores[passageID], score)
}

// NoteHit notes where a search found the best words of a passage.
func (s *Sources) NoteHit(r corpus.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hits[r.Passage.ID] = r
}

// HitOf is the last hit of a passage; of one that was only read, the passage as it is.
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

// ScoreOf is the best score of a passage; 0 for one that was only read.
func (s *Sources) ScoreOf(passageID string) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.scores[passageID]
}

// Contains reports whether a whole passage was shown.
func (s *Sources) Contains(passageID string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.byPassage[PassageRange{PassageID: passageID}]
	return ok
}

// Readings returns the documents that the model read, in the order of the first reading, how many parts of them, the
// words of the searches that found nothing, and how many searches of passages were completed. What was only shown to
// the user is not among them: see WasShownToUser.
func (s *Sources) Readings() (readDocs []corpus.Document, pages int, empty []string, searches int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range s.readDocuments {
		readDocs = append(readDocs, s.documents[id])
	}
	return readDocs, len(s.readParts), slices.Clone(s.empty), s.searches
}
