package corpus

import (
	"context"
	"io"
	"log/slog"

	"footnote/chat"
)

// Config wires a Library. Documents, Lexical, Blobs, Queue, Extractor and Renderer are required.
type Config struct {
	Documents Documents
	Lexical   Lexical
	Vectors   Vectors  // nil: no semantic search
	Embedder  Embedder // nil: no semantic search
	Blobs     Blobs
	Queue     Queue
	Extractor Extractor
	Renderer  Renderer
	MaxBytes  int64 // of one file; 0 means 50 MiB
	Workers   int   // documents ingested at once; 0 means 2
	Log       *slog.Logger
}

// Library is everything one can do with documents. It is safe for concurrent use.
type Library struct {
	cfg Config
}

// NewLibrary checks the wiring. Run does the background work.
func NewLibrary(cfg Config) (*Library, error) { panic("not written yet") }

// Run ingests, embeds, purges and repairs until ctx ends; it returns when its workers have stopped.
func (l *Library) Run(ctx context.Context) error { panic("not written yet") }

// Upload is a file on its way in.
type Upload struct {
	User      string
	Namespace string // empty: chat.DefaultNamespace
	Path      string // relative; empty: Filename
	Filename  string
	Meta      map[string]any
	Body      io.Reader
}

// Add stores a file durably and queues it. Bytes that are there already return the existing document.
func (l *Library) Add(ctx context.Context, u Upload) (d Document, duplicate bool, err error) {
	panic("not written yet")
}

// Watch returns a channel that is closed at the next change of a document's state or progress, and the document as it is now.
func (l *Library) Watch(ctx context.Context, s chat.Scope, id string) (Document, <-chan struct{}, error) {
	panic("not written yet")
}

// Wait blocks until the queue is empty or ctx ends, reporting the counts each time they change.
func (l *Library) Wait(ctx context.Context, s chat.Scope, report func(Counts)) error {
	panic("not written yet")
}

// Document, List, Count, Version, Delete, Restore and Cancel pass through to the store (and keep what depends on them right).
func (l *Library) Document(ctx context.Context, s chat.Scope, id string) (Document, error) {
	panic("not written yet")
}
func (l *Library) List(ctx context.Context, s chat.Scope, f Filter) ([]Document, string, error) {
	panic("not written yet")
}
func (l *Library) Count(ctx context.Context, s chat.Scope) (Counts, error)  { panic("not written yet") }
func (l *Library) Version(ctx context.Context, s chat.Scope) (int64, error) { panic("not written yet") }
func (l *Library) Delete(ctx context.Context, s chat.Scope, id string) error {
	panic("not written yet")
}
func (l *Library) Restore(ctx context.Context, s chat.Scope, id string) error {
	panic("not written yet")
}
func (l *Library) Cancel(ctx context.Context, s chat.Scope, id string) error {
	panic("not written yet")
}

// Retry queues a failed or cancelled document again.
func (l *Library) Retry(ctx context.Context, s chat.Scope, id string) error { panic("not written yet") }

// Semantic reports whether vectors take part in searching.
func (l *Library) Semantic() bool { return l.cfg.Vectors != nil && l.cfg.Embedder != nil }

// Search finds passages.
func (l *Library) Search(ctx context.Context, s chat.Scope, q Query) (Results, error) {
	panic("not written yet")
}

// Find resolves an id, a title or a file name to a document in scope; CodeNotFound says what came nearest.
func (l *Library) Find(ctx context.Context, s chat.Scope, idOrTitle string) (Document, error) {
	panic("not written yet")
}

// Read returns a part of a document.
func (l *Library) Read(ctx context.Context, s chat.Scope, r ReadRequest) (Reading, error) {
	panic("not written yet")
}

// Grep finds exact matches in the text of documents.
func (l *Library) Grep(ctx context.Context, s chat.Scope, g GrepRequest) (Grepped, error) {
	panic("not written yet")
}

// Text, Blocks, Passages and PageSizes return what was made from a document's present version.
func (l *Library) Text(ctx context.Context, s chat.Scope, id string) (string, error) {
	panic("not written yet")
}
func (l *Library) Blocks(ctx context.Context, s chat.Scope, id string) ([]Block, error) {
	panic("not written yet")
}
func (l *Library) Passages(ctx context.Context, s chat.Scope, ids []string) ([]Passage, error) {
	panic("not written yet")
}
func (l *Library) PageSizes(ctx context.Context, s chat.Scope, id string) ([][2]float64, error) {
	panic("not written yet")
}

// Boxes returns the rectangles of [start, end) on the pages of a PDF, one for each line, none for other formats.
func (l *Library) Boxes(ctx context.Context, s chat.Scope, id string, start, end int) ([]chat.Box, error) {
	panic("not written yet")
}

// Original opens the document's file.
func (l *Library) Original(ctx context.Context, s chat.Scope, id string) (Document, io.ReadSeekCloser, error) {
	panic("not written yet")
}

// PageImage returns page n of a PDF as PNG of the given width in pixels, from a cache when it was drawn before.
func (l *Library) PageImage(ctx context.Context, s chat.Scope, id string, n, width int) ([]byte, error) {
	panic("not written yet")
}
