package office

import (
	"bufio"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/footnote/footnote/corpus/extract/ooxml"
)

// part is a part of XML that is being rewritten. Elements stay, so that the order of everything does; attributes and
// texts that refer to something outside of the package go. Processing instructions, comments and document types go too.
type part struct {
	dir  string                 // of the part in the package
	has  func(name string) bool // whether the package has a member
	in   *ooxml.Decoder
	room *int64 // bytes that may be read up to the end of a token
}

// newPart returns the part of a name that r reads.
func newPart(name string, has func(string) bool, r io.Reader) *part {
	dir := path.Dir(name)
	if strings.HasSuffix(name, ".rels") { // a part's relationships lie in a folder beside it
		dir = path.Dir(dir)
	}
	room := int64(maxToken)
	return &part{dir: dir, has: has, in: ooxml.NewDecoder(&limited{r: r, left: &room}), room: &room}
}

// rewrite writes the part.
func (p *part) rewrite(to io.Writer) error {
	w := bufio.NewWriter(to)
	if _, err := w.WriteString(`<?xml version="1.0" encoding="UTF-8"?>`); err != nil {
		return err
	}
	var within []string // the open elements, without their prefixes
	var text []byte     // up to the next tag
	for {
		token, err := p.in.Next()
		if errors.Is(err, io.EOF) {
			return w.Flush()
		}
		if err != nil {
			return err
		}
		if more, ok := token.(xml.CharData); ok { // comments may lie between
			text = append(text, more...)
			continue
		}
		if len(text) > 0 && len(within) > 0 && keepsText(within[len(within)-1], text) {
			if err := xml.EscapeText(w, text); err != nil {
				return err
			}
		}
		text, *p.room = text[:0], maxToken
		switch t := token.(type) {
		case xml.StartElement:
			within = append(within, t.Name.Local)
			if err := p.begin(w, t); err != nil {
				return err
			}
		case xml.EndElement:
			within = within[:max(len(within)-1, 0)]
			if _, err := w.WriteString("</" + qualified(t.Name) + ">"); err != nil {
				return err
			}
		}
	}
}

// begin writes an element's tag.
func (p *part) begin(w *bufio.Writer, e xml.StartElement) error {
	if _, err := w.WriteString("<" + qualified(e.Name)); err != nil {
		return err
	}
	for _, a := range e.Attr {
		value, ok := p.attribute(e, a)
		if !ok {
			continue
		}
		_, err := w.WriteString(" " + qualified(a.Name) + `="`)
		err = errors.Join(err, xml.EscapeText(w, []byte(value)), w.WriteByte('"'))
		if err != nil {
			return err
		}
	}
	return w.WriteByte('>')
}

// qualified is a name with its prefix.
func qualified(name xml.Name) string {
	if name.Space == "" {
		return name.Local
	}
	return name.Space + ":" + name.Local
}

// nowhere takes the place of a target that is outside. It is a valid IRI that nothing resolves.
const nowhere = "about:invalid"

// attribute returns the value that an attribute is to have; false: the attribute goes.
func (p *part) attribute(e xml.StartElement, a xml.Attr) (string, bool) {
	name, value := a.Name.Local, a.Value
	if a.Name.Space == "xmlns" || name == "xmlns" {
		return value, true
	}
	if e.Name.Local == "Relationship" {
		return p.relationship(e, name, value), true
	}
	switch {
	case slices.Contains(references, strings.ToLower(name)):
		return value, p.isInside(value)
	case strings.HasPrefix(strings.ToLower(name), "dde"):
		return "", false
	case name == "instr":
		return value, isHarmlessField(value)
	case strings.HasSuffix(strings.ToLower(name), "formula"):
		return value, isHarmlessFormula(value)
	}
	return value, !isOutside(value)
}

// references are the attributes, without their prefixes, whose value is the address of something.
var references = []string{
	"href", "src", "link", "background", "image-data", "archive", "codebase", "action", "url", "sourcefile",
	"destinationfile", "connection", "connection-resource", "base",
}

// relationship returns the value of an attribute of a relationship (ECMA-376 part 2). A relationship that leads out of
// the package, or to a file embedded in it, leads nowhere.
func (p *part) relationship(e xml.StartElement, name, value string) string {
	target, mode := ooxml.Attr(e, "Target"), ooxml.Attr(e, "TargetMode")
	kind := path.Base(ooxml.Attr(e, "Type"))
	leads := mode != "" && mode != "Internal" || slices.Contains(embedded, strings.ToLower(kind))
	if unescaped, err := url.PathUnescape(target); err != nil {
		leads = true
	} else if path.IsAbs(unescaped) {
		leads = leads || !p.has(path.Clean(unescaped)[1:])
	} else {
		leads = leads || !p.has(path.Join(p.dir, unescaped))
	}
	if !leads {
		return value
	}
	switch name {
	case "Target":
		return nowhere
	case "TargetMode":
		return "External"
	}
	return value
}

// embedded are the kinds of relationships to what a program would have to open: other documents, programs and macros.
var embedded = []string{
	"afchunk", "subdocument", "attachedtemplate", "oleobject", "package", "control", "activexcontrolbinary",
	"vbaproject", "externallinkpath", "video", "audio", "media", "mailmergesource", "frame",
}

// isInside reports whether an address is that of a member of the package or a place in the same part.
func (p *part) isInside(address string) bool {
	address = strings.TrimSpace(address)
	if address == "" || address[0] == '#' {
		return true
	}
	if strings.ContainsAny(address, `:\%?`) || path.IsAbs(address) || strings.Contains(address, "..") {
		return false
	}
	address, _, _ = strings.Cut(address, "#")
	return p.has(path.Clean(address)) || p.has(path.Join(p.dir, address))
}

// outside fits a value that names a file, a server or a program in any form that LibreOffice opens.
var outside = regexp.MustCompile(`(?i)^[\s'"]*(?:[\\/]{2}|[a-z]:[\\/]|(?:file|https?|ftps?|sftp|smb|davs?|webdavs?|` +
	`vnd\.[a-z0-9.+-]+|private|data|macro|script|javascript|mailto|service|slot|hid)[:|])|` +
	`\b(?:file|https?|ftps?|sftp|smb|davs?|webdavs?|vnd\.sun\.star[a-z.]*):|url\s*\(\s*["]?\s*[^#"\s]`)

// isOutside reports whether a value names something outside of the package. Names of XML's vocabularies are written as
// addresses and name nothing.
func isOutside(value string) bool {
	if !strings.ContainsAny(value, `:\/(|`) {
		return false
	}
	for _, vocabulary := range []string{
		"http://schemas.openxmlformats.org/", "http://schemas.microsoft.com/", "http://purl.oclc.org/ooxml/",
		"http://purl.org/", "http://www.w3.org/", "http://openoffice.org/", "http://docs.oasis-open.org/",
	} {
		if strings.HasPrefix(value, vocabulary) {
			return false
		}
	}
	return outside.MatchString(value)
}

// keepsText reports whether the text inside an element may stay.
func keepsText(element string, text []byte) bool {
	switch strings.ToLower(element) {
	case "instrtext", "delinstrtext":
		return isHarmlessField(string(text))
	case "f", "formula", "formula1", "formula2", "definedname", "calculatedcolumnformula":
		return isHarmlessFormula(string(text))
	case "binary-data", "bindata", "binarydata":
		// A picture. Four characters of base64 are three bytes; SVG would be recognised by its first bytes.
		head := strings.Join(strings.Fields(string(text[:min(len(text), 2*headBytes)])), "")
		head = head[:len(head)/4*4]
		decoded, err := base64.StdEncoding.DecodeString(head)
		return head == "" || err == nil && isPicture(decoded)
	case "style": // of an SVG
		return !isOutside(string(text)) && !strings.Contains(string(text), "@import")
	}
	return true
}

// harmless are the field codes of Word that show something of the document itself (ECMA-376 part 1 §17.16.5). All other
// fields show the result that is stored with them.
var harmless = []string{
	"PAGE", "NUMPAGES", "SECTIONPAGES", "SECTION", "DATE", "TIME", "CREATEDATE", "SAVEDATE", "PRINTDATE", "REF",
	"PAGEREF", "NOTEREF", "STYLEREF", "SEQ", "TOC", "TITLE", "SUBJECT", "AUTHOR", "EQ", "SYMBOL", "FORMTEXT",
	"FORMCHECKBOX", "FORMDROPDOWN",
}

// isHarmlessField reports whether a field code begins with a name that is known to be harmless. A code may be written
// in several pieces: the first one decides which field it is, and is only kept whole.
func isHarmlessField(code string) bool {
	words := strings.Fields(code)
	return len(words) == 0 || slices.Contains(harmless, strings.ToUpper(words[0])) && !isOutside(code)
}

// isHarmlessFormula reports whether a formula refers to its own workbook alone. The value of another stays as it was
// stored.
func isHarmlessFormula(formula string) bool {
	upper := strings.ToUpper(formula)
	return !strings.Contains(upper, "DDE") && !strings.Contains(upper, "WEBSERVICE") &&
		!strings.Contains(upper, "'#") && !strings.Contains(upper, "://") && !strings.Contains(upper, `\\`) &&
		!outside.MatchString(formula)
}
