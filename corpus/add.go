package corpus

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"golang.org/x/text/unicode/norm"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/locale"
)

// Upload is a file to add. Body is read once, to its end or to the limit.
type Upload struct {
	User      string
	Namespace string // empty: chat.DefaultNamespace
	Path      string // relative; empty: Filename
	Filename  string
	Title     string // until extraction finds a title; empty: Filename
	Meta      map[string]any
	// MetaIfFresh: an existing document keeps its Meta.
	MetaIfFresh bool
	Body        io.Reader
	Batch       *Batch // the upload with several files that this is part of; nil: a single file
}

// Add stores a file durably and queues it. Existing bytes return the existing document with duplicate = true. It
// returns chat.CodeInvalid for an empty file or an invalid name, chat.CodeUnsupported for an unsupported format,
// and chat.CodeTooLarge for a file over the size limit. It returns a *chat.OverLimit for a file over its user's
// limits, and chat.CodeDiskFull if only the disk reserve is left. The order makes it crash-safe: first the bytes
// are durable, then the document, then the job. A crash between the last two leaves a queued document without a
// job, which repairUnfinished finds.
func (l *Library) Add(ctx context.Context, u Upload) (d Document, duplicate bool, err error) {
	name, body, mime, err := l.inspectUpload(u)
	if err != nil {
		return d, false, err
	}
	sha, size, err := l.cfg.Blobs.Put(ctx, &reservedReader{r: body, reserved: l.checkReserve}, l.cfg.MaxBytes)
	if err != nil {
		if chat.CodeOf(err) == chat.CodeTooLarge {
			return d, false, &chat.Error{Code: chat.CodeTooLarge, Err: err, Message: locale.Say(
				"“{1}” exceeds the limit of {2} per file. Split it and add the parts.", name,
				humanize.IBytes(uint64(l.cfg.MaxBytes)))}
		}
		return d, false, fmt.Errorf("store original: %w", err)
	}
	semantic := SemanticOff
	if l.Semantic() {
		semantic = SemanticPending
	}
	namespace := u.Namespace
	if namespace == "" {
		namespace = chat.DefaultNamespace
	}
	d = Document{
		User:      u.User,
		Namespace: namespace,
		Path:      cmp.Or(cleanPath(u.Path), name),
		Filename:  name,
		Title:     cmp.Or(u.Title, name),
		MIME:      mime,
		SHA256:    sha,
		Bytes:     size,
		Meta:      maps.Clone(u.Meta),
		Semantic:  semantic,

		MetaIfFresh: u.MetaIfFresh,
	}
	if u.Batch != nil || isNameless(d.Path) {
		if d, err = l.unusedPath(ctx, cmp.Or(u.Batch, &Batch{}), d); err != nil {
			return d, false, err
		}
	}
	d, duplicate, err = l.storeOriginal(ctx, d)
	if err != nil {
		if _, over := errors.AsType[*chat.OverLimit](err); over { // otherwise rejected files would fill the disk
			err = errors.Join(err, l.abandonOriginal(context.WithoutCancel(ctx), sha))
		}
		return d, false, fmt.Errorf("store document: %w", err)
	}
	if duplicate && d.State == StateReady {
		return d, true, nil
	}
	return d, duplicate, l.enqueueRest(ctx, d, l.cfg.Queue.Enqueue)
}

// reserveEvery is the number of bytes stored between two checks of the disk reserve. A check is a system call,
// which is negligible for 8 MiB.
const reserveEvery = 8 << 20

// reservedReader is a reader that fails once only the disk reserve is left.
type reservedReader struct {
	r        io.Reader
	reserved func() error
	left     int // bytes until the next check
}

// Read checks the free disk space before every reserveEvery bytes, so that an upload stops before it uses the
// reserve.
func (r *reservedReader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		if err := r.reserved(); err != nil {
			return 0, err
		}
		r.left = reserveEvery
	}
	n, err := r.r.Read(p)
	r.left -= n
	return n, err
}

// inspectUpload validates an upload and returns its name, its body and its MIME type. body still includes the bytes
// that were inspected. It stores nothing.
func (l *Library) inspectUpload(u Upload) (name string, body *bufio.Reader, mime string, err error) {
	if name = cleanName(u.Filename); name == "" {
		name = lastName(cleanPath(u.Path))
	}
	if name == "" {
		return "", nil, "", &chat.Error{
			Code: chat.CodeInvalid, Message: "The file has no name. Name it and add it again.",
		}
	}
	body = bufio.NewReaderSize(u.Body, SniffBytes)
	head, err := body.Peek(SniffBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", nil, "", fmt.Errorf("read upload: %w", err)
	}
	if len(head) == 0 {
		return "", nil, "", &chat.Error{
			Code: chat.CodeInvalid, Message: "The file is empty. Choose another file.",
		}
	}
	mime, err = l.cfg.Formats.Sniff(head, name)
	return name, body, mime, err
}

// Check returns the error that Add would return for a file with this name and beginning. head is the first
// SniffBytes of the file, or all of it.
func (l *Library) Check(name string, head []byte) error {
	_, _, _, err := l.inspectUpload(Upload{Filename: name, Body: bytes.NewReader(head)})
	return err
}

// enqueueRest queues the remaining work of a document. enqueue is the queue's Enqueue or Ensure. It is a no-op for
// a finished document.
func (l *Library) enqueueRest(ctx context.Context, d Document, enqueue func(context.Context, Job) error) error {
	defer l.changes.wakeWatchers(d.ID)
	switch d.State {
	case StateQueued, StateParsing, StateIndexing:
		if err := enqueue(ctx, Job{Kind: JobIngest, DocumentID: d.ID, User: d.User, SHA256: d.SHA256}); err != nil {
			return fmt.Errorf("queue document: %w", err)
		}
	case StateReady:
		if l.Semantic() && d.Semantic != SemanticReady && d.Semantic != SemanticFailed {
			return l.enqueueEmbed(ctx, d, enqueue)
		}
	case StateFailed, StateCancelled:
	}
	return nil
}

// enqueueEmbed queues the embedding of a document. It first records the document as waiting, so that concurrent
// searches know that its vectors are missing.
func (l *Library) enqueueEmbed(ctx context.Context, d Document, enqueue func(context.Context, Job) error) error {
	l.waiting.addDocument(d.ID, d.User)
	if err := enqueue(ctx, Job{Kind: JobEmbed, DocumentID: d.ID, User: d.User, SHA256: d.SHA256}); err != nil {
		return fmt.Errorf("queue vectors: %w", err)
	}
	return nil
}

const (
	maxName = 200  // runes of a file name
	maxPath = 1000 // runes of a path
)

// cleanName returns the last part of a file name, without path traversal and characters that disturb the display.
// It returns "" for a name of only points, and "unnamed" with the extension for an invisible name.
func cleanName(name string) string {
	given := lastName(strings.ReplaceAll(name, `\`, "/"))
	name = strings.TrimSpace(strings.Map(cleanRune, strings.ToValidUTF8(given, "")))
	name = norm.NFC.String(strings.TrimRight(name, ". ")) // macOS writes the marks of letters apart
	if strings.Trim(name, ".") == "" {
		return ""
	}
	if ext := path.Ext(name); text.Blank(strings.TrimSuffix(name, ext)) &&
		(name != ext || !strings.HasPrefix(given, ".")) {
		return unnamed + ext // the stem would be invisible
	}
	return shortName(name, maxName)
}

// unnamed is the stem of a file whose name is invisible except for its extension.
const unnamed = "unnamed"

// Batch is the set of files of one upload, which keeps different files of one name apart. The zero value is ready
// to use. It is not safe for concurrent use. A folder may hold two files whose names become equal after
// normalisation.
type Batch struct{ taken map[string]string } // path → SHA256

// unusedPath returns the document with its own path, or with a number if the path is taken by other bytes: in the
// batch, or, for a file without a readable name, in the library. Such a file is never a new version of another.
// Numbers begin with " (2)". A file with the same bytes keeps its path.
func (l *Library) unusedPath(ctx context.Context, b *Batch, d Document) (Document, error) {
	free := func(p string) (bool, error) {
		sha, ours := b.taken[p]
		if ours || !isNameless(p) {
			return !ours || sha == d.SHA256, nil
		}
		there, err := l.takenByOther(ctx, d, p)
		return !there, err
	}
	base, ext := strings.TrimSuffix(d.Path, path.Ext(d.Path)), path.Ext(d.Path)
	for n := 2; ; n++ {
		ok, err := free(d.Path)
		if err != nil {
			return d, err
		}
		if ok {
			break
		}
		d.Path = base + " (" + strconv.Itoa(n) + ")" + ext
		d.Filename = lastName(d.Path)
		d.Title = d.Filename
	}
	if b.taken == nil {
		b.taken = map[string]string{}
	}
	b.taken[d.Path] = d.SHA256
	return d, nil
}

// isNameless reports whether a path ends in a generated name.
func isNameless(p string) bool { return strings.HasPrefix(lastName(p), unnamed) }

// takenByOther reports whether a document with other bytes has the path.
func (l *Library) takenByOther(ctx context.Context, d Document, p string) (bool, error) {
	f := Filter{Text: lastName(p), Limit: 1000}
	for {
		docs, next, err := l.cfg.Documents.List(ctx, chat.Scope{User: d.User}.In(d.Namespace), f)
		if err != nil {
			return false, fmt.Errorf("look for a document of that name: %w", err)
		}
		if slices.ContainsFunc(docs, func(other Document) bool { return other.Path == p && other.SHA256 != d.SHA256 }) {
			return true, nil
		}
		if f.Cursor = next; next == "" {
			return false, nil
		}
	}
}

// CleanPath returns the normalised path of a document.
func CleanPath(p string) string { return cleanPath(p) }

// cleanPath returns a relative, "/"-separated path of clean names without "..". It removes parts that end with a
// colon, such as Windows drives. A path that is too long loses its first parts.
func cleanPath(p string) string {
	var parts []string
	for part := range strings.SplitSeq(strings.ReplaceAll(p, `\`, "/"), "/") {
		if part = cleanName(part); part != "" && !strings.HasSuffix(part, ":") {
			parts = append(parts, part)
		}
	}
	whole := strings.Join(parts, "/")
	for utf8.RuneCountInString(whole) > maxPath && len(parts) > 1 {
		parts = parts[1:]
		whole = strings.Join(parts, "/")
	}
	return whole
}

// lastName returns the part of a path after its last slash.
func lastName(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }

// cleanRune drops control and invisible formatting characters. These include bidirectional controls, which can make
// a name look like another.
func cleanRune(r rune) rune {
	if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != 0x200d || r == utf8.RuneError || r == 0x2028 ||
		r == 0x2029 {
		return -1
	}
	return r
}

// shortName truncates a long name before its extension.
func shortName(name string, limit int) string {
	r := []rune(name)
	if len(r) <= limit {
		return name
	}
	ext := []rune(path.Ext(name))
	if len(ext) > 10 {
		ext = nil
	}
	return string(r[:limit-len(ext)]) + string(ext)
}

// Blank reports whether a text is invisible.
func Blank(s string) bool { return text.Blank(s) }
