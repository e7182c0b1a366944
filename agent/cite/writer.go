package cite

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
)

// Limits for buffering text before it is stored. While the store is slow, more text is buffered.
const (
	mergeTime  = 40 * time.Millisecond
	mergeMax   = 400 * time.Millisecond
	mergeBytes = 256
)

// Emit stores payloads in order, all or none.
type Emit func(ctx context.Context, ps ...chat.Payload) error

// Writer processes the answer stream: it buffers text, replaces the model's markers by footnotes, and stores a
// citation before the text with its "[". It is safe for concurrent use, since its timer may call it while the model
// streams. Text passes through three states: raw (may be part of a marker), text (rewritten), stored. Text that
// later input may change is never stored.
type Writer struct {
	emit Emit
	cite *Citer

	mu        sync.Mutex
	said      strings.Builder // the model's own text since the last reset
	raw       string          // not rewritten yet: it may be the start of a marker
	text      strings.Builder // rewritten, since the last reset
	stored    int             // number of stored bytes of text
	queued    []chat.Payload  // citations to store before the rest of text
	lines     lineReader      // reader of the complete lines
	line      int             // offset of the incomplete line in text
	begin     int             // offset of the previous line's block
	kind      lineKind        // kind of the current line, once known whether it is code
	known     bool
	open      bool // raw starts with backticks that may still open a code span
	plain     bool // no footnotes: the answer comes from a given text
	origin    origin
	isRefusal bool // no footnotes either
	added     addedFootnotes
	last      time.Time
	took      time.Duration // duration of the last write to the store
	timer     *time.Timer
	err       error // error of the timer's write
	started   bool
}

// origin is the source of the text and of its footnotes.
type origin int

const (
	fromModel   origin = iota
	fromProgram        // contains no footnotes
	withAdded          // the model's text with footnotes added by the program
)

// NewWriter returns the writer of a run. plain disables footnotes.
func NewWriter(emit Emit, cite *Citer, plain bool) *Writer {
	return &Writer{emit: emit, cite: cite, plain: plain}
}

// Write appends the model's next text. The first text is stored at once, later text in batches. It returns an error
// of the store, including one of the timer since the last call.
func (w *Writer) Write(ctx context.Context, s string) error { return w.write(ctx, s, fromModel) }

// WriteWords is Write for text without footnotes, whatever it looks like; Quote adds its footnotes.
func (w *Writer) WriteWords(ctx context.Context, s string) error { return w.write(ctx, s, fromProgram) }

// WriteAdded is Write for the model's text with footnotes that the program placed.
func (w *Writer) WriteAdded(ctx context.Context, s string) error { return w.write(ctx, s, withAdded) }

// The first text is stored at once, since a reader waits for it. While a code span may be open and the new text
// can't close it, the text is only buffered.
func (w *Writer) write(ctx context.Context, s string, from origin) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	if w.origin != from { // the buffered text has another origin
		if err := w.finishText(ctx); err != nil {
			return err
		}
		w.origin = from
	}
	w.said.WriteString(s)
	waits := w.open && !strings.HasSuffix(w.raw, "`") && !strings.ContainsAny(s, "`\n")
	if w.raw += s; waits {
		return nil
	}
	if err := w.rewriteRaw(ctx, false); err != nil {
		return err
	}
	if err := w.addToEndedBlocks(ctx); err != nil {
		return err
	}
	w.bufferCopied()
	waiting := w.storable() - w.stored
	if waiting <= 0 {
		return nil
	}
	if !w.started || waiting >= w.mergeSize() || time.Since(w.last) >= w.mergePause() {
		return w.storeText(ctx)
	}
	if w.timer == nil {
		w.timer = time.AfterFunc(w.mergePause()-time.Since(w.last), func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.timer != nil && w.err == nil {
				w.err = w.storeText(ctx)
			}
		})
	}
	return nil
}

// mergePause returns how long text is buffered: at least mergeTime, longer while the store is slow. Until mergeMax
// is reached, storing takes at most a fifth of the time (docs/decisions/event-log.md).
func (w *Writer) mergePause() time.Duration { return min(max(mergeTime, 4*w.took), mergeMax) }

// mergeSize returns the number of buffered bytes that are stored without waiting for the pause. It grows from
// mergeBytes in proportion to the pause.
func (w *Writer) mergeSize() int { return int(mergeBytes * w.mergePause() / mergeTime) }

// storeText stores the rewritten text and measures the duration: while the store is slow, later texts are buffered
// longer. The caller holds w.mu.
func (w *Writer) storeText(ctx context.Context) error {
	w.stopTimer()
	ps := w.popUnstored(w.storable())
	if len(ps) == 0 {
		return nil
	}
	begin := time.Now()
	err := w.emit(ctx, ps...)
	w.last = time.Now()
	w.took, w.started = w.last.Sub(begin), true
	return err
}

// stopTimer cancels the timer for buffered text. The caller holds w.mu.
func (w *Writer) stopTimer() {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

// popUnstored returns the unstored citations and text up to end, in the order to store, and marks them as stored. A
// citation always precedes the delta with its "[". The caller holds w.mu.
func (w *Writer) popUnstored(end int) []chat.Payload {
	ps := w.queued
	if end > w.stored {
		ps = append(ps, chat.AnswerDelta{Text: w.text.String()[w.stored:end]})
		w.stored = end
	}
	w.queued = nil
	return ps
}

// Finish flushes the buffered raw text and returns the whole text. Rest returns the unstored part. It may be called
// again: without new text it returns the same.
func (w *Writer) Finish(ctx context.Context) (text string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopTimer()
	if w.err != nil {
		return "", w.err
	}
	if err := w.finishText(ctx); err != nil {
		return "", err
	}
	return w.text.String(), nil
}

// finishText flushes raw text that is still undecided, as it is. The caller holds w.mu.
func (w *Writer) finishText(ctx context.Context) error {
	if err := w.rewriteRaw(ctx, true); err != nil {
		return err
	}
	return w.addFootnotes(ctx, nil)
}

// Rest returns the unstored payloads. Until the next write the writer stores nothing on its own.
func (w *Writer) Rest() []chat.Payload {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopTimer()
	return w.popUnstored(w.text.Len())
}

// Original returns the text since the last reset with the model's own markers. Writing it again gives the same
// footnotes.
func (w *Writer) Original() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.said.String()
}

// Reset discards the text and its footnotes. It returns the text, and whether any of it was stored. Stored text
// stays in the log: the caller stores a chat.AnswerReset for it.
func (w *Writer) Reset() (text string, wasStored bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopTimer()
	text, wasStored = w.text.String()+w.raw, w.stored > 0
	w.said.Reset()
	w.raw, w.stored, w.queued, w.started = "", 0, nil, false
	w.lines, w.line, w.begin, w.known, w.isRefusal = lineReader{}, 0, 0, false, false
	w.added = addedFootnotes{evidence: w.added.evidence}
	w.text.Reset()
	w.cite.resetNumbers()
	return text, wasStored
}

// Shown reports whether the reader has seen any of the text.
func (w *Writer) Shown() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stored > 0
}

// rewriteRaw moves raw text to text, except for a possible start of a marker. It examines only brackets, backticks,
// backslashes and line ends. Undecided text stays in raw unless final is set.
func (w *Writer) rewriteRaw(ctx context.Context, final bool) error {
	w.open = false
	if w.text.Len() == 0 && w.bufferPossibleRefusal(final) {
		return nil
	}
	if w.origin == fromProgram {
		w.moveBytes(len(w.raw))
	}
	for w.raw != "" {
		i := strings.IndexAny(w.raw, "[【`\\\n")
		if i < 0 {
			w.putBytes(len(w.raw), final)
			return nil
		}
		if w.raw[i] == '\n' {
			w.moveBytes(i + 1)
			continue
		}
		code, known := w.inCodeBlock(final)
		if !known {
			w.putBytes(i, final)
			return nil
		}
		var held bool
		var err error
		switch {
		case w.raw[i] == '`':
			held = w.readBackticks(i, code, final)
		case w.raw[i] == '\\' && !strings.HasPrefix(w.raw[i:], `\[`):
			held = w.readBackslash(i, code, final)
		default:
			held, err = w.readBracket(ctx, i, code, final)
		}
		if err != nil || held {
			return err
		}
	}
	return nil
}

// readBracket parses a "[", "【" or `\[` at i. held means that more text is needed first. It checks in order for
// code, running text, a marker, a formula and a link.
func (w *Writer) readBracket(ctx context.Context, i int, code, final bool) (held bool, err error) {
	_, open := utf8.DecodeRuneInString(w.raw[i:])
	before := w.text.String()[w.line:] + w.raw[:i]
	m := text.ReadMarker(w.raw[i:])
	if code || !text.IsRunning(before) || w.raw[i] == '\\' && !w.isEscapedMarker(m, before) {
		w.moveBytes(i + open)
		return false, nil
	}
	if inFormula, known := w.inFormula(i, final); !known {
		w.putBytes(i, final)
		return true, nil
	} else if inFormula {
		w.moveBytes(i + open)
		return false, nil
	}
	end := i + m.Size
	if !final && (m.Partial || m.Size > 0 && end == len(w.raw)) {
		w.putBytes(i, final)
		return true, nil
	}
	if m.Size == 0 || end < len(w.raw) && w.raw[end] == '(' {
		w.moveBytes(i + open)
		return false, nil
	}
	w.moveBytes(i)
	w.raw = w.raw[m.Size:]
	return false, w.writeFootnotes(ctx, m.Numbers, citedWords{added: w.origin == withAdded})
}

// moveBytes moves n raw bytes to text unchanged. It parses completed lines, so that the kind of the next one is
// known.
func (w *Writer) moveBytes(n int) {
	piece := w.raw[:n]
	w.raw = w.raw[n:]
	for {
		at := strings.IndexByte(piece, '\n') + 1
		if at == 0 {
			break
		}
		w.text.WriteString(piece[:at])
		piece = piece[at:]
		before, line := w.lines.last, w.text.String()[w.line:]
		if kind := w.lines.readLine(line); !kind.continuesBlock(before) {
			if kind == ruleLine && isUnderline(line) {
				before = headingLine
			}
			w.added.ended = append(w.added.ended, endedBlock{w.line, before})
			w.begin = w.line
		}
		w.line, w.known = w.text.Len(), false
	}
	w.text.WriteString(piece)
}

// putBytes moves n bytes, but keeps back a space at their end, which a dropped marker would remove.
func (w *Writer) putBytes(n int, final bool) {
	if !final && n > 0 && w.raw[n-1] == ' ' {
		n--
	}
	w.moveBytes(n)
}

// inCodeBlock reports whether the current line is in fenced code. known is false while the line may still become a
// fence. It parses the possibly incomplete line with a copy of the reader.
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

// mayBecomeFence reports whether an incomplete line may become a fence: only indentation, quote marks and list
// markers, followed by backticks or tildes without a later backtick.
func mayBecomeFence(line string) bool {
	rest := strings.TrimLeft(line, " \t>-*+0123456789.)")
	if rest == "" {
		return true
	}
	n := runLength(rest, rest[0])
	return (rest[0] == '`' || rest[0] == '~') && (n == len(rest) || n >= 3 && !strings.Contains(rest[n:], "`"))
}

// readBackticks parses a run of backticks at i: a code span is moved unchanged, and a run that opens none is text.
// held means that more text is needed first.
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

// blockEnd returns how many raw bytes belong to the current block. whole means that more text can't change that. It
// parses ahead with a copy of the line reader.
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

// readBackslash parses a backslash at i, which may escape a backtick.
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

// isEscapedMarker reports whether `\[` starts a marker, or may start one. At the start of a line, or with a number
// without a passage, it is a formula.
func (w *Writer) isEscapedMarker(m text.Marker, before string) bool {
	return strings.TrimSpace(before) != "" && (m.Partial || m.Size > 0) &&
		!slices.ContainsFunc(m.Numbers, func(n int) bool { _, ok := w.cite.sources.At(n); return !ok })
}

// inFormula reports whether a bracket at i is in a formula. known is false while an open formula before it may still
// be closed. It looks back at most text.MaxFormula bytes, the maximum length of a formula.
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
