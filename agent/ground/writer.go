package ground

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"footnote/chat"
	"footnote/corpus/text"
)

// RefusalSentence is how an answer begins when the documents do not hold one. It is the one refusal of an answer:
// prompts quote it, IsRefusal knows it, and clients get it word for word.
const RefusalSentence = "I couldn't find relevant information about that in your documents."

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
	words     bool // nothing in raw is a footnote
	isRefusal bool // no footnotes either
	last      time.Time
	took      time.Duration // the last storing
	timer     *time.Timer
	err       error // of the timer's storing
	started   bool
}

// NewWriter makes the writer of a run. plain says that the answer gets no footnotes.
func NewWriter(emit Emit, cite *Citer, plain bool) *Writer {
	return &Writer{emit: emit, cite: cite, plain: plain}
}

// Write adds what the model said next. The first text is stored at once, later text when it is worth it. It fails with
// what storing failed with, also if that was in the timer since the last call.
func (w *Writer) Write(ctx context.Context, s string) error { return w.write(ctx, s, false) }

// WriteWords is Write for text in which nothing is a footnote, whatever it looks like: those of what it says are added
// by Quote.
func (w *Writer) WriteWords(ctx context.Context, s string) error { return w.write(ctx, s, true) }

// The first text is stored at once, since a reader waits for it. While a code span may be open and nothing in the new
// text can close it, the text only grows.
func (w *Writer) write(ctx context.Context, s string, words bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	if w.words != words { // what is held back is of the other kind
		if err := w.rewriteRaw(ctx, true); err != nil {
			return err
		}
		w.words = words
	}
	w.said.WriteString(s)
	waits := w.open && !strings.HasSuffix(w.raw, "`") && !strings.ContainsAny(s, "`\n")
	if w.raw += s; waits {
		return nil
	}
	if err := w.rewriteRaw(ctx, false); err != nil {
		return err
	}
	waiting := w.text.Len() - w.stored
	if waiting == 0 {
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
// storing so takes a fifth of the time at most (docs/decisions.md, “Events, runs and replicas”).
func (w *Writer) mergePause() time.Duration { return min(max(mergeTime, 4*w.took), mergeMax) }

// mergeSize is how many bytes of text need not wait for the pause: mergeBytes, and as many times more as the pause is
// longer.
func (w *Writer) mergeSize() int { return int(mergeBytes * w.mergePause() / mergeTime) }

// storeText stores what is rewritten so far and takes the time: the next texts wait longer while the store is slow. The
// caller holds w.mu.
func (w *Writer) storeText(ctx context.Context) error {
	w.stopTimer()
	ps := w.takeUnstored()
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

// takeUnstored returns the citations and the text that are not stored yet, in the order in which they must be, and
// takes them as stored. The caller holds w.mu. A citation always comes before the delta that holds its "[".
func (w *Writer) takeUnstored() []chat.Payload {
	ps := w.queued
	if w.text.Len() > w.stored {
		ps = append(ps, chat.AnswerDelta{Text: w.text.String()[w.stored:]})
		w.stored = w.text.Len()
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
	if err := w.rewriteRaw(ctx, true); err != nil {
		return "", err
	}
	return w.text.String(), nil
}

// Rest returns what is left to store. The writer stores nothing on its own any more until the next write.
func (w *Writer) Rest() []chat.Payload {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopTimer()
	return w.takeUnstored()
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
	if w.words {
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
		switch w.raw[i] {
		case '`':
			held = w.readBackticks(i, code, final)
		case '\\':
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

// readBracket deals with a "[" at i. held means that more text must come first. The order of the questions: is it code,
// is it running text, is it a formula, is it a marker, is it a link.
func (w *Writer) readBracket(ctx context.Context, i int, code, final bool) (held bool, err error) {
	_, open := utf8.DecodeRuneInString(w.raw[i:])
	if code || !text.IsRunning(w.text.String()[w.line:]+w.raw[:i]) {
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
	m := text.ReadMarker(w.raw[i:])
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
	return false, w.writeFootnotes(ctx, m.Numbers, "", nil)
}

// Quote adds a footnote to a passage, by its number, whose words the model names; matched are those of them that the
// question asks with.
func (w *Writer) Quote(ctx context.Context, passage int, words string, matched []string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	if err := w.rewriteRaw(ctx, true); err != nil { // text before a footnote can't go on as a marker
		return err
	}
	return w.writeFootnotes(ctx, []int{passage}, words, matched)
}

var openNumber = regexp.MustCompile(`\[\d{0,2}$`)

// wouldJoin reports whether two texts without a marker between them would make a footnote, or another run of backticks.
// Without a space between them the page would draw something that neither text says.
func wouldJoin(before, after string) bool {
	return openNumber.MatchString(before) ||
		strings.HasPrefix(after, "`") && (strings.HasSuffix(before, "`") || strings.HasSuffix(before, "\\"))
}

// writeFootnotes writes the footnotes of one marker: for the words, or, without any, for the sentence before it.
// Numbers without a passage are dropped, and the space before them. The claim is read once for all numbers of a marker.
// A marker of which nothing is left takes the space before it along.
func (w *Writer) writeFootnotes(ctx context.Context, numbers []int, words string, matched []string) error {
	claim, seen, written := "", map[int]bool{}, false
	for _, n := range numbers {
		if w.plain || w.isRefusal {
			break
		}
		if claim == "" && words == "" {
			claim = claimBefore(w.text.String())
		}
		number, fresh, err := w.cite.citeSource(ctx, n, claim, words)
		if err != nil {
			return fmt.Errorf("cite passage %d: %w", n, err)
		}
		if number == 0 || seen[number] {
			continue
		}
		if fresh != nil {
			fresh.Matched = matched
			w.queued = append(w.queued, *fresh)
		}
		seen[number], written = true, true
		w.text.WriteString("[" + strconv.Itoa(number) + "]")
	}
	if text := w.text.String(); !written && strings.HasSuffix(text, " ") && w.stored < len(text) {
		w.text.Reset()
		w.text.WriteString(text[:len(text)-1])
		if w.raw != "" && !strings.ContainsRune(" .,;:!?)\n", rune(w.raw[0])) {
			w.text.WriteByte(' ')
		}
	}
	if !written {
		w.known = false // without the marker the line may begin as a fence does
		if before := w.text.String()[w.line:]; wouldJoin(before, w.raw) {
			w.text.WriteByte(' ')
		}
	}
	return nil
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
		before := w.lines.last
		if !w.lines.readLine(w.text.String()[w.line:]).continuesBlock(before) {
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

// holdPossibleRefusal waits until the text can't become a refusal any more, and writes one exactly as it has to be. A
// refusal has no footnotes. Apostrophes of both kinds are the same here, as models write either.
func (w *Writer) holdPossibleRefusal(final bool) bool {
	trimmed := strings.TrimLeft(w.raw, " \n")
	plain := strings.ReplaceAll(trimmed, "’", "'")
	switch {
	case strings.HasPrefix(plain, RefusalSentence):
		w.raw = RefusalSentence + strings.TrimPrefix(plain, RefusalSentence)
		w.isRefusal = true
		return false
	case final || plain == "":
		return false
	default:
		return strings.HasPrefix(RefusalSentence, plain)
	}
}

// IsRefusal reports whether the text is a refusal.
func IsRefusal(text string) bool { return strings.HasPrefix(text, RefusalSentence) }
