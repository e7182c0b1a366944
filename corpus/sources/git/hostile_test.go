package git

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/git/gittest"
	"github.com/footnote/footnote/corpus/sources/placestest"
)

// line encodes a line of the protocol.
func line(text string) string { return fmt.Sprintf("%04x%s", len(text)+4, text) }

const described = "000eversion 2\n" + "000cls-refs\n" + "0019fetch=shallow filter\n" + flushMark

// made is an object of a test's pack.
type made struct {
	kind kind
	data string
	size int64 // declared size; 0: the real one
}

func (m made) name() string {
	sum := sha1.Sum([]byte(fmt.Sprintf("%s %d\x00%s", kindNames[m.kind], len(m.data), m.data)))
	return string(sum[:])
}

// packed encodes a pack.
func packed(count uint32, objects ...made) []byte {
	b := bytes.NewBufferString("PACK\x00\x00\x00\x02")
	_ = binary.Write(b, binary.BigEndian, count)
	z := zlib.NewWriter(nil)
	for _, o := range objects {
		base, data := "", o.data
		if o.kind == namedDifference {
			base, data = data[:sha1.Size], data[sha1.Size:]
		}
		size := cmp.Or(o.size, int64(len(data)))
		first := byte(o.kind)<<4 | byte(size&15)
		for size >>= 4; size > 0; size >>= 7 {
			b.WriteByte(first | 0x80)
			first = byte(size & 0x7f)
		}
		b.WriteByte(first)
		b.WriteString(base)
		z.Reset(b)
		_, _ = io.WriteString(z, data)
		_ = z.Close()
	}
	return append(b.Bytes(), make([]byte, sha1.Size)...)
}

// sent encodes a pack as a response.
func sent(pack []byte) string {
	var b strings.Builder
	b.WriteString(line("packfile\n"))
	for len(pack) > 0 {
		n := min(len(pack), 60_000)
		b.WriteString(line("\x01" + string(pack[:n])))
		pack = pack[n:]
	}
	return b.String() + flushMark
}

// folderOf encodes a folder's object.
func folderOf(entries ...any) made {
	var b strings.Builder
	for i := 0; i < len(entries); i += 2 {
		o, _ := entries[i+1].(made)
		m := "100644"
		if o.kind == treeObject {
			m = "40000"
		}
		fmt.Fprintf(&b, "%s %s\x00%s", m, entries[i], o.name())
	}
	return made{kind: treeObject, data: b.String()}
}

func commitOf(tree made) made {
	return made{kind: commitObject, data: "tree " + hex.EncodeToString([]byte(tree.name())) + "\n\nMade"}
}

// speaks serves a repository with fixed responses.
type speaks struct{ described, refs, objects string }

// ServeHTTP implements http.Handler.
func (s speaks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	switch {
	case r.Method == http.MethodGet:
		_, _ = io.WriteString(w, s.described)
	case bytes.Contains(body, []byte("command=ls-refs")):
		_, _ = io.WriteString(w, s.refs)
	default:
		_, _ = io.WriteString(w, s.objects)
	}
}

// speaking returns a server whose main branch is at a commit.
func speaking(commit made, pack []byte) speaks {
	return speaks{described, line(hex.EncodeToString([]byte(commit.name()))+" HEAD\n") + flushMark, sent(pack)}
}

func openSpeaking(t *testing.T, h http.Handler) sources.Place {
	t.Helper()
	address, n := placestest.Serve(t, h)
	return placestest.Open(t, Kind(), sources.Settings{"url": address + "/book.git/"}, n)
}

func TestHostileServersEnd(t *testing.T) {
	t.Parallel()
	file := made{kind: blobObject, data: "# A"}
	top := folderOf("a.md", file)
	commit := commitOf(top)
	good := packed(2, commit, top)
	zeros := strings.Repeat("\x00", 1<<20)
	often := func(n uint32, o made) []byte {
		pack := packed(n, o)
		return append(pack[:12:12], bytes.Repeat(pack[12:len(pack)-sha1.Size], int(n))...)
	}
	inEachOther := folderOf()
	for range 100 {
		inEachOther = folderOf("in", inEachOther)
	}
	ofDifference := func(instructions string) []byte {
		return packed(2, commit, made{kind: namedDifference, data: commit.name() + instructions})
	}
	short := string(rune(len(commit.data)))
	for name, test := range map[string]struct {
		says speaks
		code chat.Code
	}{
		"a page":         {speaks{described: "<html>"}, chat.CodeInvalid},
		"nothing":        {speaks{}, chat.CodeInvalid},
		"an old version": {speaks{described: line("version 1\n") + flushMark}, chat.CodeInvalid},
		"another kind of names": {
			speaks{described: "000eversion 2\n" + line("object-format=md5\n")}, chat.CodeInvalid,
		},
		"it breaks off": {speaks{described: "000eversion 2\n000cls-"}, chat.CodeUnavailable},
		"an error":      {speaks{described: line("ERR no")}, chat.CodeUnavailable},
		"branches break off": {
			speaks{described, line(strings.Repeat("a", 40) + " HEAD"), ""}, chat.CodeUnavailable,
		},
		"no branches":            {speaks{described, flushMark, ""}, chat.CodeInvalid},
		"branches without names": {speaks{described, line("abc\n") + flushMark, ""}, chat.CodeUnavailable},
		"a name that is none":    {speaks{described, line("xyz HEAD\n") + flushMark, ""}, chat.CodeUnavailable},
		"another pack":           {speaking(commitOf(inEachOther), good), chat.CodeUnavailable},
		"no pack":                {speaking(commit, nil), chat.CodeUnavailable},
		"a pack that breaks off": {speaking(commit, good[:len(good)-30]), chat.CodeUnavailable},
		"fewer objects":          {speaking(commit, packed(1, commit)), chat.CodeUnavailable},
		"objects without end":    {speaking(commit, packed(math.MaxUint32, commit, top)), chat.CodeUnavailable},
		"a false size":           {speaking(commit, packed(1, made{commitObject, "x", 5})), chat.CodeUnavailable},
		"a huge size":            {speaking(commit, packed(1, made{treeObject, "x", 1 << 45})), chat.CodeTooLarge},
		"folders of zeros":       {speaking(commit, often(70, made{kind: treeObject, data: zeros})), chat.CodeTooLarge},
		"too many folders":       {speaking(commit, often(300_000, folderOf())), chat.CodeTooLarge},
		"no kind":                {speaking(commit, packed(1, made{5, "x", 0})), chat.CodeUnavailable},
		"a difference of nothing": {
			speaking(commit, packed(1, made{kind: namedDifference, data: strings.Repeat("x", 20) + "\x00\x00"})),
			chat.CodeUnavailable,
		},
		"a difference from another": {speaking(commit, ofDifference("\x01\x01\x91\x01")), chat.CodeUnavailable},
		"a difference that is huge": {
			speaking(commit, ofDifference(short+"\xff\xff\xff\xff\x7f\x80")), chat.CodeTooLarge,
		},
		"a difference beyond its base": {
			speaking(commit, ofDifference(short+"\x05\x91\xf0\x20")), chat.CodeUnavailable,
		},
		"a difference that breaks off": {speaking(commit, ofDifference(short+"\x05\x05a")), chat.CodeUnavailable},
		"no folders": {
			speaking(commit, packed(2, commit, made{kind: treeObject, data: "100644 a"})), chat.CodeUnavailable,
		},
	} {
		_, err := placestest.List(t, openSpeaking(t, test.says))
		placestest.WantCode(t, name, err, test.code)
		if chat.MessageOf(err).String() == "" {
			t.Errorf("%s: message is empty", name)
		}
	}
}

// Folders that contain each other many times stay within the limits, and file names allow no path traversal.
func TestHostileFolders(t *testing.T) {
	t.Parallel()
	file := made{kind: blobObject, data: "# A"}
	list := func(bottom made, depth int) (map[string]sources.Item, error) {
		var all []made
		at := bottom
		for range depth {
			all = append(all, at)
			var entries []any
			for i := range 10 {
				entries = append(entries, fmt.Sprint(i), at)
			}
			at = folderOf(entries...)
		}
		all = append(all, at, commitOf(at))
		h := speaking(commitOf(at), packed(uint32(len(all)), all...))
		return placestest.List(t, openSpeaking(t, h))
	}
	items, err := list(folderOf("a.md", file), 12)
	if err != nil && chat.CodeOf(err) != chat.CodeInvalid || len(items) > sources.MaxItems+1 {
		t.Errorf("%d files, %v", len(items), err)
	}
	if _, err = list(folderOf(), 12); chat.CodeOf(err) != chat.CodeTooLarge {
		t.Errorf("folders without files: got %v, want too_large", err)
	}
	if _, err = list(folderOf("a.md", file), 60); chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("nested folders: got %v, want an invalid input", err)
	}
	in := folderOf("x", file)
	top := folderOf("..", file, "a/../../b", file, "same", file, "same", in, "ok.md", file)
	commit := commitOf(top)
	items, err = placestest.List(t, openSpeaking(t, speaking(commit, packed(3, commit, top, in))))
	for key, item := range items {
		if strings.Contains(key, "/") || strings.Contains(item.Name, "/") {
			t.Errorf("%q: item = %+v", key, item)
		}
	}
	if err != nil || len(items) != 3 {
		t.Errorf("items = %v, %v, want three", items, err)
	}
}

// A file whose content does not match its hash is rejected.
func TestFilesWithWrongHashAreRejected(t *testing.T) {
	t.Parallel()
	file, other := made{kind: blobObject, data: "# A"}, made{kind: blobObject, data: "# B"}
	item := sources.Item{Key: "a.md", Version: hex.EncodeToString([]byte(file.name()))}
	for name, test := range map[string]struct {
		objects string
		code    chat.Code
	}{
		"other bytes":  {sent(packed(1, other)), chat.CodeUnavailable},
		"a folder":     {sent(packed(1, folderOf())), chat.CodeUnavailable},
		"more":         {sent(packed(1, made{blobObject, file.data + "x", 3})), chat.CodeUnavailable},
		"less":         {sent(packed(1, made{blobObject, file.data, 5})), chat.CodeUnavailable},
		"too large":    {sent(packed(1, made{blobObject, file.data, maxFile + 1})), chat.CodeTooLarge},
		"a difference": {sent(packed(1, made{namedDifference, strings.Repeat("x", 25), 5})), chat.CodeUnavailable},
		"an error":     {line("packfile\n") + line("\x03no"), chat.CodeUnavailable},
	} {
		p := openSpeaking(t, speaks{described, "", test.objects})
		_, _, err := placestest.Read(t, p, item, "")
		placestest.WantCode(t, name, err, test.code)
	}
	service := line("# service=git-upload-pack\n") + flushMark // some servers send it before version 2
	p := openSpeaking(t, speaks{service + described, "", sent(packed(1, file))})
	if text, _, err := placestest.Read(t, p, item, ""); err != nil || text != file.data {
		t.Errorf("requested file = %q, %v", text, err)
	}
	p = openSpeaking(t, speaks{described, "", line("ERR upload-pack: not our ref")})
	if _, _, err := placestest.Read(t, p, item, ""); !errors.Is(err, sources.ErrGone) {
		t.Errorf("a file that is not there: %v, want ErrGone", err)
	}
}

func TestRedirectsToOtherServers(t *testing.T) {
	t.Parallel()
	r := gittest.Serve(t)
	r.Write(map[string]string{"a.md": "# A"})
	r.Push()
	var got string
	elsewhere := func(w http.ResponseWriter, req *http.Request) {
		http.Redirect(w, req, strings.TrimSuffix(r.Address, "/ada/book.git")+req.URL.String(), http.StatusFound)
	}
	other, _ := placestest.Serve(t, http.HandlerFunc(elsewhere))
	n := placestest.Net(t, r.At, placestest.At(t, other))
	open := func(more sources.Settings) sources.Place {
		more["url"] = other + "/ada/book.git"
		return placestest.Open(t, Kind(), more, n)
	}
	items, err := placestest.List(t, open(sources.Settings{}))
	if err != nil || len(items) != 1 {
		t.Errorf("moved: %v, %v", items, err)
	}
	r.BreakWith(func(_ http.ResponseWriter, req *http.Request) bool {
		got += req.Header.Get("Authorization")
		return false
	})
	placestest.WantCode(t, "moved, with a token",
		open(sources.Settings{"token": "secret"}).Check(t.Context()), chat.CodeInvalid)
	if got != "" {
		t.Errorf("another server got %q", got)
	}
	for name, test := range map[string]struct {
		to   string
		code chat.Code
	}{
		"inside":       {"http://169.254.169.254/ada/book.git/info/refs", chat.CodeForbidden},
		"another port": {"http://127.0.0.1:1/info/refs", chat.CodeForbidden},
		"a page":       {"/login", chat.CodeInvalid},
		"a circle":     {"/ada/book.git/info/refs", chat.CodeInvalid},
		"a name":       {"http://ada:secret@example.org/info/refs", chat.CodeInvalid},
	} {
		p := openSpeaking(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.URL.Path != "/login" {
				http.Redirect(w, req, test.to, http.StatusFound)
			}
		}))
		placestest.WantCode(t, name, p.Check(t.Context()), test.code)
	}
}

func TestStatuses(t *testing.T) {
	t.Parallel()
	for status, code := range map[int]chat.Code{
		401: chat.CodeUnauthorized, 403: chat.CodeForbidden, 404: chat.CodeInvalid, 410: chat.CodeInvalid,
		500: chat.CodeUnavailable, 502: chat.CodeUnavailable,
	} {
		p := openSpeaking(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		_, err := placestest.List(t, p)
		placestest.WantCode(t, fmt.Sprint(status), err, code)
	}
}

// A request to a silent server ends when its context is cancelled.
func TestHangingServer(t *testing.T) {
	t.Parallel()
	commit := commitOf(folderOf())
	release := make(chan struct{})
	says := speaking(commit, packed(2, commit))
	p := openSpeaking(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			says.ServeHTTP(w, r)
			return
		}
		_, _ = io.WriteString(w, says.refs[:10])
		_ = http.NewResponseController(w).Flush()
		<-release
	}))
	defer close(release)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for _, err := range p.List(ctx) {
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("err = %v, want the end of the context", err)
		}
	}
}

func FuzzPack(f *testing.F) {
	top := folderOf("a.md", made{kind: blobObject, data: "# A"})
	f.Add(packed(2, commitOf(top), top))
	f.Add(packed(2, commitOf(top), made{kind: namedDifference, data: commitOf(top).name() + "5\x05\x91\x01\x05"}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		const room = 1 << 20
		keep := func(k kind) bool { return k != blobObject }
		p, err := openPack(bytes.NewReader(raw), formats["sha1"], want{
			keep: keep, room: room, most: room, skip: room,
		})
		kept := 0
		for err == nil {
			var o *object
			if o, err = p.next(); err == nil {
				kept += len(o.data)
				for _, err := range readFolder(o.data, p.format) {
					if err != nil {
						break
					}
				}
			}
		}
		if kept > room {
			t.Errorf("%d bytes are kept, want at most %d", kept, room)
		}
	})
}

// TestWalkIsBoundedForRepeatedTrees serves three trees that repeat one tree of 100,000 hidden names.
func TestWalkIsBoundedForRepeatedTrees(t *testing.T) {
	t.Parallel()
	file := made{kind: blobObject, data: "# A"}
	var names []any
	for i := range 100_000 {
		names = append(names, fmt.Sprintf(".%05d", i), file)
	}
	repeat := func(n int, of made) made {
		var entries []any
		for i := range n {
			entries = append(entries, fmt.Sprint(i), of)
		}
		return folderOf(entries...)
	}
	bottom := folderOf(names...)
	middle := repeat(300, bottom)
	top := repeat(300, middle)
	commit := commitOf(top)
	h := speaking(commit, packed(4, commit, top, middle, bottom))
	_, err := placestest.List(t, openSpeaking(t, h))
	placestest.WantCode(t, "repeated trees", err, chat.CodeTooLarge)
}

// TestWalkEndsWithItsContext cancels the context at the first item.
func TestWalkEndsWithItsContext(t *testing.T) {
	t.Parallel()
	file := made{kind: blobObject, data: "# A"}
	var names []any
	for i := range 1000 {
		names = append(names, fmt.Sprintf("%d.md", i), file)
	}
	top := folderOf(names...)
	commit := commitOf(top)
	p := openSpeaking(t, speaking(commit, packed(2, commit, top)))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	items, last := 0, error(nil)
	for _, err := range p.List(ctx) {
		cancel()
		items, last = items+1, err
	}
	if items != 2 || !errors.Is(last, context.Canceled) {
		t.Errorf("got %d items and %v, want one item and the end of the context", items-1, last)
	}
}

// TestPackLimitsTreeSize sends a tree and a delta that each exceed the limit of one tree.
func TestPackLimitsTreeSize(t *testing.T) {
	t.Parallel()
	large := made{kind: treeObject, data: strings.Repeat("\x00", maxTree+1)}
	base := folderOf()
	difference := made{kind: namedDifference, data: base.name() + "\x00\x00" + large.data}
	for name, pack := range map[string][]byte{
		"a tree": packed(1, large), "a difference": packed(2, base, difference),
	} {
		_, err := placestest.List(t, openSpeaking(t, speaking(commitOf(base), pack)))
		placestest.WantCode(t, name, err, chat.CodeTooLarge)
	}
}

// TestPackLimitsDeltaExpansion sends deltas that decompress to much more than their results.
func TestPackLimitsDeltaExpansion(t *testing.T) {
	t.Parallel()
	base := folderOf("a.md", made{kind: blobObject, data: "# A"})
	size := string(rune(len(base.data)))
	difference := made{kind: namedDifference, data: base.name() + size + "\x00" + strings.Repeat("\x00", 1<<10)}
	pack := packed(2, base, difference)
	p, err := openPack(bytes.NewReader(pack), formats["sha1"], want{
		keep: func(kind) bool { return true }, room: 1 << 20, most: 1 << 20, skip: 1 << 9,
	})
	for err == nil {
		_, err = p.next()
	}
	if !errors.Is(err, errRoom) {
		t.Errorf("got %v, want %v", err, errRoom)
	}
}
