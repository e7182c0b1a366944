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

	"footnote/corpus/extract/doctext"
)

const (
	maxMailDepth  = 20 // parts in each other
	maxMailParts  = 2000
	maxHeaderText = 64 << 10 // bytes of a header's value that are read
)

// mailParser reads the parts of a mail. What is damaged in one part does not cost the others.
type mailParser struct {
	letter     letter
	text, html strings.Builder
	parts      int
}

// parseMail reads a mail. Whatever can be understood of it is in the result.
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

// readHeader reads header lines up to a blank line. A line that is none is passed over.
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

var encodedWords = mime.WordDecoder{CharsetReader: func(name string, in io.Reader) (io.Reader, error) {
	return charset.NewReaderLabel(name, in)
}}

// shownHeader is the value of a header as people read it.
func shownHeader(header textproto.MIMEHeader, name string) string {
	return doctext.Line(decodedWords(strings.Join(header[name], ", ")))
}

func decodedWords(s string) string {
	if words, err := encodedWords.DecodeHeader(s); err == nil {
		s = words
	}
	return decoded([]byte(s), "")
}

// readPart reads a part by its header.
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

func (p *mailParser) readParts(parts *multipart.Reader, depth int) {
	for p.parts <= maxMailParts {
		part, err := parts.NextRawPart()
		if err != nil { // the end, or as far as it goes
			return
		}
		p.readPart(part.Header, part, depth+1)
	}
}

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

// transferDecoder undoes a Content-Transfer-Encoding.
func transferDecoder(encoding string, body io.Reader) io.Reader {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "base64":
		return base64.NewDecoder(base64.StdEncoding, &base64Letters{r: body})
	case "quoted-printable":
		return quotedprintable.NewReader(body)
	}
	return body
}

// base64Letters drops everything that is no letter of base64, as mail programs do.
type base64Letters struct{ r io.Reader }

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
