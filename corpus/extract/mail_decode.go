package extract

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"mime"
	"net/textproto"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/footnote/footnote/corpus/extract/doctext"
)

// encodedWord matches an encoded word of RFC 2047: charset, encoding, text. Some programs leave spaces in the text.
var encodedWord = regexp.MustCompile(`=\?([^?\s*]+)(?:\*[^?\s]*)?\?([bBqQ])\?(.*?)\?=`)

// shownHeader returns the decoded value of a header on one line.
func shownHeader(header textproto.MIMEHeader, name, charset string) string {
	value := strings.Join(header[name], ", ")
	return doctext.Line(decodedWords(value[:min(len(value), maxHeaderText)], charset))
}

// decodedWords decodes the encoded words of a header's value. Words of one charset with only white space between
// them are decoded together, because programs split them inside a character. Bytes above ASCII, which are invalid
// but common in headers, are decoded with charset, or like a text file.
func decodedWords(s, charset string) string {
	var b strings.Builder
	var pending []byte // of the charset before
	before := ""
	flush := func() {
		if before != "" {
			b.WriteString(decoded(pending, before))
			pending, before = nil, ""
		}
	}
	last := 0
	for _, m := range encodedWord.FindAllStringSubmatchIndex(s, -1) {
		name, between := strings.ToLower(s[m[2]:m[3]]), s[last:m[0]]
		if last == 0 || strings.TrimSpace(between) != "" {
			flush()
			b.WriteString(decoded([]byte(between), charset))
		} else if name != before {
			flush()
		}
		text := []byte(s[m[6]:m[7]])
		if s[m[4]] == 'b' || s[m[4]] == 'B' {
			text = decodeBase64(text)
		} else {
			text = decodeQuoted(bytes.ReplaceAll(text, []byte("_"), []byte(" ")), false)
		}
		pending, before, last = append(pending, text...), name, m[1]
	}
	flush()
	b.WriteString(decoded([]byte(s[last:]), charset))
	return b.String()
}

// mediaType parses a header such as "text/plain; charset=utf-8". Malformed parameters are split at semicolons, such
// as an unquoted file name with spaces, and the first of two with the same name is used. The standard library decodes
// only parameters in UTF-8.
func mediaType(value string) (kind string, parameters map[string]string) {
	if !strings.Contains(value, "*") {
		var err error
		if kind, parameters, err = mime.ParseMediaType(value); err == nil {
			return kind, parameters
		}
	}
	kind, rest, _ := strings.Cut(value, ";")
	parameters = map[string]string{}
	for rest != "" {
		end, quoted := 0, false
		for ; end < len(rest) && (quoted || rest[end] != ';'); end++ {
			if rest[end] == '"' {
				quoted = !quoted
			}
		}
		name, text, _ := strings.Cut(rest[:end], "=")
		name = strings.ToLower(strings.TrimSpace(name))
		if _, ok := parameters[name]; !ok {
			parameters[name] = strings.Trim(strings.TrimSpace(text), `"`)
		}
		rest = rest[min(end+1, len(rest)):]
	}
	for key := range parameters {
		if name, section, ok := strings.Cut(key, "*"); ok && strings.Trim(section, "0*") == "" {
			parameters[name] = cmp.Or(extendedParameter(name, parameters), parameters[name])
		}
	}
	return strings.ToLower(strings.TrimSpace(kind)), parameters
}

// extendedParameter joins the numbered sections of a parameter, and decodes those that name their encoding (RFC 2231
// §4). It returns "" without any.
func extendedParameter(name string, parameters map[string]string) string {
	var b strings.Builder
	charset := ""
	text, encoded := parameters[name+"*"]
	if !encoded {
		text, encoded = parameters[name+"*0*"]
	}
	if parts := strings.SplitN(text, "'", 3); encoded && len(parts) == 3 {
		charset, text = parts[0], parts[2]
	}
	for n := 1; ; n++ {
		if !encoded {
			var ok bool
			if text, ok = parameters[fmt.Sprintf("%s*%d", name, n-1)]; !ok {
				break
			}
		} else if plain, err := url.PathUnescape(text); err == nil {
			text = plain
		}
		b.WriteString(text)
		text, encoded = parameters[fmt.Sprintf("%s*%d*", name, n)]
	}
	if charset == "" {
		return b.String()
	}
	return decoded([]byte(b.String()), charset)
}

// decodeTransfer decodes a Content-Transfer-Encoding. The encodings are those of RFC 2045 §6, and uuencode, which is
// older; 7bit, 8bit and binary are not encoded.
func decodeTransfer(encoding string, data []byte) []byte {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "base64":
		return decodeBase64(data)
	case "quoted-printable":
		return decodeQuoted(data, true)
	case "uuencode", "x-uuencode", "uue", "x-uue":
		if _, files := takeUU(data); len(files) > 0 {
			return files[0].data
		}
	}
	return data
}

// decodeBase64 decodes base64. It drops all characters outside the alphabet, as RFC 2045 §6.8 requires. Padding
// inside the data ends one of several encodings that were concatenated. A line after padding that is no base64, such
// as the footer of a mailing list, ends the data.
func decodeBase64(data []byte) []byte {
	out := make([]byte, 0, len(data)/4*3+3)
	letters := make([]byte, 0, 4<<10)
	flush := func() {
		if len(letters)%4 == 1 { // a cut letter has no whole byte
			letters = letters[:len(letters)-1]
		}
		if more, err := base64.RawStdEncoding.AppendDecode(out, letters); err == nil {
			out = more
		}
		letters = letters[:0]
	}
	for i, c := range data {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/':
			if letters = append(letters, c); len(letters) == cap(letters) {
				flush()
			}
		case c == '=' && len(letters) > 0:
			flush()
			line, _, _ := bytes.Cut(bytes.TrimLeft(data[i:min(i+80, len(data))], "=\r\n\t "), []byte("\n"))
			if bytes.ContainsFunc(bytes.TrimSpace(line), func(r rune) bool { return r <= ' ' || r == '-' || r > '~' }) {
				return out
			}
		}
	}
	flush()
	return out
}

// decodeQuoted decodes quoted-printable (RFC 2045 §6.7). A "=" that encodes nothing is kept, unlike in the standard
// library, which drops the rest of the text. lines is false in a header, which has no soft line breaks.
func decodeQuoted(data []byte, lines bool) []byte {
	out := make([]byte, 0, len(data))
	for len(data) > 0 {
		at := bytes.IndexByte(data, '=')
		if at < 0 {
			return append(out, data...)
		}
		out = append(out, data[:at]...)
		data = data[at:]
		if len(data) > 2 {
			if c, err := strconv.ParseUint(string(data[1:3]), 16, 8); err == nil {
				out, data = append(out, byte(c)), data[3:]
				continue
			}
		}
		if rest := bytes.TrimLeft(data[1:], " \t"); lines && (len(rest) == 0 || rest[0] == '\r' || rest[0] == '\n') {
			rest = bytes.TrimPrefix(rest, []byte("\r"))
			data = bytes.TrimPrefix(rest, []byte("\n"))
			continue
		}
		out, data = append(out, '='), data[1:]
	}
	return out
}

// unflow joins the flowed lines of a text (RFC 3676 §4). A line that ends with a space continues with the next one
// of the same quotation. deleteSpace drops that space, for scripts without spaces.
func unflow(text string, deleteSpace bool) string {
	var b strings.Builder
	flows, before := false, 0
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		rest := strings.TrimLeft(line, ">")
		depth := len(line) - len(rest)
		if rest = strings.TrimPrefix(rest, " "); depth == 0 && strings.HasPrefix(rest, ">") {
			rest = " " + rest // stuffed, and no quotation
		}
		signature := rest == "-- "
		if b.Len() > 0 && (!flows || depth != before || signature) {
			b.WriteByte('\n')
			flows = false
		}
		if !flows && depth > 0 {
			b.WriteString(line[:depth] + " ")
		}
		if flows, before = strings.HasSuffix(rest, " ") && !signature, depth; flows && deleteSpace {
			rest = rest[:len(rest)-1]
		}
		b.WriteString(rest)
	}
	return b.String()
}

// file returns a mail in the format of RFC 5322, which its reader reads as the same mail. It is for a mail that is
// attached to one in another format. No line of base64 is a boundary.
func (l letter) file() []byte {
	var b bytes.Buffer
	for _, f := range [][2]string{{"From", l.from}, {"To", l.to}, {"Cc", l.cc}, {"Subject", l.subject}} {
		fmt.Fprintf(&b, "%s: %s\n", f[0], mime.BEncoding.Encode("utf-8", f[1]))
	}
	if !l.sent.IsZero() {
		fmt.Fprintf(&b, "Date: %s\n", l.sent.Format(time.RFC1123Z))
	}
	b.WriteString("Content-Type: multipart/mixed; boundary=_\n\n")
	part := func(header string, data []byte) {
		fmt.Fprintf(&b, "--_\n%s\nContent-Transfer-Encoding: base64\n\n", header)
		b.WriteString(base64.StdEncoding.EncodeToString(data) + "\n")
	}
	for _, one := range l.bodies {
		kind := "text/plain"
		switch one.kind {
		case htmlBody:
			kind = "text/html"
		case rtfBody:
			kind = "application/rtf"
		case cardBody:
			kind = "text/calendar"
		case plainBody, otherBody:
		}
		part("Content-Type: "+kind+"; charset=utf-8", []byte(one.text))
	}
	for _, a := range l.attachments {
		part(fmt.Sprintf("Content-Disposition: attachment; filename=%q\nContent-Id: <%s>",
			mime.BEncoding.Encode("utf-8", doctext.Line(a.name)), doctext.Line(a.id)), a.data)
	}
	return b.Bytes()
}
