package grid

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/locale"
)

// brief is the instruction for the model beside the column's question. It is an instruction of the request, so that
// the question stays the column's own text.
const brief = "This answer fills one cell of a table. Give the value alone, in as few words as the document uses, " +
	"and cite the passage that says it. If the document does not say, answer that it does not say."

// errNotWaiting is returned if a cell is no longer waiting: it was filled, emptied or removed meanwhile.
var errNotWaiting = errors.New("the cell is not claimed by this run")

// timeSlice is a time slice of filling one grid. Its mutex guards the state that workers share.
type timeSlice struct {
	*Filler
	grid    chat.Grid
	until   time.Time // no cell is started after that
	workers sync.WaitGroup
	mu      sync.Mutex
	waiting []chat.GridCell // not taken by a worker yet
	over    bool            // no further cell may be taken
	trouble error           // the reason
}

// fill asks the waiting cells of a grid for one time slice. The user's own runs have priority: while there are any,
// the grid waits. A run that outlasts the slice continues, and the next slice finds it by its idempotency key.
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
	waiting, err := f.waitingCells(ctx, g)
	if err != nil {
		return err
	}
	s := &timeSlice{Filler: f, grid: g, waiting: waiting, until: time.Now().Add(sliceTime)}
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
		return nil // the claim expires
	}
	return s.end(ctx)
}

// renewClaim renews the claim of a grid until ctx is cancelled. An error is logged, and the claim may expire.
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
			f.cfg.Log.WarnContext(ctx, "could not renew the lease of a table", "table", g.ID, "error", err)
		}
	}
}

// waitingCells returns the waiting cells by row, so that the first rows are complete while others wait.
func (f *Filler) waitingCells(ctx context.Context, g chat.Grid) (list []chat.GridCell, err error) {
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

// work fills waiting cells until the slice is over.
func (s *timeSlice) work(ctx, short context.Context) {
	for {
		cell, ok := s.nextCell()
		if !ok || short.Err() != nil {
			return
		}
		if err := s.fillCell(ctx, short, cell); err != nil {
			s.stop(err)
			return
		}
	}
}

// nextCell returns the next waiting cell; ok is false when the slice is over or no cell waits.
func (s *timeSlice) nextCell() (cell chat.GridCell, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || len(s.waiting) == 0 || time.Now().After(s.until) {
		return cell, false
	}
	cell, s.waiting = s.waiting[0], s.waiting[1:]
	return cell, true
}

// stop ends the slice; err is the reason, nil if the grid is no longer filling.
func (s *timeSlice) stop(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	if s.trouble == nil {
		s.trouble = err
	}
}

// fillCell starts the run of a cell, waits for the answer, and stores it. It returns an error that affects the whole
// grid; an error of the cell alone is stored in the cell. A run that outlasts the slice continues, and the next
// slice finds it.
func (s *timeSlice) fillCell(ctx, short context.Context, cell chat.GridCell) error {
	run, fresh, err := s.cfg.Runs.Start(ctx, s.grid.User, s.request(cell))
	switch {
	case err != nil && isOfCell(err):
		return s.store(ctx, cell, chat.Run{}, failed(err))
	case err != nil:
		return err
	case fresh:
		s.begun.Store(run.ID, true)
	case run.Status == chat.RunRunning:
		// The run of a crashed server is idle until its lease expires, so another worker fills the other cells.
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

// isOfCell reports whether an error is due to the cell's document or question.
func isOfCell(err error) bool {
	ofCell := []chat.Code{chat.CodeNotFound, chat.CodeInvalid, chat.CodeConflict, chat.CodeTooLarge}
	return slices.Contains(ofCell, chat.CodeOf(err))
}

// request builds the request of a cell. Each cell has its own session, so that cells do not wait for each other or
// read each other's history. The idempotency key has the cell's turn, which is incremented when the cell is emptied,
// so that asking again starts a new run.
func (s *timeSlice) request(cell chat.GridCell) chat.RunRequest {
	g := s.grid
	return chat.RunRequest{
		SessionID: sessionOf(g.ID, cell), Message: g.Columns[cell.Column].Asked(),
		DocumentIDs: []string{g.Rows[cell.Row].DocumentID}, Instructions: brief,
		Config:         chat.RunConfig{Model: g.Model},
		IdempotencyKey: fmt.Sprintf("grid-%s-%d-%d-%d", g.ID, cell.Row, cell.Column, cell.Turn),
	}
}

// sessionOf returns the session id of a cell's run.
func sessionOf(id string, cell chat.GridCell) string {
	return fmt.Sprintf("%s%s-%d-%d-%d", chat.GridSessions, id, cell.Row, cell.Column, cell.Turn)
}

// await polls a run until it is over, with growing intervals: offline runs take milliseconds, those of models
// seconds.
func (s *timeSlice) await(ctx context.Context, run chat.Run) (chat.Run, error) {
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

// store fills a cell that still waits, and counts it. It ends the slice if the grid is no longer filling. Cell and
// grid are two transactions; a crash between them leaves a count that is one too low, which end corrects by counting
// again.
func (s *timeSlice) store(ctx context.Context, cell chat.GridCell, run chat.Run, filled chat.GridCell) error {
	_, err := s.cfg.Store.ChangeGridCell(ctx, scope(s.grid), s.grid.ID, cell.Row, cell.Column,
		func(c *chat.GridCell) error {
			if c.State != chat.CellWaiting || c.Turn != cell.Turn {
				return errNotWaiting
			}
			filled.Turn, filled.Edited, filled.At = c.Turn, c.Edited, time.Now().UTC().Truncate(time.Microsecond)
			*c = filled
			return nil
		})
	switch {
	case errors.Is(err, errNotWaiting):
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
			stopGrid(g, locale.Say("Five cells in a row could not be filled. The last one: {1}", filled.Trouble))
		}
		if g.State == chat.GridFilling && g.Tokens >= g.MaxTokens {
			stopGrid(g, "This table has taken as much of the model as it may. Go on to let it take as much again.")
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

// stopGrid stops the filling of a grid.
func stopGrid(g *chat.Grid, why locale.Message) { g.State, g.Trouble = chat.GridStopped, why }

// end stores the grid's state after a slice. It counts the waiting cells before and after it marks the grid as done,
// since a cell that is emptied in between would never be asked.
func (s *timeSlice) end(ctx context.Context) error {
	waiting, err := s.waitingCells(ctx, s.grid)
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
	if waiting, err = s.waitingCells(ctx, s.grid); err != nil || len(waiting) == 0 {
		return err
	}
	_, err = s.change(ctx, s.grid, func(g *chat.Grid) { // a cell was emptied after the count
		if g.State == chat.GridDone {
			g.State, g.DueAt, g.Done = chat.GridFilling, time.Now(), g.Cells()-len(waiting)
		}
	})
	return err
}
