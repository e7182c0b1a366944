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

// maxDepth is how deep elements may lie in each other. Readers call themselves for each level, and Go's stack would
// grow with a forged file's depth.
const maxDepth = 1000

// Decoder reads an XML part token by token. Names are without their prefixes, entities but XML's own five fail, and
// elements too deep in each other fail. It reads on a stream and keeps no tree, so that the largest sheet needs no
// memory for its XML. Each method below begins where an element has begun, and all but Next read exactly that element:
// a visit that leaves something unread, or reads too much, puts every later one out of step. It is not safe for
// concurrent use.
type Decoder struct {
	xml   *xml.Decoder
	depth int
}

// NewDecoder reads from r, which is in UTF-8, in what its declaration says, or in UTF-16 with or without a mark. Go's
// decoder takes UTF-8 only, and asks CharsetReader for the rest, which is too late for UTF-16: it can't read even the
// declaration there. That is why the first two bytes are looked at.
func NewDecoder(r io.Reader) *Decoder {
	buffered := bufio.NewReader(r)
	r = buffered
	head, _ := buffered.Peek(2) // of less the decoder tells
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
		if wide { // it is decoded
			return in, nil
		}
		return charset.NewReaderLabel(label, in)
	}
	return &Decoder{xml: d}
}

// Next returns the next token: an xml.StartElement, an xml.EndElement or xml.CharData; the others are passed over.
// io.EOF is the end; what is no XML is a *corpus.Failure. RawToken doesn't compare closing tags with opening ones,
// which takes time and tells nothing that counts here; a tag that is missing shows as an end of file in the middle.
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
					Detail: "This file is nested too deep to be read. Save it as PDF and add that."}
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

// Skip passes over everything up to the end of the element that began last.
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

// Children calls visit for each element right inside the one that began last. visit reads the element up to its end. It
// returns behind the element's end, or with the first error of visit.
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

// Root calls visit for the document's root element. It returns when visit does; what follows the root is not looked at.
func (d *Decoder) Root(visit func(xml.StartElement) error) error {
	for {
		token, err := d.Next()
		if err != nil {
			return unexpected(err)
		}
		if t, ok := token.(xml.StartElement); ok {
			return visit(t)
		}
	}
}

// Text returns the character data of the element that began last, which it reads to its end. Text of elements inside it
// is a part of it.
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

// unexpected makes an end of the file inside an element a failure of the file.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return Damaged
	}
	return err
}

// Attr returns an attribute by its name without prefix, empty if it is missing. Of two attributes with one name and
// different prefixes it is the first.
func Attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// IntAttr returns an attribute as a number, otherwise if it is missing or none.
func IntAttr(e xml.StartElement, name string, otherwise int) int {
	n, err := strconv.Atoi(Attr(e, name))
	if err != nil {
		return otherwise
	}
	return n
}

// IsOn reports whether an element that switches something on does: its attribute val is missing or says so. These are
// the values of ST_OnOff in both forms of ECMA-376, and "none", which some properties have.
func IsOn(e xml.StartElement) bool {
	switch Attr(e, "val") {
	case "0", "false", "off", "none":
		return false
	}
	return true
}
