package agent

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"footnote/chat"
	"footnote/corpus"
	"footnote/corpus/text"
)

// source is a passage that was shown to the model, under its number.
type source struct {
	n        int
	passage  corpus.Passage
	document corpus.Document
	quotes   []string       // what the model says it quotes from it
	cited    *chat.Citation // that an earlier answer has of it, under this number
}

// sources are the passages of a run by number, and the documents it knows of. A number is given once and never changes.
// It is safe for concurrent use.
type sources struct {
	mu        sync.Mutex
	last      int
	byNumber  map[int]*source
	byPassage map[string]*source
	documents map[string]corpus.Document
	opened    []string            // documents read, in order
	pages     map[string]struct{} // reading pages seen
	empty     []string            // searches that found nothing
	queries   []string            // of every search that was completed, each once
	searches  int
	shows     bool                     // a document was opened for the reader
	latest    string                   // the last search for passages
	scores    map[string]float64       // the best one of each passage that searches found
	hits      map[string]corpus.Result // the last hit of each
}

func newSources() *sources {
	return &sources{
		byNumber: map[int]*source{}, byPassage: map[string]*source{},
		documents: map[string]corpus.Document{}, pages: map[string]struct{}{}, scores: map[string]float64{}, hits: map[string]corpus.Result{},
	}
}

// number returns the passage's number, a new one if it has none.
func (s *sources) number(p corpus.Passage, doc corpus.Document) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.documents[doc.ID] = doc
	if known, ok := s.byPassage[p.ID]; ok {
		return known.n
	}
	s.put(s.last+1, p, doc)
	return s.last
}

// restore gives a passage the number it had before a restart.
func (s *sources) restore(n int, p corpus.Passage, doc corpus.Document) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.documents[doc.ID] = doc
	if _, ok := s.byPassage[p.ID]; !ok {
		s.put(n, p, doc)
	}
}

func (s *sources) put(n int, p corpus.Passage, doc corpus.Document) {
	src := &source{n: n, passage: p, document: doc}
	s.byNumber[n], s.byPassage[p.ID] = src, src
	s.last = max(s.last, n)
}

// reserve keeps numbers up to n from being given out again.
func (s *sources) reserve(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = max(s.last, n)
}

// isEmpty reports whether no passage was shown yet in this run.
func (s *sources) isEmpty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byPassage) == 0
}

// remember gives a passage of an earlier run a number of its own. Shown again in this run it gets one like all others.
func (s *sources) remember(n int, p corpus.Passage, doc corpus.Document) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.documents[doc.ID] = doc
	s.byNumber[n] = &source{n: n, passage: p, document: doc}
}

// recall gives the source of a footnote of an earlier answer that footnote's number.
func (s *sources) recall(c chat.Citation, doc corpus.Document) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.documents[doc.ID] = doc
	s.byNumber[c.Number] = &source{n: c.Number, document: doc, cited: &c, passage: corpus.Passage{
		ID: c.ChunkID, DocumentID: doc.ID, FirstBlock: c.BlockID, LastBlock: c.BlockID, Page: c.Page, Section: c.Section, Start: c.Start, End: c.End, Text: c.Quote,
	}}
	s.last = max(s.last, c.Number)
}

// open notes that a document was opened for the reader.
func (s *sources) open() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shows = true
}

// opens reports whether one was.
func (s *sources) opens() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shows
}

// found returns the first documents of which passages were shown in this run and which were not read yet.
func (s *sources) found(most int) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var shown []*source
	for _, src := range s.byPassage {
		shown = append(shown, src)
	}
	slices.SortFunc(shown, func(a, b *source) int { return a.n - b.n })
	var out []string
	for _, src := range shown {
		if len(out) < most && !slices.Contains(out, src.document.ID) && !slices.Contains(s.opened, src.document.ID) {
			out = append(out, src.document.ID)
		}
	}
	return out
}

// at returns the source with a number.
func (s *sources) at(n int) (source, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	src, ok := s.byNumber[n]
	if !ok {
		return source{}, false
	}
	return *src, true
}

// all returns every source, by number.
func (s *sources) all() []source {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]source, 0, len(s.byNumber))
	for _, src := range s.byNumber {
		out = append(out, *src)
	}
	slices.SortFunc(out, func(a, b source) int { return a.n - b.n })
	return out
}

// quote remembers the words that the model cites from a source.
func (s *sources) quote(n int, words string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if src, ok := s.byNumber[n]; ok {
		src.quotes = append(slices.Clip(src.quotes), words)
	}
}

// know remembers a document that was listed.
func (s *sources) know(docs ...corpus.Document) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, doc := range docs {
		s.documents[doc.ID] = doc
	}
}

func (s *sources) document(id string) (corpus.Document, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	doc, ok := s.documents[id]
	return doc, ok
}

// read notes that a page of a document was read.
func (s *sources) read(doc corpus.Document, page string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.documents[doc.ID] = doc
	if !slices.Contains(s.opened, doc.ID) {
		s.opened = append(s.opened, doc.ID)
	}
	s.pages[doc.ID+"\x00"+page] = struct{}{}
}

// searched notes a search, and its words if nothing was found.
func (s *sources) searched(query string, found int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.searches++
	s.queries = text.AppendNew(s.queries, query)
	s.addEmpty(query, found)
}

// foundNone notes the words of a search of the library's list if nothing was found: no search of what stands in documents.
func (s *sources) foundNone(query string, found int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addEmpty(query, found)
}

func (s *sources) addEmpty(query string, found int) {
	if found == 0 && !slices.Contains(s.empty, query) {
		s.empty = append(s.empty, query)
	}
}

// searchedLast remembers the search that retrieve_more goes on with.
func (s *sources) searchedLast(query string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latest = query
}

// asked are the words of all searches that were completed: "roof; roof survey".
func (s *sources) asked() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.queries, "; ")
}

// meant is the query, or the last one if it is empty.
func (s *sources) meant(query string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cmp.Or(query, s.latest)
}

// score notes how well a passage fitted a search.
func (s *sources) score(passageID string, score float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scores[passageID] = max(s.scores[passageID], score)
}

// hit notes where a search found the best words of a passage.
func (s *sources) hit(r corpus.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hits[r.Passage.ID] = r
}

// hitOf is the last hit of a passage; of one that was only read, the passage as it is.
func (s *sources) hitOf(src source) corpus.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.hits[src.passage.ID]; ok {
		return r
	}
	return corpus.Result{Passage: src.passage, Document: src.document, Page: src.passage.Page, Block: src.passage.FirstBlock}
}

// scoreOf is the best score of a passage; 0 for one that was only read.
func (s *sources) scoreOf(passageID string) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.scores[passageID]
}

// holds reports whether a passage was shown.
func (s *sources) holds(passageID string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.byPassage[passageID]
	return ok
}

// readings returns the documents read, in order, how many pages of them, and the searches that found nothing.
func (s *sources) readings() (opened []corpus.Document, pages int, empty []string, searches int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range s.opened {
		opened = append(opened, s.documents[id])
	}
	return opened, len(s.pages), slices.Clone(s.empty), s.searches
}
