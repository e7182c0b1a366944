package grid

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/footnote/footnote/chat"
)

// brief is what a model is told besides the question. It stands beside the question as an instruction of the request,
// so a column's own words stay a question.
const brief = "This answer fills one cell of a table. Give the value alone, in as few words as the document uses, " +
	"and cite the passage that says it. If the document does not say, answer that it does not say."

// errPast says that a cell is not waited for any more: it was filled, emptied or removed meanwhile.
var errPast = errors.New("the cell is not waiting for this run")

// slice is the filling of one grid for a while. Its lock guards what the workers share.
type slice struct {
	*Filler
	grid    chat.Grid
	until   time.Time // no cell is begun after that
	workers sync.WaitGroup
	mu      sync.Mutex
	waiting []chat.GridCell // not taken by a worker yet
	over    bool            // nothing more is to be taken
	trouble error           // why
}

// fill asks the waiting cells of a grid for one slice of time. The user's own runs come first: while there are some,
// the grid waits. Runs that last longer than a slice go on without being watched, and the next slice finds them by
// their keys.
func (f *Filler) fill(ctx context.Context, g chat.Grid) error {
	if g.State != chat.GridFilling {
		_, err := f.change(ctx, g, func(g *chat.Grid) { g.DueAt = time.Time{} })
		return err
	}
	busy, err := f.cfg.Store.HasRuns(ctx, scope(g))
	if err != nil || busy {
		_, later := f.change(ctx, g, func(g *chat.Grid) { g.DueAt = time.Now().Add(giveWay) })
		return errors.Join(err, later)
	}
	waiting, err := f.toAsk(ctx, g)
	if err != nil {
		return err
	}
	s := &slice{Filler: f, grid: g, waiting: waiting, until: time.Now().Add(sliceTime)}
	short, cancel := context.WithTimeout(ctx, sliceTime+runTime)
	defer cancel()
	claim, release := context.WithCancel(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() { f.renewClaim(claim, g) })
	for range min(cellsAtOnce, len(waiting)) {
		s.workers.Go(func() { s.work(ctx, short) })
	}
	s.workers.Wait()
	release()
	renewing.Wait()
	if ctx.Err() != nil {
		return nil // the claim ends by itself
	}
	return s.end(ctx)
}

// renewClaim keeps the claim of a grid that is being filled until ctx ends. A claim that can't be renewed ends by
// itself.
func (f *Filler) renewClaim(ctx context.Context, g chat.Grid) {
	tick := time.NewTicker(claimTime / 4)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		_, err := f.change(ctx, g, func(g *chat.Grid) {
			if !g.DueAt.IsZero() {
				g.DueAt = time.Now().Add(claimTime)
			}
		})
		if err != nil && ctx.Err() == nil {
			f.cfg.Log.WarnContext(ctx, "the claim of a table could not be renewed", "table", g.ID, "error", err)
		}
	}
}

// toAsk are the cells that are to be asked, a row after the other. So the first rows are whole while the rest still
// waits.
func (f *Filler) toAsk(ctx context.Context, g chat.Grid) (list []chat.GridCell, err error) {
	cells, err := f.cfg.Store.GridCells(ctx, scope(g), g.ID, 0)
	if err != nil {
		return nil, err
	}
	known := chat.ByPlace(cells)
	for row := range g.Rows {
		for column := range g.Columns {
			if cell := known.At(row, column); cell.State == chat.CellWaiting {
				list = append(list, cell)
			}
		}
	}
	return list, nil
}

// work fills one waiting cell after the other until the slice is over.
func (s *slice) work(ctx, short context.Context) {
	for {
		cell, ok := s.take()
		if !ok || short.Err() != nil {
			return
		}
		if err := s.fillCell(ctx, short, cell); err != nil {
			s.stop(err)
			return
		}
	}
}

// take hands out the next waiting cell; ok is false when the slice is over or nothing waits.
func (s *slice) take() (cell chat.GridCell, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || len(s.waiting) == 0 || time.Now().After(s.until) {
		return cell, false
	}
	cell, s.waiting = s.waiting[0], s.waiting[1:]
	return cell, true
}

// stop ends the slice; err says why, nil: the grid is not filled any more.
func (s *slice) stop(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	if s.trouble == nil {
		s.trouble = err
	}
}

// fillCell asks a cell's question, waits for the answer, and stores it. It returns what keeps the whole grid from being
// filled; what concerns the cell alone is stored with it. A run that the slice does not see the end of goes on, and
// the next slice finds it.
func (s *slice) fillCell(ctx, short context.Context, cell chat.GridCell) error {
	run, fresh, err := s.cfg.Runs.Start(ctx, s.grid.User, s.request(cell))
	switch {
	case err != nil && isOfCell(err):
		return s.store(ctx, cell, chat.Run{}, failed(err))
	case err != nil:
		return err
	case fresh:
		s.begun.Store(run.ID, true)
	case run.Status == chat.RunRunning:
		// A run of a server that died rests until its lease ends, and must not keep the other cells waiting.
		if _, ours := s.begun.Load(run.ID); !ours {
			s.workers.Go(func() { s.work(ctx, short) })
		}
	}
	if run, err = s.await(short, run); short.Err() == nil {
		s.begun.Delete(run.ID)
	}
	switch {
	case short.Err() != nil:
		return nil
	case err != nil && chat.CodeOf(err) == chat.CodeNotFound:
		return s.store(ctx, cell, run, failed(&chat.Error{
			Code: chat.CodeNotFound, Message: "The work on this cell was deleted.",
		}))
	case err != nil:
		return err
	}
	log, err := chat.ReadTranscript(ctx, s.cfg.Store, scope(s.grid), run.ID)
	if err != nil {
		return err
	}
	return s.store(ctx, cell, run, answerOf(run, log))
}

// isOfCell reports whether a question can't be asked because of its document or its words.
func isOfCell(err error) bool {
	ofCell := []chat.Code{chat.CodeNotFound, chat.CodeInvalid, chat.CodeConflict, chat.CodeTooLarge}
	return slices.Contains(ofCell, chat.CodeOf(err))
}

// request is a cell's question. It has a conversation of its own, so that no cell waits for another or is read by it.
// The key has the cell's turn in it, which goes up when the cell is emptied: so a cell that is asked again has another
// run.
func (s *slice) request(cell chat.GridCell) chat.RunRequest {
	g := s.grid
	return chat.RunRequest{
		SessionID: sessionOf(g.ID, cell), Message: g.Columns[cell.Column].Asked(),
		DocumentIDs: []string{g.Rows[cell.Row].DocumentID}, Instructions: brief,
		Config:         chat.RunConfig{Model: g.Model},
		IdempotencyKey: fmt.Sprintf("grid-%s-%d-%d-%d", g.ID, cell.Row, cell.Column, cell.Turn),
	}
}

// sessionOf names the conversation that a cell's run is in.
func sessionOf(id string, cell chat.GridCell) string {
	return fmt.Sprintf("%s%s-%d-%d-%d", chat.GridSessions, id, cell.Row, cell.Column, cell.Turn)
}

// await looks at a run until it is over. It looks more and more seldom; offline runs end within milliseconds, those of
// models in seconds.
func (s *slice) await(ctx context.Context, run chat.Run) (chat.Run, error) {
	for wait := firstLook; run.Status == chat.RunRunning; wait = min(wait*3/2, longestLook) {
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return run, ctx.Err()
		}
		latest, err := s.cfg.Store.Run(ctx, scope(s.grid), run.ID)
		if err != nil {
			return run, err
		}
		run = latest
	}
	return run, nil
}

// store fills a cell that still waits, and counts it. It has the slice end when the grid is not filled any more. Cell
// and grid are two changes. A server that dies between them leaves a count that is one too low, which end sets right by
// counting anew.
func (s *slice) store(ctx context.Context, cell chat.GridCell, run chat.Run, filled chat.GridCell) error {
	_, err := s.cfg.Store.ChangeGridCell(ctx, scope(s.grid), s.grid.ID, cell.Row, cell.Column,
		func(c *chat.GridCell) error {
			if c.State != chat.CellWaiting || c.Turn != cell.Turn {
				return errPast
			}
			filled.Turn, filled.Edited, filled.At = c.Turn, c.Edited, time.Now().UTC().Truncate(time.Microsecond)
			*c = filled
			return nil
		})
	switch {
	case errors.Is(err, errPast):
		return nil
	case err != nil && chat.CodeOf(err) == chat.CodeNotFound:
		s.stop(nil) // the grid was removed
		return nil
	case err != nil:
		return err
	}
	g, err := s.change(ctx, s.grid, func(g *chat.Grid) {
		g.Done++
		g.Tokens += int64(run.Tokens.In + run.Tokens.Out)
		g.Trouble, g.DueAt = "", time.Now().Add(claimTime)
		if filled.State != chat.CellFailed {
			g.Failed = 0
		} else if g.Failed++; g.Failed >= maxFailures {
			halt(g, "Five cells in a row could not be filled. The last one: "+filled.Trouble)
		}
		if g.State == chat.GridFilling && g.Tokens >= g.MaxTokens {
			halt(g, "This table has taken as much of the model as it may. Go on to let it take as much again.")
		}
		if g.State != chat.GridFilling {
			g.DueAt = time.Time{}
		}
	})
	if err == nil && g.State != chat.GridFilling {
		s.stop(nil)
	}
	return err
}

// halt stops the filling of a grid.
func halt(g *chat.Grid, why string) { g.State, g.Trouble = chat.GridStopped, why }

// end stores how the grid stands after a slice. It counts what waits twice, before and after it says that the grid is
// done: a cell that was emptied between the two would else never be asked.
func (s *slice) end(ctx context.Context) error {
	waiting, err := s.toAsk(ctx, s.grid)
	if err != nil {
		return err
	}
	left := len(waiting)
	g, err := s.change(ctx, s.grid, func(g *chat.Grid) {
		g.Done = g.Cells() - left
		switch over, limited := errors.AsType[*chat.OverLimit](s.trouble); {
		case g.State != chat.GridFilling:
			g.DueAt = time.Time{}
		case left == 0:
			g.State, g.Trouble, g.DueAt = chat.GridDone, "", time.Time{}
		case limited:
			g.Trouble, g.DueAt = chat.MessageOf(s.trouble), time.Now().Add(over.Wait)
		case s.trouble != nil:
			wait := min(firstWait<<min(g.Failed, 10), longestWait)
			g.Trouble, g.DueAt = chat.MessageOf(s.trouble), time.Now().Add(wait)
			g.Failed++
		default:
			g.DueAt = time.Now()
		}
	})
	if err != nil || g.State != chat.GridDone {
		return err
	}
	if waiting, err = s.toAsk(ctx, s.grid); err != nil || len(waiting) == 0 {
		return err
	}
	_, err = s.change(ctx, s.grid, func(g *chat.Grid) { // one was emptied after they were counted
		if g.State == chat.GridDone {
			g.State, g.DueAt, g.Done = chat.GridFilling, time.Now(), g.Cells()-len(waiting)
		}
	})
	return err
}
