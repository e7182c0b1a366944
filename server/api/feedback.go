package api

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/text/english"
	"github.com/footnote/footnote/views"
)

// Judgement is the body of POST /agent/runs/{id}/feedback. A form has the same fields; its rating "none" deletes the
// feedback.
type Judgement struct {
	Rating chat.Rating `json:"rating" api:"need,values=chat.Rating"` // The reader's rating of the answer.
	// For up: accurate, complete, well_sourced, clear; for down: wrong, incomplete, wrong_sources, off_topic,
	// unclear.
	Reason  string `json:"reason"`
	Comment string `json:"comment" api:"max=chat.MaxComment"` // A free-text comment.
}

// FeedbackList is one page of GET /feedback.
type FeedbackList struct {
	Feedback []chat.Feedback `json:"feedback"`                    // The feedback, last changed first.
	Next     string          `json:"next,omitempty" api:"shared"` // The cursor of the next page; absent at the end.
}

// Feedback serves the users' feedback on answers.
type Feedback struct {
	Store  chat.Store
	Bodies httpio.Bodies
}

// Set handles POST /agent/runs/{id}/feedback: it replaces earlier feedback. A form's rating "none" deletes it.
func (a *Feedback) Set(c httpio.Context) error {
	var body Judgement
	if err := a.Bodies.ReadFields(c, &body); err != nil {
		return err
	}
	ctx, scope, id := c.Request().Context(), httpio.Scope(c), c.Param("id")
	run, err := a.Store.Run(ctx, scope, id)
	if err != nil {
		return err
	}
	if run.Status == chat.RunRunning {
		return &chat.Error{
			Code: chat.CodeConflict, Message: "This answer is still in progress. Rate it when it is done.",
		}
	}
	var stored *chat.Feedback
	if body.Rating == "none" && httpio.MediaType(c) != httpio.TypeJSON {
		if utf8.RuneCountInString(body.Comment) > chat.MaxComment {
			return httpio.Invalid("The comment exceeds the limit of {1} characters.", english.Digits(chat.MaxComment))
		}
		err = a.Store.DropFeedback(ctx, scope, id)
	} else {
		var f chat.Feedback
		f, err = a.Store.SetFeedback(
			ctx, scope, chat.Feedback{RunID: id, Rating: body.Rating, Reason: body.Reason, Comment: body.Comment},
		)
		stored = &f
	}
	switch {
	case err != nil:
		return err
	case httpio.ByHTMX(c):
		return httpio.Show(c, http.StatusOK, views.Feedback(run.ID, stored))
	case httpio.WantsHTML(c):
		return c.Redirect(http.StatusSeeOther, "/c/"+run.SessionID+"#turn-"+run.ID)
	case stored == nil:
		return c.NoContent(http.StatusNoContent)
	}
	return c.JSON(http.StatusOK, stored)
}

// List handles GET /feedback: one page, or with ?format= all feedback as a file.
//
// A file ignores limit and cursor.
func (a *Feedback) List(c httpio.Context) error {
	limit, err := httpio.QueryInt(c, "limit", 0, 1, chat.MaxPage)
	if err != nil {
		return err
	}
	q := chat.FeedbackQuery{Rating: chat.Rating(c.QueryParam("rating")), Limit: limit, Cursor: c.QueryParam("cursor")}
	if q.Rating != "" && chat.Reasons(q.Rating) == nil {
		return httpio.Invalid("rating must be up or down.")
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	switch format := c.QueryParam("format"); format {
	case "", "json":
	case "csv":
		return a.feedbackFile(c, q, "text/csv; charset=utf-8", "feedback.csv", newCSVFeedback)
	case "jsonl":
		return a.feedbackFile(c, q, "application/jsonl; charset=utf-8", "feedback.jsonl", newLinesFeedback)
	default:
		return httpio.Invalid("format must be json, csv or jsonl.")
	}
	found, next, err := a.Store.Feedback(c.Request().Context(), httpio.Scope(c), q)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, FeedbackList{httpio.NotNil(found), next})
}

// feedbackFile streams all feedback, page by page. The first page is read before anything is sent, so that its error
// can still be reported.
//
// A failure after the first page truncates the file, since the status was already sent.
func (a *Feedback) feedbackFile(
	c httpio.Context, q chat.FeedbackQuery, kind, name string, open func(io.Writer) func([]chat.Feedback) error,
) error {
	q.Limit, q.Cursor = chat.MaxPage, ""
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	page, next, err := a.Store.Feedback(ctx, scope, q)
	if err != nil {
		return err
	}
	download(c, name)
	c.Response().Header().Set("Content-Type", kind)
	write := open(c.Response())
	for {
		if err := write(page); err != nil {
			return err
		}
		if next == "" {
			return nil
		}
		q.Cursor = next
		if page, next, err = a.Store.Feedback(ctx, scope, q); err != nil {
			return err
		}
	}
}

// newLinesFeedback encodes feedback as JSON, one per line.
func newLinesFeedback(w io.Writer) func([]chat.Feedback) error {
	lines := json.NewEncoder(w)
	return func(page []chat.Feedback) error {
		for _, f := range page {
			if err := lines.Encode(f); err != nil {
				return err
			}
		}
		return nil
	}
}

// newCSVFeedback encodes feedback as CSV. The header is written with the first page, even if that is empty.
func newCSVFeedback(w io.Writer) func([]chat.Feedback) error {
	table := csv.NewWriter(w)
	head := []string{"run_id", "session_id", "rating", "reason", "comment", "question", "created_at", "updated_at"}
	return func(page []chat.Feedback) error {
		if head != nil {
			if err := table.Write(head); err != nil {
				return err
			}
			head = nil
		}
		for _, f := range page {
			if err := table.Write([]string{
				f.RunID, f.SessionID, string(f.Rating), f.Reason, safeCell(f.Comment), safeCell(f.Question),
				f.CreatedAt.Format(time.RFC3339), f.UpdatedAt.Format(time.RFC3339),
			}); err != nil {
				return err
			}
		}
		table.Flush()
		return table.Error()
	}
}

// safeCell prevents a spreadsheet from parsing user text as a formula.
//
// These characters start a formula in common spreadsheets; an apostrophe before them marks text.
func safeCell(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}
