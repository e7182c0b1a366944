package extract

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"net/mail"
	"net/textproto"
	"slices"
	"strings"
)

const (
	// Real mails nest three or four parts and have a few dozen. Forged ones nest thousands.
	maxMailDepth = 20 // nesting depth of parts
	maxMailParts = 2000
	maxHeaders   = 10_000 // of a part; the rest is skipped
	// Broken programs write two.
	maxContentTypes = 4
	maxHeaderText   = 64 << 10 // bytes of a header's value; the rest is cut
	maxPreamble     = 64 << 10 // bytes before the first part, if its boundary is unknown
)

// mailParser parses the MIME parts of a mail. A damaged part doesn't affect the others.
type mailParser struct {
	letter  letter
	tnef    []body // of parts that are Outlook's whole message
	charset string // of the first text with a declared one
	parts   int
}

// parseMail parses a mail and returns every part that is readable. It never fails: a file without headers becomes a
// mail whose text is the whole file. The text in Outlook's own format is an alternative of the others.
func parseMail(ctx context.Context, data []byte) letter {
	header, rest := readHeader(withoutEnvelope(data))
	p := mailParser{letter: letter{shown: map[string]bool{}}}
	all := p.readPart(ctx, header, rest, "text/plain", 0)
	l := &p.letter
	l.bodies = all
	if len(p.tnef) > 0 {
		texts, cards := splitCards(all)
		otherTexts, otherCards := splitCards(p.tnef)
		if len(cards) == 0 {
			cards = otherCards
		}
		l.bodies = append(choose(ctx, texts, otherTexts), cards...)
	}
	l.from, l.to = shownHeader(header, "From", p.charset), shownHeader(header, "To", p.charset)
	l.cc, l.subject = shownHeader(header, "Cc", p.charset), shownHeader(header, "Subject", p.charset)
	if sent, err := mail.ParseDate(header.Get("Date")); err == nil {
		l.sent = sent
	}
	return *l
}

// readHeader parses header lines up to a blank line and returns the data after it. It skips malformed lines;
// net/textproto stops at the first one, which would lose the whole mail. Folded lines (RFC 5322 §2.2.3) are joined by
// a space. A value is cut at maxHeaderText bytes. A boundary ends the header: some programs forget the blank line.
func readHeader(data []byte) (header textproto.MIMEHeader, rest []byte) {
	header = textproto.MIMEHeader{}
	last := ""
	for n := 0; len(data) > 0; n++ {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		if bytes.HasPrefix(line, []byte("--")) {
			break
		}
		data = rest
		line = bytes.TrimRight(line, "\r")
		if len(line) == 0 {
			break
		}
		if n > maxHeaders {
			continue
		}
		if line[0] == ' ' || line[0] == '\t' {
			if values := header[last]; len(values) > 0 && len(values[len(values)-1]) < maxHeaderText {
				values[len(values)-1] += " " + string(bytes.TrimSpace(line))
			}
		} else if name, value, ok := bytes.Cut(line, []byte(":")); ok {
			last = textproto.CanonicalMIMEHeaderKey(string(bytes.TrimSpace(name[:min(len(name), maxHeaderText)])))
			header[last] = append(header[last], string(bytes.TrimSpace(value[:min(len(value), maxHeaderText)])))
		}
	}
	return header, data
}

// readPart parses a part by its header and returns what is displayed of it. A part is an attachment if its
// disposition is "attachment", or if it has a name and is no text, or if nothing can display it. An attached mail is
// kept whole, as a file ".eml". Data that can't be decoded completely is used up to the error. A multipart without
// any boundary is read as text. A signed mail or file is read without its signature. otherwise is the kind of a part
// that declares none.
func (p *mailParser) readPart(
	ctx context.Context, header textproto.MIMEHeader, data []byte, otherwise string, depth int,
) []body {
	if p.parts++; p.parts > maxMailParts || depth > maxMailDepth {
		return nil
	}
	kind, parameters, parts := contentType(header, data)
	if len(parts) > 0 {
		startFirst(parts, parameters["start"])
		return p.readParts(ctx, kind, parts, depth)
	}
	kind = cmp.Or(kind, otherwise)
	disposition, more := mediaType(header.Get("Content-Disposition"))
	name := decodedWords(cmp.Or(more["filename"], parameters["name"]), p.charset)
	data = decodeTransfer(header.Get("Content-Transfer-Encoding"), data)
	id := strings.Trim(strings.TrimSpace(header.Get("Content-Id")), "<>")
	text := func(meta string) string {
		p.charset = cmp.Or(p.charset, parameters["charset"])
		return decoded(data, parameters["charset"], meta)
	}
	main, sub, _ := strings.Cut(kind, "/")
	inside, signed := []byte(nil), false
	if strings.HasSuffix(kind, "pkcs7-mime") {
		inside, signed = signedContent(data)
	}
	switch {
	case bytes.HasPrefix(data, tnefMagic) && p.readTNEF(ctx, data):
	case signed && hasHeaders(inside):
		header, data = readHeader(inside)
		return p.readPart(ctx, header, data, "text/plain", depth+1)
	case signed:
		p.attach(strings.TrimSuffix(name, ".p7m"), "application/pkcs7-mime", id, inside)
	case disposition == "attachment" || name != "" && main != "text":
		p.attach(name, kind, id, data)
	case kind == "text/html", kind == "application/xhtml+xml" && name == "":
		src := text(declaredCharset(data)) + "\n"
		maps.Copy(p.letter.shown, shownParts(src))
		return []body{{htmlBody, src}}
	case cardKinds[kind] && (name == "" || kind == "text/calendar"):
		src := text("")
		if all := parseCards(ctx, src); len(all.entries) > 0 {
			if all.method == "" {
				src = "METHOD:" + parameters["method"] + "\n" + src
			}
			return []body{{cardBody, src}}
		}
		p.attach(name, kind, id, data)
	case name != "":
		p.attach(name, kind, id, data)
	case kind == "text/plain" || main == "multipart":
		var files []attachment
		data, files = takeUU(data)
		p.letter.attachments = append(p.letter.attachments, files...)
		src := text("") + "\n"
		if strings.EqualFold(parameters["format"], "flowed") {
			src = unflow(src, strings.EqualFold(parameters["delsp"], "yes"))
		}
		return []body{{plainBody, src}}
	case main == "text", main == "message" && sub != "rfc822" && sub != "global": // also reports of delivery
		return []body{{otherBody, text("") + "\n"}}
	default:
		p.attach(name, kind, id, data)
	}
	return nil
}

// startFirst moves the part that a multipart/related names as its main one (RFC 2387 §3.2) before the others.
func startFirst(parts [][]byte, start string) {
	if start = strings.Trim(start, "<> "); start == "" {
		return
	}
	at := slices.IndexFunc(parts, func(part []byte) bool {
		header, _ := readHeader(part)
		return strings.Trim(header.Get("Content-Id"), "<> ") == start
	})
	for ; at > 0; at-- {
		parts[at], parts[at-1] = parts[at-1], parts[at]
	}
}

// readParts parses the parts of a multipart. Those of a digest are mails by default (RFC 2046 §5.1.5).
func (p *mailParser) readParts(ctx context.Context, kind string, parts [][]byte, depth int) (all []body) {
	otherwise := "text/plain"
	if kind == "multipart/digest" {
		otherwise = "message/rfc822"
	}
	for _, part := range parts {
		header, data := textproto.MIMEHeader(nil), part // some programs forget the blank line before the text
		if first, _, _ := bytes.Cut(part, []byte("\n")); hasHeaders(first) || len(bytes.TrimSpace(first)) == 0 {
			header, data = readHeader(part)
		}
		all = append(all, p.readPart(ctx, header, data, otherwise, depth+1)...)
	}
	if kind == "multipart/alternative" {
		return chooseAlternative(ctx, all)
	}
	return all
}

// readTNEF parses a message in Outlook's own format, whose text and attachments are those of the mail. It returns
// false if it has neither, and for further ones after a long text, because text in them is compressed.
func (p *mailParser) readTNEF(ctx context.Context, data []byte) bool {
	size := 0
	for _, b := range p.tnef {
		size += len(b.text)
	}
	o := decodeTNEF(data)
	if o == nil || size > maxStream {
		return false
	}
	l := o.letter(ctx)
	p.tnef = append(p.tnef, l.bodies...)
	p.letter.attachments = append(p.letter.attachments, l.attachments...)
	maps.Copy(p.letter.shown, l.shown)
	return len(l.bodies)+len(l.attachments) > 0
}

// attach adds an attachment. A short subtype is the extension of one without a name, such as in "application/pdf".
func (p *mailParser) attach(name, kind, id string, data []byte) {
	switch main, sub, _ := strings.Cut(kind, "/"); {
	case name != "":
	case main == "image":
		name = "picture." + sub
	case main == "message":
		name = "message.eml"
	case kind == "text/calendar":
		name = "calendar.ics"
	case len(sub) <= len("json"):
		name = "attachment." + sub
	default:
		name = "attachment"
	}
	p.letter.attachments = append(p.letter.attachments, attachment{name, id, data})
}

// contentType parses the Content-Type of a part, and splits a multipart. Of several the first multipart is used whose
// boundary is in the data, else the first valid one. A multipart with another boundary than declared is split at that.
func contentType(header textproto.MIMEHeader, data []byte) (
	kind string, parameters map[string]string, parts [][]byte,
) {
	for _, value := range header["Content-Type"][:min(len(header["Content-Type"]), maxContentTypes)] {
		one, more := mediaType(value)
		if strings.HasPrefix(one, "multipart/") {
			if parts = splitParts(data, more["boundary"]); len(parts) > 0 {
				return one, more, parts
			}
		}
		if kind == "" && strings.Contains(one, "/") {
			kind, parameters = one, more
		}
	}
	if strings.HasPrefix(kind, "multipart/") {
		parts = splitParts(data, findBoundary(data))
	}
	return kind, parameters, parts
}

// findBoundary returns the boundary that separates parts: the first line of two dashes and more that a header of a
// part follows.
func findBoundary(data []byte) string {
	lines := bytes.Split(data[:min(len(data), maxPreamble)], []byte("\n"))
	for i, line := range lines[:len(lines)-1] {
		const field = "content-"
		next := lines[i+1][:min(len(lines[i+1]), len(field))]
		if boundary, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("--")); ok && len(boundary) > 0 &&
			strings.EqualFold(string(next), field) {
			return string(boundary)
		}
	}
	return ""
}

// splitParts returns the parts between the lines of a boundary (RFC 2046 §5.1). The last part may have no final
// boundary. Parts after the final boundary are kept, because some programs write it too early.
func splitParts(data []byte, boundary string) (parts [][]byte) {
	if boundary = strings.TrimSpace(boundary); boundary == "" {
		return nil
	}
	delimiter := []byte("--" + boundary)
	begin := -1 // offset of the current part
	for at := 0; len(parts) < maxMailParts; {
		next := bytes.Index(data[at:], delimiter)
		if next < 0 {
			break
		}
		next += at
		at = next + len(delimiter)
		if next > 0 && data[next-1] != '\n' {
			continue
		}
		line, _, _ := bytes.Cut(data[at:], []byte("\n"))
		rest := string(bytes.TrimSpace(line[:min(len(line), maxHeaderText)]))
		if rest != "" && rest != "--" {
			continue
		}
		if begin >= 0 {
			parts = append(parts, bytes.TrimSuffix(bytes.TrimSuffix(data[begin:next], []byte("\n")), []byte("\r")))
		}
		at = min(at+len(line)+1, len(data))
		if begin = at; rest == "--" {
			begin = -1
		}
	}
	if begin >= 0 && len(parts) < maxMailParts {
		parts = append(parts, data[begin:])
	}
	return parts
}
