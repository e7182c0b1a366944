package ground

import (
	"slices"
	"strings"

	"github.com/footnote/footnote/text"
)

// inCodeBlock reports whether the line that is being written is a line of fenced code. It is not known as long as the
// line may still become a fence. A copy of the reader is asked, since the line may not be whole.
func (w *Writer) inCodeBlock(final bool) (code, known bool) {
	if w.known {
		return w.kind.isCode(), true
	}
	end := strings.IndexByte(w.raw, '\n')
	whole := end >= 0 || final
	if end < 0 {
		end = len(w.raw)
	}
	line := w.text.String()[w.line:] + w.raw[:end]
	if !whole && mayBecomeFence(line) {
		return false, false
	}
	reader := w.lines
	w.kind, w.known = reader.readLine(line), true
	return w.kind.isCode(), true
}

// mayBecomeFence reports whether the beginning of a line may be that of a line that opens or closes fenced code:
// nothing but indentation, quote marks and list markers, and then backticks or tildes without a backtick behind them.
func mayBecomeFence(line string) bool {
	rest := strings.TrimLeft(line, " \t>-*+0123456789.)")
	if rest == "" {
		return true
	}
	n := runLength(rest, rest[0])
	return (rest[0] == '`' || rest[0] == '~') && (n == len(rest) || n >= 3 && !strings.Contains(rest[n:], "`"))
}

// readBackticks deals with a run of backticks at i: a code span is taken over as it is, a run that opens none is text.
// held means that more text must come first.
func (w *Writer) readBackticks(i int, code, final bool) (held bool) {
	n := runLength(w.raw[i:], '`')
	if code {
		w.moveBytes(i + n)
		return false
	}
	if i+n == len(w.raw) && !final {
		w.putBytes(i, final)
		return true
	}
	length, whole := w.blockEnd(final)
	end := spanEnd(w.raw[:length], i+n, n)
	switch {
	case end > 0 && (end < length || whole):
		w.moveBytes(end)
	case whole:
		w.moveBytes(i + n)
	default:
		w.putBytes(i, final)
		w.open = true
		return true
	}
	return false
}

// blockEnd returns how much of raw belongs to the block that is being written. whole means that more text can't change
// that. It reads ahead with a copy of the line reader.
func (w *Writer) blockEnd(final bool) (length int, whole bool) {
	reader, begun := w.lines, w.text.String()[w.line:]
	var before lineKind
	for line := range strings.Lines(w.raw) {
		if length > 0 && !final && !strings.HasSuffix(line, "\n") {
			return length, false // its kind is not known yet
		}
		kind := reader.readLine(begun + line)
		if length > 0 && !kind.continuesBlock(before) {
			return length, true
		}
		length, before, begun = length+len(line), kind, ""
	}
	return length, final
}

// readBackslash deals with a backslash at i, which keeps a backtick behind it from opening a code span.
func (w *Writer) readBackslash(i int, code, final bool) (held bool) {
	switch {
	case code:
		w.moveBytes(i + 1)
	case i+1 == len(w.raw) && !final:
		w.putBytes(i, final)
		return true
	default:
		w.moveBytes(i + escapeLength(w.raw[i:]))
	}
	return false
}

// isEscapedMarker reports whether `\[` begins a marker, or may begin one. It is a formula where it begins a line or has
// a number of no passage.
func (w *Writer) isEscapedMarker(m text.Marker, before string) bool {
	return strings.TrimSpace(before) != "" && (m.Partial || m.Size > 0) &&
		!slices.ContainsFunc(m.Numbers, func(n int) bool { _, ok := w.cite.sources.At(n); return !ok })
}

// inFormula reports whether a bracket at i stands in a formula. It is not known as long as what has begun before it may
// become one. At most text.MaxFormula bytes before the bracket are looked at: a longer formula is none.
func (w *Writer) inFormula(i int, final bool) (is, known bool) {
	begin := w.begin
	if !w.kind.continuesBlock(w.lines.last) {
		begin = w.line
	}
	begin = max(begin, w.text.Len()-text.MaxFormula)
	before := w.text.String()[begin:]
	at := len(before) + i
	if !strings.ContainsAny(before+w.raw[:i], `\$`) {
		return false, true
	}
	length, whole := w.blockEnd(final)
	said := before + w.raw[:length]
	spans := codeSpans(said)
	for _, f := range text.Formulas(said, spans) {
		if f.Start < at && at < f.End {
			return true, whole || f.End < len(said)
		}
	}
	start, ok := text.UnfinishedFormula(said, spans)
	return false, whole || !ok || start > at
}
