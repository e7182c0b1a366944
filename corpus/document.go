// Package corpus is the library: it takes files in, makes text, blocks, passages and vectors of them in the background,
// searches them, and gives parts of them to be read. Library is its one entrance. What it needs of the outside are its
// ports (ports.go): Documents, Lexical, Vectors, Blobs and Queue each have a suite in corpustest that every
// implementation runs; Extractor and Embedder read files and make vectors.
//
// A file's way through the package: add.go stores its bytes and a Document and queues a Job; ingest.go has the file
// read, splits it (passages.go), stores its content and decides what becomes of errors; embed_job.go makes its vectors.
// sweep.go and purge.go look after what was lost and what was deleted, for as long as Run runs.
//
// A question's way: search.go asks the indexes, with the words that typos.go and typing.go make of it; results.go reads
// what was found, place.go says where it stands, rerank.go looks again. read.go and find.go give documents to be read
// without a search. pages.go shows pages.
//
// What must never happen: that a document of one user is seen by another (every method takes a chat.Scope and hands it
// to the stores), that a file that was accepted is lost (it is durable before Add returns), or that a place points to
// other words than those that were cited (offsets belong to one version's text, which is replaced as a whole).
//
// It imports no store: implementations of the ports import it.
package corpus

import (
	"cmp"
	"context"
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

// DisplayTitle is what readers see as a document's title: its file name where it has no title.
func (d Document) DisplayTitle() string { return cmp.Or(d.Title, d.Filename) }

// DisplayName is what readers see as a document's name: its title where it has no file name.
func (d Document) DisplayName() string { return cmp.Or(d.Filename, d.Title) }

// SourceURL is where a document comes from on the web: the page that was read, or what its owner says in
// meta.source_url. It is empty unless that is a link to http or https with a host.
func (d Document) SourceURL() string {
	key := MetaSourceURL
	if chat.IsInternal(d.Namespace) {
		key = MetaURL
	}
	return chat.WebLink(d.MetaText(key))
}

// MetaText is the text of a field of a document's metadata; empty for one that is absent or no text.
func (d Document) MetaText(key string) string {
	s, _ := d.Meta[key].(string)
	return s
}

// MetaWatched is the key of Meta under which a watched folder says which file a document is of. Its value is an object
// of the folder, the path below it and the time of the file, for the program that follows the folder.
const MetaWatched = "watched"

// MetaPlace and MetaPlaceItem are the keys of Meta under which a place that is followed says that a document is one of
// its items: its id, and a hash of the item's key.
const (
	MetaPlace     = "place"
	MetaPlaceItem = "place_item"
)

// ownMeta are the keys under which the program itself keeps something in Meta.
var ownMeta = []string{MetaWatched, MetaMembers, MetaParent, MetaTurned, MetaPlace, MetaPlaceItem}

// IsOwnMeta reports whether the program itself keeps something under a key of Meta.
func IsOwnMeta(key string) bool { return slices.Contains(ownMeta, key) }

// MetaLeftOut is the key of Meta under which a reader says what of a file is not in its text: "2 comments, 1 macro
// project".
const MetaLeftOut = "left_out"

// MetaHidden is the key of Meta under which a reader says which parts of a file its program hides: "slides 3, 7".
const MetaHidden = "hidden"

// ToldMeta is the metadata that models are told. It leaves out where a file lies on its user's machine, and ids. The
// document itself keeps all of it.
func (d Document) ToldMeta() map[string]any {
	told := maps.Clone(d.Meta)
	for _, key := range ownMeta {
		delete(told, key)
	}
	return told
}

// Keys of a captured page's Meta.
const (
	MetaURL       = "url"        // where it was read
	MetaSourceURL = "source_url" // where a document is on the web, as its owner says
	MetaFetchedAt = "fetched_at" // when, RFC 3339
)

// Capture stores a page of the web in a hidden namespace and reads it in at once, so that it can be quoted like a
// document. It has no vectors. The same bytes in the same namespace return the page that is there. It fails with
// chat.CodeUnsupported for what can't be read; then nothing is kept. A run waits for it, so that it doesn't go through
// the queue. Pages are shared by nobody: each run has a namespace of its own.
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
	if err := catchPanic(func() error { return l.readIn(ctx, d) }); err != nil {
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

// readIn makes the content of a document here and now. It is what ingestDocument does, without files inside, progress
// and vectors.
func (l *Library) readIn(ctx context.Context, d Document) error {
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
		return &Failure{Code: NoText, Detail: "There is no text on this page."}
	}
	err = l.cfg.Documents.PutContent(ctx, d.ID, Content{
		SHA256: d.SHA256, Extracted: e, Passages: passages, Title: cmp.Or(e.Title, d.Title, d.Filename),
	})
	if err != nil {
		return fmt.Errorf("store content: %w", err)
	}
	return nil
}

// Keys of Meta that tie a file to the files inside it.
const (
	MetaMembers = "members" // of a container: the ids of the documents made of the files inside
	MetaParent  = "parent"  // of such a document: the id of its container
	metaDepth   = "depth"   // of such a document: how many files it lies in
	metaShown   = "shown"   // of such a document: true if the container shows it in its text
)

const membersListed = 100 // at once

// MemberIDs are the documents that were made of the files inside this one.
func (d Document) MemberIDs() (ids []string) {
	list, _ := d.Meta[MetaMembers].([]any)
	for _, id := range list {
		if id, ok := id.(string); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// depth is how many files a document's file lies in.
func (d Document) depth() int {
	n, _ := d.Meta[metaDepth].(float64)
	return int(n)
}

// addMembers makes documents of the files inside one, which lie in dir, and removes those of files that are no longer
// in it. It is done before the container is ready, so that a process that ends meanwhile loses none; each is there once
// however often it is done. Files that can't be taken are counted in the container's metadata. A document that was made
// for a file inside is an ordinary one: it can be found, read and deleted by itself.
func (l *Library) addMembers(ctx context.Context, d Document, e *Extracted, dir string) error {
	before, err := l.membersOf(ctx, d)
	if err != nil {
		return err
	}
	// No key is set for the great majority of files, which hold none and never did.
	if len(e.Members) == 0 && len(before) == 0 {
		return nil
	}
	ids := make([]string, 0, len(e.Members))
	refused := 0
	for _, m := range e.Members {
		id, err := l.addMember(ctx, d, m, filepath.Join(dir, filepath.Base(m.File)))
		// What the library refuses it would refuse each time: the container is read in without it. Other errors may
		// pass, and end the job, which comes again.
		if isRefusal(err) {
			refused++
			l.cfg.Log.InfoContext(ctx, "a file inside another is left out", "document", d.ID, "error", err)
			continue
		}
		if err != nil {
			return err
		}
		// A file may hold a copy of itself, and the same bytes twice.
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

// isRefusal reports whether a file was refused for what it is, or because its user has no room for it.
func isRefusal(err error) bool {
	if _, over := errors.AsType[*chat.OverLimit](err); over {
		return true
	}
	code := chat.CodeOf(err)
	return code == chat.CodeUnsupported || code == chat.CodeInvalid || code == chat.CodeTooLarge
}

// addMember makes a document of a file inside d. The same bytes inside two files are one document, which keeps the
// container that it had first.
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
		// The path is the container's with the file's own behind it, so that two containers with a "readme.txt" each
		// have one.
		User: d.User, Namespace: d.Namespace, Path: d.Path + "/" + m.Path, Filename: lastName(cleanPath(m.Path)),
		Title: m.Path, Meta: meta, MetaIfFresh: true, Body: file,
	})
	return member.ID, err
}

// dropWordless removes a document whose reading found no words, if it is one that its container only shows and that
// nobody added by itself. It reports whether it was one. The job that read it ends by itself: to cancel it could end
// one that is queued meanwhile, by another container that shows the same.
func (l *Library) dropWordless(ctx context.Context, job Job, reason *Failure) (bool, error) {
	if reason.Code != NoText {
		return false, nil
	}
	s := chat.Scope{User: cmp.Or(job.User, chat.LocalUser)}
	d, err := l.cfg.Documents.Get(ctx, s, job.DocumentID)
	if err != nil {
		return false, err
	}
	// Another version was added since, or somebody added the file by itself: then the failure is to be seen.
	if shown, _ := d.Meta[metaShown].(bool); !shown || d.SHA256 != job.SHA256 {
		return false, nil
	}
	container, err := l.cfg.Documents.Get(ctx, s, d.MetaText(MetaParent))
	if err != nil || !strings.HasPrefix(d.Path, container.Path+"/") {
		return false, goneIsDone(err)
	}
	if err := l.cfg.Documents.Delete(ctx, s, d.ID); err != nil {
		return true, err
	}
	l.changes.wakeWatchers(d.ID)
	wakeChannel(l.purgeNow)
	return true, nil
}

// membersOf returns the documents of the files inside one that are there.
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

// Family returns the document that d was inside, nil if there is none any more, and the first documents made of the
// files inside d, of which there are count in all, as far as they are there. Documents that the scope may not see are
// not among them.
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

// eachMember calls do for documents of files inside one. What became of one of them meanwhile does not stop it.
func eachMember(ids []string, do func(id string) error) error {
	for _, id := range ids {
		if err := do(id); err != nil && chat.CodeOf(err) != chat.CodeNotFound && chat.CodeOf(err) != chat.CodeConflict {
			return err
		}
	}
	return nil
}
