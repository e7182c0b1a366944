package corpus

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/footnote/footnote/chat"
)

// Filter selects documents. Zero fields do not restrict; all set fields must match.
type Filter struct {
	Text    string // substring of title or file name, case-insensitive
	States  []State
	IDs     []string
	MIME    string           // a prefix: "application/pdf", "text/"
	Meta    map[string]any   // equal values; for a stored list, one element
	MetaAny map[string][]any // at least one value of each list, compared as in Meta
	HasMeta string           // a metadata key that must exist
	// DatedFrom and DatedTo are inclusive dates such as 2026-01-31, or prefixes of dates: 2026-01, 2026. A
	// document's date is its metadata value date, year or published, if that begins with a year. A less exact date
	// is compared at its own precision.
	DatedFrom   string
	DatedTo     string
	AddedAfter  time.Time
	AddedBefore time.Time
	Sort        string // "newest" (default), "oldest", "title"
	Limit       int    // 0: 50, at most 1000
	Cursor      string
	Everyone    bool // all users: for background work only, never for a request
}

// Counts holds the number of documents, passages and pages in scope.
type Counts struct {
	Documents int // not deleted
	Ready     int
	Failed    int
	Working   int // queued, parsing or indexing
	Passages  int
	Pages     int
	// Unembedded is the number of passages of ready documents without vectors.
	Unembedded int
}

// Documents stores documents and their content. corpustest.TestDocuments tests this contract. Methods that name a
// document return chat.CodeNotFound if it does not exist, is deleted or is out of scope. Implementations are safe
// for concurrent use. Each write is atomic.
type Documents interface {
	// SetLimits sets the per-user limits for documents and for the chat budget in the same database. There are no
	// limits before the first call. Call it before any other method.
	SetLimits(l chat.Limits)

	// Put stores a new document in StateQueued with a new ID. If its (User, Namespace, Path) exists with another
	// SHA256, that document gets the new version: it keeps its ID, returns to StateQueued, and serves its old
	// content until PutContent replaces it. The same bytes in the same namespace store nothing, under any path: Put
	// returns the existing document with duplicate = true. If that document failed or was cancelled, it is queued
	// again. A deleted document with the same bytes is restored. A non-nil Meta replaces the Meta of earlier puts
	// in each of these cases, unless MetaIfFresh is set; metadata extracted from the file is kept. Queued documents
	// count against the user's limits, except in hidden namespaces. A put over a limit returns a *chat.OverLimit
	// and stores nothing. Concurrent puts never exceed the limits together.
	Put(ctx context.Context, d Document) (stored Document, duplicate bool, err error)

	// SetState sets the state of a document that still has the given SHA256; failure is set only with StateFailed.
	// It returns chat.CodeConflict if the document was cancelled, has another version, or is ready and the state is
	// not. This stops a worker that has lost its job from undoing newer work.
	SetState(ctx context.Context, id, sha256 string, state State, p Progress, failure *Failure) error

	// SetSemantic records the state of a document's vectors.
	SetSemantic(ctx context.Context, id, sha256 string, s Semantic) error

	// PutContent replaces a document's content and its lexical index with those of version c.SHA256 and sets
	// StateReady. Concurrent readers see the old or the new content, never a mix. It returns chat.CodeConflict if
	// the document was cancelled, deleted or has another version.
	PutContent(ctx context.Context, id string, c Content) error

	// Get returns a document by ID, AtPath by path in the scope's namespaces. List returns one page and the cursor
	// of the next page, empty for the last.
	Get(ctx context.Context, s chat.Scope, id string) (Document, error)
	AtPath(ctx context.Context, s chat.Scope, path string) (Document, error)
	List(ctx context.Context, s chat.Scope, f Filter) ([]Document, string, error)
	Count(ctx context.Context, s chat.Scope) (Counts, error)

	// Namespaces returns up to limit namespaces with documents in scope, in byte order. Hidden namespaces are
	// included only if the scope names them.
	Namespaces(ctx context.Context, s chat.Scope, limit int) ([]string, error)

	// MetaTexts returns the distinct string values of a metadata key, or of its list, for documents in scope, in
	// byte order.
	MetaTexts(ctx context.Context, s chat.Scope, key string) ([]string, error)

	// Version returns a number that changes whenever a search in scope may return other results. It is cheap.
	Version(ctx context.Context, s chat.Scope) (int64, error)

	// Text returns the canonical text of the indexed version, and Blocks its blocks without words. Both are empty
	// before the first ingestion.
	Text(ctx context.Context, s chat.Scope, id string) (string, error)
	Blocks(ctx context.Context, s chat.Scope, id string) ([]Block, error)

	// TextPart returns a part of the canonical text: the first at offset 0, each other at Next of the previous
	// part. The parts joined equal Text, unless the content is replaced in between, which changes Version.
	TextPart(ctx context.Context, s chat.Scope, id string, at int) (TextPart, error)

	// Words returns the word boxes of a PDF that overlap the rune offsets [start, end) of its text, in order.
	Words(ctx context.Context, s chat.Scope, id string, start, end int) ([]WordBox, error)

	// PageSizes returns width and height of each page in points; empty for formats without pages.
	PageSizes(ctx context.Context, s chat.Scope, id string) ([][2]float64, error)

	// Passages returns the document's passages with Ordinal in [from, to); to < 0 means no upper limit.
	Passages(ctx context.Context, s chat.Scope, id string, from, to int) ([]Passage, error)

	// PassagesByID returns the existing passages of documents in scope that have content, in the order of ids.
	PassagesByID(ctx context.Context, s chat.Scope, ids []string) ([]Passage, error)

	// Delete hides a document from all methods immediately; Restore undoes it. Purge removes documents that were
	// hidden before the given time, with their content. The same transaction adds a Removal for data outside the
	// database; PutContent does the same for the original of a replaced version.
	Delete(ctx context.Context, s chat.Scope, id string) error
	Restore(ctx context.Context, s chat.Scope, id string) error
	Purge(ctx context.Context, before time.Time) error

	// Removals returns up to 100 removals due at now, the longest due first. Each is returned again after a backoff
	// of 20 s, which doubles up to 5 min, until Removed deletes it. Removed is a no-op for a missing removal.
	// Abandon adds a removal unless it exists.
	Removals(ctx context.Context, now time.Time) ([]Removal, error)
	Removed(ctx context.Context, r Removal) error
	Abandon(ctx context.Context, r Removal) error

	// BytesInUse reports whether a document of any user, hidden ones included, has these original bytes.
	BytesInUse(ctx context.Context, sha256 string) (bool, error)

	// IndexedBytes returns the SHA256 of the version whose content is served, for any user; empty before the first.
	IndexedBytes(ctx context.Context, id string) (string, error)

	// Reread moves a ready document back to StateQueued with SemanticOff, so that its file is ingested again. The
	// old content is served until PutContent replaces it. It returns chat.CodeConflict if the document is not
	// ready.
	Reread(ctx context.Context, s chat.Scope, id string) error

	// Cancel moves a document that is queued, parsing or indexing to StateCancelled, or back to StateReady if the
	// content of an older version is served.
	Cancel(ctx context.Context, s chat.Scope, id string) error

	// SetWatched stores the scan result of a user's watched folder and replaces the stored result for that folder
	// and namespace. It deletes the user's folders that were last scanned before forget, and all but the MaxWatched
	// latest.
	SetWatched(ctx context.Context, user string, w Watched, forget time.Time) error
	// DropWatched deletes a user's watched folder in a namespace. A missing folder is a no-op.
	DropWatched(ctx context.Context, user, namespace, folder string) error
	// Watched returns the folders in scope that were scanned after since, in byte order of their paths.
	Watched(ctx context.Context, s chat.Scope, since time.Time) ([]Watched, error)
}

// Hit is a passage found by one search method. Scores of the other method are zero.
type Hit struct {
	PassageID  string
	DocumentID string
	Cosine     float64 // vector search only: exact cosine, -1 to 1
	Share      float64 // lexical only: score relative to a passage with each word once (1); more for repeated words
}

// Removal is data to remove outside the database. Several replicas may try the same removal, and more than once.
type Removal struct {
	DocumentID string // document whose vectors to remove; empty: none
	SHA256     string // hash of an original to remove unless a document uses it
}

// TextPart is a part of a document's text.
type TextPart struct {
	Text    string // at most 1 MiB; it may end within a rune
	Next    int    // offset of the next part; 0: this is the last
	Version int64  // of the content; changes with each replacement
}

// Lexical searches passages by words. Documents.PutContent writes its index.
type Lexical interface {
	// SearchLexical returns up to k hits by BM25 (title weighted twice), best first, ties by passage ID. A hit's
	// Share is its score divided by the sum of the words' IDF. A word's IDF is that of its most frequent term; a
	// word without matches counts with the IDF of an unknown term. Only documents in scope that are not deleted are
	// searched.
	SearchLexical(ctx context.Context, s chat.Scope, q LexicalQuery, k int) ([]Hit, error)

	// Similar returns up to k indexed body terms that share trigrams with term, most similar first, for typo
	// correction.
	Similar(ctx context.Context, s chat.Scope, term string, k int) ([]string, error)

	// Completions returns up to k indexed terms of the scope's user with the given prefix, for autocompletion of a
	// query. Terms in the most passages come first; ties are in term order. Use them for search only and never
	// display them: some may occur only in other namespaces or in hidden documents.
	Completions(ctx context.Context, s chat.Scope, prefix string, k int) ([]string, error)
}

// LexicalQuery is a query of analysed terms.
type LexicalQuery struct {
	Words     [][]string // terms of each word; any may match; more and rarer matches score higher
	Phrases   [][]string // each must occur exactly, in order
	Documents []string   // only in these; empty: anywhere
}

// Vector is a passage's embedding, of unit length. It includes user and namespace, so that a store can filter by
// scope without a database query.
type Vector struct {
	PassageID  string
	DocumentID string
	Namespace  string
	User       string
	Values     []float32
	TextHash   string // hash of the embedded text, see hashText; empty: unknown
}

// Vectors searches passages by embedding. A store belongs to one embedding model. It neither returns nor counts
// vectors of other models in the same database or on the same server. corpustest.TestVectors tests this contract.
// Implementations are safe for concurrent use.
type Vectors interface {
	// Upsert stores vectors under their passage IDs. All vectors of an index have the same number of dimensions;
	// others return chat.CodeInvalid.
	Upsert(ctx context.Context, vs []Vector) error
	// DeleteVectors removes a document's vectors, except for the passages in keep. Vectors of other models may stay
	// until Complete.
	DeleteVectors(ctx context.Context, documentID string, keep []string) error
	// SearchVectors returns up to k hits by cosine, best first, ties by passage ID. It may return hits of hidden or
	// deleted documents: the library drops them.
	SearchVectors(ctx context.Context, s chat.Scope, query []float32, documents []string, k int) ([]Hit, error)
	// VectorsOf returns known vectors of the store's model by TextHash, from any user, as an embedding cache. Some
	// may be missing.
	VectorsOf(ctx context.Context, hashes []string) (map[string][]float32, error)
	// CountVectors returns the number of vectors of each document; documents without vectors are left out.
	CountVectors(ctx context.Context, documents []string) (map[string]int, error)
	// Complete reports to the store that no vector is missing, so that it can drop those of earlier embedding
	// models. Until then a store of an earlier model keeps its vectors and can search them.
	Complete(ctx context.Context) error
}

// Embedded is a passage with its vector.
type Embedded struct {
	Values  []float32
	Passage Passage // section and text only
	Title   string  // current title of the passage's document
}

// Embedder computes unit-length embeddings. Some models encode queries and passages differently. Implementations
// are safe for concurrent use.
type Embedder interface {
	Model() string
	// Embed returns one unit vector for each passage, in order. A batch has at most MaxBatch passages.
	Embed(ctx context.Context, passages []string) ([][]float32, error)
	// EmbedQuery returns the unit vector of a query. It does not wait behind batches of passages.
	EmbedQuery(ctx context.Context, query string) ([]float32, error)
}

// Reranker scores passages against a query with a cross-encoder. Implementations are safe for concurrent use.
type Reranker interface {
	// Scores returns one score for each passage, in order, from 0 to 1; higher is better.
	Scores(ctx context.Context, query string, passages []string) ([]float64, error)
}

// Blobs stores originals by SHA256. corpustest.TestBlobs tests this contract. Implementations are safe for
// concurrent use.
type Blobs interface {
	// Put stores the bytes of r durably and returns their SHA256 (hex) and size. More than limit bytes return
	// chat.CodeTooLarge. Identical bytes are deduplicated.
	Put(ctx context.Context, r io.Reader, limit int64) (sha256 string, size int64, err error)
	// Open returns chat.CodeNotFound for an unknown hash.
	Open(ctx context.Context, sha256 string) (io.ReadSeekCloser, error)
	Delete(ctx context.Context, sha256 string) error
}

// File is an original to extract. Only its values are sent to reader processes; Room stays in this process.
type File struct {
	User     string // whose slot reading or drawing uses
	Path     string // of the bytes on disk
	Filename string
	MIME     string // as sniffed from the bytes
	Bytes    int64
	// Members is an empty directory for the files inside this one; empty: they are skipped. Depth is the file's own
	// nesting depth.
	Members string
	Depth   int
	// Turn is the clockwise rotation for rendering a page, in quarter turns.
	Turn int
	// Grey renders a page in greyscale.
	Grey bool
	// Printed marks a PDF converted from another file for display: its running headers and footers are part of its
	// text, and its pictures are not read.
	Printed bool
	// Read holds the OCR results of pages; their text replaces the file's own text.
	Read []ReadPage
	// Room, if set, is called after a file was read with the estimated memory size of the result in bytes, before
	// the result is decoded. It blocks until that much memory is available.
	Room func(ctx context.Context, bytes int64) error
}

// ErrReaderDied means that the process reading a file was killed from outside, for example when the system is out
// of memory. The job can be retried.
var ErrReaderDied = errors.New("the process that parsed the file was stopped")

// SniffBytes is the number of leading bytes that Formats.Sniff inspects.
const SniffBytes = 4096

// Formats describes the supported file formats; extract.Formats implements it.
type Formats interface {
	// Sniff returns the MIME type from the first SniffBytes of a file and, among text formats, from its name. An
	// unsupported format returns chat.CodeUnsupported. The content decides, not the extension.
	Sniff(head []byte, name string) (mime string, err error)
	// Paged returns the MIME types whose pages a Renderer can render.
	Paged() []string
	// Holds reports whether files of the MIME type may contain member files that become documents.
	Holds(mime string) bool
	// PageWord returns the word before a page number for the MIME type or file name: "p." or "slide".
	PageWord(mime, name string) string
}

// Extractor parses files. An unreadable file returns a *Failure. report is called with the number of pages done and
// in total. A file with scanned pages may return no text: see Extracted.Scans. Extractors are safe for concurrent
// use unless documented otherwise.
type Extractor interface {
	Extract(ctx context.Context, f File, report func(done, total int)) (Extracted, error)
}

// Office converts Office files to PDF.
type Office interface {
	// Draws reports whether files of the MIME type can currently be converted.
	Draws(mime string) bool
	// PDF converts a file to PDF and writes it to the path to. It returns chat.CodeUndrawable if that fails. The
	// library makes one call at a time.
	PDF(ctx context.Context, f File, to string) error
}

// Renderer renders pages as images.
type Renderer interface {
	// Render returns page n (from 1) of a PDF or a picture as PNG, rotated by f.Turn, width pixels wide (100–4000).
	// It returns chat.CodeInvalid for another width or n below 1, chat.CodeNotFound for a page after the last, and
	// chat.CodeUndrawable for a damaged page or one that exceeds the time or memory limit.
	Render(ctx context.Context, f File, n, width int) ([]byte, error)
	// Expect hints that a page will be requested soon, so that slow initialisation starts now. It returns
	// immediately.
	Expect()
}
