package feed

import (
	"bytes"
	"encoding/xml"
	"slices"

	"golang.org/x/net/html/charset"

	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/request"
)

// Limits of a feed beside its bytes. gofeed makes up to 1 KiB of each element, calls itself for elements in each other,
// copies all namespaces for each, and joins the pieces of a text one by one.
const (
	maxNodes      = 150_000 // elements, attributes, comments and instructions; values of JSON
	maxDepth      = 100     // of elements or values in each other
	maxAttributes = 100     // of an element
	maxToken      = 2 << 20 // bytes of one text, or of a tag
	maxCopied     = 1 << 30 // bytes that joining the pieces of texts copies
)

// bounded fails with sources.ErrTooLarge for a feed that would take gofeed too much. It returns the feed as gofeed
// tokenizes it; invalid feeds are left to gofeed.
func bounded(raw []byte) ([]byte, error) {
	start := bytes.TrimLeft(raw, "\x00\xef\xbb\xbf\xfe\xff \t\r\n")
	if bytes.HasPrefix(start, []byte("{")) {
		return raw, boundJSON(raw)
	}
	// gofeed drops these as well: without zero bytes, UTF-16 becomes the ASCII that is in it.
	raw = slices.DeleteFunc(raw, func(b byte) bool { return b < ' ' && b != '\t' && b != '\n' && b != '\r' })
	return raw, boundXML(raw)
}

// boundXML reads tokens with the decoder and the options of gofeed, so both see the same elements in every encoding.
func boundXML(raw []byte) error {
	token := request.NewParts(bytes.NewReader(raw), maxToken)
	d := xml.NewDecoder(token)
	d.Strict = false
	d.CharsetReader = charset.NewReaderLabel
	nodes, copied, texts := 0, 0, []int{0} // texts has the bytes of each open element's text
	for {
		t, err := d.Token()
		if err != nil {
			return onlyTooLarge(err)
		}
		token.Next()
		switch t := t.(type) {
		case xml.StartElement:
			if texts = append(texts, 0); len(texts) > maxDepth || len(t.Attr) > maxAttributes {
				return sources.ErrTooLarge
			}
			nodes += 1 + len(t.Attr)
		case xml.EndElement:
			texts = texts[:len(texts)-1]
		case xml.CharData:
			last := &texts[len(texts)-1]
			*last += len(t)
			copied += *last
		default:
			nodes++
		}
		if nodes > maxNodes || copied > maxCopied {
			return sources.ErrTooLarge
		}
	}
}

// onlyTooLarge passes that error on. gofeed meets any other where it was met.
func onlyTooLarge(err error) error {
	if err == sources.ErrTooLarge { //nolint:errorlint // the decoder returns the reader's error as it is
		return err
	}
	return nil
}

// boundJSON counts values without decoding them. A comma or a bracket outside of strings counts as one.
func boundJSON(raw []byte) error {
	values, depth, quoted := 0, 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			values, depth = values+1, depth+1
		case c == '}', c == ']':
			depth--
		case c == ',':
			values++
		}
		if values > maxNodes || depth > maxDepth {
			return sources.ErrTooLarge
		}
	}
	return nil
}
