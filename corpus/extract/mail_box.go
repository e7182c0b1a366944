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
	// The mails of a mailbox are one document with a bounded number of blocks. Mails beyond the limit could not be
	// found in a search.
	maxLetters = 50_000
	maxLine    = 1 << 20 // bytes of a line of a mailbox
)

// readMailbox parses a mailbox, a file of concatenated mails (RFC 4155), each after a line "From ". Only one mail is
// in memory at a time. A "From " line separates mails only after a blank line. In the variant mboxrd, a mail's own
// lines of this form are escaped with ">", one of which is removed. The rest of a mail beyond maxMail bytes is
// skipped.
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
