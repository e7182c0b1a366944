package corpus

import "github.com/footnote/footnote/corpus/search"

// SearchMode says which indexes answer a query. The empty mode is hybrid.
type SearchMode string

// The search modes. Hybrid falls back to lexical while there are no vectors.
const (
	ModeHybrid   SearchMode = "hybrid"
	ModeLexical  SearchMode = "lexical"
	ModeSemantic SearchMode = "semantic"
)

// MostResults is how many passages a search returns at most.
const MostResults = 100

// Query is a search. A text may hold exact phrases in double quotes.
type Query struct {
	Text      string
	Limit     int // passages, 1–MostResults; 0 means 5
	Mode      SearchMode
	MinScore  float64  // 0–1, on Result.Similarity; ignored with a note while there are no vectors
	Documents []string // only in these; empty: anywhere in scope
	Filter    *Filter  // only documents it selects; nil: all
	// the results are put in order once more, by a closer look at each; a search by meaning has its order already
	Rerank  bool
	Cosines bool // each result has its cosine and its similarity, where there are vectors
	// Typing says that somebody is still typing the text. Its last word may be the beginning of one; passages that hold
	// the words in a row come first, and those with some of the words only if none has them all.
	Typing bool
	// Places has Result.Place say rows, cells and lines too, for which the blocks of the documents found are read.
	Places bool
}

// Results are the passages found, best first. An empty result is no error; a note may say why.
type Results struct {
	Results []Result
	Notes   []string // for people and models: "semantic search is off", "did you mean …"
	Partial bool     // an index did not answer: the same search may find more in a moment
	// Corrected holds the words that were added for likely typing errors: typed → used.
	Corrected map[string]string
}

// Result is a passage found, with its document. Its Snippet's matches are what a page marks.
type Result struct {
	Passage  Passage
	Document Document
	// 0–1: the similarity in semantic mode, what the second look came to when reranked, else what search.Fuse made of
	// words and meaning
	Score float64
	// Cosine is how near the passage is to the query in meaning, -1 to 1. It is nil where that is not known: without
	// vectors, and, unless Query.Cosines or Query.Rerank asked for all of them, for a passage that was found by its
	// words alone.
	Cosine *float64
	// Similarity is search.Scale.Similarity of the cosine, 0–1: from 0.7 on the passage probably answers, whatever the
	// embedder. It is set where Cosine is.
	Similarity *float64
	Doubt      float64 // search.Scale.Doubt of the query, 0–1
	Snippet    search.Snippet
	// Place is where the best words stand, in words: see Place.Label. Without Query.Places it says pages only.
	Place string
	Page  int    // that the best words of the passage stand on; 0 in a document without pages
	Block string // that they stand in
}

// ReadRequest asks for a part of a document.
type ReadRequest struct {
	Document string // id, title or file name (resolved in scope: exact id, else unique best match)
	Focus    string // read the parts that bear on this first; empty: from the start
	Part     int    // of reading pages, from 1; 0 means 1
	MaxRunes int    // 0 means ReadRunes
	Holding  string // id of a passage: the reading page that has it, instead of Part
}

// Reading is a part of a document as passages, in document order. Passages stand in the order of the document also when
// they were chosen by a focus.
type Reading struct {
	Document Document
	Passages []Passage
	Outline  []OutlineItem
	Part     int // this reading page
	Parts    int // how many there are
	Focused  bool
}

// OutlineItem is a heading.
type OutlineItem struct {
	Title   string
	Level   int
	BlockID string
	Page    int
}

// GrepRequest asks for exact matches.
type GrepRequest struct {
	Pattern   string // RE2, or taken literally when it does not compile
	Documents []string
	Max       int // matches, 1–100; 0 means 20
}

// Match is one exact match.
type Match struct {
	Document   Document
	PassageID  string
	BlockID    string
	Page       int
	Section    string
	Start, End int    // rune offsets in the document's text
	Line       string // the sentence or line around it
}

// Grepped is the result of a grep.
type Grepped struct {
	Matches   []Match
	Literal   bool // the pattern did not compile and was taken literally
	More      bool // there were more than Max
	Documents int  // how many were looked through
}
