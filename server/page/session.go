package page

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/ask"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
	"github.com/footnote/footnote/text/sse"
	"github.com/footnote/footnote/views"
)

// Session handles GET /c/{session}: the conversation's shown branch.
func (h *Handlers) Session(c httpio.Context) error {
	return h.showSession(c, http.StatusOK, c.Param("id"), nil)
}

// showSession renders the conversation, with a refused question if there is one.
//
// Without scripts the page reloads while a run is under way, unless it has input: a refused question, or a call that
// waits for approval. ?still= stops the reloads.
func (h *Handlers) showSession(c httpio.Context, status int, id string, no *refused) error {
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	session, err := h.Logs.Branch(ctx, scope, id)
	if err != nil {
		return err
	}
	turns, damaged, err := h.turns(ctx, scope, session)
	if err != nil {
		return err
	}
	page, err := h.pageFrame(c, views.Page{Title: session.Title, Session: id})
	if err != nil {
		return err
	}
	counts, err := h.Library.Count(ctx, scope)
	if err != nil {
		return err
	}
	box := views.Composer{SessionID: id, Key: chat.NewID()}
	var as ask.Question
	if no != nil {
		as = no.Question
		no.fillComposer(&box)
	} else if n := len(session.Shown); n > 0 {
		// The box is preset with the options of the last question.
		as = questionOf(session.Shown[n-1].Request)
	}
	if box.Choose, err = h.fillChooser(ctx, scope, counts, "", as.DocumentIDs); err != nil {
		return err
	}
	if box.Options, err = h.questionOptions(ctx, scope, as); err != nil {
		return err
	}
	if n := len(turns); n > 0 && turns[n-1].Running() {
		page.Running, box.RunID, box.Budget = true, turns[n-1].RunID, turns[n-1].Budget
	}
	waiting, err := h.Store.Queue(ctx, scope, id)
	if err != nil {
		return err
	}
	// A queued question is sent without the user, unless it has a problem.
	page.Running = page.Running || len(waiting) > 0 && waiting[0].Problem == ""
	if n := len(turns); n > 0 && turns[n-1].NeedsApproval() {
		page.Running = false // the next step is the reader's, whose input a reload would discard
	}
	if page.Running && (no != nil || c.QueryParams().Has("still")) {
		page.Running, page.Still = false, true
	}
	return httpio.Show(c, status, views.Layout(page, views.Session(
		page, views.SessionPage{
			Session: session.Session, Turns: turns, Composer: box, Queue: waiting, Lost: session.Lost + damaged,
		},
	), nil))
}

// turns folds the runs of the shown branch. lost counts the runs with damaged logs.
func (h *Handlers) turns(
	ctx context.Context, scope chat.Scope, session runlog.Branch,
) (turns []*views.Turn, lost int, err error) {
	if turns, lost, err = h.foldTurns(ctx, scope, session.Shown, session.All); err != nil {
		return nil, 0, err
	}
	said, _, err := h.Store.Feedback(ctx, scope, chat.FeedbackQuery{SessionID: session.ID, Limit: chat.MaxPage})
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

// foldTurns folds the runs of the shown branch into turns. Runs with damaged logs are left out and counted in lost.
// runs are all runs of the session.
//
// A damaged turn does not hide the others.
func (h *Handlers) foldTurns(
	ctx context.Context, scope chat.Scope, branch, runs []chat.Run,
) (turns []*views.Turn, lost int, err error) {
	turns = make([]*views.Turn, 0, len(branch))
	for i, run := range branch {
		t, err := h.foldTurn(ctx, scope, run)
		if errors.Is(err, chat.ErrDamaged) {
			h.Log.ErrorContext(ctx, "could not load a turn", "run", run.ID, "error", err)
			lost++
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		t.Siblings, t.Latest, t.Live = siblingIDs(runs, run), i == len(branch)-1, h.Assets.Script
		turns = append(turns, t)
	}
	return turns, lost, nil
}

// foldTurn folds one run's log. Fields without an event yet are set from the run itself.
func (h *Handlers) foldTurn(ctx context.Context, scope chat.Scope, run chat.Run) (*views.Turn, error) {
	log, err := h.Feed.Read(ctx, scope, run.ID, 0)
	if err != nil {
		return nil, err
	}
	t, err := foldRun(run.ID, h.md.In(ctx), log.Entries)
	if err != nil {
		return nil, err
	}
	t.Offered, t.ParentID = h.Models(), run.ParentID
	t.Usual = t.Offered[0]
	if t.Question == "" {
		t.Question, t.SessionID, t.StartedAt = run.Request.Message, run.SessionID, run.CreatedAt
	}
	return t, nil
}

// Thought handles GET /runs/{id}/steps/{call}/thought: the full text of a thought that the page truncates.
//
// It is plain text, for the page's script. A step without a thought is 404.
func (h *Handlers) Thought(c httpio.Context) error {
	run, err := h.Logs.Run(c)
	if err != nil {
		return err
	}
	t, err := h.foldTurn(c.Request().Context(), httpio.Scope(c), run)
	if err != nil {
		return err
	}
	for _, step := range t.All {
		if step.CallID == c.Param("call") && step.Thought != "" {
			c.Response().Header().Set("Cache-Control", "no-store")
			return c.String(http.StatusOK, step.Thought)
		}
	}
	return httpio.NotFound("No reasoning found for this step.")
}

// siblingIDs returns the ids of all versions of a run's question, oldest first.
func siblingIDs(runs []chat.Run, of chat.Run) []string {
	var ids []string
	for _, run := range runs {
		if run.ParentID == of.ParentID {
			ids = append(ids, run.ID)
		}
	}
	return ids
}

// AskFragment sends the response to the script's question: the new turn, and the question box while it runs. A
// question that replaces another changes the branch, so the page is reloaded.
//
// The status is 200 in both cases: htmx handles HX-Redirect.
func (h *Handlers) AskFragment(c httpio.Context, run chat.Run) error {
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	// The first question of a conversation is asked on another page than the conversation's.
	if run.Request.Sibling != "" || run.ParentID == "" {
		c.Response().Header().Set("HX-Redirect", ask.AskedPage(run))
		return c.NoContent(http.StatusOK)
	}
	t, err := h.foldTurn(ctx, scope, run)
	if err != nil {
		return err
	}
	t.Latest, t.Live = true, true
	box := views.Composer{SessionID: run.SessionID, Key: chat.NewID()}
	if t.Running() {
		box.RunID, box.Budget = run.ID, t.Budget
	}
	return httpio.Show(c, http.StatusOK, views.NewTurn(t, box))
}

// checkPause is the minimum interval between store queries of a session's stream. A reader does not notice a second;
// a store with many streams does.
const checkPause = time.Second

// SessionEvents handles GET /c/{id}/events. It streams a "head" event with the id of the newest run of the shown
// branch, when it differs from ?head= or the last event. A page that shows the conversation in another tab then
// requests the new turns. Without new runs the stream costs no store query.
func (h *Handlers) SessionEvents(c httpio.Context) error {
	ctx, scope, id, told := c.Request().Context(), httpio.Scope(c), c.Param("id"), c.QueryParam("head")
	wake, stop := h.Feed.WatchSession(scope.User, id) // before the first query, so that no change is missed
	defer stop()
	news := wake()
	session, err := h.Store.Session(ctx, scope, id)
	if err != nil {
		return err
	}
	out, leave, err := h.Streams.Open(c)
	if out == nil {
		return err
	}
	defer leave()
	for {
		// Known state is not sent again, so an open tab costs one comment per heartbeat.
		if session.HeadID != told {
			told = session.HeadID
			if err := out.Send(sse.Append(nil, 0, "head", []byte(told))); err != nil {
				return nil
			}
		}
		next := time.NewTimer(checkPause)
		if !httpio.Await(h.Streams, c, out, news) || !httpio.Await(h.Streams, c, out, next.C) {
			next.Stop()
			return nil
		}
		news = wake()
		if session, err = h.Store.Session(ctx, scope, id); err != nil {
			return err // deleted meanwhile: the stream ends
		}
	}
}
