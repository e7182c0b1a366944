package extract

import (
	"bytes"
	"strings"

	"github.com/footnote/footnote/text/lazy"
)

// uuBegin matches the line before uuencoded data: its permissions and its name.
var uuBegin = lazy.Regexp(`(?m)^begin [0-7]{3,4} (\S.*)\r?\n`)

// takeUU removes uuencoded files, the attachments of programs older than MIME, from a plain text. A block with a line
// that is not data stays text.
func takeUU(text []byte) (rest []byte, files []attachment) {
	for {
		m := uuBegin().FindSubmatchIndex(text)
		if m == nil {
			return append(rest, text...), files
		}
		if data, after, ok := decodeUU(text[m[1]:]); ok {
			name := strings.TrimSpace(string(text[m[2]:m[3]]))
			rest, files = append(rest, text[:m[0]]...), append(files, attachment{name: name, data: data})
			text = after
		} else {
			rest, text = append(rest, text[:m[1]]...), text[m[1]:]
		}
	}
}

// decodeUU decodes uuencoded lines up to a line "end", and returns the text below. A line begins with its number of
// bytes. Spaces at its end may be lost. ok is false at a line of another form and without the end.
func decodeUU(text []byte) (data, rest []byte, ok bool) {
	for len(text) > 0 {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte("\n"))
		line = bytes.TrimRight(line, "\r")
		if string(bytes.TrimSpace(line)) == "end" {
			return data, text, true
		}
		if len(line) == 0 {
			continue
		}
		size := int(line[0]-' ') & 63
		letters := line[1:]
		if line[0] < ' ' || line[0] > '`' || len(letters) > (size+2)/3*4+1 {
			return nil, nil, false
		}
		for at := 0; at < size; at++ {
			bits := 0
			for i := range 2 {
				if c := byte(' '); at/3*4+at%3+i < len(letters) {
					if c = letters[at/3*4+at%3+i]; c < ' ' || c > '`' {
						return nil, nil, false
					}
					bits |= int(c-' ') & 63 << (6 - 6*i)
				}
			}
			data = append(data, byte(bits>>(4-at%3*2)))
		}
	}
	return nil, nil, false
}

// signedContent returns the mail or file inside a message that is signed as a whole (RFC 5652 §5). ok is false for
// other data, such as an encrypted message. The signature is not verified.
func signedContent(data []byte) (content []byte, ok bool) {
	const sequence, explicit, octets = 0x30, 0xA0, 0x04
	signedData := []byte("\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02")
	_, info, _ := berElement(data, 0)
	_, kind, info := berElement(info, 0)
	if !bytes.Equal(kind, signedData) {
		return nil, false
	}
	_, info, _ = berElement(info, 0) // explicit tag
	_, info, _ = berElement(info, 0) // SignedData
	for range 2 {                    // version, digest algorithms
		_, _, info = berElement(info, 0)
	}
	tag, info, _ := berElement(info, 0)
	if tag != sequence {
		return nil, false
	}
	_, _, info = berElement(info, 0) // the type of the content
	if tag, info, _ = berElement(info, 0); tag != explicit {
		return nil, false // the content is in another part
	}
	tag, info, _ = berElement(info, 0)
	if tag == octets {
		return info, true
	}
	for tag&^0x20 == octets && len(info) > 0 {
		var piece []byte
		_, piece, info = berElement(info, 0)
		content = append(content, piece...)
	}
	return content, len(content) > 0
}

// berElement returns the first element of data in the Basic Encoding Rules (X.690 §8.1), and the data after it. One
// whose length is not given ends with two zero bytes. One that breaks off is as long as the data.
func berElement(data []byte, depth int) (tag byte, content, rest []byte) {
	const maxDepth = 20
	if len(data) < 2 || depth > maxDepth {
		return 0, nil, nil
	}
	tag, size := data[0], int(data[1])
	data = data[2:]
	if size == 0x80 {
		at := data
		for len(at) > 0 && !bytes.HasPrefix(at, []byte{0, 0}) {
			_, _, at = berElement(at, depth+1)
		}
		return tag, data[:len(data)-len(at)], at[min(len(at), 2):]
	}
	if size > 0x80 {
		n := size & 0x7F
		size = 0
		for ; n > 0 && len(data) > 0; n, data = n-1, data[1:] {
			size = min(size<<8|int(data[0]), maxMail)
		}
	}
	size = min(size, len(data))
	return tag, data[:size], data[size:]
}
