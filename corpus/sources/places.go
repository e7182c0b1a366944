// Package sources defines places: external sources of documents such as a web page, a WebDAV server or a mail
// folder. A place lists and fetches items. It stores nothing, makes no decisions and uses no store; one engine
// follows all places. A kind of place is one package below this one and one entry of the registry.
//
// It defines Kind (the settings), Place (how to read it), Item and Content (the results). A kind's package gets
// settings and the only network access (Net), and returns items and their bytes. Package follow is the engine,
// placestore its store, request the HTTP client of all kinds, registry the list of kinds, placestest the servers for
// their tests. addpage adds a single page without following it.
//
// A kind must never write to a server, trust a length or an address from a server, or put a server's message into an
// error.
package sources

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/locale"
)

// A Kind is a type of place: its settings and how it is opened. Kind values are created at each call and may be
// kept.
type Kind struct {
	Name   string      // stable, in the API and the store: "webdav"
	Title  locale.Text // for people: "Nextcloud or WebDAV"
	Help   locale.Text // one sentence: what it reads and requires
	Fields []Field     // in the order of the form
	// Keeps is true when items stay that are no longer listed: a feed lists only its latest entries. Documents of
	// other kinds are deleted when a complete list does not contain them.
	Keeps bool
	// Public is set if the kind reads the open web: its Net reaches public addresses only, for all owners.
	Public bool
	// Open validates settings without a connection. Invalid settings return a *chat.Error whose Message has the
	// field's title.
	Open func(s Settings, n Net) (Place, error)
}

// A Field is one setting of a kind. Renaming a field loses its stored values.
type Field struct {
	Name     string // stable: "url"
	Title    locale.Text
	Help     locale.Text // optional
	Example  string      // placeholder of an empty field; never a default
	Required bool
	Secret   bool // a password or token: stored separately, never shown again, never logged
	Lines    bool // several lines of text
	Login    bool // identifies the user: requested again with the secrets after the server rejects them
}

// Settings are the values of a kind's fields by name, including secrets, without surrounding white space. Empty
// fields are omitted.
type Settings map[string]string

// Net is the only network access. It rejects addresses that the place's owner may not reach. The check is at
// connection time, and so after each redirect. A kind must not open connections otherwise, which would allow
// requests into the owner's network (SSRF).
type Net struct {
	HTTP *http.Client
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// An Item is an entry of a place's list, without its content. All values come from a server and are untrusted; the
// engine limits and validates them (describe in corpus/sources/follow).
type Item struct {
	// Key identifies the item within its place: a path, an address, an ID. It is UTF-8 without NUL, 1 to MaxKey
	// bytes.
	Key string
	// Version changes whenever the content may have changed: an ETag, a revision. Empty: unknown until Fetch.
	Version string
	// Name is the document's path below the place's name, with the extension of its format. Slashes separate
	// folders. It need not be unique or valid; the engine normalises it.
	Name string
	// Link is the item's web address for people; empty: none. Only http and https links are shown.
	Link string
	Size int64 // bytes; -1: unknown. It may be wrong
	// Meta has values for the document's meta, under its keys: title, author, date, tags.
	Meta map[string]any
}

// Content is the result of Fetch. Body must be closed. Non-empty fields replace those of the item.
type Content struct {
	Body    io.ReadCloser
	Version string
	Name    string
	Link    string
	Meta    map[string]any
}

// MaxKey is the maximum length of a key in bytes.
const MaxKey = 1024

// Place is an open place. It is used by one goroutine at a time. Every call ends soon after its context is
// cancelled. The engine calls Check when a place is set up, List once in each sync, and Fetch for new or changed
// items.
//
// Errors are *chat.Error with a user-facing message that has advice, without secrets and without a server's
// response. chat.CodeUnauthorized means invalid or expired credentials, chat.CodeForbidden an address that may not
// be reached. chat.CodeInvalid means settings that lead to an unexpected response. chat.CodeUnavailable and
// chat.CodeTimeout are temporary. The code decides how a sync continues: an item's error is stored with the item,
// and several errors of the place end the sync.
type Place interface {
	// Check connects with the place's credentials and reads the minimum that shows whether List would work.
	Check(ctx context.Context) error
	// List yields all items of the place in any order, each key once. An error ends the sequence, and items that
	// were not yielded are then unknown. An error that wraps ErrPart follows a list that lacks only an inaccessible
	// part. An item with missing attributes is yielded anyway, and Fetch returns the reason.
	List(ctx context.Context) iter.Seq2[Item, error]
	// Fetch reads an item. known is the Version in the library, or empty. It returns ErrSame when the content still
	// has that version, and ErrGone when the item no longer exists. Another error with chat.CodeInvalid,
	// chat.CodeTooLarge, chat.CodeUnsupported or chat.CodeForbidden concerns the item: the sync continues, and the
	// item is retried when its version changes. If the error wraps ErrAgain, it is retried at each sync. All other
	// errors concern the place.
	Fetch(ctx context.Context, item Item, known string) (Content, error)
}

// StateReader is a Place that can detect changes cheaply. A sync of an unchanged place then costs one request.
type StateReader interface {
	Place
	// State returns a value that changes whenever List's result changes. A List right after State lists that state.
	State(ctx context.Context) (string, error)
}

// Prefetcher is a Place that can fetch a batch of items with one request. The announcement is a hint; only Fetch
// returns results.
type Prefetcher interface {
	Place
	// Prefetch announces the items that are fetched next, in this order. Fetch may not be called for all of them.
	Prefetch(items []Item)
}

// Errors of an item, or of a part of the place.
var (
	ErrSame = errors.New("the item has not changed")
	ErrGone = errors.New("the item was deleted")
	// ErrAgain is wrapped by temporary errors of an item, which are retried although its version stays the same.
	ErrAgain = errors.New("the item can be fetched later")
	// ErrPart is wrapped by the error of an incomplete list. Its items are fetched, and nothing is removed.
	ErrPart = errors.New("a part of the source is inaccessible")
)

// Cut truncates a server's text to so many characters. It removes NUL and replaces invalid UTF-8. There is no
// ellipsis, as the text may become part of a file name.
func Cut(text string, most int) string {
	runes := []rune(strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", ""))
	return string(runes[:min(len(runes), most)])
}

// OneLine is Cut after normalising the text to one line. It prevents line breaks in names and logs.
func OneLine(text string, most int) string {
	return Cut(strings.Join(strings.Fields(strings.ReplaceAll(text, "\x00", "")), " "), most)
}

// StateOf returns a short hash of plain values, for a Version. 64 bits are enough to distinguish the states of one
// place. Values must encode in a fixed order, which encoding/json ensures for maps.
func StateOf(values ...any) string {
	state, _ := json.Marshal(values) // plain values always encode
	sum := sha256.Sum256(state)
	return hex.EncodeToString(sum[:8])
}

// Limits for all kinds.
const (
	// MaxItems is the maximum number of items of one place. List may stop there; the engine ignores further items
	// and reports that.
	MaxItems = 100_000
	// ChecksAtOnce is the maximum number of concurrent connections of one user while the user waits for them.
	ChecksAtOnce = 4
	// CallTime is the timeout for the start of a server's response, and for each further read.
	CallTime = 30 * time.Second
)

// A way is a path below the root of a place: names separated by slashes. Only ambiguous characters are escaped:
// slashes, percent signs, control characters and invalid UTF-8. So it is the same for every encoding by a server.

// LongPathPrefix is the prefix of the key of a way that is longer than MaxKey. No way begins with it.
const LongPathPrefix = "%:"

// KeyOf returns the key of a way: the way itself, or a hash if it is longer than MaxKey. The hash has 66 bytes with
// its prefix. It can't be reversed, so a kind caches the long ways of its last list.
func KeyOf(way string) string {
	if len(way) <= MaxKey {
		return way
	}
	sum := sha256.Sum256([]byte(way))
	return LongPathPrefix + hex.EncodeToString(sum[:])
}

// EscapeName escapes a name for a way. Percent signs are escaped as well, so that unescaping restores any name.
func EscapeName(name string) string {
	var b strings.Builder
	for len(name) > 0 {
		r, size := utf8.DecodeRuneInString(name)
		if r == '%' || r == '/' || r < ' ' || r == 0x7f || r == utf8.RuneError && size == 1 {
			_, _ = fmt.Fprintf(&b, "%%%02X", name[0])
		} else {
			b.WriteString(name[:size])
		}
		name = name[size:]
	}
	return b.String()
}

// inName removes characters that are invalid in a name. It is for display only: two names may become equal.
var inName = strings.NewReplacer("/", "-", "\x00", "")

// ReadablePath returns a way with unescaped names, for display.
func ReadablePath(way string) string {
	names := strings.Split(way, "/")
	for i, name := range names {
		if plain, err := url.PathUnescape(name); err == nil {
			names[i] = strings.ToValidUTF8(inName.Replace(plain), "\ufffd")
		}
	}
	return strings.Join(names, "/")
}

// Retried adds to the message of a failed sync that it is retried.
func Retried(m locale.Message) locale.Message {
	return locale.Say("{1} Footnote retries automatically.", m)
}

// NotRetried returns a message without the addition of Retried, for an error of a connection test.
func NotRetried(m locale.Message) locale.Message {
	if failure, ok := strings.CutPrefix(string(m), `["{1} Footnote retries automatically.",`); ok {
		return locale.Message(strings.TrimSuffix(failure, "]"))
	}
	return m
}

// maxKept is the maximum number of bytes of text that one list may buffer. A hundred thousand paths of 600 bytes
// fit.
const maxKept = 64 << 20

// ErrTooLarge ends a list that would exceed its memory limit.
var ErrTooLarge = &chat.Error{
	Code:    chat.CodeTooLarge,
	Message: "The server's list exceeds the size limit. Choose a smaller part, or contact the server's administrator.",
}

// ListBudget counts the bytes that a list buffers until it ends, such as keys for deduplication. It is used by one
// goroutine.
type ListBudget int

// Add counts buffered texts. It returns ErrTooLarge beyond 64 MiB.
func (k *ListBudget) Add(texts ...string) error {
	for _, text := range texts {
		*k += ListBudget(len(text))
	}
	if *k > maxKept {
		return ErrTooLarge
	}
	return nil
}
