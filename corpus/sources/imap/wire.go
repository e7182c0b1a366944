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

// maxReply is how many bytes a server may say in answer to one command, beside the mail that was asked for.
const maxReply = 16 << 20

// wire speaks IMAP on one connection: a command at a time, each with its answer. Nothing is read by recursion, and each
// answer is limited. left is set anew for each command, so a server can't send without end.
//
// It is used by one goroutine. After an error the connection is of no use, as nobody knows what of an answer is still
// to come.
type wire struct {
	conn net.Conn
	r    *bufio.Reader
	left int64 // bytes that the answer may still have
	tags int
	// lowest is the last mail that the server looked at in the last command; 0: it looked at all.
	lowest uint32
	can    map[string]bool // those of matters that the server says it can do
}

// newWire speaks on a connection that was just made; the server's greeting is the first thing to be read.
func newWire(conn net.Conn) *wire {
	w := &wire{conn: conn, left: maxReply}
	w.r = bufio.NewReader(reader{w})
	return w
}

// reader reads what a server says, within time and limit. A deadline is set for each read, so a server may be slow and
// not silent.
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
	errLong = errors.New("the server says too much")
	errForm = errors.New("the server does not speak IMAP")
	errBye  = errors.New("the server says goodbye")
)

// secure begins TLS with a server of that name. Bytes that are buffered were sent before the handshake by whoever was
// in between (CVE-2011-0411 is the same flaw in mail servers).
func (w *wire) secure(ctx context.Context, config *tls.Config) error {
	if w.r.Buffered() > 0 {
		return errForm // it would be taken for what was sent in secret
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

// refusal is what a server answers to a command that it does not do.
//
// Only the code is kept and not the server's words, which nobody here chose.
type refusal struct{ code string } // in capitals; empty: none

// Error implements error.
func (r *refusal) Error() string { return "the server refuses a command: " + strconv.Quote(r.code) }

// response is one thing that a server says. Of a FETCH the list that comes next is still to be read. Untagged ones have
// the tag “*”, requests to go on “+”.
//
// A literal in it, such as a mail, is read by whoever asked for it.
type response struct {
	tag, word string // word in capitals
	text      string // the rest
}

// send sends a command and returns the tag of its answer, which is limited anew. Tags count up and begin with a letter,
// so an answer to an earlier command is never taken for this one's.
func (w *wire) send(command string) (string, error) {
	w.tags, w.lowest = w.tags+1, 0
	tag := "f" + strconv.Itoa(w.tags)
	w.left = maxReply
	return tag, w.write(tag + " " + command)
}

// write sends a line within sources.CallTime, so that a server which does not read can't hold the look up.
func (w *wire) write(line string) error {
	if err := w.conn.SetWriteDeadline(time.Now().Add(sources.CallTime)); err != nil {
		return err
	}
	_, err := io.WriteString(w.conn, line+"\r\n")
	return err
}

// run sends a command and reads its answer to the end. each gets what the server says besides, and may be nil. What
// each does not read of a FETCH it must skip.
func (w *wire) run(command string, each func(response) error) error {
	tag, err := w.send(command)
	if err != nil {
		return err
	}
	for {
		r, ended, err := w.answer(tag)
		if err != nil || ended {
			return err
		}
		switch {
		case each != nil:
			err = each(r)
		case r.word == "FETCH":
			err = w.skip()
		}
		if err != nil {
			return err
		}
	}
}

// answer reads what comes next in answer to a command, or its end. NO and BAD are refusals of this command, BYE ends
// the connection.
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
	// An answer to a command that was not sent: this is not the protocol.
	case r.tag != "*" && r.tag != "+":
		return r, false, errForm
	}
	return r, false, nil
}

// codeIn is the code at the begin of an answer's text: [CODE …].
func codeIn(text string) string {
	inside, ok := strings.CutPrefix(text, "[")
	code, _, closed := strings.Cut(inside, "]")
	if !ok || !closed {
		return ""
	}
	code, _, _ = strings.Cut(code, " ")
	return strings.ToUpper(code)
}

// response reads what the server says next. A number before the word, as in “* 12 FETCH”, is left out: UIDs are in the
// list.
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

// upToSpace reads a short word. more is false when the line ends with it. 100 bytes are more than any word of the
// protocol.
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

// cutOff makes an error of an end that is none.
func cutOff(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// matters are the capabilities that make a difference here. Names are compared without case, as RFC 3501 has them.
var matters = []string{"AUTH=PLAIN", "LOGINDISABLED", "STARTTLS"}

// able asks what the server can do. A server may name millions of capabilities, so others than matters are not kept.
func (w *wire) able() error {
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

// login tells the server who asks. PLAIN (RFC 4616) takes passwords with any character; LOGIN is for servers without
// it.
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

// quoted is a text without ends of lines as a string of a command. Settings have no line breaks, which open has
// checked.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// examine opens a folder for reading alone, and returns for which of its lives the numbers of its mails hold. EXAMINE
// is SELECT without the right to change anything (RFC 3501 §6.3.2).
func (w *wire) examine(folder string) (validity uint32, err error) {
	err = w.run("EXAMINE "+quoted(encodedFolder(folder)), func(r response) error {
		if r.word == "FETCH" {
			return w.skip()
		}
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

// search returns the numbers of all mails that are not marked as deleted; of more than are followed, the newest. A
// server with MESSAGELIMIT looks at the highest numbers first, so it is asked again for those below.
func (w *wire) search() (uids []uint32, err error) {
	command, last := "UID SEARCH NOT DELETED", uint32(math.MaxUint32)
	for range maxStops {
		err := w.run(command, func(r response) error {
			if r.word == "FETCH" {
				return w.skip()
			}
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
