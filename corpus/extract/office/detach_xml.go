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

// part is an XML part that is being rewritten. Elements are kept in order. Attributes and text with references
// outside of the package are dropped, and so are processing instructions, comments and document types.
type part struct {
	dir  string                 // of the part in the package
	has  func(name string) bool // reports whether the package has a member
	in   *ooxml.Decoder
	room *int64 // remaining bytes for the current token
}

// newPart returns the part of that name with the content of r.
func newPart(name string, has func(string) bool, r io.Reader) *part {
	dir := path.Dir(name)
	if strings.HasSuffix(name, ".rels") { // a part's relationships are in a folder beside it
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
	var within []string // names of the open elements, without prefixes
	var text []byte     // up to the next tag
	for {
		token, err := p.in.Next()
		if errors.Is(err, io.EOF) {
			return w.Flush()
		}
		if err != nil {
			return err
		}
		if more, ok := token.(xml.CharData); ok { // comments may be in between
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

// begin writes a start tag.
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

// qualified returns a name with its prefix.
func qualified(name xml.Name) string {
	if name.Space == "" {
		return name.Local
	}
	return name.Space + ":" + name.Local
}

// nowhere replaces an external target. It is a valid IRI that never resolves.
const nowhere = "about:invalid"

// attribute returns the new value of an attribute; false: it is dropped.
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

// references holds the attributes, without prefixes, whose value is a URL.
var references = []string{
	"href", "src", "link", "background", "image-data", "archive", "codebase", "action", "url", "sourcefile",
	"destinationfile", "connection", "connection-resource", "base",
}

// relationship returns the new value of an attribute of a relationship (ECMA-376 part 2). A relationship to an
// external target, or to a file embedded in the package, is replaced by nowhere.
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

// embedded holds the relationship types of targets that a program would have to open: other documents, programs and
// macros.
var embedded = []string{
	"afchunk", "subdocument", "attachedtemplate", "oleobject", "package", "control", "activexcontrolbinary",
	"vbaproject", "externallinkpath", "video", "audio", "media", "mailmergesource", "frame",
}

// isInside reports whether a URL refers to a member of the package or a place in the same part.
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

// outside matches a value that refers to a file, a server or a program in any form that LibreOffice opens.
var outside = regexp.MustCompile(`(?i)^[\s'"]*(?:[\\/]{2}|[a-z]:[\\/]|(?:file|https?|ftps?|sftp|smb|davs?|webdavs?|` +
	`vnd\.[a-z0-9.+-]+|private|data|macro|script|javascript|mailto|service|slot|hid)[:|])|` +
	`\b(?:file|https?|ftps?|sftp|smb|davs?|webdavs?|vnd\.sun\.star[a-z.]*):|url\s*\(\s*["]?\s*[^#"\s]`)

// isOutside reports whether a value refers to something outside of the package. URLs of XML namespaces are allowed,
// because they are only identifiers.
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

// keepsText reports whether the text of an element is kept.
func keepsText(element string, text []byte) bool {
	switch strings.ToLower(element) {
	case "instrtext", "delinstrtext":
		return isHarmlessField(string(text))
	case "f", "formula", "formula1", "formula2", "definedname", "calculatedcolumnformula":
		return isHarmlessFormula(string(text))
	case "binary-data", "bindata", "binarydata":
		// An encoded picture. Four characters of base64 are three bytes; SVG would be detected by its first bytes.
		head := strings.Join(strings.Fields(string(text[:min(len(text), 2*headBytes)])), "")
		head = head[:len(head)/4*4]
		decoded, err := base64.StdEncoding.DecodeString(head)
		return head == "" || err == nil && isPicture(decoded)
	case "style": // of an SVG
		return !isOutside(string(text)) && !strings.Contains(string(text), "@import")
	}
	return true
}

// harmless holds the field codes of Word that display content of the document (ECMA-376 part 1 §17.16.5). All other
// fields display their stored result.
var harmless = []string{
	"PAGE", "NUMPAGES", "SECTIONPAGES", "SECTION", "DATE", "TIME", "CREATEDATE", "SAVEDATE", "PRINTDATE", "REF",
	"PAGEREF", "NOTEREF", "STYLEREF", "SEQ", "TOC", "TITLE", "SUBJECT", "AUTHOR", "EQ", "SYMBOL", "FORMTEXT",
	"FORMCHECKBOX", "FORMDROPDOWN",
}

// isHarmlessField reports whether a field code begins with the name of a harmless field. A code may be split into
// several pieces: the first one has the name, and is kept only if it is complete.
func isHarmlessField(code string) bool {
	words := strings.Fields(code)
	return len(words) == 0 || slices.Contains(harmless, strings.ToUpper(words[0])) && !isOutside(code)
}

// isHarmlessFormula reports whether a formula refers only to its own workbook. Values from other workbooks keep
// their stored result.
func isHarmlessFormula(formula string) bool {
	upper := strings.ToUpper(formula)
	return !strings.Contains(upper, "DDE") && !strings.Contains(upper, "WEBSERVICE") &&
		!strings.Contains(upper, "'#") && !strings.Contains(upper, "://") && !strings.Contains(upper, `\\`) &&
		!outside.MatchString(formula)
}
