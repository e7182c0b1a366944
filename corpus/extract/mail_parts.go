package extract

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"strings"

	"golang.org/x/net/html/charset"

	"github.com/footnote/footnote/corpus/extract/doctext"
)

const (
	// Real mails nest three or four parts and have a few dozen. Forged ones nest thousands.
	maxMailDepth  = 20 // nesting depth of parts
	maxMailParts  = 2000
	maxHeaderText = 64 << 10 // bytes of a header's value; the rest is cut
)

// mailParser parses the MIME parts of a mail. A damaged part doesn't affect the others. text and html concatenate
// the parts of either kind in order, since some programs send a text in several parts.
type mailParser struct {
	letter     letter
	text, html strings.Builder
	parts      int
}

// parseMail parses a mail and returns every part that is readable. It never fails: a file without headers becomes a
// mail whose text is the whole file.
func parseMail(data []byte) letter {
	r := bufio.NewReader(bytes.NewReader(withoutEnvelope(data)))
	header := readHeader(r)
	p := mailParser{letter: letter{
		from: shownHeader(header, "From"), to: shownHeader(header, "To"), cc: shownHeader(header, "Cc"),
		subject: shownHeader(header, "Subject"),
	}}
	if sent, err := mail.ParseDate(header.Get("Date")); err == nil {
		p.letter.sent = sent
	}
	p.readPart(header, r, 0)
	p.letter.text, p.letter.html = p.text.String(), p.html.String()
	return p.letter
}

// readHeader parses header lines up to a blank line. It skips malformed lines; net/textproto stops at the first one,
// which would lose the whole mail. Folded lines (RFC 5322 §2.2.3) are joined by a space. A value is cut at
// maxHeaderText bytes.
func readHeader(r *bufio.Reader) textproto.MIMEHeader {
	header := textproto.MIMEHeader{}
	last := ""
	for {
		line, err := readLine(r)
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			return header
		}
		if line[0] == ' ' || line[0] == '\t' {
			if values := header[last]; len(values) > 0 && len(values[len(values)-1]) < maxHeaderText {
				values[len(values)-1] += " " + string(bytes.TrimSpace(line))
			}
		} else if name, value, ok := strings.Cut(string(line), ":"); ok {
			last = textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name))
			header[last] = append(header[last], strings.TrimSpace(value[:min(len(value), maxHeaderText)]))
		}
		if err != nil {
			return header
		}
	}
}

// encodedWords decodes the encoded words of RFC 2047 in any encoding of browsers. The standard library supports
// three.
var encodedWords = mime.WordDecoder{CharsetReader: charset.NewReaderLabel}

// shownHeader returns the decoded value of a header on one line.
func shownHeader(header textproto.MIMEHeader, name string) string {
	return doctext.Line(decodedWords(strings.Join(header[name], ", ")))
}

// decodedWords decodes the encoded words of a header's value. Bytes above ASCII, which are invalid but common in
// headers, are decoded like a text file.
func decodedWords(s string) string {
	if words, err := encodedWords.DecodeHeader(s); err == nil {
		s = words
	}
	return decoded([]byte(s), "")
}

// readPart parses a part by its header. A part is an attachment if its disposition is "attachment", or if it has a
// name and is no text. An attached mail is kept whole, as a file ".eml". Both text alternatives are kept; writeBody
// chooses. Data that can't be decoded completely is used up to the error. A multipart without a boundary is read as
// text.
func (p *mailParser) readPart(header textproto.MIMEHeader, body io.Reader, depth int) {
	kind, parameters := mediaType(header.Get("Content-Type"))
	if p.parts++; p.parts > maxMailParts || depth > maxMailDepth {
		return
	}
	if strings.HasPrefix(kind, "multipart/") && parameters["boundary"] != "" {
		p.readParts(multipart.NewReader(body, parameters["boundary"]), depth)
		return
	}
	disposition, more := mediaType(header.Get("Content-Disposition"))
	name := decodedWords(cmp.Or(more["filename"], parameters["name"]))
	data, _ := io.ReadAll(transferDecoder(header.Get("Content-Transfer-Encoding"), body)) // up to a decoding error
	id := strings.Trim(strings.TrimSpace(header.Get("Content-Id")), "<>")
	switch {
	case disposition == "attachment" || name != "" && !strings.HasPrefix(kind, "text/"):
		p.attach(cmp.Or(name, "attachment"), id, data)
	case kind == "message/rfc822":
		p.attach(cmp.Or(name, "message.eml"), id, data)
	case strings.HasPrefix(kind, "image/"):
		p.attach("picture."+strings.TrimPrefix(kind, "image/"), id, data)
	case kind == "text/html":
		p.html.WriteString(decoded(data, parameters["charset"], declaredCharset(data)) + "\n")
	case strings.HasPrefix(kind, "text/") && name == "" || kind == "" || strings.HasPrefix(kind, "multipart/"):
		p.text.WriteString(decoded(data, parameters["charset"]) + "\n")
	case name != "":
		p.attach(name, id, data)
	}
}

// readParts parses the parts between the boundaries (RFC 2046 §5.1). NextRawPart leaves the transfer encoding to
// transferDecoder, which is more lenient than the standard library.
func (p *mailParser) readParts(parts *multipart.Reader, depth int) {
	for p.parts <= maxMailParts {
		part, err := parts.NextRawPart()
		if err != nil { // the end, or a damaged part
			return
		}
		p.readPart(part.Header, part, depth+1)
	}
}

func (p *mailParser) attach(name, id string, data []byte) {
	p.letter.attachments = append(p.letter.attachments, attachment{name, id, data})
}

// mediaType parses a header such as "text/plain; charset=utf-8". For a malformed one it returns the part before the
// first semicolon.
func mediaType(value string) (kind string, parameters map[string]string) {
	kind, parameters, err := mime.ParseMediaType(value)
	if err != nil && kind == "" {
		kind, _, _ = strings.Cut(value, ";")
		kind = strings.ToLower(strings.TrimSpace(kind))
	}
	return kind, parameters
}

// transferDecoder decodes a Content-Transfer-Encoding. The encodings are those of RFC 2045 §6; 7bit, 8bit and binary
// are not encoded.
func transferDecoder(encoding string, body io.Reader) io.Reader {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "base64":
		return base64.NewDecoder(base64.StdEncoding, base64Letters{body})
	case "quoted-printable":
		return quotedprintable.NewReader(body)
	}
	return body
}

// base64Letters drops all characters outside the base64 alphabet, as RFC 2045 §6.8 requires. The standard decoder
// ignores only line ends.
type base64Letters struct{ r io.Reader }

// Read implements io.Reader.
func (b base64Letters) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	kept := 0
	for _, c := range p[:n] {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '=' {
			p[kept] = c
			kept++
		}
	}
	return kept, err
}
