// Package corpus is the library: it takes files in, makes text, blocks, passages and vectors of them in the background,
// searches them, and gives parts of them to be read. Library is its one entrance. What it needs of the outside are its
// ports (ports.go): Documents, Lexical, Vectors, Blobs and Queue each have a suite in corpustest that every
// implementation runs; Extractor and Embedder read files and make vectors.
//
// A file's way through the package: add.go stores its bytes and a Document and queues a Job (jobs.go); work.go decides
// what becomes of a job's errors; ingest.go has the file read, splits it (passages.go) and stores its content;
// embed_job.go makes its vectors. sweep.go and purge.go look after what was lost and what was deleted, for as long as
// Run runs.
//
// A question's way: search.go asks the indexes, with the words that search_words.go, typos.go and typing.go make of it;
// results.go reads what was found, place.go says where it stands, rerank.go looks again. read.go, grep.go and find.go
// give documents to be read without a search. page_images.go and drawn.go show pages.
//
// What must never happen: that a document of one user is seen by another (every method takes a chat.Scope and hands it
// to the stores), that a file that was accepted is lost (it is durable before Add returns), or that a place points to
// other words than those that were cited (offsets belong to one version's text, which is replaced as a whole).
//
// It imports no store: implementations of the ports import it.
package corpus

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
)

// State is where a document is on its way into the library. Its order is queued, parsing, indexing, ready; failed and
// cancelled are ends that only adding the file again, or Retry, leaves.
type State string

// The states of a document. Ready means that its text is searchable.
const (
	StateQueued    State = "queued"
	StateParsing   State = "parsing"
	StateIndexing  State = "indexing"
	StateReady     State = "ready"
	StateFailed    State = "failed"
	StateCancelled State = "cancelled"
)

// States are all states of documents.
var States = []State{StateQueued, StateParsing, StateIndexing, StateReady, StateFailed, StateCancelled}

// Explained fails with CodeInvalid unless a failed document, and no other, has a reason. Stores call it, so that
// neither can be stored without the other.
func (s State) Explained(reason *Failure) error {
	if (reason != nil) != (s == StateFailed) {
		return &chat.Error{
			Code: chat.CodeInvalid, Message: "A failed document needs a reason, and only a failed one has it.",
		}
	}
	return nil
}

// Semantic is the state of a document's vectors, apart from its State. A document is found by its words as soon as it
// is ready, and by its meaning once this is SemanticReady.
type Semantic string

// The semantic states.
const (
	SemanticOff     Semantic = "off"     // no embedder is set
	SemanticPending Semantic = "pending" // vectors are on their way
	SemanticReady   Semantic = "ready"
	// the server died three times while it made them: the document is found by its words
	SemanticFailed Semantic = "failed"
)

// Document is a file in the library. Its id is stable; (User, Namespace, Path) is unique among documents that are not
// deleted; versions are told apart by SHA256. A Document is a value: changing a field changes nothing in the library.
type Document struct {
	ID        string
	User      string
	Namespace string
	Path      string // relative, "/"-separated; the file name for an upload
	Filename  string
	Title     string
	MIME      string
	SHA256    string // hex, of the original bytes
	Bytes     int64
	Pages     int    // 0 for formats without pages
	Language  string // ISO 639-1, empty if unknown
	Meta      map[string]any
	State     State
	Semantic  Semantic
	Progress  Progress
	Error     *Failure // set in StateFailed
	Passages  int
	CreatedAt time.Time
	UpdatedAt time.Time // of the last version
	DeletedAt time.Time // zero unless hidden, waiting to be purged
	// by the Put that returned it: there was no such document, or it was hidden. Nothing else sets it
	Fresh bool
	// for a Put: Meta is only for a document that there was not, or that was hidden
	MetaIfFresh bool
}

// Complete returns a document as a store puts it away: what was left open is said by the rest. It fails with
// CodeInvalid for one without a user, a path or its content's hash. All stores call it, so that what is left open means
// the same in each.
func (d Document) Complete() (Document, error) {
	if d.User == "" || d.SHA256 == "" || d.Path == "" {
		return d, &chat.Error{
			Code: chat.CodeInvalid, Message: "A document needs a user, a path and its content's hash.",
		}
	}
	d.Namespace = cmp.Or(d.Namespace, chat.DefaultNamespace)
	d.Filename = cmp.Or(d.Filename, d.Path[strings.LastIndexByte(d.Path, '/')+1:])
	d.Title = cmp.Or(d.Title, d.Filename)
	d.Semantic = cmp.Or(d.Semantic, SemanticOff)
	return d, nil
}

// Progress says how far the present stage is. Total is 0 while unknown. It is for people: nothing is decided by it.
type Progress struct {
	// What is being done: queued, parsing, indexing, embedding or ready.
	Stage string `json:"stage"`
	Done  int    `json:"done"`  // How far it is.
	Total int    `json:"total"` // How many there are.
}

// Failure says why a file could not be read. Detail is a sentence for people. It is a fault of the file, which another
// try would not mend; anything else that goes wrong is an ordinary error.
type Failure struct {
	// Why the file could not be read.
	//
	// broken, encrypted, no_text, needs_ocr, too_many_pages, too_large, unsupported, timeout, memory, internal
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// NeedsOCR is the code of the failure of a file whose text is only in pictures, where nothing reads pictures. It can be
// read again once something does.
const NeedsOCR = "needs_ocr"

// NoText is the code of the failure of a file in which nothing is written.
const NoText = "no_text"

// Error returns the detail, so that extractors can return a *Failure as their error.
func (f *Failure) Error() string { return f.Detail }

// BlockKind is the role of a block in its document.
type BlockKind string

// The kinds of block.
const (
	BlockHeading   BlockKind = "heading"
	BlockParagraph BlockKind = "paragraph"
	BlockList      BlockKind = "list" // one item
	BlockTable     BlockKind = "table"
	BlockCode      BlockKind = "code"
	BlockRow       BlockKind = "row" // fields in a row, each with its name as a strong mark: a mail's head
)

// Block is a piece of a document. Offsets are runes in the document's one canonical text; blocks are in order, do not
// overlap, and are joined by a blank line. Offsets are half-open, [Start, End). Package doctext writes blocks, and its
// Check says what must hold for them. They are stored as JSON, so that a new field needs a meaning for documents of
// earlier versions.
type Block struct {
	ID      string    `json:"id"` // b1, b2, …
	Kind    BlockKind `json:"kind"`
	Level   int       `json:"level,omitempty"`   // 1–6 of a heading; nesting from 1 of a list item
	Ordinal int       `json:"ordinal,omitempty"` // of an ordered list's item, from 1
	// Numbered: the text begins with the item's number, as the document has it. Earlier versions left it out.
	Numbered bool      `json:"numbered,omitempty"`
	Headings []string  `json:"headings,omitempty"` // path of the headings above it
	Page     int       `json:"page,omitempty"`     // from 1
	Box      *chat.Box `json:"box,omitempty"`
	Start    int       `json:"start"`
	End      int       `json:"end"`
	Language string    `json:"language,omitempty"` // of code
	Quote    bool      `json:"quote,omitempty"`    // part of a quotation
	Marks    []Mark    `json:"marks,omitempty"`
	// of a table: rows of [start, end) rune offsets in the text; the first row is the header, unless Columns is set
	Cells [][][2]int `json:"cells,omitempty"`
	// Columns is the header row of a table that goes on from the block before, at most 80 runes. Earlier versions left
	// it out.
	Columns string `json:"columns,omitempty"`
	// Grid says where a table's cells stand in their sheet; nil for tables of other documents.
	Grid *Grid `json:"grid,omitempty"`
	// Line is the number of the block's first line in its file, from 1; 0 where lines have no numbers.
	Line  int   `json:"line,omitempty"`
	Words Words `json:"-"` // of a PDF block, stored apart
}

// Grid is the place of a table in a sheet. Cell c of row r stands in row Rows[r] and column Columns[c]. Blank rows and
// columns are left out of a table, for which reason the numbers may have gaps.
type Grid struct {
	Rows    []int `json:"rows"`    // from 1, ascending; as many as the table has rows
	Columns []int `json:"columns"` // from 1, ascending; at least as many as a row has cells
}

// Mark is inline formatting over [Start, End), rune offsets in the document's text.
type Mark struct {
	Kind  string `json:"kind"` // strong, em, code, link, math: TeX with its delimiters
	Start int    `json:"start"`
	End   int    `json:"end"`
	URL   string `json:"url,omitempty"` // of a link: http, https or mailto only
}

// Extracted is what an extractor makes of a file. The library adds nothing to it but the language, if the file says
// none, and the ids of the files inside.
type Extracted struct {
	Title    string // empty: the file name serves
	Text     string // canonical: UTF-8, LF, no BOM or NUL, NFC left as it is, markup removed, blocks joined by "\n\n"
	Blocks   []Block
	Pages    int
	Sizes    [][2]float64   // width and height of each page in points, for the viewer; none where no page is drawn
	Meta     map[string]any // author, date, … as the file says
	Language string
	Members  []Member // files inside this one that become documents of their own
	Scans    []int    // numbers of the pages, from 1, whose text is only in a picture, ascending
}

// Member is a file inside another, such as the attachment of a mail or a file of an archive.
type Member struct {
	Path string // inside the file, "/"-separated, as people see it
	File string // the name of its bytes in the directory File.Members
	// Shown: it is part of how its file looks, such as a picture in a mail's text. It becomes a document only if there
	// are words in it.
	Shown bool
}

// Passage is a run of blocks that does not cross a heading of level 2 or above. It has at most 400 tokens, or 490 where
// headings stand above its first block; the blank lines between blocks do not count. It may be as short as its section.
// A block that is too long is divided among passages. The id is made from document id, version hash and range, so that
// indexing again changes nothing that stayed the same. It is what is indexed, embedded, found and given to a model.
type Passage struct {
	ID         string
	DocumentID string
	Ordinal    int // from 0 in its document
	Start, End int // rune offsets in the document's text
	FirstBlock string
	LastBlock  string
	Page       int    // that it begins on
	LastPage   int    // that it ends on; not stored: Library.Search and Library.Read find it out
	Section    string // heading path joined by " › "
	Text       string
	Tokens     int
	Part       bool // it is a part of the passage of that id: see Passage.Cut. Not stored
}

// Content is everything made from one version of a document, stored in one transaction. It is made anew from the file
// whenever the file is read, and depends on nothing else.
type Content struct {
	SHA256    string
	Extracted Extracted
	Passages  []Passage
	Title     string  // of the document, whose words count for each passage
	Terms     []Terms // one for each passage, same order; nil: EachTerms makes them of the rest
}

// EachTerms yields the terms of each passage, in order. A large document's are never in memory together; they may be
// asked for again.
func (c *Content) EachTerms() iter.Seq[Terms] {
	if c.Terms != nil {
		return slices.Values(c.Terms)
	}
	return analysedTerms(c.Title, c.Extracted.Language, c.Passages)
}

// Terms are a passage's words as text.Analyse made them: what a lexical index stores. Stores never tokenise. Both are
// made with text.Analyser, by the same rules as the words of a question.
type Terms struct {
	Title string // analysed terms of title and section, separated by spaces
	Body  string // analysed terms of the passage, in order, separated by spaces, so that phrases can be found
}
