// Package sources says what a place is: somewhere outside this machine's folders where people keep documents, such as a
// web page, a WebDAV server or a mail folder. A place lists what it has and fetches it; it keeps nothing, decides
// nothing and asks no store. One engine follows all of them. A kind of place is one package below this one and one
// entry of the registry.
//
// The vocabulary is here: Kind (how one is asked for), Place (how one is read), Item and Content (what comes of it).
// What a kind's package gets are settings and the only way to the network (Net); what it gives are items and their
// bytes. package follow is the engine, placestore what it remembers, request the client that all kinds over HTTP share,
// registry the list of kinds, placestest the servers for their tests. addpage adds a single page without following it.
// A kind must never write anywhere, trust a length or an address that a server names, or put a server's words into an
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

// A Kind is one sort of place: how the page asks for one, and how it is opened. Kind values are made anew at each call
// and may be kept.
type Kind struct {
	Name   string      // stable, in the API and the store: "webdav"
	Title  locale.Text // for people: "Nextcloud or WebDAV"
	Help   locale.Text // one sentence: what is read, and what is needed for it
	Fields []Field     // in the order in which they are asked
	// Keeps is true when an item that is not listed any more is still wanted: a feed names only its latest entries.
	// Documents of other kinds go when a complete list does not name them.
	Keeps bool
	// Public says that the kind reads the open web: its Net reaches public addresses only, whoever the owner is.
	Public bool
	// Open connects to nothing. It fails with a *chat.Error for settings that can't be right; its Message names the
	// field by its title.
	Open func(s Settings, n Net) (Place, error)
}

// A Field is one setting of a kind. Changing a field's Name loses what owners have set.
type Field struct {
	Name     string // stable: "url"
	Title    locale.Text
	Help     locale.Text // optional
	Example  string      // shown while the field is empty; never a default
	Required bool
	Secret   bool // a password or token: kept apart from the rest, never shown again, never logged
	Lines    bool // several lines of text
	Login    bool // says with the secrets who asks: when the server refuses them, it is asked for again with them
}

// Settings are the values of a kind's fields by name, secrets included, without white space around them. Fields that
// are empty are left out.
type Settings map[string]string

// Net is the only way to the network. It refuses addresses that the place's owner may not reach, checked when a
// connection is made, and so after each redirect. A kind that opens a connection otherwise can be led to addresses
// inside the owner's network (SSRF), so none may.
type Net struct {
	HTTP *http.Client
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// An Item is something that a place has. It is what a list can tell without reading the content; all of it comes from a
// server and is bounded and checked by the engine (describe in corpus/sources/follow).
type Item struct {
	// Key names the item within its place for as long as it is the same: a path, an address, an id. UTF-8 without NUL,
	// 1 to MaxKey bytes.
	Key string
	// Version is another whenever the content may be another: an ETag, a revision. Empty: only Fetch can tell.
	Version string
	// Name is the path that the document gets below the place's own name, with the extension of its format: slashes
	// part folders. It need not be unique or valid; the engine sees to both.
	Name string
	// Link is where people open the item; empty: nowhere. Only http and https links are shown.
	Link string
	Size int64 // bytes; -1: not known. It may be wrong
	// Meta is what the place knows of the document, in the words of a document's meta: title, author, date, tags.
	Meta map[string]any
}

// Content is what Fetch returns. Body must be closed. Fields that are not empty replace those of the item.
type Content struct {
	Body    io.ReadCloser
	Version string
	Name    string
	Link    string
	Meta    map[string]any
}

// MaxKey is how long a key may be, in bytes.
const MaxKey = 1024

// Place is one place that was opened. Its errors are *chat.Error with a sentence that says what to do, without secrets
// and without the text of a server's reply: chat.CodeUnauthorized for credentials that are not taken (any more),
// chat.CodeForbidden for an address that may not be reached, chat.CodeInvalid for settings that lead to something else
// than the kind expects, chat.CodeUnavailable and chat.CodeTimeout for what may be otherwise later. Every call ends
// soon after its context does. Each is used by one goroutine at a time. The engine calls Check when a place is set up,
// List once in each look, and Fetch for what is new. An error's code decides what becomes of the look: one of the item
// is noted with it, one of the place ends the fetching after some tries.
type Place interface {
	// Check reaches the place with its credentials and reads as little as can tell that List would work.
	Check(ctx context.Context) error
	// List yields all that the place has, each key once, in any order. An error ends it, and then nothing is known of
	// what was not yielded; one that wraps ErrPart comes behind all but a part that can't be seen. An item that can't
	// be described is yielded with what is known of it, and Fetch says why.
	List(ctx context.Context) iter.Seq2[Item, error]
	// Fetch reads an item. known is the Version that the library has, empty for none: when the content is still that
	// one, it fails with ErrSame. It fails with ErrGone when the item is not there any more. Another error with
	// chat.CodeInvalid, chat.CodeTooLarge, chat.CodeUnsupported or chat.CodeForbidden is one of the item: the others go
	// on, and it is tried again when its version changes, or at each look if the error wraps ErrAgain; all else is one
	// of the place.
	Fetch(ctx context.Context, item Item, known string) (Content, error)
}

// Stated is a Place that says with little effort whether anything is new. With it a look at a place without news costs
// one request.
type Stated interface {
	Place
	// State is another whenever List would yield something else. List yields what there was at a State just before it.
	State(ctx context.Context) (string, error)
}

// Ahead is a Place that fetches several items with one request. It is a hint: whatever was announced, only Fetch's
// answer counts.
type Ahead interface {
	Place
	// Soon says which items are fetched next, in this order. Fetch may not be called for all of them.
	Soon(items []Item)
}

// Errors that say something about the item, or about a part of the place.
var (
	ErrSame = errors.New("the item has not changed")
	ErrGone = errors.New("the item is gone")
	// ErrAgain is wrapped by errors of an item that may be over soon, though its version stays.
	ErrAgain = errors.New("the item may be read another time")
	// ErrPart is wrapped by the error of a list that lacks a part only: what it has is fetched, and nothing is removed.
	ErrPart = errors.New("a part of the place can't be seen")
)

// OneLine is a text of a server's without line breaks and NUL, cut after so many characters. It keeps what a server
// says from breaking lines or logs.
func OneLine(text string, most int) string {
	runes := []rune(strings.Join(strings.Fields(strings.ReplaceAll(text, "\x00", "")), " "))
	return string(runes[:min(len(runes), most)])
}

// StateOf is a short text that is another whenever one of these plain values is: for a Version. 64 bits are enough to
// tell two states of one place apart. Values must encode in the same order each time, which maps do in encoding/json.
func StateOf(values ...any) string {
	state, _ := json.Marshal(values) // plain values
	sum := sha256.Sum256(state)
	return hex.EncodeToString(sum[:8])
}

// Limits for all kinds.
const (
	// MaxItems is how many items of one place are followed. List may end there: the engine takes no more, and says so.
	MaxItems = 100_000
	// ChecksAtOnce is how many connections of one user are under way at once while the user waits for them.
	ChecksAtOnce = 4
	// CallTime is how long a server may take to begin its reply, and to send anything more of it.
	CallTime = 30 * time.Second
)

// A way is a path below the root of a place: names that are parted by slashes. Of a name only what would be mistaken is
// escaped: slashes, percent signs, controls and what is no UTF-8. So it is the same however a server writes it.

// LongWay begins the key of a way that is too long to be one; no way begins so.
const LongWay = "%:"

// KeyOf is the key of a way: the way itself, or a hash where that is too long. The hash has 66 bytes with its mark and
// can't be turned back, so a kind keeps the long ways of its last list.
func KeyOf(way string) string {
	if len(way) <= MaxKey {
		return way
	}
	sum := sha256.Sum256([]byte(way))
	return LongWay + hex.EncodeToString(sum[:])
}

// EscapeName is a name as it is in a way. Percent signs are escaped as well, so that unescaping gives back the name
// whatever it was.
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

// inName takes out of a name what no name can have. It is for showing alone: two names may become one.
var inName = strings.NewReplacer("/", "-", "\x00", "")

// ReadableWay is a way as people read it.
func ReadableWay(way string) string {
	names := strings.Split(way, "/")
	for i, name := range names {
		if plain, err := url.PathUnescape(name); err == nil {
			names[i] = strings.ToValidUTF8(inName.Replace(plain), "\ufffd")
		}
	}
	return strings.Join(names, "/")
}

// maxKept is how many bytes of text one listing may keep at once. A hundred thousand paths of 600 bytes fit.
const maxKept = 64 << 20

// ErrTooLarge ends a listing that would take more memory than one may.
var ErrTooLarge = &chat.Error{
	Code: chat.CodeTooLarge,
	Message: "What the server lists is too large to be read safely. Choose a smaller part of it, or ask who runs the " +
		"server.",
}

// Kept counts the text that a listing keeps until it ends, such as the keys that were seen. It is used by one
// goroutine.
type Kept int

// Add counts texts that are kept from now on. It fails with ErrTooLarge beyond 64 MiB.
func (k *Kept) Add(texts ...string) error {
	for _, text := range texts {
		*k += Kept(len(text))
	}
	if *k > maxKept {
		return ErrTooLarge
	}
	return nil
}
