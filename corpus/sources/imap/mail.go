package imap

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
)

// errLarge is a mail that is not read. It is told of the item, and the others go on.
var errLarge = &chat.Error{Code: chat.CodeTooLarge, Message: "This is larger than what is read from a place."}

// Fetch implements sources.Place. A connection is kept for the next mail, for a little while. A kept connection that
// the
// server has closed meanwhile is replaced once.
//
// Of a folder that was made anew, the mail is gone: its number may name another one now. The body has to be closed
// before the next Fetch.
func (b *box) Fetch(ctx context.Context, item sources.Item, known string) (sources.Content, error) {
	if item.Version != "" && item.Version == known {
		return sources.Content{}, sources.ErrSame
	}
	of, number, _ := strings.Cut(item.Key, ":")
	uid, err := strconv.ParseUint(number, 10, 32)
	if err != nil || uid == 0 {
		return sources.Content{}, sources.ErrGone
	}
	if item.Size > maxMail {
		return sources.Content{}, errLarge
	}
	// A connection that was kept may have been closed by the server: then a new one is tried, once.
	s, release := b.take(ctx)
	content, err := b.fetch(ctx, s, release, of, uint32(uid))
	if s != nil && err != nil && ctx.Err() == nil && !isAnswer(err) { // the server had ended what was kept
		content, err = b.fetch(ctx, nil, nil, of, uint32(uid))
	}
	return content, err
}

// isAnswer reports whether a failure tells something of a mail.
func isAnswer(err error) bool {
	return errors.Is(err, sources.ErrGone) || chat.CodeOf(err) == chat.CodeTooLarge
}

// take takes the connection that was kept, if there is one. If the timer has fired already, the connection is on its
// way out.
func (b *box) take(ctx context.Context) (*session, func() bool) {
	s := b.kept
	b.kept = nil
	if s == nil || !b.end.Stop() {
		return nil, nil
	}
	return s, context.AfterFunc(ctx, func() { _ = s.conn.Close() })
}

// keep keeps a connection for the next mail. The timer's function ends it after `idle`.
func (b *box) keep(s *session) {
	b.kept, b.end = s, time.AfterFunc(idle, s.leave)
}

// fetch fetches a mail by the connection that it gets, or by a new one. On success the body owns the connection until
// it is closed; on failure it is closed, since what comes next on it is not known.
func (b *box) fetch(
	ctx context.Context, s *session, release func() bool, of string, uid uint32,
) (c sources.Content, err error) {
	if s == nil {
		if s, release, err = b.connect(ctx); err != nil {
			return c, err
		}
	}
	if strconv.FormatUint(uint64(s.validity), 10) != of { // the folder was made anew: its numbers name others
		release()
		b.keep(s)
		return c, sources.ErrGone
	}
	m, err := s.mail(uid)
	if err != nil {
		release()
		_ = s.conn.Close()
		switch no := (*refusal)(nil); {
		case errors.Is(err, sources.ErrGone), errors.Is(err, errLarge):
			return c, err
		case errors.As(err, &no) && no.code == "EXPUNGEISSUED":
			return c, sources.ErrGone
		}
		return c, explain(ctx, err)
	}
	m.ctx, m.box, m.session, m.release = ctx, b, s, release
	return sources.Content{Body: m}, nil
}

// mail asks for a mail and reads up to its begin. An answer without the mail means that it is gone.
func (w *wire) mail(uid uint32) (*body, error) {
	tag, err := w.send("UID FETCH " + strconv.FormatUint(uint64(uid), 10) + " (UID BODY.PEEK[])")
	if err != nil {
		return nil, err
	}
	for {
		r, ended, err := w.answer(tag)
		switch {
		case err != nil:
			return nil, err
		case ended:
			return nil, sources.ErrGone
		case r.word != "FETCH":
			continue
		}
		m, err := w.mailBegin(tag)
		if m != nil || err != nil {
			return m, err
		}
	}
}

// mailBegin reads up to the begin of a mail in what is told of it. It is nil where none is told. The literal's length
// becomes the limit of the answer.
func (w *wire) mailBegin(tag string) (*body, error) {
	if err := w.begin(); err != nil {
		return nil, err
	}
	for {
		name, value, ok, err := w.attribute()
		switch {
		case err != nil:
			return nil, err
		case !ok:
			return nil, w.skip()
		case name == "BODY[]" && value.kind == '{':
			if value.size > maxMail {
				return nil, errLarge
			}
			// The mail itself may be larger than an answer otherwise may.
			w.left = value.size + maxReply
			return &body{tag: tag, from: w.r, left: value.size}, nil
		case name == "BODY[]" && value.kind == '"':
			return &body{tag: tag, from: strings.NewReader(value.text), left: int64(len(value.text))}, nil
		}
		if _, err := w.short(value); err != nil {
			return nil, err
		}
	}
}

// body is a mail as it is read.
//
// Whoever has it owns the connection. It streams: a mail is never in memory as a whole.
type body struct {
	ctx     context.Context
	box     *box
	session *session
	release func() bool
	tag     string
	from    io.Reader
	left    int64
	whole   bool // and the answer is read to its end
}

// Read implements io.Reader. The end is told when the server has said that it is one.
func (m *body) Read(p []byte) (int, error) {
	switch {
	case m.whole:
		return 0, io.EOF
	case m.left == 0:
		if err := m.finish(); err != nil {
			return 0, explain(m.ctx, err)
		}
		m.whole = true
		return 0, io.EOF
	}
	if int64(len(p)) > m.left {
		p = p[:m.left]
	}
	n, err := m.from.Read(p)
	m.left -= int64(n)
	if err != nil {
		err = explain(m.ctx, cutOff(err))
	}
	return n, err
}

// finish reads to the end of the answer. What else the server says meanwhile, such as new flags, is skipped.
func (m *body) finish() error {
	if err := m.session.skip(); err != nil {
		return err
	}
	for {
		r, ended, err := m.session.answer(m.tag)
		if err == nil && !ended && r.word == "FETCH" {
			err = m.session.skip()
		}
		if err != nil || ended {
			return err
		}
	}
}

// Close implements io.Closer. Only a mail that was read to its end leaves the connection at the beginning of the next
// answer.
func (m *body) Close() error {
	if m.session == nil {
		return nil
	}
	s := m.session
	m.session = nil
	// release is false when ctx has ended the connection already.
	if m.release() && m.whole {
		m.box.keep(s)
		return nil
	}
	return s.conn.Close()
}

// encodedFolder is a folder's name in the protocol's own UTF-7. It is modified UTF-7 (RFC 3501 §5.1.3): base64 of
// UTF-16 with a comma in the place of the slash.
func encodedFolder(name string) string {
	coding := base64.NewEncoding("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+,").
		WithPadding(base64.NoPadding)
	var b strings.Builder
	var wide []byte
	flush := func() {
		if len(wide) > 0 {
			b.WriteString("&" + coding.EncodeToString(wide) + "-")
			wide = wide[:0]
		}
	}
	for _, r := range name {
		if r < ' ' || r > '~' {
			for _, unit := range utf16.AppendRune(nil, r) {
				wide = append(wide, byte(unit>>8), byte(unit))
			}
			continue
		}
		flush()
		b.WriteRune(r)
		if r == '&' {
			b.WriteByte('-')
		}
	}
	flush()
	return b.String()
}
