package extract

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/members"
	"github.com/footnote/footnote/text/lazy"
)

const (
	// The mails of a mailbox are one document with a bounded number of blocks. Mails beyond the limit could not be
	// found in a search.
	maxLetters = 50_000
	maxLine    = 1 << 20 // bytes of a line of a mailbox
)

// readMailbox parses a mailbox, a file of concatenated mails (RFC 4155), each after a line "From ". Only one mail is
// in memory at a time. In the variant mboxrd, a mail's own lines of this form are escaped with ">", one of which is
// removed. In mboxcl they are not, and Content-Length is used if a mail ends there. Otherwise beginsMail decides. The
// rest of a mail beyond maxMail bytes is skipped.
func readMailbox(ctx context.Context, f corpus.File) (corpus.Extracted, error) {
	file, err := os.Open(f.Path)
	if err != nil {
		return corpus.Extracted{}, fmt.Errorf("open the original: %w", err)
	}
	defer file.Close()
	m := mailWriter{taken: members.New(f)}
	var one bytes.Buffer
	flush := func() error {
		defer one.Reset()
		if one.Len() == 0 || m.letters >= maxLetters {
			return nil
		}
		return errors.Join(m.writeLetter(ctx, parseMail(ctx, one.Bytes())), ctx.Err())
	}
	lines := bufio.NewReaderSize(file, 64<<10)
	blank, header := true, true
	var separator separatorKind // of the first mail
	var at, length, end int64   // offset; length of the mail's text as declared; end of the mail, if that is right
	for {
		line, err := readLine(lines)
		at += int64(len(line))
		if bytes.HasPrefix(line, []byte("From ")) && at > end &&
			(len(bytes.TrimSpace(one.Bytes())) == 0 || beginsMail(line, lines, separator, blank)) {
			header, length = true, 0
			separator = cmp.Or(separator, separatorOf(line))
			if err := flush(); err != nil {
				return corpus.Extracted{}, err
			}
		} else if one.Len() < maxMail {
			if bytes.HasPrefix(bytes.TrimLeft(line, ">"), []byte("From ")) {
				line = bytes.TrimPrefix(line, []byte(">"))
			}
			one.Write(line)
		}
		blank = len(bytes.TrimSpace(line)) == 0
		if name, value, _ := bytes.Cut(line, []byte(":")); header && strings.EqualFold(string(name), "Content-Length") {
			length, _ = strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
		} else if header && blank {
			if header = false; endsMail(file, at+length) {
				end = at + length
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return corpus.Extracted{}, fmt.Errorf("read the original: %w", err)
		}
	}
	if err := flush(); err != nil {
		return corpus.Extracted{}, err
	}
	return m.result(), nil
}

// separatorKind is a form of the lines "From " that separate mails.
type separatorKind int

const (
	dated     separatorKind = iota + 1 // with a sender and a time of day, or other words
	bare                               // without anything
	committed                          // of Git, with a commit instead of a sender
)

func separatorOf(line []byte) separatorKind {
	switch fields := bytes.Fields(line); {
	case len(fields) == 1:
		return bare
	case commit().Match(fields[1]):
		return committed
	}
	return dated
}

// beginsMail reports whether a line "From " separates mails. first is the form of the first separator of the mailbox:
// mails also quote patches of Git, and bare separators need no blank line before them. Other separators have a date, or
// a time or a single word before a header.
func beginsMail(line []byte, next *bufio.Reader, first separatorKind, blank bool) bool {
	head, _ := next.Peek(61)
	switch kind := separatorOf(line); {
	case kind == committed:
		return blank && first == committed
	case kind == bare:
		return (blank || first == bare) && hasHeaders(head)
	case !blank:
		return false
	}
	return separatorDate().Match(line) || hasHeaders(head) && (timeOfDay().Match(line) || len(bytes.Fields(line)) == 2)
}

var (
	commit        = lazy.Regexp(`^[0-9a-f]{40,64}$`)
	separatorDate = lazy.Regexp(` [A-Z][a-z]{2} [A-Z][a-z]{2} +\d{1,2} \d\d:\d\d`)
	timeOfDay     = lazy.Regexp(`\d\d:\d\d`)
)

// endsMail reports whether a mail ends at an offset of a mailbox: another one begins there, or the file ends.
func endsMail(file io.ReaderAt, at int64) bool {
	next := make([]byte, 9)
	n, err := file.ReadAt(next, at-1)
	if n == 0 { // beyond the end
		return false
	}
	next = bytes.TrimLeft(next[1:n], "\r\n")
	return bytes.HasPrefix(next, []byte("From ")) || len(next) == 0 && errors.Is(err, io.EOF)
}

// readLine reads a line with its line end. A line longer than maxLine is returned in pieces. The end of a file is
// io.EOF together with the last line, which may be empty. The returned slice is a copy.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		line = append(line, piece...)
		if !errors.Is(err, bufio.ErrBufferFull) || len(line) > maxLine {
			if errors.Is(err, bufio.ErrBufferFull) {
				err = nil
			}
			return line, err
		}
	}
}

// isMailbox detects a mailbox by its first line and its extension. Without an extension, the headers have to match
// as well.
func isMailbox(head []byte, name string) bool {
	if !bytes.HasPrefix(head, []byte("From ")) {
		return false
	}
	return extensionIs(name, ".mbox", ".mbx") || extensionIs(name, "") && hasHeaders(withoutEnvelope(head))
}

// isMail detects a mail by its extension and its headers. The headers alone are no evidence: many texts begin with
// "Note:". Mail programs save mails as ".mail" and ".eml".
func isMail(head []byte, name string) bool {
	return extensionIs(name, ".eml", ".mail") && hasHeaders(bytes.TrimLeft(withoutEnvelope(head), "\xef\xbb\xbf\r\n"))
}

// withoutEnvelope removes the separator line of a mailbox. It looks like "From ann@example.com Wed Mar 4 10:15:00
// 2026" and is no header, as it has no colon after its name.
func withoutEnvelope(data []byte) []byte {
	if line, rest, ok := bytes.Cut(data, []byte("\n")); ok && bytes.HasPrefix(line, []byte("From ")) {
		return rest
	}
	return data
}

// hasHeaders reports whether a text begins with a mail header: a name and a colon. A name has 1 to 60 printable
// characters of ASCII without spaces here. RFC 5322 §2.2 has no limit, but real names are short.
func hasHeaders(head []byte) bool {
	first, _, ok := bytes.Cut(head, []byte(":"))
	if !ok || len(first) == 0 || len(first) > 60 {
		return false
	}
	for _, c := range first {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}
