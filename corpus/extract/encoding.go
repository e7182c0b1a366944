package extract

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	xunicode "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text/locale"
)

// The sample bounds detection: decoding a file of 128 MB with eighteen candidate encodings would take long.
const sampleSize = 64 << 10 // bytes that encoding detection reads

// decodeText decodes a file to UTF-8 with line feeds. It tries, in this order, the encoding of evidentEncoding,
// valid UTF-8, the declared encoding and a guess. declared is that of an HTML meta element, an XML declaration or a
// mail header. A binary file fails. Bytes that are invalid in the encoding become U+FFFD or are decoded as
// Windows-1252, so that one invalid byte never fails a file. Only an error of the decoder fails it, as "broken".
func decodeText(data []byte, declared string) (string, error) {
	enc, data, marked := evidentEncoding(data)
	if enc == nil {
		text, ok := textOnly(data)
		if !ok {
			failure := notText()
			failure.Detail = locale.Say("This file {1}", failure.Detail)
			return "", failure
		}
		if data = text; marked || utf8.Valid(data) {
			return normaliseNewlines(patchBytes(data)), nil
		}
		enc = declaredEncoding(data, declared)
	}
	if enc == nil {
		if enc = guessEncoding(data); enc == nil {
			return normaliseNewlines(patchBytes(data)), nil
		}
	}
	out, err := enc.NewDecoder().Bytes(data)
	if err != nil {
		return "", &corpus.Failure{
			Code: "broken", Detail: "This file's text can't be decoded. Save it as UTF-8 and add it again.",
		}
	}
	return normaliseNewlines(string(out)), nil
}

// evidentEncoding returns the encoding that a byte order mark or byte patterns prove, and the bytes after the mark.
// For UTF-8 and without proof, enc is nil.
func evidentEncoding(data []byte) (enc encoding.Encoding, rest []byte, marked bool) {
	enc, skip := byMark(data)
	if skip > 0 {
		return enc, data[skip:], true
	}
	if enc = guessUTF16(data); enc == nil {
		enc = guessISO2022(data)
	}
	return enc, data, false
}

// normaliseNewlines converts all line ends to line feeds and drops zero bytes, which PostgreSQL's text type can't
// store.
func normaliseNewlines(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = strings.ReplaceAll(s, "\r", "\n")
	return strings.ReplaceAll(s, "\x00", "")
}

// byMark returns the encoding of a byte order mark, nil for UTF-8, and the mark's length. The marks of UTF-32 are
// checked before those of UTF-16, because UTF-32LE's mark begins with UTF-16LE's.
func byMark(data []byte) (encoding.Encoding, int) {
	switch {
	case bytes.HasPrefix(data, []byte{0xEF, 0xBB, 0xBF}):
		return nil, 3
	case bytes.HasPrefix(data, []byte{0xFF, 0xFE, 0, 0}):
		return utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), 4
	case bytes.HasPrefix(data, []byte{0, 0, 0xFE, 0xFF}):
		return utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), 4
	case bytes.HasPrefix(data, []byte{0xFF, 0xFE}):
		return xunicode.UTF16(xunicode.LittleEndian, xunicode.IgnoreBOM), 2
	case bytes.HasPrefix(data, []byte{0xFE, 0xFF}):
		return xunicode.UTF16(xunicode.BigEndian, xunicode.IgnoreBOM), 2
	}
	return nil, 0
}

// guessUTF16 detects UTF-16 without a mark by the positions of zero bytes and line feeds. Western text in UTF-16 has
// a zero byte in every unit, always on the same side. At least 40 % of the units with one are enough. Other scripts
// have zeros only at spaces and line feeds. For them half a percent of the units must have one, and the decoded
// sample must pass isPlausible, because a binary file has zeros as well.
func guessUTF16(data []byte) encoding.Encoding {
	head := data[:min(len(data), sampleSize)&^1]
	if len(head) < 4 || len(data)%2 != 0 {
		return nil
	}
	var zero, plain [2]int // at even and odd positions: zero bytes; units that are a space, a line break or Latin-1
	for i := 0; i < len(head); i += 2 {
		for side := range 2 {
			if head[i+side] == 0 {
				zero[side]++
				if c := head[i+1-side]; c == ' ' || c == '\n' || c == '\r' || c == '\t' || c > ' ' && c < 0x7F ||
					c >= 0xA0 {
					plain[side]++
				}
			}
		}
	}
	units := len(head) / 2
	for side, order := range []xunicode.Endianness{xunicode.BigEndian, xunicode.LittleEndian} {
		if plain[side] == 0 || plain[side]*10 < zero[side]*9 || zero[1-side]*20 > zero[side] {
			continue
		}
		enc := xunicode.UTF16(order, xunicode.IgnoreBOM)
		if zero[side]*10 >= units*4 {
			return enc
		}
		if len(bytes.ToValidUTF8(head, nil))*50 >= len(head)*49 && !tallyBytes(head).isBinary() {
			continue // a text with stray zero bytes
		}
		out, err := enc.NewDecoder().Bytes(head) // few zeros: another script, which must read like one
		if err == nil && plain[side]*200 >= units && isPlausible(string(out)) {
			return enc
		}
	}
	return nil
}

// isPlausible reports whether a decoded text reads like one. At least half of its runes are letters, and at most one
// in a hundred is a replacement character, private use or a control character.
func isPlausible(s string) bool {
	letters, bad, n := 0, 0, 0
	for _, r := range s {
		n++
		switch {
		case r == utf8.RuneError || unicode.Is(unicode.Co, r) || unicode.IsControl(r) && !unicode.IsSpace(r):
			bad++
		case unicode.IsLetter(r):
			letters++
		}
	}
	return n > 0 && bad*100 <= n && letters*2 >= n
}

// guessISO2022 detects ISO-2022-JP by its escape sequences. ESC $ B and ESC $ @ switch to JIS X 0208 (RFC 1468), and
// all bytes have seven bits.
func guessISO2022(data []byte) encoding.Encoding {
	head := data[:min(len(data), sampleSize)]
	if bytes.Contains(head, []byte("\x1b$B")) || bytes.Contains(head, []byte("\x1b$@")) {
		for _, b := range head {
			if b >= 0x80 {
				return nil
			}
		}
		return japanese.ISO2022JP
	}
	return nil
}

// patchBytes keeps valid UTF-8 and decodes each invalid byte as Windows-1252. Such bytes come from text in two
// encodings that was pasted together. The second one is nearly always Windows-1252, which is also the fallback of
// browsers.
func patchBytes(data []byte) string {
	if utf8.Valid(data) {
		return string(data)
	}
	var b strings.Builder
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		if r == utf8.RuneError && n == 1 {
			r = charmap.Windows1252.DecodeByte(data[0])
		}
		if r != utf8.RuneError || n > 1 {
			b.WriteRune(r)
		}
		data = data[n:]
	}
	return b.String()
}

// declaredEncoding returns the encoding that the file declares, nil if the bytes contradict it. Declarations are
// often wrong, because an editor saved the page in another encoding than its template declares. A sample is decoded,
// and the declaration is refuted by more than one bad rune in fifty of those above ASCII. "iso-8859-1" means
// Windows-1252, as in the WHATWG's Encoding Standard: the real one has control characters in the place of quotation
// marks.
func declaredEncoding(data []byte, declared string) encoding.Encoding {
	if declared == "" {
		return nil
	}
	enc, name := charset.Lookup(declared)
	if enc == nil || name == "utf-8" || strings.HasPrefix(name, "utf-16") || name == "replacement" {
		return nil // UTF-16 was ruled out before, and the data is invalid UTF-8
	}
	if name == "iso-8859-1" {
		enc = charmap.Windows1252
	}
	out, err := enc.NewDecoder().Bytes(data[:min(len(data), sampleSize)])
	bad, high := 0, 0
	for _, r := range string(out) {
		if r >= utf8.RuneSelf {
			high++
		}
		if isBad(r) {
			bad++
		}
	}
	if err != nil || bad*50 > high {
		return nil
	}
	return enc
}

// mostlyUTF8 reports whether multi-byte sequences outnumber invalid bytes by more than four to one. Text of another
// encoding hardly ever forms a valid sequence by chance. A sequence that is cut by the sample's end is not counted.
func mostlyUTF8(data []byte) bool {
	good, bad := 0, 0
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		switch {
		case r == utf8.RuneError && n == 1:
			if !utf8.FullRune(data) {
				return good > bad*4 && good > 0
			}
			bad++
		case n > 1:
			good++
		}
		data = data[n:]
	}
	return good > bad*4
}
