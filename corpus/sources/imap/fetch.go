package imap

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxValue is the maximum number of bytes kept of a value, such as a mail's header. The rest is discarded.
const maxValue = 64 << 10

// token is a token of a list: a parenthesis, an atom, or a string. The bytes of a literal are not read yet. Lists,
// atoms, quoted strings and literals are those of RFC 3501 §4.
//
// text is empty for parentheses and literals. kind is the token's first character, and “a” for an atom.
type token struct {
	kind byte // '(', ')', 'a', '"', '{', or '\n' at the end of the line
	text string
	size int64 // bytes of a literal
}

// next returns the next token. Spaces separate tokens and are skipped. CR is skipped too, as LF ends the line.
func (w *wire) next() (token, error) {
	for {
		c, err := w.r.ReadByte()
		switch {
		case err != nil:
			return token{}, cutOff(err)
		case c == ' ' || c == '\r':
		case c == '(' || c == ')' || c == '\n':
			return token{kind: c}, nil
		case c == '"':
			return w.quotedToken()
		case c == '{':
			return w.literalToken()
		default:
			return w.atomToken(c)
		}
	}
}

// atomToken parses an atom, including brackets: BODY[HEADER.FIELDS (DATE)]. It unreads the character after the atom.
func (w *wire) atomToken(c byte) (token, error) {
	var b strings.Builder
	for inside := false; ; {
		b.WriteByte(c)
		inside = c == '[' || inside && c != ']'
		var err error
		if c, err = w.r.ReadByte(); err != nil {
			return token{}, cutOff(err)
		}
		if c == '\n' || c == '\r' || !inside && strings.IndexByte(` ()"`, c) >= 0 {
			return token{kind: 'a', text: b.String()}, w.r.UnreadByte()
		}
		if b.Len() > maxValue {
			return token{}, errForm
		}
	}
}

// quotedToken parses a quoted string, in which a backslash escapes the next character.
func (w *wire) quotedToken() (token, error) {
	var b strings.Builder
	for b.Len() <= maxValue {
		c, err := w.r.ReadByte()
		if err == nil && c == '\\' {
			c, err = w.r.ReadByte()
		} else if err == nil && c == '"' {
			return token{kind: '"', text: b.String()}, nil
		}
		switch {
		case err != nil:
			return token{}, cutOff(err)
		case c == '\n':
			return token{}, errForm
		}
		b.WriteByte(c)
	}
	return token{}, errForm
}

// literalToken parses the header of a literal: its length in bytes. The bytes follow in the stream.
func (w *wire) literalToken() (token, error) {
	line, err := w.line()
	if err != nil {
		return token{}, err
	}
	size, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(line), "}"), 10, 64)
	if err != nil || size < 0 {
		return token{}, errForm
	}
	return token{kind: '{', size: size}, nil
}

// skip discards the rest of a response.
func (w *wire) skip() error {
	for {
		t, err := w.next()
		if err != nil || t.kind == '\n' {
			return err
		}
		if t.kind == '{' {
			if err := w.discard(t.size); err != nil {
				return err
			}
		}
	}
}

// discard discards so many bytes. They count against the response's limit.
func (w *wire) discard(n int64) error {
	_, err := io.CopyN(io.Discard, w.r, n)
	return cutOff(err)
}

// short reads a string to its end and returns at most its first maxValue bytes.
func (w *wire) short(t token) (string, error) {
	if t.kind != '{' {
		return t.text, nil
	}
	begin := make([]byte, min(t.size, maxValue))
	if _, err := io.ReadFull(w.r, begin); err != nil {
		return "", cutOff(err)
	}
	return string(begin), w.discard(t.size - int64(len(begin)))
}

// attribute parses the next name and value of a mail's list. ok is false at the end of the list. A value that is a
// list is skipped. Servers also send attributes that were not requested, such as flags.
func (w *wire) attribute() (name string, value token, ok bool, err error) {
	t, err := w.next()
	switch {
	case err != nil:
		return "", t, false, err
	case t.kind == ')':
		return "", t, false, nil
	case t.kind != 'a':
		return "", t, false, errForm
	}
	if value, err = w.next(); err != nil {
		return "", value, false, err
	}
	switch value.kind {
	case ')', '\n':
		return "", value, false, errForm
	case '(':
		err = w.skipList()
	}
	return strings.ToUpper(t.text), value, err == nil, err
}

// skipList discards the rest of a list. It counts parentheses instead of recursing, so nesting needs no stack.
func (w *wire) skipList() error {
	for depth := 1; depth > 0; {
		t, err := w.next()
		if err != nil {
			return err
		}
		switch t.kind {
		case '(':
			depth++
		case ')':
			depth--
		case '{':
			err = w.discard(t.size)
		case '\n':
			err = errForm
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// begin parses the opening parenthesis of a mail's list.
func (w *wire) begin() error {
	t, err := w.next()
	if err == nil && t.kind != '(' {
		err = errForm
	}
	return err
}

// about has the attributes of a mail in a FETCH response.
//
// head has the header lines SUBJECT, FROM and DATE; came is when the mail arrived at the server.
type about struct {
	uid  uint32
	size int64
	came time.Time
	head string
}

// headers fetches the attributes of mails for a list. If the server stopped before the last mail, a further request
// fetches the rest. It fails with errForm for a server that makes no progress.
//
// uids are in descending order, since a server with a message limit processes the highest ones. Mails that were
// deleted meanwhile are missing from the result.
func (w *wire) headers(uids []uint32) (map[uint32]about, error) {
	all := map[uint32]about{}
	for len(uids) > 0 {
		if err := w.someHeaders(uids, all); err != nil || w.lowest == 0 {
			return all, err
		}
		// The server stopped at lowest: fetch the lower numbers.
		rest := slices.IndexFunc(uids, func(uid uint32) bool { return uid < w.lowest })
		switch rest {
		case -1:
			return all, nil
		case 0:
			return all, errForm
		}
		uids = uids[rest:]
	}
	return all, nil
}

// someHeaders fetches the attributes of a batch of mails into all. BODY.PEEK does not mark a mail as read (RFC 3501
// §6.4.5). It requests three header fields only, so a list of thousands of mails stays small.
//
// Servers also send unsolicited updates of flags. A response with neither a size nor a header is such an update and
// is ignored.
func (w *wire) someHeaders(uids []uint32, all map[uint32]about) error {
	set := make([]string, len(uids))
	asked := map[uint32]bool{}
	for i, uid := range uids {
		set[i], asked[uid] = strconv.FormatUint(uint64(uid), 10), true
	}
	command := "UID FETCH " + strings.Join(set, ",") +
		" (UID RFC822.SIZE INTERNALDATE BODY.PEEK[HEADER.FIELDS (SUBJECT FROM DATE)])"
	return w.run(command, func(r response) error {
		if r.word != "FETCH" {
			return nil
		}
		a, err := w.about()
		if err == nil && asked[a.uid] && (a.head != "" || a.size >= 0) { // ignore updates of flags
			all[a.uid] = a
		}
		return err
	})
}

// about parses the attributes of one mail. An invalid size stays unknown. An invalid UID is an error, since it alone
// identifies the mail.
func (w *wire) about() (about, error) {
	a := about{size: -1}
	if err := w.begin(); err != nil {
		return a, err
	}
	for {
		name, value, ok, err := w.attribute()
		if err != nil {
			return a, err
		}
		if !ok {
			return a, w.skip()
		}
		text, err := w.short(value)
		if err != nil {
			return a, err
		}
		switch {
		case name == "UID":
			n, err := strconv.ParseUint(text, 10, 32)
			if err != nil {
				return a, errForm
			}
			a.uid = uint32(n)
		case name == "RFC822.SIZE":
			if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 {
				a.size = n
			}
		case name == "INTERNALDATE":
			a.came, _ = time.Parse("_2-Jan-2006 15:04:05 -0700", text)
		// The name repeats the requested attribute, in the server's own format.
		case strings.HasPrefix(name, "BODY[") && value.kind != 'a':
			a.head = text
		}
	}
}
