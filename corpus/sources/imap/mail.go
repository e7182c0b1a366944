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

// errLarge is the error of a mail that exceeds maxMail. Other mails are still fetched.
var errLarge = &chat.Error{Code: chat.CodeTooLarge, Message: "This file exceeds the size limit."}

// Fetch implements sources.Place. The connection is cached for the next mail. If the server has closed a cached
// connection, one retry uses a new connection.
//
// If the folder was recreated, the mail is gone, since its UID may identify another one. The body has to be closed
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
	s, release := b.take(ctx)
	content, err := b.fetch(ctx, s, release, of, uint32(uid))
	if s != nil && err != nil && ctx.Err() == nil && !isAnswer(err) { // retry once: the cached one may be closed
		content, err = b.fetch(ctx, nil, nil, of, uint32(uid))
	}
	return content, err
}

// isAnswer reports whether an error is the result for this mail, not a failure of the connection.
func isAnswer(err error) bool {
	return errors.Is(err, sources.ErrGone) || chat.CodeOf(err) == chat.CodeTooLarge
}

// take removes and returns the cached connection. If its timer has fired already, the connection is being closed.
func (b *box) take(ctx context.Context) (*session, func() bool) {
	s := b.kept
	b.kept = nil
	if s == nil || !b.end.Stop() {
		return nil, nil
	}
	return s, context.AfterFunc(ctx, func() { _ = s.conn.Close() })
}

// keep caches a connection for the next mail. A timer closes it after `idle`.
func (b *box) keep(s *session) {
	b.kept, b.end = s, time.AfterFunc(idle, s.leave)
}

// fetch fetches a mail with the given connection, or with a new one. On success the body owns the connection until
// it is closed. On failure the connection is closed, as its state is unknown.
func (b *box) fetch(
	ctx context.Context, s *session, release func() bool, of string, uid uint32,
) (c sources.Content, err error) {
	if s == nil {
		if s, release, err = b.connect(ctx); err != nil {
			return c, err
		}
	}
	if strconv.FormatUint(uint64(s.validity), 10) != of { // the folder was recreated: its UIDs identify other mails
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

// mail requests a mail and returns its stream. A response without the mail returns sources.ErrGone.
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
		m := &body{tag: tag}
		err = w.attributes(func(name string, value token) error {
			switch {
			case value.size > maxMail && name == "BODY[]":
				return errLarge
			case value.kind == '{' && name == "BODY[]":
				w.left = value.size + maxReply // the mail may exceed the limit of a response
				m.from, m.left = w.r, value.size
				return errContent
			case value.kind == '"' && name == "BODY[]":
				m.from, m.left = strings.NewReader(value.text), int64(len(value.text))
				return errContent
			}
			_, err := w.short(value)
			return err
		})
		switch {
		case errors.Is(err, errContent):
			return m, nil
		case err != nil:
			return nil, err
		}
	}
}

// errContent ends the parsing of a response at a mail's content.
var errContent = errors.New("the mail begins")

// body is the stream of a mail.
//
// It owns the connection. A mail is never buffered as a whole.
type body struct {
	ctx     context.Context
	box     *box
	session *session
	release func() bool
	tag     string
	from    io.Reader
	left    int64
	whole   bool // the response was read to its end
}

// Read implements io.Reader. It returns io.EOF only after the server's tagged response.
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

// finish reads to the end of the response. Unsolicited responses, such as new flags, are skipped.
func (m *body) finish() error {
	if err := m.session.skip('\n'); err != nil {
		return err
	}
	for {
		r, ended, err := m.session.answer(m.tag)
		if err == nil && !ended && r.word == "FETCH" {
			err = m.session.skip('\n')
		}
		if err != nil || ended {
			return err
		}
	}
}

// Close implements io.Closer. The connection is cached only if the mail was read to its end, so the next response
// starts at a defined position.
func (m *body) Close() error {
	if m.session == nil {
		return nil
	}
	s := m.session
	m.session = nil
	// release is false when ctx has closed the connection already.
	if m.release() && m.whole {
		m.box.keep(s)
		return nil
	}
	return s.conn.Close()
}

// encodedFolder encodes a folder's name in modified UTF-7 (RFC 3501 §5.1.3): base64 of UTF-16 with a comma in place
// of the slash.
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
