// Package webtext decodes the text of web pages.
package webtext

import (
	"bytes"
	"io"

	"golang.org/x/net/html/charset"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/locale"
)

// InUTF8 decodes a text with the encoding that its server declares, and prepends a byte order mark (U+FEFF), which
// defines the encoding for the parser. A text with its own mark keeps that one. It returns [chat.CodeTooLarge] for
// more than most bytes of UTF-8.
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
		Code: chat.CodeTooLarge, Message: locale.Say("The page exceeds the limit of {1} MiB.", most>>20),
	}
}
