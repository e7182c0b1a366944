package corpus

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/footnote/footnote/chat"
)

// Filter selects documents. Zero fields do not restrict. All that are set must hold.
type Filter struct {
	Text    string // in title or file name, without case
	States  []State
	IDs     []string
	MIME    string           // a prefix: "application/pdf", "text/"
	Meta    map[string]any   // equal values; of a stored list, one of it
	MetaAny map[string][]any // of each list at least one, as Meta has it
	HasMeta string           // a key of Meta that is there
	// DatedFrom and DatedTo, both inclusive, are dates like 2026-01-31 or the beginnings of such: 2026-01, 2026. A
	// document's own date is what its Meta has as date, year or published, if that begins with a year; one that is
	// less exact is compared as far as it goes.
	DatedFrom   string
	DatedTo     string
	AddedAfter  time.Time
	AddedBefore time.Time
	Sort        string // "newest" (default), "oldest", "title"
	Limit       int    // 0: 50, at most 1000
	Cursor      string
	Everyone    bool // whoever owns them: for the library's own work, never for a request
}

// Counts says how much is in scope.
type Counts struct {
	Documents int // not deleted
	Ready     int
	Failed    int
	Working   int // queued, parsing or indexing
	Passages  int
	Pages     int
	// Unembedded is how many passages of ready documents wait for their vectors.
	Unembedded int
}

// Documents keeps documents and what was made from them. corpustest.TestDocuments is this contract as tests. A method
// that names a document which is not there, deleted or outside the scope fails with chat.CodeNotFound. Safe for
// concurrent use. Each write is all or nothing.
type Documents interface {
	// SetLimits says what each user may add, and spend in the chats of the same database. Until then there are no
	// limits. Call it first.
	SetLimits(l chat.Limits)

	// Put stores a new document in StateQueued with a fresh id, or, when its (User, Namespace, Path) exists with
	// another SHA256, gives that document the new version: it keeps its id, returns to StateQueued, and its old
	// content serves until PutContent replaces it. The same bytes in the same namespace under any path store nothing:
	// the existing document comes back with duplicate = true (unless it failed or was cancelled: then it is queued
	// again). A deleted document with the same bytes is restored. A Meta that is not nil replaces that of earlier
	// puts in each of these cases, but for MetaIfFresh; what the file itself says stays beside it. What is queued
	// counts against its user's limits, but for hidden namespaces: one without room for it fails with a
	// *chat.OverLimit and stores nothing. Parallel puts get as much as there is room for, and no more.
	Put(ctx context.Context, d Document) (stored Document, duplicate bool, err error)

	// SetState moves a document that still has the given SHA256 to a state; failure only with StateFailed. It fails
	// with chat.CodeConflict if the document was cancelled or has another version by now, or if it is ready and the
	// state is another one: a worker that lost its job without knowing takes nothing back.
	SetState(ctx context.Context, id, sha256 string, state State, p Progress, failure *Failure) error

	// SetSemantic records the state of a document's vectors.
	SetSemantic(ctx context.Context, id, sha256 string, s Semantic) error

	// PutContent replaces a document's content with that of version c.SHA256, its lexical index included, and makes
	// it ready. Who reads meanwhile sees the old content or the new one, never a part. It fails with chat.CodeConflict
	// if the document was cancelled, deleted or has another version by now.
	PutContent(ctx context.Context, id string, c Content) error

	// Get returns a document, AtPath the one at a path of the scope's namespaces; List one page of them and the next
	// cursor, empty at the end.
	Get(ctx context.Context, s chat.Scope, id string) (Document, error)
	AtPath(ctx context.Context, s chat.Scope, path string) (Document, error)
	List(ctx context.Context, s chat.Scope, f Filter) ([]Document, string, error)
	Count(ctx context.Context, s chat.Scope) (Counts, error)

	// Namespaces returns up to limit names of those that have documents in scope, in the order of their bytes; hidden
	// ones only if the scope names them.
	Namespaces(ctx context.Context, s chat.Scope, limit int) ([]string, error)

	// MetaTexts returns the texts that documents in scope have under a key of Meta, or in its list, each once, in the
	// order of their bytes.
	MetaTexts(ctx context.Context, s chat.Scope, key string) ([]string, error)

	// Version changes whenever anything that a search in scope could see changed. It is cheap.
	Version(ctx context.Context, s chat.Scope) (int64, error)

	// Text returns the canonical text and Blocks the blocks (without words) of the indexed version. Both are empty
	// before the first.
	Text(ctx context.Context, s chat.Scope, id string) (string, error)
	Blocks(ctx context.Context, s chat.Scope, id string) ([]Block, error)

	// TextPart returns a part of the canonical text: the first at 0, the others at Next of the one before. Together
	// they are what Text returns, unless the content is replaced in between, which Version tells.
	TextPart(ctx context.Context, s chat.Scope, id string, at int) (TextPart, error)

	// Words returns the word boxes of a PDF that overlap [start, end), rune offsets in its text, in order.
	Words(ctx context.Context, s chat.Scope, id string, start, end int) ([]WordBox, error)

	// PageSizes returns width and height in points of each page; none for formats without pages.
	PageSizes(ctx context.Context, s chat.Scope, id string) ([][2]float64, error)

	// Passages returns the document's passages with Ordinal in [from, to), to < 0 meaning all.
	Passages(ctx context.Context, s chat.Scope, id string, from, to int) ([]Passage, error)

	// PassagesByID returns the passages that exist, of documents in scope that have content, in the order of ids.
	PassagesByID(ctx context.Context, s chat.Scope, ids []string) ([]Passage, error)

	// Delete hides a document from everything at once; Restore brings it back; Purge removes what was hidden before the
	// given time, content and all. What a document leaves outside the database becomes a Removal in the same
	// transaction; so does the original of a version that PutContent replaces.
	Delete(ctx context.Context, s chat.Scope, id string) error
	Restore(ctx context.Context, s chat.Scope, id string) error
	Purge(ctx context.Context, before time.Time) error

	// Removals returns up to 100 removals that are due at a time, the longest due first. Each comes again 20 s later,
	// and after twice as long each time up to 5 min, to whoever asks then, until Removed deletes it. Deleting one that
	// is not there is a no-op. Abandon adds a removal, unless it is there.
	Removals(ctx context.Context, now time.Time) ([]Removal, error)
	Removed(ctx context.Context, r Removal) error
	Abandon(ctx context.Context, r Removal) error

	// BytesInUse reports whether any user's document, hidden ones included, has these original bytes.
	BytesInUse(ctx context.Context, sha256 string) (bool, error)

	// IndexedBytes returns the SHA256 of the version whose content serves, of whatever user; empty before the first.
	IndexedBytes(ctx context.Context, id string) (string, error)

	// Reread moves a ready document back to StateQueued, with SemanticOff, so that its file is read in again; its
	// content serves until PutContent replaces it. It fails with chat.CodeConflict for a document that is not ready.
	Reread(ctx context.Context, s chat.Scope, id string) error

	// Cancel moves a document that is not ready, failed or cancelled to StateCancelled, or back to StateReady if an
	// older version's content serves.
	Cancel(ctx context.Context, s chat.Scope, id string) error

	// SetWatched stores what a program saw of a folder of a user, in the place of what is stored of that folder in
	// that namespace. Of the user's folders those that were looked at before forget go, and all but the MaxWatched
	// latest.
	SetWatched(ctx context.Context, user string, w Watched, forget time.Time) error
	// DropWatched forgets a folder of a user in a namespace. One that is not there is a no-op.
	DropWatched(ctx context.Context, user, namespace, folder string) error
	// Watched returns the folders in scope that were looked at since then, in the order of their paths' bytes.
	Watched(ctx context.Context, s chat.Scope, since time.Time) ([]Watched, error)
}

// Hit is a passage found by one way of searching. What was not asked is zero.
type Hit struct {
	PassageID  string
	DocumentID string
	Cosine     float64 // vectors only: exact, -1 to 1
	Share      float64 // words only: of what a passage with each word once has, which is 1; more for more of them
}

// Removal is what is to be removed outside the database. It may be tried more than once, and by several replicas.
type Removal struct {
	DocumentID string // whose vectors go; empty: nobody's
	SHA256     string // of an original, which goes unless a document has it
}

// TextPart is a part of a document's text.
type TextPart struct {
	Text    string // at most 1 MiB; it may end within a rune
	Next    int    // where the next part is; 0: this is the last
	Version int64  // of the content, another after each replacement
}

// Lexical finds passages by words. Documents.PutContent feeds it.
type Lexical interface {
	// SearchLexical returns up to k hits, best first by BM25 (title weighted twice), ties by passage id. A hit's share
	// is its score over the sum of the words' IDF, which is that of the most frequent of a word's terms, and for a word
	// that no passage has that of a term nowhere. Only documents in scope that are not deleted are found.
	SearchLexical(ctx context.Context, s chat.Scope, q LexicalQuery, k int) ([]Hit, error)

	// Similar returns indexed body terms that share trigrams with term, most alike first, at most k: for typing errors.
	Similar(ctx context.Context, s chat.Scope, term string, k int) ([]string, error)

	// Completions returns up to k indexed terms of the scope's user that begin with a prefix, those in most passages
	// first, ties in their order: for a word that is being typed. They are to search with, not to be shown: some may
	// stand in other namespaces or in hidden documents only.
	Completions(ctx context.Context, s chat.Scope, prefix string, k int) ([]string, error)
}

// LexicalQuery is a question as analysed terms.
type LexicalQuery struct {
	Words     [][]string // the terms of each word, any of which may match; more and rarer is better
	Phrases   [][]string // each must occur exactly, in order
	Documents []string   // only in these; empty: anywhere
}

// Vector is a passage's embedding, of unit length. User and namespace stand in it, so that a store can search in a
// scope without asking the database.
type Vector struct {
	PassageID  string
	DocumentID string
	Namespace  string
	User       string
	Values     []float32
	TextHash   string // of what it was made of, see hashText; empty: that is not known
}

// Vectors finds passages by meaning. A store is of one embedding model, and neither finds nor counts what another
// model made in the same database or on the same server. corpustest.TestVectors is this contract as tests. Safe for
// concurrent use.
type Vectors interface {
	// Upsert stores vectors under their passage ids. All of an index have the same number of dimensions;
	// others fail with chat.CodeInvalid.
	Upsert(ctx context.Context, vs []Vector) error
	// DeleteVectors removes a document's vectors, but for the passages in keep. Those of another model may stay until
	// Complete.
	DeleteVectors(ctx context.Context, documentID string, keep []string) error
	// SearchVectors returns up to k hits by cosine, best first, ties by passage id. It may return hits of documents
	// that are hidden or gone by now: the library drops them.
	SearchVectors(ctx context.Context, s chat.Scope, query []float32, documents []string, k int) ([]Hit, error)
	// VectorsOf returns a vector of our model for each TextHash of which one is known, whosever it is; some may be left
	// out.
	VectorsOf(ctx context.Context, hashes []string) (map[string][]float32, error)
	// CountVectors returns how many vectors each of documents has; those without any are left out.
	CountVectors(ctx context.Context, documents []string) (map[string]int, error)
	// Complete says that no vector is missing, so that those of earlier embedding models go. Until then nothing of
	// them is lost: a store of such a model finds what it has.
	Complete(ctx context.Context) error
}

// Embedded is a passage with a vector of it.
type Embedded struct {
	Vector  Vector
	Passage Passage // section and text only
	Title   string  // of the passage's document, as it is now
}

// Embedder turns texts into unit vectors. Some models read a query in another way than what it is to find.
// Implementations are safe for concurrent use.
type Embedder interface {
	Model() string
	// Embed returns one vector of unit length for each passage, in order. At most MaxBatch passages.
	Embed(ctx context.Context, passages []string) ([][]float32, error)
	// EmbedQuery returns the vector of unit length of what is searched for. It does not wait for passages.
	EmbedQuery(ctx context.Context, query string) ([]float32, error)
}

// Reranker says how well passages answer a query, by reading each together with it. It is safe for concurrent use.
type Reranker interface {
	// Scores returns one score for each passage, in order: 0–1, the higher the better.
	Scores(ctx context.Context, query string, passages []string) ([]float64, error)
}

// Blobs keeps originals under their SHA256. corpustest.TestBlobs is this contract as tests. Safe for concurrent use.
type Blobs interface {
	// Put stores what r yields, at most limit bytes (else chat.CodeTooLarge), durably, and returns its SHA256 (hex)
	// and size. The same bytes twice are one blob.
	Put(ctx context.Context, r io.Reader, limit int64) (sha256 string, size int64, err error)
	// Open fails with chat.CodeNotFound for an unknown hash.
	Open(ctx context.Context, sha256 string) (io.ReadSeekCloser, error)
	Delete(ctx context.Context, sha256 string) error
}

// File is an original to extract. Only values are sent to the processes that read; Room stays here.
type File struct {
	User     string // whose turn it takes to read or draw it
	Path     string // of the bytes on disk
	Filename string
	MIME     string // as sniffed from the bytes
	Bytes    int64
	// Members is an empty directory for the files inside this one; empty: they are left out. Depth is how many files it
	// lies in itself.
	Members string
	Depth   int
	// Turn is by how many quarters, clockwise, a page is turned when it is drawn.
	Turn int
	// Grey says that a page is drawn without its colours.
	Grey bool
	// Printed says that a PDF was made of another file to be shown: its running heads and feet are a part of its text,
	// and its pictures are not read.
	Printed bool
	// Read are pages whose pictures have been read: their text is this, and not what the file says of them.
	Read []ReadPage
	// Room, if it is set, is called when a file has been read, with about the bytes of memory that the result takes,
	// before it is taken over. It waits until there is so much.
	Room func(ctx context.Context, bytes int64) error
}

// ErrReaderDied says that the process that read a file was ended from outside, as by a system short of memory. It can
// be tried again.
var ErrReaderDied = errors.New("the process that read the file was ended")

// SniffBytes is how much of a file Formats.Sniff looks at.
const SniffBytes = 4096

// Formats knows which kinds of file are read; extract.Formats does.
type Formats interface {
	// Sniff returns the MIME type of a file by its first SniffBytes and, among kinds of text, by its name. A kind that
	// is not read fails with chat.CodeUnsupported: a file is what its bytes are, whatever it is called.
	Sniff(head []byte, name string) (mime string, err error)
	// Paged returns the MIME types whose pages a Renderer draws.
	Paged() []string
	// Holds reports whether files of that MIME type may hold others that become documents.
	Holds(mime string) bool
	// PageWord is what stands before the number of a page of a file of that MIME type or name: "p." or "slide".
	PageWord(mime, name string) string
}

// Extractor reads files. A file that can't be read fails with a *Failure; report is called with pages done and in all.
// A file whose pages are pictures of text may come back without text: see Extracted.Scans. It is safe for concurrent
// use, unless it says otherwise.
type Extractor interface {
	Extract(ctx context.Context, f File, report func(done, total int)) (Extracted, error)
}

// Office draws Office files as PDF.
type Office interface {
	// Draws reports whether files of a MIME type are drawn, as things are now.
	Draws(mime string) bool
	// PDF writes what a file looks like to the file to. One that can't be drawn fails with chat.CodeUndrawable. The
	// library asks for one at a time.
	PDF(ctx context.Context, f File, to string) error
}

// Renderer draws pages.
type Renderer interface {
	// Render returns page n (from 1) of a PDF or a picture as PNG, turned by f.Turn,
	// width pixels wide (100–4000). It fails with chat.CodeInvalid for
	// another number, with chat.CodeNotFound for a page behind the last, and with chat.CodeUndrawable for one that
	// takes too much time or memory, or is damaged.
	Render(ctx context.Context, f File, n, width int) ([]byte, error)
	// Expect says that a page will probably be asked for soon, so that what is slow to start starts now. It returns
	// at once.
	Expect()
}
