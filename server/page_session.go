package server

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"footnote/chat"
	"footnote/server/httpio"
	"footnote/views"
)

// sessionPage answers GET /c/{session}: the conversation's shown branch.
func (s *Server) sessionPage(c echo.Context) error {
	id, err := httpio.SessionID(c)
	if err != nil {
		return httpio.NotFound("There is no such conversation. It may have been deleted.")
	}
	return s.showSession(c, http.StatusOK, id, nil)
}

// showSession draws it, with a question that was not taken if there is one.
func (s *Server) showSession(c echo.Context, status int, id string, no *refused) error {
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	session, err := s.store.Session(ctx, scope, id)
	if err != nil {
		return err
	}
	runs, lost, err := s.readableRuns(ctx, scope, session)
	if err != nil {
		return err
	}
	branch, damaged := readable(branchTo(runs, session.HeadID))
	turns, damagedLogs, err := s.turns(ctx, scope, session, branch, runs)
	if err != nil {
		return err
	}
	lost += damaged + damagedLogs
	page, err := s.frame(c, session.Title)
	if err != nil {
		return err
	}
	page.Session = id
	counts, err := s.library.Count(ctx, scope)
	if err != nil {
		return err
	}
	box := views.Composer{SessionID: id, Key: chat.NewID(), Documents: page.Documents}
	var as question
	if no != nil {
		as = no.question
		no.fill(&box)
	} else if len(branch) > 0 {
		as = questionOf(branch[len(branch)-1].Request)
	}
	if box.Choose, err = s.chooser(ctx, scope, counts, as.DocumentIDs); err != nil {
		return err
	}
	if box.Options, err = s.options(ctx, scope, as); err != nil {
		return err
	}
	if n := len(turns); n > 0 && turns[n-1].Running() {
		page.Running, box.RunID, box.Budget = true, turns[n-1].RunID, turns[n-1].Budget
	}
	waiting, err := s.store.Queue(ctx, scope, id)
	if err != nil {
		return err
	}
	page.Running = page.Running || len(waiting) > 0 && waiting[0].Problem == ""
	if n := len(turns); n > 0 && turns[n-1].Asks() {
		page.Running = false // the next step is the reader's, whose words a reload would take away
	}
	if page.Running && (no != nil || c.QueryParams().Has("still")) {
		page.Running, page.Still = false, true
	}
	return s.showPage(c, status, page, views.Session(page, views.SessionPage{Session: session, Turns: turns, Composer: box, Queue: waiting, Lost: lost}), nil)
}

// readableRuns returns the runs of a session. When the store is there and can't read them, there are none, lost is how many there were, and
// the failure is logged. Any other failure is returned.
func (s *Server) readableRuns(ctx context.Context, scope chat.Scope, session chat.Session) (runs []chat.Run, lost int, err error) {
	runs, err = s.store.Runs(ctx, scope, session.ID)
	if err == nil || ctx.Err() != nil || httpio.AsError(err).Code != chat.CodeInternal {
		return runs, 0, err
	}
	s.log.ErrorContext(ctx, "conversation could not be read: shown without its turns", "session", session.ID, "error", err)
	return nil, max(1, session.TurnCount), nil
}

// turns folds the runs of the shown branch. lost counts those whose logs are damaged.
func (s *Server) turns(ctx context.Context, scope chat.Scope, session chat.Session, branch, runs []chat.Run) (turns []*views.Turn, lost int, err error) {
	if turns, lost, err = s.foldTurns(ctx, scope, branch, runs); err != nil {
		return nil, 0, err
	}
	said, _, err := s.store.Feedback(ctx, scope, chat.FeedbackQuery{SessionID: session.ID, Limit: chat.MaxPage})
	if err != nil {
		return nil, 0, err
	}
	for _, t := range turns {
		if i := slices.IndexFunc(said, func(f chat.Feedback) bool { return f.RunID == t.RunID }); i >= 0 {
			t.Feedback = &said[i]
		}
	}
	return turns, lost, nil
}

// foldTurns folds the runs at the end of the shown branch but for those, as many as lost, whose logs are damaged. runs are all of the session.
func (s *Server) foldTurns(ctx context.Context, scope chat.Scope, branch, runs []chat.Run) (turns []*views.Turn, lost int, err error) {
	turns = make([]*views.Turn, 0, len(branch))
	for i, run := range branch {
		t, err := s.turn(ctx, scope, run)
		if errors.Is(err, chat.ErrDamaged) {
			s.log.ErrorContext(ctx, "turn can't be read", "run", run.ID, "error", err)
			lost++
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		t.Siblings, t.Latest, t.Live = siblings(runs, run), i == len(branch)-1, s.pages.assets.Script
		turns = append(turns, t)
	}
	return turns, lost, nil
}

// turn folds one run's log. What the log does not say yet comes from the run itself.
func (s *Server) turn(ctx context.Context, scope chat.Scope, run chat.Run) (*views.Turn, error) {
	log, err := s.feed.Read(ctx, scope, run.ID, 0)
	if err != nil {
		return nil, err
	}
	t, err := foldRun(run.ID, s.pages.md, log.Entries)
	if err != nil {
		return nil, err
	}
	t.Usual, t.Offered, t.ParentID = s.cfg.ModelName, s.cfg.Models, run.ParentID
	if t.Question == "" {
		t.Question, t.SessionID, t.StartedAt = run.Request.Message, run.SessionID, run.CreatedAt
	}
	return t, nil
}

// showThought answers GET /runs/{id}/steps/{call}/thought: the whole of a thought that the page shows the beginning of.
func (s *Server) showThought(c echo.Context) error {
	id, err := httpio.RunID(c)
	if err != nil {
		return err
	}
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	run, err := s.store.Run(ctx, scope, id)
	if err != nil {
		return err
	}
	t, err := s.turn(ctx, scope, run)
	if err != nil {
		return err
	}
	for _, step := range t.All {
		if step.CallID == c.Param("call") && step.Thought != "" {
			c.Response().Header().Set("Cache-Control", "no-store")
			return c.String(http.StatusOK, step.Thought)
		}
	}
	return httpio.NotFound("There is no such thought in this run.")
}

// branchTo returns the runs from the first question to head.
func branchTo(runs []chat.Run, head string) []chat.Run {
	byID := make(map[string]chat.Run, len(runs))
	for _, run := range runs {
		byID[run.ID] = run
	}
	var branch []chat.Run
	for run, ok := byID[head]; ok && len(branch) < len(runs); run, ok = byID[run.ParentID] {
		branch = append(branch, run)
	}
	slices.Reverse(branch)
	return branch
}

// shared returns how many runs two branches have in common, from the first question on.
func shared(a, b []chat.Run) int {
	n := 0
	for n < min(len(a), len(b)) && a[n].ID == b[n].ID {
		n++
	}
	return n
}

// siblings returns the ids of all versions of a run's question, oldest first.
func siblings(runs []chat.Run, of chat.Run) []string {
	var ids []string
	for _, run := range runs {
		if run.ParentID == of.ParentID {
			ids = append(ids, run.ID)
		}
	}
	return ids
}

// newestUnder returns the end of the newest branch that runs through a run.
func newestUnder(runs []chat.Run, id string) string {
	for i := len(runs) - 1; i >= 0; i-- {
		if runs[i].ParentID == id {
			return newestUnder(runs, runs[i].ID)
		}
	}
	return id
}

// askedPage is the address of the page that follows a question. It names the run: what that has done before the page is there
// happens for the reader now. The page's script takes the name away, so the same page loaded again shows a past run.
func askedPage(run chat.Run) string {
	return "/c/" + run.SessionID + "?asked=" + run.ID
}

// askFragment answers a question that a script sent: the new turn, and the question box while it runs. A question that takes
// another's place changes the branch: the page is loaded again.
func (s *Server) askFragment(c echo.Context, run chat.Run) error {
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	if run.Request.Sibling != "" || run.ParentID == "" {
		c.Response().Header().Set("HX-Redirect", askedPage(run))
		return c.NoContent(http.StatusOK)
	}
	t, err := s.turn(ctx, scope, run)
	if err != nil {
		return err
	}
	t.Latest, t.Live = true, true
	counts, err := s.library.Count(ctx, scope)
	if err != nil {
		return err
	}
	box := views.Composer{SessionID: run.SessionID, Key: chat.NewID(), Documents: counts.Documents}
	if t.Running() {
		box.RunID, box.Budget = run.ID, t.Budget
	}
	return httpio.Show(c, http.StatusOK, views.NewTurn(t, box))
}

func (s *Server) renameForm(c echo.Context) error {
	id, err := s.sessionForm(c)
	if err != nil {
		return err
	}
	title := strings.Join(strings.Fields(c.Request().PostForm.Get("title")), " ")
	if n := len([]rune(title)); n < 1 || n > 200 {
		return httpio.Invalid("A title has 1 to 200 characters.")
	}
	if err := s.store.RenameSession(c.Request().Context(), httpio.Scope(c), id, title); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/c/"+id)
}

func (s *Server) deleteForm(c echo.Context) error {
	id, err := s.sessionForm(c)
	if err != nil {
		return err
	}
	if err := s.store.DeleteSession(c.Request().Context(), httpio.Scope(c), id); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/?deleted="+id)
}

func (s *Server) restoreForm(c echo.Context) error {
	id, err := s.sessionForm(c)
	if err != nil {
		return err
	}
	if err := s.store.RestoreSession(c.Request().Context(), httpio.Scope(c), id); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/c/"+id)
}

// headForm shows another version of an answer, with what was asked after it.
func (s *Server) headForm(c echo.Context) error {
	id, err := s.sessionForm(c)
	if err != nil {
		return err
	}
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	runs, err := s.store.Runs(ctx, scope, id)
	if err != nil {
		return err
	}
	run := c.Request().PostForm.Get("run")
	if !slices.ContainsFunc(runs, func(r chat.Run) bool { return r.ID == run }) {
		return httpio.NotFound("There is no such run in this conversation.")
	}
	if err := s.store.SetHead(ctx, scope, id, newestUnder(runs, run)); err != nil {
		return err
	}
	s.feed.HeadMoved(scope.User, id)
	return c.Redirect(http.StatusSeeOther, "/c/"+id+"#turn-"+run)
}

// sessionForm reads a form about the session that the address names.
func (s *Server) sessionForm(c echo.Context) (string, error) {
	id, err := httpio.SessionID(c)
	if err != nil {
		return "", err
	}
	return id, s.bodies.ReadForm(c)
}
