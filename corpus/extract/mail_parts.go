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
	// Real mails nest three or four parts and hold a few dozen. Forged ones nest thousands.
	maxMailDepth  = 20 // parts in each other
	maxMailParts  = 2000
	maxHeaderText = 64 << 10 // bytes of a header's value that are read
)

// mailParser reads the parts of a mail. What is damaged in one part does not cost the others. text and html collect the
// parts of either kind in the order of the mail, since some programs send a text in pieces.
type mailParser struct {
	letter     letter
	text, html strings.Builder
	parts      int
}

// parseMail reads a mail. Whatever can be understood of it is in the result. It never fails: a file that is no mail at
// all is a mail without headers, whose text is the whole file.
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

// readHeader reads header lines up to a blank line. A line that is none is passed over. Go's own net/textproto stops at
// the first line that is none, which would cost the whole mail. Folded lines (RFC 5322 §2.2.3) are joined by a space; a
// value is cut at maxHeaderText bytes.
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

// encodedWords decodes the words of RFC 2047 in any encoding that browsers know; Go alone knows three.
var encodedWords = mime.WordDecoder{CharsetReader: func(name string, in io.Reader) (io.Reader, error) {
	return charset.NewReaderLabel(name, in)
}}

// shownHeader is the value of a header as people read it.
func shownHeader(header textproto.MIMEHeader, name string) string {
	return doctext.Line(decodedWords(strings.Join(header[name], ", ")))
}

// decodedWords is a header's value with its encoded words read. Bytes above ASCII, which no header may have and many
// do, are then looked at like those of a text file.
func decodedWords(s string) string {
	if words, err := encodedWords.DecodeHeader(s); err == nil {
		s = words
	}
	return decoded([]byte(s), "")
}

// readPart reads a part by its header. A part is a file if it says so, or if it has a name and is no text; a mail in it
// stays whole, as a file ".eml". Parts of the text alternatives are both kept: writeBody chooses. Data that can't be
// decoded to its end counts as far as it goes. A multipart without a boundary is shown as text, since that is all it
// is.
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
	data, _ := io.ReadAll(transferDecoder(header.Get("Content-Transfer-Encoding"), body)) // as far as it goes
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

// readParts reads the parts between the boundaries (RFC 2046 §5.1). NextRawPart leaves a part's transfer encoding to
// us, which is more lenient than Go's.
func (p *mailParser) readParts(parts *multipart.Reader, depth int) {
	for p.parts <= maxMailParts {
		part, err := parts.NextRawPart()
		if err != nil { // the end, or as far as it goes
			return
		}
		p.readPart(part.Header, part, depth+1)
	}
}

// attach keeps a file of the mail. Its data is in memory already, so that opening it never fails.
func (p *mailParser) attach(name, id string, data []byte) {
	p.letter.attachments = append(p.letter.attachments, attachment{name, id, func() (io.Reader, error) {
		return bytes.NewReader(data), nil
	}})
}

// mediaType reads a header such as "text/plain; charset=utf-8". Of one that is malformed the first word counts.
func mediaType(value string) (kind string, parameters map[string]string) {
	kind, parameters, err := mime.ParseMediaType(value)
	if err != nil && kind == "" {
		kind, _, _ = strings.Cut(value, ";")
		kind = strings.ToLower(strings.TrimSpace(kind))
	}
	return kind, parameters
}

// transferDecoder undoes a Content-Transfer-Encoding. The encodings are those of RFC 2045 §6; 7bit, 8bit and binary
// mean that nothing is encoded.
func transferDecoder(encoding string, body io.Reader) io.Reader {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "base64":
		return base64.NewDecoder(base64.StdEncoding, &base64Letters{r: body})
	case "quoted-printable":
		return quotedprintable.NewReader(body)
	}
	return body
}

// base64Letters drops everything that is no letter of base64, as mail programs do. RFC 2045 §6.8 asks for it; Go's
// decoder takes no other characters than line ends.
type base64Letters struct{ r io.Reader }

// Read implements io.Reader. It reads on until it has kept something, because a Read without bytes and without an error
// would make the decoder give up.
func (b *base64Letters) Read(p []byte) (int, error) {
	for {
		n, err := b.r.Read(p)
		kept := 0
		for _, c := range p[:n] {
			if c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '+' || c == '/' ||
				c == '=' {
				p[kept] = c
				kept++
			}
		}
		if kept > 0 || err != nil {
			return kept, err
		}
	}
}
