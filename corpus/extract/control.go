package extract

import (
	"bytes"
	"math/bits"
	"regexp"
	"slices"
	"unicode/utf8"
)

const (
	// textRun is the minimum length in bytes of a run of text. Numbers and compressed data hardly have such runs.
	textRun = 8 // bytes
	// maxKinds and maxBinary keep control characters that programs write between fields, such as 0x1f or 0x02, and a
	// few broken lines of a log.
	maxKinds  = 3   // different control characters, besides zero bytes, that separate the fields of a text
	maxBinary = 512 // bytes; shorter sequences of binary lines are kept
)

// isControl reports whether a byte is a control character that a text doesn't need, including zero bytes. It allows
// 0x1a, which ends old DOS files, and 0x1b, which begins the terminal sequences that showAsTerminal removes.
func isControl(b byte) bool {
	switch b {
	case '\n', '\r', '\t', '\f', 0x1a, 0x1b:
		return false
	}
	return b < 0x20 || b == 0x7F
}

// textOnly returns the text of data in an ASCII-compatible encoding, as a terminal displays it. It removes zero
// bytes and sequences of binary lines. ok is false if most of the data is binary.
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

// tally counts the kinds of bytes of a file in an ASCII-compatible encoding.
type tally struct {
	size     int    // without zero bytes
	zeros    int    // runs of zero bytes; programs write padding ahead of the text that follows
	control  int    // other control characters
	kinds    uint32 // bit set of these, by b%32
	readable int    // bytes in runs of valid UTF-8 without control characters
}

// tallyBytes counts bytes in one pass. Bytes above ASCII that are invalid UTF-8 end a run without counting as
// control characters. They are letters of another encoding or binary data, and the control characters around them
// decide.
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

// isBinary reports whether the data is binary. It has more control characters than hasControl allows, and its
// readable share is too small. The minimum share is half of the bytes, or 95 % with more than maxKinds kinds of
// control characters, as among numbers.
func (c tally) isBinary() bool {
	if bits.OnesCount32(c.kinds) > maxKinds {
		return c.hasControl() && c.readable*20 < c.size*19
	}
	return c.hasControl() && c.readable*2 < c.size
}

// hasControl reports whether there are more control characters than allowed: two, or one in a hundred bytes.
func (c tally) hasControl() bool { return c.control+c.zeros > max(2, c.size/100) }

// withoutBinary removes sequences of binary lines, such as the end of a log that a crash wrote. Zero bytes are
// ignored here, because textOnly drops them anyway. Sequences shorter than maxBinary bytes are kept: between lines
// of text, they are more likely fields in another encoding than data.
func withoutBinary(data []byte) []byte {
	out := make([]byte, 0, len(data))
	from, to := 0, 0 // offsets of the current sequence of binary lines
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

// sequence matches terminal escape sequences: colours, cursor movements, window titles. These are the control
// sequences, operating system commands and escape sequences of ECMA-48, with the final bytes that the classes list.
// An operating system command also ends at a line feed here, so that a stray ESC doesn't swallow the file.
var sequence = regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[ -/]+[0-~])`)

// showAsTerminal returns a program's output as a terminal displays it: without escape sequences, and with
// overstrikes of manual pages resolved to one letter. Overstrikes are a repeated letter for bold and an underscore
// for underlined words.
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
