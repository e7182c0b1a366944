package imap

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/footnote/footnote/corpus/sources"
)

// maxReply is the maximum number of bytes of a response to one command, in addition to a requested mail.
const maxReply = 16 << 20

// wire is an IMAP connection that sends one command at a time and reads its response. Nothing is parsed recursively.
// left is reset for each command, so each response has a limit.
//
// It is used by one goroutine. The connection is unusable after an error, as the position in the response is
// unknown.
type wire struct {
	conn net.Conn
	r    *bufio.Reader
	left int64 // remaining bytes of the response
	tags int
	// lowest is the last UID that the last command processed; 0: it processed all.
	lowest uint32
	can    map[string]bool // the server's capabilities among matters
}

// newWire wraps a new connection; the server's greeting is the first response.
func newWire(conn net.Conn) *wire {
	w := &wire{conn: conn, left: maxReply}
	w.r = bufio.NewReader(reader{w})
	return w
}

// reader reads from the connection within the response's limit. Each read has its own deadline, so a server may be
// slow but not silent.
type reader struct{ wire *wire }

// Read implements io.Reader.
func (r reader) Read(p []byte) (int, error) {
	if r.wire.left <= 0 {
		return 0, errLong
	}
	if int64(len(p)) > r.wire.left {
		p = p[:r.wire.left]
	}
	if err := r.wire.conn.SetReadDeadline(time.Now().Add(sources.CallTime)); err != nil {
		return 0, err
	}
	n, err := r.wire.conn.Read(p)
	r.wire.left -= int64(n)
	return n, err
}

var (
	errLong = errors.New("the server response exceeds the size limit")
	errForm = errors.New("the server is not an IMAP server")
	errBye  = errors.New("the server closed the connection")
)

// secure starts TLS with the server. Buffered bytes were sent before the handshake, possibly by an attacker
// (CVE-2011-0411 is the same flaw in mail servers).
func (w *wire) secure(ctx context.Context, config *tls.Config) error {
	if w.r.Buffered() > 0 {
		return errForm // they would be accepted as encrypted data
	}
	ctx, cancel := context.WithTimeout(ctx, sources.CallTime)
	defer cancel()
	secret := tls.Client(w.conn, config)
	if err := secret.HandshakeContext(ctx); err != nil {
		return err
	}
	w.conn = secret
	return nil
}

// refusal is a server's negative response to a command.
//
// It has only the response code, as the server's message is untrusted.
type refusal struct{ code string } // upper case; empty: none

// Error implements error.
func (r *refusal) Error() string { return "the server rejected a command: " + strconv.Quote(r.code) }

// response is one response of the server. Untagged responses have the tag “*”, continuation requests “+”. Of a FETCH,
// the list is read by run, or by the caller of answer.
type response struct {
	tag, word string // word in upper case
	text      string // the rest
	about     about  // of a FETCH
}

// send sends a command and returns its tag. It resets the response's limit. Tags are unique, so a response to an
// earlier command never matches.
func (w *wire) send(command string) (string, error) {
	w.tags, w.lowest = w.tags+1, 0
	tag := "f" + strconv.Itoa(w.tags)
	w.left = maxReply
	return tag, w.write(tag + " " + command)
}

// write sends a line with a deadline of sources.CallTime, so that a server which does not read can't block the sync.
func (w *wire) write(line string) error {
	if err := w.conn.SetWriteDeadline(time.Now().Add(sources.CallTime)); err != nil {
		return err
	}
	_, err := io.WriteString(w.conn, line+"\r\n")
	return err
}

// run sends a command and reads its responses to the end. each handles untagged responses and may be nil.
func (w *wire) run(command string, each func(response) error) error {
	tag, err := w.send(command)
	if err != nil {
		return err
	}
	for {
		r, ended, err := w.answer(tag)
		if err == nil && r.word == "FETCH" {
			r.about, err = w.about()
		}
		if err != nil || ended {
			return err
		}
		if each != nil {
			if err := each(r); err != nil {
				return err
			}
		}
	}
}

// answer reads the next response to a command; ended is true for its tagged response. NO and BAD reject the command,
// BYE closes the connection.
func (w *wire) answer(tag string) (r response, ended bool, err error) {
	r, err = w.response()
	if err == nil && (r.tag == tag && r.word == "OK" || r.tag == "*" && r.word == "NO") {
		err = w.noteStop(r.text)
	}
	switch {
	case err != nil:
		return r, false, err
	case r.tag == tag && r.word == "OK":
		return r, true, nil
	case r.tag == tag && (r.word == "NO" || r.word == "BAD"):
		return r, true, &refusal{codeIn(r.text)}
	case r.tag == "*" && r.word == "BYE":
		return r, false, errBye
	// A response with an unknown tag violates the protocol.
	case r.tag != "*" && r.tag != "+":
		return r, false, errForm
	}
	return r, false, nil
}

// codeIn parses the response code at the start of a response's text: [CODE …].
func codeIn(text string) string {
	inside, ok := strings.CutPrefix(text, "[")
	code, _, closed := strings.Cut(inside, "]")
	if !ok || !closed {
		return ""
	}
	code, _, _ = strings.Cut(code, " ")
	return strings.ToUpper(code)
}

// response parses the start of the next response. A number before the word, as in “* 12 FETCH”, is dropped: the list
// has the UID.
func (w *wire) response() (response, error) {
	tag, more, err := w.upToSpace()
	if err != nil {
		return response{}, err
	}
	r := response{tag: tag}
	if tag == "+" {
		if more {
			r.text, err = w.line()
		}
		return r, err
	}
	if !more {
		return r, errForm
	}
	if r.word, more, err = w.upToSpace(); err != nil {
		return r, err
	}
	if _, noNumber := strconv.ParseUint(r.word, 10, 32); noNumber == nil && more {
		if r.word, more, err = w.upToSpace(); err != nil {
			return r, err
		}
	}
	r.word = strings.ToUpper(r.word)
	if more && r.word != "FETCH" {
		r.text, err = w.line()
	}
	return r, err
}

// upToSpace parses a word of less than 100 bytes, more than any word of the protocol has. more is false at the end
// of the line.
func (w *wire) upToSpace() (word string, more bool, err error) {
	var b strings.Builder
	for b.Len() < 100 {
		c, err := w.r.ReadByte()
		switch {
		case err != nil:
			return "", false, cutOff(err)
		case c == ' ':
			return b.String(), true, nil
		case c == '\n':
			return strings.TrimSuffix(b.String(), "\r"), false, nil
		}
		b.WriteByte(c)
	}
	return "", false, errForm
}

// line reads the rest of a line.
func (w *wire) line() (string, error) {
	line, err := w.r.ReadString('\n')
	if err != nil {
		return "", cutOff(err)
	}
	return strings.TrimRight(line, "\r\n"), nil
}

// cutOff converts io.EOF into io.ErrUnexpectedEOF, for a stream that ends early.
func cutOff(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// matters are the capabilities that this package uses. Names are case-insensitive (RFC 3501).
var matters = []string{"AUTH=PLAIN", "LOGINDISABLED", "STARTTLS"}

// readCapabilities requests the server's capabilities. Only those in matters are stored, as a server may list millions.
func (w *wire) readCapabilities() error {
	w.can = map[string]bool{}
	return w.run("CAPABILITY", func(r response) error {
		if r.word == "CAPABILITY" {
			for name := range strings.FieldsSeq(r.text) {
				for _, known := range matters {
					w.can[known] = w.can[known] || strings.EqualFold(name, known)
				}
			}
		}
		return nil
	})
}

// login authenticates. PLAIN (RFC 4616) supports passwords with any character; LOGIN is the fallback for servers
// without it.
func (w *wire) login(user, password string) error {
	if !w.can["AUTH=PLAIN"] {
		return w.run(fmt.Sprintf("LOGIN %s %s", quoted(user), quoted(password)), nil)
	}
	return w.run("AUTHENTICATE PLAIN", func(r response) error {
		if r.tag != "+" {
			return nil
		}
		return w.write(base64.StdEncoding.EncodeToString([]byte("\x00" + user + "\x00" + password)))
	})
}

// quoted encodes a text as a quoted string. Settings have no line breaks, which open has validated.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// examine opens a folder read-only and returns its UIDVALIDITY. EXAMINE is a read-only SELECT (RFC 3501 §6.3.2).
func (w *wire) examine(folder string) (validity uint32, err error) {
	err = w.run("EXAMINE "+quoted(encodedFolder(folder)), func(r response) error {
		number, ok := strings.CutPrefix(strings.ToUpper(r.text), "[UIDVALIDITY ")
		if !ok || r.word != "OK" {
			return nil
		}
		number, _, _ = strings.Cut(number, "]")
		n, err := strconv.ParseUint(strings.TrimSpace(number), 10, 32)
		if err != nil {
			return errForm
		}
		validity = uint32(n)
		return nil
	})
	if err == nil && validity == 0 {
		err = errForm
	}
	return validity, err
}

// search returns the UIDs of all mails that are not marked as deleted. It stops after more than sources.MaxItems. A
// server with MESSAGELIMIT processes the highest UIDs first, so further searches request the lower ones.
func (w *wire) search() (uids []uint32, err error) {
	command, last := "UID SEARCH NOT DELETED", uint32(math.MaxUint32)
	for range maxStops {
		err := w.run(command, func(r response) error {
			if r.word != "SEARCH" {
				return nil
			}
			for field := range strings.FieldsSeq(r.text) {
				n, err := strconv.ParseUint(field, 10, 32)
				if err != nil || n == 0 {
					return errForm
				}
				uids = append(uids, uint32(n))
			}
			return nil
		})
		switch {
		case err != nil:
			return nil, err
		case w.lowest <= 1 || len(uids) > sources.MaxItems:
			return uids, nil
		case w.lowest >= last:
			return nil, errForm
		}
		last = w.lowest
		command = fmt.Sprintf("UID SEARCH UID 1:%d NOT DELETED", last-1)
	}
	return nil, errForm
}
