package extract

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/members"
)

const (
	// The mails of a box are one document, whose blocks are bounded: of further mails, none would be found again.
	maxLetters = 50_000
	maxLine    = 1 << 20 // bytes of a line of a mailbox
)

// readMailbox reads a file of mails one after the other (RFC 4155): each begins with a line "From ". Only one mail is
// in memory at a time. A "From " line counts behind a blank line alone, as programs write it, and a mail's own lines
// that begin so have a ">" before them, one of which is taken off: that is the variety called mboxrd. Of a mail of more
// than maxMail bytes the rest is passed over.
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
		return errors.Join(m.writeLetter(ctx, parseMail(one.Bytes())), ctx.Err())
	}
	lines := bufio.NewReaderSize(file, 64<<10)
	blank := true
	for {
		line, err := readLine(lines)
		if bytes.HasPrefix(line, []byte("From ")) && blank {
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

// readLine reads a line with its end. One that is longer than maxLine comes in pieces. The end of a file is io.EOF
// together with the last line, which may be empty. The piece of a long line is a copy, and stays valid.
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

// isMailbox recognises a file of mails that is called one, or has no name that says another kind.
func isMailbox(head []byte, name string) bool {
	if !bytes.HasPrefix(head, []byte("From ")) {
		return false
	}
	return extensionIs(name, ".mbox", ".mbx") || extensionIs(name, "") && hasHeaders(withoutEnvelope(head))
}

// isMail recognises a mail by its name and its headers. The headers alone don't make one: many a text begins with
// "Note:". ".mail" and ".eml" are how programs save one.
func isMail(head []byte, name string) bool {
	return extensionIs(name, ".eml", ".mail") && hasHeaders(bytes.TrimLeft(withoutEnvelope(head), "\xef\xbb\xbf\r\n"))
}

// withoutEnvelope leaves out the line by which a mailbox divides its mails. It looks like "From ann@example.com Wed Mar
// 4 10:15:00 2026" and is no header, as it has no colon behind its name.
func withoutEnvelope(data []byte) []byte {
	if line, rest, ok := bytes.Cut(data, []byte("\n")); ok && bytes.HasPrefix(line, []byte("From ")) {
		return rest
	}
	return data
}

// hasHeaders reports whether a text begins with headers of a mail: names, a colon, values. A name has 1 to 60 printable
// characters of ASCII without spaces here; RFC 5322 §2.2 has no limit, real ones are short.
func hasHeaders(head []byte) bool {
	first, _, _ := bytes.Cut(head, []byte(":"))
	if len(first) == 0 || len(first) > 60 {
		return false
	}
	for _, c := range first {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}
