package page

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"github.com/a-h/templ"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/text/locale"
	"github.com/footnote/footnote/views"
)

// fragments draws the page's form of runs' events: once for each event, for all readers, and only while somebody
// reads. The zero value is not usable: see newFragments. It is safe for concurrent use.
//
// So a run that a hundred readers watch is drawn once in each language, and what was drawn is dropped when the last of
// them leaves. Frames are kept and never changed, so readers may share them.
type fragments struct {
	feed   *chat.Feed
	md     *views.Markdown
	models func() []string // those that a question may name now, the usual one first
	onPage func()          // a citation of a page was drawn: the reader may click it

	mu   sync.Mutex
	runs map[drawnKey]*drawnRun
}

// drawnKey names what is drawn once: a run in a language.
type drawnKey struct {
	run      string
	language *locale.Language
}

// drawnRun is what was drawn of one run. frames[seq-1] is the frame of event seq, nil if nobody has asked for it yet.
type drawnRun struct {
	readers int             // guarded by fragments.mu
	said    context.Context // carries the language
	md      *views.Markdown // of the language

	mu     sync.Mutex
	fold   *fold
	frames [][]byte
}

// newFragments draws runs for all their readers: each event once, however many watch.
func newFragments(feed *chat.Feed, md *views.Markdown, onPage func(), models func() []string) *fragments {
	return &fragments{feed: feed, md: md, models: models, onPage: onPage, runs: map[drawnKey]*drawnRun{}}
}

// joinRun returns a function that draws a run's entries for one reader. leave must be called when the reader is gone.
//
// frame is called by one reader at a time, in the order of the log; several readers may call theirs at the same time. A
// reader who comes late shares what was drawn before.
func (f *fragments) joinRun(
	ctx context.Context, s chat.Scope, run string,
) (frame func([]byte, *chat.Entry) ([]byte, error), leave func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := drawnKey{run, locale.Of(ctx)}
	d := f.runs[key]
	if d == nil {
		// Other readers get the frames, too: the one who leaves must not end their drawing.
		d = &drawnRun{said: locale.With(context.Background(), key.language), md: f.md.In(ctx)}
		f.runs[key] = d
	}
	// It is counted under the lock of all runs, so that a drawing is not dropped while somebody joins it.
	d.readers++
	frame = func(dst []byte, entry *chat.Entry) ([]byte, error) {
		if entry.Type == chat.KindStartOver {
			return d.startOver(dst, run) //nolint:contextcheck // drawn in memory
		}
		drawn, err := f.drawEntry(ctx, s, d, entry)
		return append(dst, drawn...), err
	}
	leave = sync.OnceFunc(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if d.readers--; d.readers == 0 {
			delete(f.runs, key)
		}
	})
	return frame, leave
}

// startOver empties the reader's turn. The log follows from its first event, and need not be what was drawn.
//
// What other readers hold of the run is drawn anew when they ask for it.
func (d *drawnRun) startOver(dst []byte, run string) ([]byte, error) {
	d.mu.Lock()
	d.fold, d.frames = nil, nil
	d.mu.Unlock()
	var b bytes.Buffer
	if err := views.OverFragment(newFold(run, nil).turn).Render(d.said, &b); err != nil {
		return dst, fmt.Errorf("draw the start of run %s: %w", run, err)
	}
	return httpio.AppendFrame(dst, 0, string(chat.KindStartOver), b.Bytes()), nil
}

// drawEntry returns the frame of entry. What came before it is applied, but not drawn unless a reader asks for it.
//
// The lock is held while it draws, so that each event is drawn once; other runs are not held up.
func (f *fragments) drawEntry(ctx context.Context, s chat.Scope, d *drawnRun, entry *chat.Entry) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	// Numbers begin at 1 and have no gaps, so they are places in the list.
	at := int(entry.Seq) - 1
	if at < len(d.frames) {
		if d.frames[at] != nil {
			return d.frames[at], nil
		}
		d.fold, d.frames = nil, d.frames[:0:0] // somebody reads from earlier on: draw it again from there
	}
	// A drawing begins with the first reader's first event, or anew after one who reads from earlier on.
	if d.fold == nil {
		d.fold = newFold(entry.RunID, d.md)
		// Which models are offered may change while a run goes on; readers of one drawing see the same.
		d.fold.turn.Offered = f.models()
		d.fold.turn.Usual = d.fold.turn.Offered[0]
	}
	if at > len(d.frames) {
		page, err := f.feed.Read(ctx, s, entry.RunID, int64(len(d.frames)))
		if err != nil {
			return nil, err
		}
		for _, before := range page.Entries {
			if before.Seq >= entry.Seq {
				break
			}
			if _, err := d.fold.applyEvent(before.Event); err != nil {
				return nil, err
			}
			d.frames = append(d.frames, nil)
		}
	}
	changed, err := d.fold.applyEvent(entry.Event)
	if err != nil {
		return nil, err
	}
	// What draws pages is started now, so that a page comes sooner when it is asked for.
	if changed.cite.Page > 0 {
		f.onPage()
	}
	var b bytes.Buffer
	err = drawPart(d.fold.turn, entry.Type, changed).Render(d.said, &b) //nolint:contextcheck // for all readers
	if err != nil {
		return nil, fmt.Errorf("draw event %d of run %s: %w", entry.Seq, entry.RunID, err)
	}
	frame := httpio.AppendFrame(nil, entry.Seq, string(entry.Type), b.Bytes())
	d.frames = append(d.frames, frame)
	return frame, nil
}

// drawPart is what an event of a kind redraws.
//
// The templates know the ids of the elements that they replace: a fragment that comes twice changes nothing.
func drawPart(t *views.Turn, kind chat.Kind, c change) templ.Component {
	switch kind {
	case chat.KindRunStarted:
		return views.StartedFragment(t)
	case chat.KindReasoningStep:
		return views.StepFragment(t, c.step, c.parent, c.whole, c.moved)
	case chat.KindAnswerDelta:
		return views.DeltaFragment(t, c.blocks, c.all, c.head)
	case chat.KindAnswerReset:
		return views.ResetFragment(t, c.step, c.parent)
	case chat.KindCitation:
		return views.CitationFragment(t, c.cite)
	case chat.KindAnswer:
		return views.AnswerFragment(t)
	case chat.KindRunDone:
		return views.DoneFragment(t, c.ended)
	default: // a kind of a later version draws nothing
		return templ.NopComponent
	}
}
