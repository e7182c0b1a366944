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

// How text is merged before it is stored. Under load, when storing takes long, it is merged more.
const (
	mergeTime  = 40 * time.Millisecond
	mergeMax   = 400 * time.Millisecond
	mergeBytes = 256
)

// Emit stores payloads in order, all or none.
type Emit func(ctx context.Context, ps ...chat.Payload) error

// Writer is the answer as it streams: it merges text, rewrites the model's markers to footnotes, and stores a citation
// before the text that holds its "[". Its timer may call it while the model streams, so it is safe for concurrent use.
// Text passes through three states: raw (may still be part of a marker), text (rewritten), stored. Nothing is stored
// that a later piece could change.
type Writer struct {
	emit Emit
	cite *Citer

	mu        sync.Mutex
	said      strings.Builder // as the model wrote it, since the last reset
	raw       string          // not rewritten yet: it may be the beginning of a marker
	text      strings.Builder // rewritten, since the last reset
	stored    int             // bytes of text that are stored
	queued    []chat.Payload  // citations that come before the rest of text
	lines     lineReader      // of the lines that are whole
	line      int             // where the line that is not whole begins in text
	begin     int             // where the block of the line before begins
	kind      lineKind        // of that line, once it is known whether it is code
	known     bool
	open      bool // raw begins with backticks of which it is not known yet whether they open a code span
	plain     bool // no footnotes: the answer comes from a given text
	origin    origin
	isRefusal bool // no footnotes either
	added     addedFootnotes
	last      time.Time
	took      time.Duration // the last storing
	timer     *time.Timer
	err       error // of the timer's storing
	started   bool
}

// origin is whose text is written, and who placed the footnotes in it.
type origin int

const (
	fromModel   origin = iota
	fromProgram        // nothing in it is a footnote
	withAdded          // of the model, with footnotes of the program
)

// NewWriter makes the writer of a run. plain says that the answer gets no footnotes.
func NewWriter(emit Emit, cite *Citer, plain bool) *Writer {
	return &Writer{emit: emit, cite: cite, plain: plain}
}

// Write adds what the model said next. The first text is stored at once, later text when it is worth it. It fails with
// what storing failed with, also if that was in the timer since the last call.
func (w *Writer) Write(ctx context.Context, s string) error { return w.write(ctx, s, fromModel) }

// WriteWords is Write for text in which nothing is a footnote, whatever it looks like: those of what it says are added
// by Quote.
func (w *Writer) WriteWords(ctx context.Context, s string) error { return w.write(ctx, s, fromProgram) }

// WriteAdded is Write for the model's text with footnotes that the program placed.
func (w *Writer) WriteAdded(ctx context.Context, s string) error { return w.write(ctx, s, withAdded) }

// The first text is stored at once, since a reader waits for it. While a code span may be open and nothing in the new
// text can close it, the text only grows.
func (w *Writer) write(ctx context.Context, s string, from origin) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	if w.origin != from { // what is held back is of the other kind
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
	w.holdCopied()
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

// mergePause is how long text is merged: at least mergeTime, longer while the store is busy. Until mergeMax is reached,
// storing so takes a fifth of the time at most (docs/decisions/event-log.md).
func (w *Writer) mergePause() time.Duration { return min(max(mergeTime, 4*w.took), mergeMax) }

// mergeSize is how many bytes of text need not wait for the pause: mergeBytes, and as many times more as the pause is
// longer.
func (w *Writer) mergeSize() int { return int(mergeBytes * w.mergePause() / mergeTime) }

// storeText stores what is rewritten so far and takes the time: the next texts wait longer while the store is slow. The
// caller holds w.mu.
func (w *Writer) storeText(ctx context.Context) error {
	w.stopTimer()
	ps := w.takeUnstored(w.storable())
	if len(ps) == 0 {
		return nil
	}
	begin := time.Now()
	err := w.emit(ctx, ps...)
	w.last = time.Now()
	w.took, w.started = w.last.Sub(begin), true
	return err
}

// stopTimer keeps waiting text from being stored by the timer. The caller holds w.mu.
func (w *Writer) stopTimer() {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

// takeUnstored returns the citations and the text up to end that are not stored yet, in the order in which they must
// be, and takes them as stored. The caller holds w.mu. A citation always comes before the delta that holds its "[".
func (w *Writer) takeUnstored(end int) []chat.Payload {
	ps := w.queued
	if end > w.stored {
		ps = append(ps, chat.AnswerDelta{Text: w.text.String()[w.stored:end]})
		w.stored = end
	}
	w.queued = nil
	return ps
}

// Finish takes what is held back as it is and returns the whole text. Rest returns what is not stored yet. It may be
// called again: without new text it returns the same.
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

// finishText takes over what is held back, as it is. The caller holds w.mu.
func (w *Writer) finishText(ctx context.Context) error {
	if err := w.rewriteRaw(ctx, true); err != nil {
		return err
	}
	return w.addFootnotes(ctx, nil)
}

// Rest returns what is left to store. The writer stores nothing on its own any more until the next write.
func (w *Writer) Rest() []chat.Payload {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopTimer()
	return w.takeUnstored(w.text.Len())
}

// Original returns the text since the last reset with the markers that the model wrote: written again, it gets the
// same footnotes.
func (w *Writer) Original() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.said.String()
}

// Reset forgets the text and frees its footnotes. It returns the text, and whether any of it was stored. What was
// stored stays in the log: the caller stores a chat.AnswerReset for it.
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

// rewriteRaw moves raw text to text, but for what may still become a marker. It looks only at signs that can mean
// something: brackets, backticks, backslashes and ends of lines. Everything up to one of them is taken over; what can't
// be decided yet stays in raw unless the text is final.
func (w *Writer) rewriteRaw(ctx context.Context, final bool) error {
	w.open = false
	if w.text.Len() == 0 && w.holdPossibleRefusal(final) {
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

// readBracket deals with a "[", "【" or `\[` at i. held means that more text must come first. The order of the
// questions: is it code, is it running text, is it a marker, is it a formula, is it a link.
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

// moveBytes takes n bytes over as they are. Lines that are whole are read, so that the kind of the next one is known.
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

// putBytes takes n bytes over, but for a space at their end, which a dropped marker would take with it.
func (w *Writer) putBytes(n int, final bool) {
	if !final && n > 0 && w.raw[n-1] == ' ' {
		n--
	}
	w.moveBytes(n)
}

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
