// Package corpus is the document library. It accepts files, extracts text, blocks, passages and embeddings from
// them in background jobs, searches them and reads parts of them. Library is the only entry point. Its dependencies
// are the ports in ports.go: Documents, Lexical, Vectors, Blobs and Queue, each with a test suite in corpustest
// that every implementation runs, and Extractor and Embedder, which parse files and compute vectors.
//
// Ingestion: add.go stores the bytes and a Document and queues a Job; ingest.go extracts the file, splits it into
// passages (passages.go), stores the content and classifies errors; embed_job.go computes the vectors. sweep.go and
// purge.go recover lost work and remove deleted documents while Run runs.
//
// Search: search.go queries the indexes with the terms from typos.go and typing.go; results.go loads the hits,
// place.go locates them in the document and rerank.go reranks them. read.go and find.go read documents without a
// search. pages.go renders pages.
//
// Invariants: a user never sees a document of another user (every method takes a chat.Scope and passes it to the
// stores); an accepted file is never lost (it is durable before Add returns); a citation never points to different
// text than was cited (offsets belong to one version's text, which is replaced as a whole).
//
// The package imports no store: implementations of the ports import it.
package corpus

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/english"
	"github.com/footnote/footnote/text/locale"
)

// State is the ingestion state of a document. The order is queued, parsing, indexing, ready. Failed and cancelled
// are final until the file is added again or retried with Retry.
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

// States lists all document states.
var States = []State{StateQueued, StateParsing, StateIndexing, StateReady, StateFailed, StateCancelled}

// Explained returns CodeInvalid unless the reason is set exactly when the state is failed. Stores call it before
// they write either.
func (s State) Explained(reason *Failure) error {
	if (reason != nil) != (s == StateFailed) {
		return &chat.Error{
			Code: chat.CodeInvalid, Message: "A failed document requires an error. Other documents can't have one.",
		}
	}
	return nil
}

// Semantic is the state of a document's vectors, separate from its State. A document is found by lexical search as
// soon as it is ready, and by vector search once Semantic is SemanticReady.
type Semantic string

// The semantic states.
const (
	SemanticOff     Semantic = "off"     // no embedder is configured
	SemanticPending Semantic = "pending" // embedding is queued or running
	SemanticReady   Semantic = "ready"
	// the server died three times during embedding: only lexical search finds the document
	SemanticFailed Semantic = "failed"
)

// Document is a file in the library. Its ID is stable. (User, Namespace, Path) is unique among documents that are
// not deleted. SHA256 identifies the version. A Document is a value: changing a field does not change the library.
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
	// set only by the Put that returned the document: it was new or hidden
	Fresh bool
	// for Put: apply Meta only if the document is new or was hidden
	MetaIfFresh bool
}

// Complete returns the document with defaults for the empty fields, as stores save it. It returns CodeInvalid if
// the user, path or content hash is missing. All stores call it, so that the defaults are the same everywhere.
func (d Document) Complete() (Document, error) {
	if d.User == "" || d.SHA256 == "" || d.Path == "" {
		return d, &chat.Error{
			Code: chat.CodeInvalid, Message: "A document requires a user, a path and a content hash.",
		}
	}
	d.Namespace = cmp.Or(d.Namespace, chat.DefaultNamespace)
	d.Filename = cmp.Or(d.Filename, d.Path[strings.LastIndexByte(d.Path, '/')+1:])
	d.Title = cmp.Or(d.Title, d.Filename)
	d.Semantic = cmp.Or(d.Semantic, SemanticOff)
	return d, nil
}

// Progress is the progress of the current stage. Total is 0 while unknown. It is for display only.
type Progress struct {
	// The current stage: queued, parsing, indexing, embedding or ready.
	Stage string `json:"stage"`
	Done  int    `json:"done"`  // Number of items done.
	Total int    `json:"total"` // Number of items in total.
}

// Failure is the reason why a file could not be read. Detail is a user-facing sentence. A Failure is permanent: a
// retry would fail again. All other errors are ordinary errors.
type Failure struct {
	// Why the file could not be read.
	//
	// broken, encrypted, no_text, needs_ocr, too_many_pages, too_large, unsupported, timeout, memory, internal
	Code   string         `json:"code"`
	Detail locale.Message `json:"detail"`
}

// NeedsOCR is the failure code of a file whose text is only in images when OCR is not available. The file can be
// retried once OCR is configured.
const NeedsOCR = "needs_ocr"

// NoText is the failure code of a file without text.
const NoText = "no_text"

// MarshalJSON encodes the detail in English. A store that keeps its values encodes the fields.
func (f Failure) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{"code": f.Code, "detail": f.Detail.String()})
}

// Error returns the detail, so that extractors can return a *Failure as their error.
func (f *Failure) Error() string { return f.Detail.String() }

// BlockKind is the role of a block in a document.
type BlockKind string

// The kinds of block.
const (
	BlockHeading   BlockKind = "heading"
	BlockParagraph BlockKind = "paragraph"
	BlockList      BlockKind = "list" // one item
	BlockTable     BlockKind = "table"
	BlockCode      BlockKind = "code"
	BlockRow       BlockKind = "row" // fields in a row, each name as a strong mark: a mail header
)

// Block is a part of a document, such as a paragraph or a table. Offsets are runes in the document's canonical text
// and half-open, [Start, End). Blocks are in order, do not overlap and are joined by a blank line. Package doctext
// builds blocks; its Check validates the invariants. Blocks are stored as JSON, so the zero value of a new field
// must be valid for documents of earlier versions.
type Block struct {
	ID      string    `json:"id"` // b1, b2, …
	Kind    BlockKind `json:"kind"`
	Level   int       `json:"level,omitempty"`   // 1–6 of a heading; nesting from 1 of a list item
	Ordinal int       `json:"ordinal,omitempty"` // of an ordered list's item, from 1
	// Numbered reports whether the text begins with the item's number as in the document. Earlier versions removed
	// it.
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
	// Columns is the header row of a table that continues from the previous block, at most 80 runes. Earlier
	// versions left it empty.
	Columns string `json:"columns,omitempty"`
	// Grid is the position of the table's cells in their sheet; nil for tables outside spreadsheets.
	Grid *Grid `json:"grid,omitempty"`
	// Line is the number of the block's first line in its file, from 1; 0 where lines have no numbers.
	Line  int   `json:"line,omitempty"`
	Words Words `json:"-"` // of a PDF block, stored apart
}

// Grid maps a table's cells to the cells of a sheet. Cell c of row r is in row Rows[r] and column Columns[c]. The
// numbers may have gaps, since blank rows and columns are left out of a table.
type Grid struct {
	Rows    []int `json:"rows"`    // from 1, ascending; as many as the table has rows
	Columns []int `json:"columns"` // from 1, ascending; at least as many as a row has cells
}

// Mark is inline formatting over [Start, End), in rune offsets of the document's text.
type Mark struct {
	Kind  string `json:"kind"` // strong, em, code, link, math: TeX with its delimiters
	Start int    `json:"start"`
	End   int    `json:"end"`
	URL   string `json:"url,omitempty"` // of a link: http, https or mailto only
}

// Extracted is the result of extracting a file. The library adds only a detected language, if the file names none,
// and the IDs of member documents.
type Extracted struct {
	Title    string // empty: the file name is the title
	Text     string // canonical: UTF-8, LF, no BOM or NUL, NFC not applied, markup removed, blocks joined by "\n\n"
	Blocks   []Block
	Pages    int
	Sizes    [][2]float64   // width and height of each page in points, for the viewer; none where no page is drawn
	Meta     map[string]any // author, date, … from the file
	Language string
	Members  []Member // files inside this one that become documents of their own
	Scans    []int    // pages, from 1, ascending, whose text is only in an image
}

// Member is a file inside another, such as a mail attachment or an archive entry.
type Member struct {
	Path string // path inside the container, "/"-separated, for display
	File string // name of its content in the directory File.Members
	// Shown reports whether the container displays the file, such as a picture in a mail's text. A shown file
	// becomes a document only if it contains text.
	Shown bool
}

// Passage is the unit of indexing, embedding, search and citation: a run of blocks that does not cross a heading of
// level 2 or above. It has at most 400 tokens, or 490 with the headings above its first block; blank lines between
// blocks do not count. It may be as short as its section. A block over the limit is split into several passages.
// The ID is derived from document ID, version hash and range, so reindexing keeps the IDs of unchanged passages.
type Passage struct {
	ID         string
	DocumentID string
	Ordinal    int // from 0 in its document
	Start, End int // rune offsets in the document's text
	FirstBlock string
	LastBlock  string
	Page       int    // of its first rune
	LastPage   int    // of its last rune; not stored: Library.Search and Library.Read compute it
	Section    string // heading path joined by " › "
	Text       string
	Tokens     int
	Part       bool // part of the passage with this ID: see Passage.Cut. Not stored
}

// Content is everything derived from one version of a document, stored in one transaction. It is rebuilt from the
// file on each ingestion and depends on nothing else.
type Content struct {
	SHA256    string
	Extracted Extracted
	Passages  []Passage
	Title     string  // of the document, whose words count for each passage
	Terms     []Terms // one for each passage, same order; nil: EachTerms computes them
}

// EachTerms yields the terms of each passage, in order. The terms of a large document are never in memory together.
// The sequence can be iterated more than once.
func (c *Content) EachTerms() iter.Seq[Terms] {
	if c.Terms != nil {
		return slices.Values(c.Terms)
	}
	return analysedTerms(c.Title, c.Extracted.Language, c.Passages)
}

// Terms are the index terms of a passage, analysed by text.Analyser with the same rules as query terms. A lexical
// index stores them; stores never tokenise.
type Terms struct {
	Title string // analysed terms of title and section, separated by spaces
	Body  string // analysed terms of the passage, in order, separated by spaces, for phrase queries
}

// DisplayTitle returns the document's title for display, with the file name as the fallback.
func (d Document) DisplayTitle() string { return cmp.Or(d.Title, d.Filename) }

// DisplayName returns the document's file name for display, with the title as the fallback.
func (d Document) DisplayName() string { return cmp.Or(d.Filename, d.Title) }

// SourceURL returns the document's web address: the URL of a captured page, or meta.source_url set by the owner. It
// is empty unless it is an http or https link with a host.
func (d Document) SourceURL() string {
	key := MetaSourceURL
	if chat.IsInternal(d.Namespace) {
		key = MetaURL
	}
	return chat.WebLink(d.MetaText(key))
}

// MetaText returns the string value of a metadata key. It is empty if the key is missing or its value is not a
// string.
func (d Document) MetaText(key string) string {
	s, _ := d.Meta[key].(string)
	return s
}

// MetaWatched is the metadata key that links a document to a file in a watched folder. Its value is an object with
// the folder, the relative path and the modification time, for the folder watcher.
const MetaWatched = "watched"

// MetaPlace and MetaPlaceItem are the metadata keys of a document synced from a place: the place's ID and a hash of
// the item's key.
const (
	MetaPlace     = "place"
	MetaPlaceItem = "place_item"
)

// ownMeta lists the metadata keys reserved for the program.
var ownMeta = []string{MetaWatched, MetaMembers, MetaParent, MetaTurned, MetaPlace, MetaPlaceItem}

// IsOwnMeta reports whether the metadata key is reserved for the program.
func IsOwnMeta(key string) bool { return slices.Contains(ownMeta, key) }

// MetaLeftOut is the metadata key for the parts of a file that extraction left out: "2 comments, 1 macro project".
const MetaLeftOut = "left_out"

// MetaHidden is the metadata key for the parts of a file that its application hides: "slides 3, 7".
const MetaHidden = "hidden"

// ModelMeta returns the metadata that is passed to models. It omits the reserved keys: local paths and IDs.
func (d Document) ModelMeta() map[string]any {
	told := maps.Clone(d.Meta)
	for _, key := range ownMeta {
		delete(told, key)
	}
	return told
}

// Keys of a captured page's Meta.
const (
	MetaURL       = "url"        // address that was fetched
	MetaSourceURL = "source_url" // web address of the document, set by its owner
	MetaFetchedAt = "fetched_at" // fetch time, RFC 3339
)

// Capture stores a fetched web page in a hidden namespace and extracts it synchronously, so that it can be cited
// like a document. It creates no embeddings. The same bytes in the same namespace return the existing page. It
// returns chat.CodeUnsupported if the page can't be read and then removes it. It bypasses the queue, since a run
// waits for it. Captured pages are not shared: each run has its own namespace.
func (l *Library) Capture(ctx context.Context, u Upload) (Document, error) {
	if !chat.IsInternal(u.Namespace) {
		return Document{}, fmt.Errorf("capture into %q: only hidden namespaces hold captured pages", u.Namespace)
	}
	name, body, mime, err := l.inspectUpload(u)
	if err != nil {
		return Document{}, err
	}
	sha, size, err := l.cfg.Blobs.Put(ctx, &reservedReader{r: body, reserved: l.checkReserve}, l.cfg.MaxBytes)
	if err != nil {
		return Document{}, fmt.Errorf("store captured page: %w", err)
	}
	d, _, err := l.cfg.Documents.Put(ctx, Document{
		User: u.User, Namespace: u.Namespace, Path: sha, Filename: name, Title: name, MIME: mime, SHA256: sha,
		Bytes: size, Meta: u.Meta, Semantic: SemanticOff,
	})
	if err != nil {
		return d, fmt.Errorf("store captured page: %w", err)
	}
	if d.State == StateReady {
		return d, nil
	}
	scope := chat.Scope{User: u.User, Namespaces: []string{u.Namespace}}
	if err := catchPanic(func() error { return l.ingestNow(ctx, d) }); err != nil {
		if gone := l.cfg.Documents.Delete(context.WithoutCancel(ctx), scope, d.ID); gone != nil {
			err = errors.Join(err, fmt.Errorf("remove captured page: %w", gone))
		}
		if failure, ok := errors.AsType[*Failure](err); ok {
			return Document{}, &chat.Error{Code: chat.CodeUnsupported, Message: failure.Detail, Err: err}
		}
		return Document{}, fmt.Errorf("read captured page: %w", err)
	}
	return l.cfg.Documents.Get(ctx, scope, d.ID)
}

// ingestNow extracts, splits and stores a document synchronously. Unlike ingestDocument it handles no member files,
// reports no progress and creates no vectors.
func (l *Library) ingestNow(ctx context.Context, d Document) error {
	e, release, err := l.extractOriginal(
		ctx,
		Job{Kind: JobIngest, DocumentID: d.ID, User: d.User, SHA256: d.SHA256},
		d,
		"",
	)
	if err != nil {
		return err
	}
	defer release()
	e.Language = languageOf(e)
	passages := Split(d.ID, d.SHA256, e)
	if len(passages) == 0 {
		return &Failure{Code: NoText, Detail: "No text found on this page."}
	}
	err = l.cfg.Documents.PutContent(ctx, d.ID, Content{
		SHA256: d.SHA256, Extracted: e, Passages: passages, Title: cmp.Or(e.Title, d.Title, d.Filename),
	})
	if err != nil {
		return fmt.Errorf("store content: %w", err)
	}
	return nil
}

// Metadata keys that link a container to its member documents.
const (
	MetaMembers = "members" // of a container: IDs of its member documents
	MetaParent  = "parent"  // of a member: ID of its container
	metaDepth   = "depth"   // of a member: nesting depth
	metaShown   = "shown"   // of a member: true if the container displays it in its text
)

const membersListed = 100 // page size of List calls

// MemberIDs returns the IDs of the member documents of a container.
func (d Document) MemberIDs() (ids []string) {
	list, _ := d.Meta[MetaMembers].([]any)
	for _, id := range list {
		if id, ok := id.(string); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// depth returns the nesting depth of a member document: the number of containers around it.
func (d Document) depth() int {
	n, _ := d.Meta[metaDepth].(float64)
	return int(n)
}

// addMembers adds the files inside a container, extracted to dir, as documents and deletes members that the
// container no longer holds. It runs before the container is ready, so that a crash loses no member, and it is
// idempotent. Refused files are counted in the container's metadata. A member is an ordinary document: it can be
// found, read and deleted by itself.
func (l *Library) addMembers(ctx context.Context, d Document, e *Extracted, dir string) error {
	before, err := l.membersOf(ctx, d)
	if err != nil {
		return err
	}
	// Most files have no members: set no key for them.
	if len(e.Members) == 0 && len(before) == 0 {
		return nil
	}
	ids := make([]string, 0, len(e.Members))
	refused := 0
	for _, m := range e.Members {
		id, err := l.addMember(ctx, d, m, filepath.Join(dir, filepath.Base(m.File)))
		// A refusal is permanent: ingest the container without the member. Other errors may be temporary; they fail
		// the job, which is retried.
		if isRefusal(err) {
			refused++
			l.cfg.Log.InfoContext(ctx, "could not import an embedded file", "document", d.ID, "error", err)
			continue
		}
		if err != nil {
			return err
		}
		// A container may hold a copy of itself, or the same bytes twice.
		if id != d.ID && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, id := range before {
		if slices.Contains(ids, id) {
			continue
		}
		if err := l.Delete(ctx, chat.Scope{User: d.User}, id); err != nil && chat.CodeOf(err) != chat.CodeNotFound {
			return fmt.Errorf("remove a file that is no longer inside: %w", err)
		}
	}
	if e.Meta == nil {
		e.Meta = map[string]any{}
	}
	e.Meta[MetaMembers] = ids
	if refused > 0 {
		left, _ := e.Meta[MetaLeftOut].(string)
		e.Meta[MetaLeftOut] = strings.TrimPrefix(left+", "+english.Count(refused, "file")+" that can't be read", ", ")
	}
	return nil
}

// isRefusal reports whether the error is a permanent rejection of the file: its content, its size or the user's
// limits.
func isRefusal(err error) bool {
	if _, over := errors.AsType[*chat.OverLimit](err); over {
		return true
	}
	code := chat.CodeOf(err)
	return code == chat.CodeUnsupported || code == chat.CodeInvalid || code == chat.CodeTooLarge
}

// addMember adds a file inside d as a document. The same bytes in two containers are one document, which keeps its
// first container.
func (l *Library) addMember(ctx context.Context, d Document, m Member, name string) (id string, err error) {
	file, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("open a file inside another: %w", err)
	}
	defer file.Close()
	meta := map[string]any{MetaParent: d.ID, metaDepth: d.depth() + 1}
	if m.Shown {
		meta[metaShown] = true
	}
	member, _, err := l.Add(ctx, Upload{
		// The container's path is the prefix: a "readme.txt" in each of two containers has its own path.
		User: d.User, Namespace: d.Namespace, Path: d.Path + "/" + m.Path, Filename: lastName(cleanPath(m.Path)),
		Title: m.Path, Meta: meta, MetaIfFresh: true, Body: file,
	})
	return member.ID, err
}

// deleteEmptyMember deletes a document without text if it is only displayed by its container and was not added
// separately. It reports whether it deleted the document. It does not cancel the job, which ends by itself:
// cancelling could stop a job that another container has queued meanwhile for the same file.
func (l *Library) deleteEmptyMember(ctx context.Context, job Job, reason *Failure) (bool, error) {
	if reason.Code != NoText {
		return false, nil
	}
	s := chat.Scope{User: cmp.Or(job.User, chat.LocalUser)}
	d, err := l.cfg.Documents.Get(ctx, s, job.DocumentID)
	if err != nil {
		return false, err
	}
	// A newer version, or a file that was also added by itself, keeps its failure.
	if shown, _ := d.Meta[metaShown].(bool); !shown || d.SHA256 != job.SHA256 {
		return false, nil
	}
	container, err := l.cfg.Documents.Get(ctx, s, d.MetaText(MetaParent))
	if err != nil || !strings.HasPrefix(d.Path, container.Path+"/") {
		return false, ignoreGone(err)
	}
	if err := l.cfg.Documents.Delete(ctx, s, d.ID); err != nil {
		return true, err
	}
	l.changes.wakeWatchers(d.ID)
	wakeChannel(l.purgeNow)
	return true, nil
}

// membersOf returns the IDs of the existing member documents of d.
func (l *Library) membersOf(ctx context.Context, d Document) (ids []string, err error) {
	if !l.cfg.Formats.Holds(d.MIME) {
		return nil, nil
	}
	f := Filter{Meta: map[string]any{MetaParent: d.ID}, Limit: membersListed}
	for {
		page, next, err := l.cfg.Documents.List(ctx, chat.Scope{User: d.User}, f)
		if err != nil {
			return nil, fmt.Errorf("list the files inside a document: %w", err)
		}
		for _, m := range page {
			ids = append(ids, m.ID)
		}
		if f.Cursor = next; next == "" {
			return ids, nil
		}
	}
}

// Family returns the container of d, nil if it no longer exists, up to most member documents of d and their total
// count. Documents outside the scope are not included.
func (l *Library) Family(ctx context.Context, s chat.Scope, d Document, most int) (
	parent *Document, inside []Document, count int, err error,
) {
	if id := d.MetaText(MetaParent); id != "" {
		p, err := l.cfg.Documents.Get(ctx, s, id)
		if err != nil && chat.CodeOf(err) != chat.CodeNotFound {
			return nil, nil, 0, err
		}
		if err == nil {
			parent = &p
		}
	}
	ids := d.MemberIDs()
	if len(ids) == 0 {
		return parent, nil, 0, nil
	}
	f := Filter{Meta: map[string]any{MetaParent: d.ID}, Limit: most}
	inside, f.Cursor, err = l.cfg.Documents.List(ctx, s, f)
	count, f.Limit = len(inside), membersListed
	for err == nil && f.Cursor != "" {
		var more []Document
		more, f.Cursor, err = l.cfg.Documents.List(ctx, s, f)
		count += len(more)
	}
	if err != nil {
		return nil, nil, 0, fmt.Errorf("list the files inside a document: %w", err)
	}
	return parent, inside, count, nil
}

// eachMember calls do for each member document. It ignores members that are gone or have changed meanwhile.
func eachMember(ids []string, do func(id string) error) error {
	for _, id := range ids {
		if err := do(id); err != nil && chat.CodeOf(err) != chat.CodeNotFound && chat.CodeOf(err) != chat.CodeConflict {
			return err
		}
	}
	return nil
}
