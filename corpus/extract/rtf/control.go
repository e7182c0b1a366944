package rtf

import (
	"strconv"
	"unicode/utf16"
)

// control parses a control word or symbol. A word consists of letters and an optional number; one space after it
// belongs to it. Words are limited to 40 letters, which is far longer than any in the specification, and numbers to
// 12 digits.
func (r *reader) control() {
	r.at++
	if r.at >= len(r.data) {
		return
	}
	c := r.data[r.at]
	// Anything but a letter is a symbol. Nearly all words are lower case; a few have capitals.
	if c < 'a' || c > 'z' {
		if c < 'A' || c > 'Z' {
			r.symbol(c)
			return
		}
	}
	start := r.at
	// The rest beyond the limit is read as text, which bounds the memory that a malicious file takes.
	for r.at < len(r.data) && isLetter(r.data[r.at]) && r.at-start < 40 {
		r.at++
	}
	word := string(r.data[start:r.at])
	start = r.at
	if r.at < len(r.data) && r.data[r.at] == '-' {
		r.at++
	}
	for r.at < len(r.data) && r.data[r.at] >= '0' && r.data[r.at] <= '9' {
		r.at++
	}
	// A missing or too large number counts as none.
	parameter, err := strconv.Atoi(string(r.data[start:min(r.at, start+12)]))
	if r.at < len(r.data) && r.data[r.at] == ' ' {
		r.at++
	}
	r.word(word, parameter, err == nil)
}

// isLetter matches ASCII only: control words have no other letters.
func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// symbol parses a control symbol. \'xx is a hexadecimal byte, \* begins an optional destination, and a line end
// after a backslash is a \par.
func (r *reader) symbol(c byte) {
	r.at++
	switch c {
	case '\'':
		if r.at+2 <= len(r.data) {
			// A byte in the group's encoding, which may be half of a character: addByte buffers them.
			if b, err := strconv.ParseUint(string(r.data[r.at:r.at+2]), 16, 8); err == nil {
				r.addByte(byte(b))
			}
			r.at += 2
		}
	case '\\', '{', '}':
		r.addByte(c)
	// A non-breaking space, a non-breaking hyphen.
	case '~':
		r.text("\u00a0")
	case '_':
		r.text("\u2011")
	case '*':
		r.flush()
		r.state.to = r.starred()
	case '\r', '\n':
		r.flush()
		r.word("par", 0, false)
	}
}

// starred returns the destination of an optional group, which is toNowhere unless its word is known. Field
// instructions and the text in shapes are read.
func (r *reader) starred() destination {
	// A group inside a hidden group is always hidden.
	if r.state.to == toNowhere {
		return toNowhere
	}
	rest := r.data[r.at:min(r.at+12, len(r.data))]
	switch {
	case hasWord(rest, "fldinst"), hasWord(rest, "shptxt"), r.html != nil && hasWord(rest, "htmltag"):
		return r.state.to
	}
	return toNowhere
}

// hasWord reports whether data begins with that control word and not with a longer one.
func hasWord(data []byte, word string) bool {
	return len(data) > len(word)+1 && data[0] == '\\' && string(data[1:len(word)+1]) == word &&
		!isLetter(data[len(word)+1])
}

// text adds the character of a control word. It is skipped if it is part of the fallback text of a \u.
func (r *reader) text(s string) {
	r.flush()
	if r.pending > 0 {
		r.pending--
		return
	}
	r.add(s)
}

// nowhere holds the destinations whose text is hidden. These include headers and footers, which repeat on each
// printed page and are not part of the text.
var nowhere = map[string]bool{
	"colortbl":           true,
	"pict":               true,
	"object":             true,
	"objdata":            true,
	"nonshppict":         true,
	"listtable":          true,
	"listoverridetable":  true,
	"revtbl":             true,
	"rsidtbl":            true,
	"generator":          true,
	"xmlnstbl":           true,
	"themedata":          true,
	"colorschememapping": true,
	"latentstyles":       true,
	"datastore":          true,
	"bkmkstart":          true,
	"bkmkend":            true,
	"filetbl":            true,
	"fldtype":            true,
	"pgdsctbl":           true,
	"header":             true,
	"headerl":            true,
	"headerr":            true,
	"headerf":            true,
	"footer":             true,
	"footerl":            true,
	"footerr":            true,
	"footerf":            true,
	"annotation":         true,
	"atnid":              true,
	"atnauthor":          true,
	"ftnsep":             true,
	"ftnsepc":            true,
	"aftnsep":            true,
	"xe":                 true,
	"tc":                 true,
	"txe":                true,
	"rxe":                true,
	"do":                 true,
	"sp":                 true,
	"falt":               true,
	"panose":             true,
	"docvar":             true,
	"template":           true,
	"private":            true,
	"mmathPr":            true,
	"wgrffmtfilter":      true,
	"pntext":             true,
	"userprops":          true,
	"factoidname":        true,
	"keywords":           true,
	"comment":            true,
	"operator":           true,
	"company":            true,
	"subject":            true,
	"doccomm":            true,
	"manager":            true,
	"category":           true,
}

// marks maps control words to characters.
var marks = map[string]string{
	"tab": " ", "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”",
	"bullet": "•", "emspace": " ", "enspace": " ", "qmspace": " ", "line": "\n", "softline": "\n", "nestcell": " ",
	"page": "\n", "column": " ",
}

// word handles a control word. has distinguishes \b from \b0: n is 0 without a number. Words for characters come
// first, then destinations, then properties of the group. Styles are identified by number, and only their outline
// level is stored. In the style sheet outlinelevel belongs to the style, in the text to the paragraph. "pc" and
// "pca" are code pages 437 and 850, which browsers' encodings lack; 866 is their only one of DOS.
func (r *reader) word(word string, n int, has bool) {
	// \u and \bin precede all others: the fallback text after \u is skipped by characters, and the bytes after \bin
	// are no RTF.
	if word == "u" {
		r.flush()
		r.unicode(n)
		return
	}
	if word == "bin" {
		r.at = min(r.at+max(n, 0), len(r.data))
		return
	}
	if s, ok := marks[word]; ok {
		r.text(s)
		return
	}
	r.flush()
	if nowhere[word] {
		r.state.to = toNowhere
		return
	}
	// A property without a number is set, and with 0 it is reset.
	on := !has || n != 0
	if r.html != nil && r.wordOfHTML(word, on) {
		return
	}
	switch word {
	case "ansi":
		r.state.page = "windows-1252"
	case "mac":
		r.state.page = "macintosh"
	case "pc", "pca":
		r.state.page = "ibm866"
	case "ansicpg":
		if name := CodePage(n); name != "" {
			r.state.page = name
		}
	case "uc":
		r.state.skip = min(max(n, 0), maxSkip)
	case "info":
		r.state.to = toNowhere
	case "stylesheet":
		r.state.to = toStyles
	case "fonttbl":
		r.state.to = toFonts
	// In the font table \f is the font of the next \fcharset, in the text the current font. Both are group
	// properties.
	case "f":
		r.state.font = n
	case "fcharset":
		if r.state.to == toFonts {
			r.fonts[r.state.font] = n
		}
	case "s":
		if r.style = n; r.state.to == toBody {
			r.state.outline = r.styles[n]
		}
	case "outlinelevel":
		if r.state.to == toStyles {
			r.styles[r.style] = n + 1
		} else {
			r.state.outline = n + 1
		}
	case "title":
		r.state.to = toTitle
	case "author":
		r.state.to = toAuthor
	case "footnote":
		r.beginNote()
	case "fldinst":
		r.state.to = toInstruction
	// The result of a field is text, unlike its instruction. A field in a hidden group stays hidden.
	case "fldrslt":
		if r.state.to == toInstruction {
			r.state.to = toBody
		}
	// The displayed number of an item, for readers without list support.
	case "listtext":
		if r.state.to == toBody {
			r.state.to, r.mark = toListText, ""
		}
	case "v":
		r.state.hidden = on
	case "deleted":
		r.state.hidden = on
	case "super":
		r.state.raised = on
	case "nosupersub":
		r.state.raised = false
	// \plain resets the character properties, \pard those of paragraphs.
	case "plain":
		r.state.hidden, r.state.raised, r.state.font = false, false, 0
	case "pard":
		r.state.outline, r.inside = 0, false
	case "intbl":
		r.inside = true
	// In a note, a title or an author's name the end of a paragraph only separates words.
	case "par", "sect":
		if r.state.to == toBody {
			r.endParagraph()
		} else {
			r.add(" ")
		}
	case "cell":
		r.endCell()
	case "row":
		r.endRow()
	}
}

// wordOfHTML handles a control word in RTF that was HTML, and reports whether it has no other meaning there. \htmlrtf
// is RTF that the original doesn't have; all other formatting is such.
func (r *reader) wordOfHTML(word string, on bool) bool {
	switch word {
	case "htmlrtf":
		r.state.hidden = on
	case "par", "sect":
		r.add("\n")
	case "listtext", "footnote":
		r.state.to = toNowhere
	case "v", "deleted", "super", "nosupersub", "cell", "row", "plain":
	default:
		return false
	}
	return true
}

// unicode adds the character of a \u, and skips the fallback text for readers without Unicode. Numbers are signed
// 16-bit integers, so that those above 32767 are negative. Characters beyond U+FFFF are two \u, a surrogate pair.
// \uc sets the number of characters to skip, by default one.
func (r *reader) unicode(n int) {
	c := rune(n)
	if n < 0 {
		c += 1 << 16
	}
	r.pending = 0
	switch {
	case utf16.IsSurrogate(c) && r.high == 0:
		r.high = c
	case r.high != 0:
		r.add(string(utf16.DecodeRune(r.high, c)))
		r.high = 0
	default:
		r.add(string(c))
	}
	r.pending = r.state.skip
}

// charsets has the encodings of fonts' character sets. The numbers are those of \fcharset, from Windows. 0 and 1 mean
// the file's encoding, 2 is for symbols.
var charsets = map[int]string{
	77: "macintosh", 128: "shift_jis", 129: "euc-kr", 134: "gbk", 136: "big5", 161: "windows-1253", 162: "windows-1254",
	163: "windows-1258", 177: "windows-1255", 178: "windows-1256", 186: "windows-1257", 204: "windows-1251",
	222: "windows-874", 238: "windows-1250",
}

// CodePage returns the encoding of a code page of Windows, "" for an unknown one. The names are those of browsers.
func CodePage(page int) string {
	switch page {
	case 866:
		return "ibm866"
	case 932:
		return "shift_jis"
	case 936:
		return "gbk"
	case 949:
		return "euc-kr"
	case 950:
		return "big5"
	case 10000:
		return "macintosh"
	case 20866:
		return "koi8-r"
	case 65001:
		return "utf-8"
	case 874, 1250, 1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258:
		return "windows-" + strconv.Itoa(page)
	}
	return ""
}
