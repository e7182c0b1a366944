package ooxml

import (
	"bufio"
	"encoding/xml"
	"errors"
	"io"
	"strconv"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/footnote/footnote/corpus"
)

// maxDepth is the maximum nesting of elements. Readers are recursive, and Go's stack would grow with the depth of a
// malicious file.
const maxDepth = 1000

// Decoder parses an XML part token by token. Names have no prefixes, only XML's five predefined entities are
// decoded, and nesting beyond maxDepth fails. It parses a stream and builds no tree, so that memory is independent
// of the part's size. Each method below starts after a start tag, and all but Next read exactly that element. A
// visit function that reads less or more desynchronises all later calls. It is not safe for concurrent use.
type Decoder struct {
	Root  xml.StartElement // of a part that Package.Decode opened
	xml   *xml.Decoder
	depth int
}

// NewDecoder returns a Decoder for r. The encoding is UTF-8, the declared one, or UTF-16 with or without a byte
// order mark. Go's decoder supports UTF-8 only and calls CharsetReader for other encodings. That is too late for
// UTF-16, in which it can't parse the declaration. The first two bytes therefore identify UTF-16.
func NewDecoder(r io.Reader) *Decoder {
	buffered := bufio.NewReader(r)
	r = buffered
	head, _ := buffered.Peek(2) // for shorter input the decoder reports an error
	wide := true
	switch string(head) {
	case "\xff\xfe", "<\x00":
		r = transform.NewReader(r, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder())
	case "\xfe\xff", "\x00<":
		r = transform.NewReader(r, unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewDecoder())
	default:
		wide = false
	}
	d := xml.NewDecoder(r)
	d.CharsetReader = func(label string, in io.Reader) (io.Reader, error) {
		if wide { // already decoded
			return in, nil
		}
		return charset.NewReaderLabel(label, in)
	}
	return &Decoder{xml: d}
}

// Next returns the next token: an xml.StartElement, an xml.EndElement or xml.CharData; others are skipped. It
// returns io.EOF at the end, and a *corpus.Failure for invalid XML. RawToken doesn't match closing tags with opening
// ones, which would be slow and isn't needed here. A missing tag results in an unexpected end of the file.
func (d *Decoder) Next() (xml.Token, error) {
	for {
		token, err := d.xml.RawToken()
		if _, ok := errors.AsType[*corpus.Failure](err); ok || errors.Is(err, io.EOF) {
			return nil, err
		}
		if err != nil {
			return nil, errors.Join(Damaged, err)
		}
		switch token.(type) {
		case xml.StartElement:
			if d.depth++; d.depth > maxDepth {
				return nil, &corpus.Failure{Code: "broken",
					Detail: "This file is nested too deeply. Save it as PDF and add the PDF."}
			}
			return token, nil
		case xml.EndElement:
			d.depth--
			return token, nil
		case xml.CharData:
			return token, nil
		}
	}
}

// Skip reads to the end of the current element.
func (d *Decoder) Skip() error {
	for depth := 1; depth > 0; {
		token, err := d.Next()
		if err != nil {
			return unexpected(err)
		}
		switch token.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		}
	}
	return nil
}

// Children calls visit for each direct child of the current element. visit must read the child to its end. Children
// returns after the end of the element, or with the first error of visit.
func (d *Decoder) Children(visit func(xml.StartElement) error) error {
	for {
		token, err := d.Next()
		if err != nil {
			return unexpected(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if err := visit(t); err != nil {
				return err
			}
		case xml.EndElement:
			return nil
		}
	}
}

// Text returns the character data of the current element and its descendants. It reads the element to its end.
func (d *Decoder) Text() (string, error) {
	var text []byte
	for depth := 1; depth > 0; {
		token, err := d.Next()
		if err != nil {
			return "", unexpected(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		case xml.CharData:
			text = append(text, t...)
		}
	}
	return string(text), nil
}

// unexpected converts an end of the file inside an element to a failure of the file.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return Damaged
	}
	return err
}

// Attr returns an attribute by its name without prefix, "" without one. Of several with different prefixes it
// returns the first.
func Attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// IntAttr parses an attribute as a number. It returns otherwise if the attribute is missing or invalid.
func IntAttr(e xml.StartElement, name string, otherwise int) int {
	n, err := strconv.Atoi(Attr(e, name))
	if err != nil {
		return otherwise
	}
	return n
}

// IsOn parses a toggle element, which is on if its attribute val is missing. The values for off are those of
// ST_OnOff in both forms of ECMA-376, and "none", which some properties have.
func IsOn(e xml.StartElement) bool {
	switch Attr(e, "val") {
	case "0", "false", "off", "none":
		return false
	}
	return true
}
