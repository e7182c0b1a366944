package feed

import (
	"bytes"
	"encoding/xml"
	"slices"

	"golang.org/x/net/html/charset"

	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/request"
)

// Limits of a feed beside its size in bytes. gofeed allocates up to 1 KiB for each element, recurses into nested
// elements, copies all namespaces for each element, and concatenates the pieces of a text one by one.
const (
	maxNodes      = 150_000 // elements, attributes, comments and instructions; values of JSON
	maxDepth      = 100     // nesting of elements or values
	maxAttributes = 100     // of an element
	maxToken      = 2 << 20 // bytes of one text or tag
	maxCopied     = 1 << 30 // bytes copied by concatenating the pieces of texts
)

// bounded fails with sources.ErrTooLarge for a feed that would exceed the limits in gofeed. It returns the feed as
// gofeed tokenizes it. Invalid feeds pass, as gofeed rejects them.
func bounded(raw []byte) ([]byte, error) {
	start := bytes.TrimLeft(raw, "\x00\xef\xbb\xbf\xfe\xff \t\r\n")
	if bytes.HasPrefix(start, []byte("{")) {
		return raw, boundJSON(raw)
	}
	// gofeed drops these bytes as well. Without zero bytes, UTF-16 becomes the ASCII that it contains.
	raw = slices.DeleteFunc(raw, func(b byte) bool { return b < ' ' && b != '\t' && b != '\n' && b != '\r' })
	return raw, boundXML(raw)
}

// boundXML counts XML tokens against the limits. It uses gofeed's decoder and options, so both parse the same
// elements in every encoding.
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

// onlyTooLarge returns sources.ErrTooLarge and drops other errors, which gofeed reports itself.
func onlyTooLarge(err error) error {
	if err == sources.ErrTooLarge { //nolint:errorlint // the decoder returns the reader's error unwrapped
		return err
	}
	return nil
}

// boundJSON counts values without decoding them: each comma or opening bracket outside of strings is one value.
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
