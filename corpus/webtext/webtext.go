// Package webtext decodes the text of web pages.
package webtext

import (
	"bytes"
	"fmt"
	"io"

	"golang.org/x/net/html/charset"

	"github.com/footnote/footnote/chat"
)

// InUTF8 decodes a text whose server names its encoding and puts a byte order mark (U+FEFF) in front, which settles the
// encoding for its reader. A text with a mark of its own keeps that one. It fails with [chat.CodeTooLarge] for more
// than most bytes of UTF-8.
func InUTF8(body []byte, label string, most int) ([]byte, error) {
	if label == "" {
		return body, nil
	}
	r, err := charset.NewReaderLabel(label, bytes.NewReader(body))
	if err != nil {
		return body, nil //nolint:nilerr // an unknown encoding is guessed from the text
	}
	const mark = "\xef\xbb\xbf"
	text := bytes.NewBuffer(make([]byte, 0, len(mark)+len(body)+bytes.MinRead))
	text.WriteString(mark)
	n, err := text.ReadFrom(io.LimitReader(r, int64(most)+1))
	if n > int64(most) {
		return nil, TooLarge(most)
	}
	if own := text.Bytes()[len(mark):]; bytes.HasPrefix(own, []byte(mark)) {
		return own, err
	}
	return text.Bytes(), err
}

// TooLarge returns the error for a page of more than most bytes.
func TooLarge(most int) error {
	return &chat.Error{
		Code: chat.CodeTooLarge, Message: fmt.Sprintf("The page is larger than %d MiB, so it is not read.", most>>20),
	}
}
