package extract

import (
	"bytes"
	"math/bits"
	"regexp"
	"slices"
	"unicode/utf8"
)

const (
	// textRun is in bytes: so many characters in a row are text. Numbers and compressed data hardly have as many.
	textRun = 8 // bytes: characters in a row that are text; numbers and compressed data hardly have as many
	// maxKinds and maxBinary keep what programs write between fields, such as 0x1f or 0x02, and the odd broken line of
	// a log.
	maxKinds  = 3   // of control characters, beside zero bytes, that separate the fields of a text
	maxBinary = 512 // bytes of lines without text in a row that stay in a text
)

// isControl reports whether a byte is a control character that texts do not need, a zero byte among them. 0x1a ends old
// DOS files, and 0x1b begins what terminals understand, which showAsTerminal takes out.
func isControl(b byte) bool {
	switch b {
	case '\n', '\r', '\t', '\f', 0x1a, 0x1b:
		return false
	}
	return b < 0x20 || b == 0x7F
}

// textOnly returns the text among bytes in an encoding that leaves ASCII as it is: what a terminal shows of them,
// without zero bytes and without stretches of binary data. ok is false if most of it is no text.
func textOnly(data []byte) (text []byte, ok bool) {
	data = showAsTerminal(data)
	if !slices.ContainsFunc(data, isControl) {
		return data, true
	}
	whole, text := tallyBytes(data), withoutBinary(data)
	kept := tallyBytes(text)
	if kept.isBinary() || kept.size*2 < whole.size {
		return nil, false
	}
	return slices.DeleteFunc(text, func(b byte) bool { return b == 0 }), true
}

// tally counts what the bytes of a file are, for encodings that leave ASCII as it is.
type tally struct {
	size     int    // without zero bytes
	zeros    int    // zero bytes, those in a row as one: programs write rows of them ahead of the text that follows
	control  int    // other control characters
	kinds    uint32 // the set of these, by their number
	readable int    // bytes in runs of valid UTF-8 without control characters
}

// tallyBytes counts bytes in one pass. Bytes above ASCII that are no UTF-8 end a run without being control characters:
// they are letters of another encoding, or binary data, and the control characters around them tell which.
func tallyBytes(data []byte) (c tally) {
	run := 0
	endRun := func() {
		if run >= textRun {
			c.readable += run
		}
		run = 0
	}
	for i := 0; i < len(data); {
		b, n, text := data[i], 1, true
		switch {
		case isControl(b):
			text = false
		case b >= utf8.RuneSelf:
			var r rune
			r, n = utf8.DecodeRune(data[i:])
			text = r != utf8.RuneError || n > 1
		}
		switch {
		case text:
			run += n
		case b == 0:
			endRun()
			if i == 0 || data[i-1] != 0 {
				c.zeros++
			}
		default:
			endRun()
			if b < utf8.RuneSelf {
				c.control++
				c.kinds |= 1 << (b % 32)
			}
		}
		if b != 0 {
			c.size += n
		}
		i += n
	}
	endRun()
	return c
}

// isBinary reports whether the bytes can't be text: control characters are more than a few, and what can be read
// between them is not most, or, where they are of many kinds, as they are among numbers, not nearly all. "Most" is half
// of the bytes and "nearly all" is 95 %.
func (c tally) isBinary() bool {
	if bits.OnesCount32(c.kinds) > maxKinds {
		return c.hasControl() && c.readable*20 < c.size*19
	}
	return c.hasControl() && c.readable*2 < c.size
}

// hasControl allows two control characters, or one in a hundred bytes.
func (c tally) hasControl() bool { return c.control+c.zeros > max(2, c.size/100) }

// withoutBinary leaves out stretches of lines that are no text, such as the end of a log that a crash wrote. Zero bytes
// don't count here, because textOnly drops them anyway. Stretches of less than maxBinary bytes stay: between lines of
// text, a short line that looks wrong is more likely a field in another encoding than data.
func withoutBinary(data []byte) []byte {
	out := make([]byte, 0, len(data))
	from, to := 0, 0 // of the lines in a row that are no text
	for line := range bytes.Lines(data) {
		c := tallyBytes(line)
		if c.zeros = 0; c.hasControl() && c.readable*2 < c.size {
			to += len(line)
			continue
		}
		if to-from < maxBinary {
			out = append(out, data[from:to]...)
		}
		out = append(out, line...)
		to += len(line)
		from = to
	}
	if to-from < maxBinary {
		out = append(out, data[from:to]...)
	}
	return out
}

// sequence matches what programs send to a terminal beside text: colours, moves of the cursor, window titles. These are
// the control sequences, operating system commands and escape sequences of ECMA-48, which end with the bytes that the
// classes name. An operating system command also ends at a line's end here, lest a lone ESC swallows a file.
var sequence = regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[ -/]+[0-~])`)

// showAsTerminal returns what a terminal shows of a program's output: without sequences, and with one letter where a
// manual page prints two over each other, the same one for bold words and a line for underlined ones.
func showAsTerminal(data []byte) []byte {
	if bytes.IndexByte(data, 0x1b) >= 0 {
		data = sequence.ReplaceAll(data, nil)
	}
	if bytes.IndexByte(data, '\b') < 0 {
		return data
	}
	out := make([]byte, 0, len(data))
	for len(data) > 0 {
		b, rest := data[0], data[1:]
		if b != '\b' {
			out, data = append(out, b), rest
			continue
		}
		_, before := utf8.DecodeLastRune(out)
		_, after := utf8.DecodeRune(rest)
		under, over := out[len(out)-before:], rest[:after]
		switch {
		case before == 0 || after == 0:
		case string(under) == "_" || bytes.Equal(under, over):
			out = out[:len(out)-before]
		case string(over) == "_":
			rest = rest[after:]
		}
		data = rest
	}
	return out
}
