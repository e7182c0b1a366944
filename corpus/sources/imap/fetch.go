package imap

import (
	"fmt"
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

// skip discards tokens up to the end of a line or, if end is a parenthesis, of the list. It counts parentheses instead
// of recursing, so nesting needs no stack.
func (w *wire) skip(end byte) error {
	for depth := 0; ; {
		t, err := w.next()
		switch {
		case err != nil:
			return err
		case t.kind == end && (depth == 0 || end == '\n'):
			return nil
		case t.kind == '\n':
			return errForm
		case t.kind == '(':
			depth++
		case t.kind == ')':
			depth--
		case t.kind == '{':
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

// attributes parses a mail's list and the rest of its response. each gets a name in upper case and its value, and may
// read a literal. A value that is a list was skipped. Servers also send attributes that were not requested, such as
// flags. An error of each ends it.
func (w *wire) attributes(each func(name string, value token) error) error {
	t, err := w.next()
	if err == nil && t.kind != '(' {
		err = errForm
	}
	for err == nil {
		var name, value token
		if name, err = w.next(); err != nil {
			return err
		}
		if name.kind == ')' {
			return w.skip('\n')
		}
		value, err = w.next()
		switch {
		case err != nil:
			return err
		case name.kind != 'a' || value.kind == ')' || value.kind == '\n':
			return errForm
		case value.kind == '(':
			err = w.skip(')')
		}
		if err == nil {
			err = each(strings.ToUpper(name.text), value)
		}
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

// headers fetches the attributes of mails for a list. BODY.PEEK does not mark a mail as read (RFC 3501 §6.4.5). It
// requests three header fields only, so a list of thousands of mails stays small. If the server stopped before the last
// mail, a further request fetches the rest. It fails with errForm for a server that makes no progress.
//
// uids are in descending order, since a server with a message limit processes the highest ones. Mails that were
// deleted meanwhile are missing from the result. Servers also send unsolicited updates of flags. A response with
// neither a size nor a header is such an update and is ignored.
func (w *wire) headers(uids []uint32) (map[uint32]about, error) {
	all := map[uint32]about{}
	for len(uids) > 0 {
		set := strings.Trim(strings.ReplaceAll(fmt.Sprint(uids), " ", ","), "[]")
		err := w.run("UID FETCH "+set+" (UID RFC822.SIZE INTERNALDATE BODY.PEEK[HEADER.FIELDS (SUBJECT FROM DATE)])",
			func(r response) error {
				if slices.Contains(uids, r.about.uid) && (r.about.head != "" || r.about.size >= 0) {
					all[r.about.uid] = r.about
				}
				return nil
			})
		if err != nil || w.lowest == 0 {
			return all, err
		}
		// The server stopped at lowest: fetch the lower numbers.
		switch rest := slices.IndexFunc(uids, func(uid uint32) bool { return uid < w.lowest }); rest {
		case -1:
			return all, nil
		case 0:
			return all, errForm
		default:
			uids = uids[rest:]
		}
	}
	return all, nil
}

// about parses the attributes of one mail. An invalid size stays unknown. An invalid UID is an error, since it alone
// identifies the mail.
func (w *wire) about() (about, error) {
	a := about{size: -1}
	err := w.attributes(func(name string, value token) error {
		text, err := w.short(value)
		switch {
		case err != nil:
			return err
		case name == "UID":
			n, err := strconv.ParseUint(text, 10, 32)
			if err != nil {
				return errForm
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
		return nil
	})
	return a, err
}
