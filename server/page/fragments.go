package page

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/a-h/templ"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/locale"
	"github.com/footnote/footnote/text/sse"
	"github.com/footnote/footnote/views"
)

// fragments renders runs' events for the page: once per event and language for all readers, and only while a run has
// readers. The zero value is not usable: see newFragments. It is safe for concurrent use.
//
// A run with a hundred readers is rendered once in each language, and the cached frames are dropped when the last
// reader leaves. Frames are immutable, so readers may share them.
type fragments struct {
	feed   *chat.Feed
	md     *views.Markdown
	models func() []string // the available models, the default first
	onPage func()          // called when a citation of a page was rendered, since the reader may click it

	mu   sync.Mutex
	runs map[drawnKey]*drawnRun
}

// drawnKey identifies a cache of frames: a run in a language.
type drawnKey struct {
	run      string
	language *locale.Language
}

// drawnRun caches the rendered frames of one run. frames[seq-1] is the frame of event seq, nil until it is
// requested.
type drawnRun struct {
	readers int             // guarded by fragments.mu
	said    context.Context // context with the language
	md      *views.Markdown // renderer for the language

	mu     sync.Mutex
	fold   *fold
	frames [][]byte
}

// newFragments returns fragments, which render each event once for all readers.
func newFragments(feed *chat.Feed, md *views.Markdown, onPage func(), models func() []string) *fragments {
	return &fragments{feed: feed, md: md, models: models, onPage: onPage, runs: map[drawnKey]*drawnRun{}}
}

// joinRun returns a function that renders a run's entries for one reader. leave must be called when the reader
// disconnects.
//
// Each reader calls frame sequentially, in the order of the log; readers call theirs concurrently. A late reader
// uses the cached frames.
func (f *fragments) joinRun(
	ctx context.Context, s chat.Scope, run string,
) (frame func([]byte, *chat.Entry) ([]byte, error), leave func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := drawnKey{run, locale.Of(ctx)}
	d := f.runs[key]
	if d == nil {
		// Other readers get the frames, too: a disconnected reader must not cancel the rendering.
		d = &drawnRun{said: locale.With(context.Background(), key.language), md: f.md.In(ctx)}
		f.runs[key] = d
	}
	// The count changes under the lock of all runs, so that a cache is not dropped while a reader joins it.
	d.readers++
	frame = func(dst []byte, entry *chat.Entry) ([]byte, error) {
		if entry.Type == chat.KindStartOver {
			return d.startOver(dst, run) //nolint:contextcheck // rendered in memory
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

// startOver clears the reader's turn. The log follows from its first event and may differ from the rendered one.
//
// The cache is cleared, so other readers' frames are rendered again on demand.
func (d *drawnRun) startOver(dst []byte, run string) ([]byte, error) {
	d.mu.Lock()
	d.fold, d.frames = nil, nil
	d.mu.Unlock()
	var b bytes.Buffer
	if err := views.OverFragment(newFold(run, nil).turn).Render(d.said, &b); err != nil {
		return dst, fmt.Errorf("draw the start of run %s: %w", run, err)
	}
	return sse.Append(dst, 0, string(chat.KindStartOver), b.Bytes()), nil
}

// drawEntry returns the frame of entry. Earlier events are applied, but not rendered unless a reader requests them.
//
// The lock is held while it renders, so that each event is rendered once; other runs are not blocked.
func (f *fragments) drawEntry(ctx context.Context, s chat.Scope, d *drawnRun, entry *chat.Entry) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	// Sequence numbers start at 1 and have no gaps, so they are indexes into the list.
	at := int(entry.Seq) - 1
	if at < len(d.frames) {
		if d.frames[at] != nil {
			return d.frames[at], nil
		}
		d.fold, d.frames = nil, d.frames[:0:0] // a reader starts earlier: render again from there
	}
	// The fold starts with the first reader's first event, or again after a reader from an earlier position.
	if d.fold == nil {
		d.fold = newFold(entry.RunID, d.md)
		// The available models may change during a run; readers of one cache see the same.
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
	// Start the page renderer in advance, to reduce the latency of the first page image.
	if changed.cite.Page > 0 {
		f.onPage()
	}
	var b bytes.Buffer
	err = drawPart(d.fold.turn, entry.Type, changed).Render(d.said, &b) //nolint:contextcheck // for all readers
	if err != nil {
		return nil, fmt.Errorf("draw event %d of run %s: %w", entry.Seq, entry.RunID, err)
	}
	frame := sse.Append(nil, entry.Seq, string(entry.Type), b.Bytes())
	d.frames = append(d.frames, frame)
	return frame, nil
}

// drawPart renders the change of an event.
//
// The templates contain the ids of the elements that they replace: a duplicate fragment is idempotent.
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
	default: // unknown kinds of later versions render nothing
		return templ.NopComponent
	}
}

// fold folds a run's log into the page's state. It is a pure function of the events applied, in order.
//
// The same events give the same elements with the same ids, for a whole page or one by one: a loaded page can
// continue with a stream. It is not safe for concurrent use.
type fold struct {
	log   chat.Transcript
	turn  *views.Turn
	md    *views.Markdown // nil: the answer's text is collected, not rendered
	draft *views.Draft    // the answer since the last reset
	calls map[string]*views.Step
	kids  map[string]string // call id → parent's
}

// change lists the parts of the page that an event re-renders.
//
// Only the fields that the kind of the event needs are set.
type change struct {
	step   *views.Step
	parent *views.Step // of step
	whole  bool        // render all of parent, not only its line
	moved  []*views.Step
	blocks []views.Block
	all    bool // blocks is the complete list
	head   bool // render the timeline's head with the blocks
	ended  []*views.Step
	cite   chat.Citation
}

// newFold returns a fold with an empty turn.
func newFold(run string, md *views.Markdown) *fold {
	f := &fold{
		turn: &views.Turn{RunID: run, Status: chat.RunRunning, Latest: true}, md: md,
		calls: map[string]*views.Step{}, kids: map[string]string{},
	}
	f.draft = views.NewDraft(md, f.findCitation)
	return f
}

// foldRun applies a whole log and renders the answer once, at the end.
//
// It fails with chat.ErrDamaged for a damaged log.
func foldRun(run string, md *views.Markdown, entries []*chat.Entry) (*views.Turn, error) {
	f := newFold(run, nil)
	for _, entry := range entries {
		if _, err := f.applyEvent(entry.Event); err != nil {
			return nil, err
		}
	}
	switch t := f.turn; {
	// A finished answer is rendered from the answer event, with the unsupported sentences.
	case t.Final != nil:
		t.Blocks = md.Whole(t.Final.Markdown, t.Final.Unsupported, f.findCitation)
	case !f.draft.Empty():
		// It is rendered as in a stream, so that the next delta fits the page.
		whole := views.NewDraft(md, f.findCitation)
		whole.Add(f.draft.Text())
		if t.Blocks = whole.Blocks(); !t.Running() {
			t.Blocks = whole.Close()
		}
	}
	return f.turn, nil
}

// applyEvent applies the next event. Events applied before are ignored.
func (f *fold) applyEvent(ev chat.Event) (change, error) {
	payload, err := f.log.Apply(ev)
	if err != nil || payload == nil {
		return change{}, err
	}
	t := f.turn
	t.StartedAt, t.LastSeq, t.Citations = f.log.StartedAt, f.log.LastSeq, f.log.Citations
	t.Elapsed = max(0, f.log.LastAt.Sub(t.StartedAt))
	switch p := payload.(type) {
	case chat.RunStarted:
		t.SessionID, t.Question, t.Model, t.Mode, t.Budget = p.SessionID, p.Question, p.Model, p.Mode, p.Budget
	case chat.Step:
		return f.applyStep(p, ev.At), nil
	case chat.AnswerDelta:
		return f.applyDelta(p), nil
	case chat.AnswerReset:
		return f.applyReset(p), nil
	case chat.Citation:
		return change{cite: p}, nil
	case chat.Answer:
		f.applyAnswer(p)
	case chat.RunDone:
		return change{ended: f.endRun(p)}, nil
	case chat.Reset: // asks a reader to start over; the log itself has none
	}
	return change{}, nil
}

// applyStep adds or updates a step, and returns the resulting change of the page.
//
// A step's event replaces its state, except its number, its children and its start time.
func (f *fold) applyStep(p chat.Step, at time.Time) change {
	s, known := f.calls[p.CallID]
	var c change
	if !known {
		s = f.newStep(p.CallID, at)
		c.parent, c.whole = f.adoptStep(s, p, at)
		if p.ParentID == "" {
			c.parent, c.moved = f.foldRepeat(s, p.ToolName)
			c.whole = c.moved != nil
		}
	} else if s.Grouping { // children came before it
		s.Started = at
	}
	// These are the page's own; the event has all other fields.
	children, n, started := s.Children, s.N, s.Started
	*s = views.Step{
		Step: p, RunID: f.turn.RunID, N: n, Children: children, Started: started, Elapsed: max(0, at.Sub(started)),
	}
	if c.parent == nil {
		c.parent = f.calls[f.kids[p.CallID]]
	}
	if c.parent != nil && s.Thought == c.parent.Thought { // the group of a turn's calls shows it
		s.Thought = ""
	}
	if f.groupState(c.parent, at) {
		c.whole = true
	}
	c.step = s
	return c
}

// newStep adds a step to the turn under the next number, which is part of its elements' ids.
func (f *fold) newStep(call string, at time.Time) *views.Step {
	s := &views.Step{RunID: f.turn.RunID, N: len(f.turn.All) + 1, Started: at}
	s.CallID = call
	f.calls[call] = s
	f.turn.All = append(f.turn.All, s)
	return s
}

// adoptStep adds a new step to its parent, creating a parent without an event.
//
// fresh means that the parent was just created, so it is rendered completely.
func (f *fold) adoptStep(s *views.Step, p chat.Step, at time.Time) (parent *views.Step, fresh bool) {
	if p.ParentID == "" || p.ParentID == p.CallID {
		f.turn.Steps = append(f.turn.Steps, s)
		return nil, false
	}
	parent, known := f.calls[p.ParentID]
	if !known {
		parent = f.newStep(p.ParentID, at)
		parent.Grouping = true
		f.turn.Steps = append(f.turn.Steps, parent)
	}
	parent.Children = append(parent.Children, s)
	f.kids[p.CallID] = p.ParentID
	return parent, !known
}

// groupState derives a created parent's state from its children and reports whether it changed.
//
// It is running while a child is, and failed only if all failed.
func (f *fold) groupState(parent *views.Step, at time.Time) bool {
	if parent == nil || !parent.Grouping {
		return false
	}
	before := parent.Status
	parent.Elapsed = max(0, at.Sub(parent.Started))
	parent.Status = chat.StatusError
	for _, c := range parent.Children {
		if c.Status == chat.StatusRunning || c.Status == chat.StatusPending {
			parent.Status = chat.StatusRunning
			break
		}
		if c.Status != chat.StatusError {
			parent.Status = chat.StatusComplete
		}
	}
	return parent.Status != before
}

// applyDelta adds text to the answer.
func (f *fold) applyDelta(p chat.AnswerDelta) change {
	first := f.draft.Empty()
	// The time before the first word was work, shown in the head of the timeline.
	if first {
		f.turn.Worked = f.turn.Elapsed
	}
	blocks, all := f.draft.Add(p.Text)
	f.turn.Blocks = f.draft.Blocks()
	return change{blocks: blocks, all: all, head: first}
}

// applyReset renders the text so far as a thought.
func (f *fold) applyReset(p chat.AnswerReset) change {
	s := f.calls[p.CallID]
	if step, known := f.log.Step(p.CallID); known {
		s.Thought = step.Thought
	}
	f.draft, f.turn.Blocks, f.turn.Worked = views.NewDraft(f.md, f.findCitation), nil, 0
	return change{step: s, parent: f.calls[f.kids[p.CallID]]}
}

// findCitation returns the citation with a number, if it has arrived.
func (f *fold) findCitation(n int) (chat.Citation, bool) {
	for _, c := range f.turn.Citations {
		if c.Number == n {
			return c, true
		}
	}
	return chat.Citation{}, false
}

// applyAnswer renders the complete answer: the unsupported sentences are now known.
func (f *fold) applyAnswer(p chat.Answer) {
	f.turn.Final = &p
	if f.turn.Worked == 0 {
		f.turn.Worked = f.turn.Elapsed
	}
	if f.md != nil {
		f.turn.Blocks = f.md.Whole(p.Markdown, p.Unsupported, f.findCitation)
	}
}

// endRun ends the run and all its running steps, so that no progress indicator remains. It returns the ended
// top-level steps.
func (f *fold) endRun(p chat.RunDone) []*views.Step {
	f.turn.Status, f.turn.Error = p.Status, p.Error
	if f.turn.Final == nil {
		f.turn.Blocks = f.draft.Close()
	}
	// Only top-level rows are returned: rendering one includes its children.
	var ended []*views.Step
	for _, s := range f.turn.All {
		if s.Status != chat.StatusRunning && s.Status != chat.StatusPending {
			continue
		}
		// A created parent is no call, so nothing was cancelled.
		if s.Grouping {
			s.Status = chat.StatusComplete
		} else {
			s.Status, s.ToolStatus = chat.StatusCancelled, chat.StatusCancelled
			s.Elapsed = max(0, f.turn.StartedAt.Add(f.turn.Elapsed).Sub(s.Started))
		}
		top := s
		for parent := f.calls[f.kids[top.CallID]]; parent != nil; parent = f.calls[f.kids[top.CallID]] {
			top = parent
		}
		if len(ended) == 0 || ended[len(ended)-1] != top {
			ended = append(ended, top)
		}
	}
	return ended
}

// repeatsFold is the number of consecutive calls of one tool that fold into one row: two rows are as fast to read as
// one that must be opened.
const repeatsFold = 3

// foldRepeat folds s, the newest row of the timeline, with the directly preceding calls of the same tool into one
// row. It returns that row as parent, nil if there is none; moved are the rows that were folded into it.
//
// A new fold requires that the calls before the newest succeeded and have no children, since the others have details
// to show.
func (f *fold) foldRepeat(s *views.Step, tool string) (parent *views.Step, moved []*views.Step) {
	rows := f.turn.Steps
	last := len(rows) - 1
	if last < 0 || rows[last] != s || tool == "" {
		return nil, nil
	}
	if last > 0 && rows[last-1].Repeat && rows[last-1].Children[0].ToolName == tool {
		parent = rows[last-1]
		f.turn.Steps = rows[:last]
		f.put(parent, s)
		return parent, nil
	}
	first := last - repeatsFold + 1
	if first < 0 {
		return nil, nil
	}
	for _, row := range rows[first:last] {
		if row.ToolName != tool || row.Grouping || len(row.Children) > 0 || row.Status != chat.StatusComplete {
			return nil, nil
		}
	}
	moved = append(moved, rows[first:last]...)
	// The id can't collide with a call's, since it contains the prefix and a colon.
	parent = f.newStep("repeat:"+moved[0].CallID, moved[0].Started)
	parent.Grouping, parent.Repeat = true, true
	f.turn.Steps = append(rows[:first:first], parent)
	for _, row := range moved {
		f.put(parent, row)
	}
	f.put(parent, s)
	return parent, moved
}

// put makes a step the child of another.
func (f *fold) put(parent, child *views.Step) {
	parent.Children = append(parent.Children, child)
	f.kids[child.CallID] = parent.CallID
}
