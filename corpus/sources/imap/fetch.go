package imap

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxValue is how many bytes of a value, such as a mail's head, are kept. More of a value is read and dropped.
const maxValue = 64 << 10

// token is a piece of a list: a parenthesis, an atom, or a string. Of a literal the bytes are still to be read. Lists,
// atoms, quoted strings and literals are those of RFC 3501 §4.
//
// text is empty for parentheses and for a literal; kind is the sign that the piece begins with, and “a” for an atom.
type token struct {
	kind byte // '(', ')', 'a', '"', '{', or '\n' at the end of the line
	text string
	size int64 // of a literal
}

// next reads the next token. Spaces part tokens and are left out. CR is left out too, as LF ends the line.
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

// atomToken reads an atom; what is in brackets belongs to it: BODY[HEADER.FIELDS (DATE)]. It puts the sign that ended
// it back.
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

// quotedToken reads a quoted string, in which a backslash protects the next sign.
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

// literalToken reads the head of a literal: its length in bytes, which the string follows.
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

// skip reads to the end of a response, whatever is in it.
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

// discard drops so many bytes. They count against the answer's limit.
func (w *wire) discard(n int64) error {
	_, err := io.CopyN(io.Discard, w.r, n)
	return cutOff(err)
}

// short reads a string to its end and returns its begin. Longer values are cut at maxValue, and what is behind is
// dropped.
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

// attribute reads the name and the value of what is told of a mail next. ok is false when its list ends. A value that
// is a list is skipped. Names that were not asked for may come, too: servers send flags of their own accord.
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

// skipList reads to the end of a list that was begun. It counts parentheses instead of calling itself, so depth costs
// nothing.
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

// begin reads the begin of a mail's list.
func (w *wire) begin() error {
	t, err := w.next()
	if err == nil && t.kind != '(' {
		err = errForm
	}
	return err
}

// about is what a server tells of a mail in a list.
//
// head are the lines SUBJECT, FROM and DATE as the mail has them; came is when the server got it.
type about struct {
	uid  uint32
	size int64 // -1: not told
	came time.Time
	head string
}

// headers asks for what a list needs of mails whose numbers fall. If the server stopped before the last of them, the
// rest is asked for again; one that does not get any further is given up.
//
// uids have to fall, since a server that stops has looked at the highest ones. Mails that were deleted meanwhile are
// missing from the result.
func (w *wire) headers(uids []uint32) (map[uint32]about, error) {
	all := map[uint32]about{}
	for len(uids) > 0 {
		if err := w.someHeaders(uids, all); err != nil || w.lowest == 0 {
			return all, err
		}
		// The server stopped at lowest: what has lower numbers is asked for again.
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

// someHeaders asks for some mails at once and adds what is told to all. BODY.PEEK does not mark a mail as read (RFC
// 3501 §6.4.5). Three fields of the head are asked for, so a list of thousands of mails stays small.
//
// Servers also tell, of their own accord, of mails whose flags changed; what has neither a size nor a head is of that
// kind and is left out.
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
		if err == nil && asked[a.uid] && (a.head != "" || a.size >= 0) { // else one whose flags changed meanwhile
			all[a.uid] = a
		}
		return err
	})
}

// about reads what is told of one mail. A size that can't be read stays unknown; a UID that can't be is an error, since
// nothing else names the mail.
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
		// The name repeats what was asked for, in a writing of the server's own.
		case strings.HasPrefix(name, "BODY[") && value.kind != 'a':
			a.head = text
		}
	}
}
