package chattest

import (
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
)

// testFeedback checks that a user has one rating per run, that lists are paged, and that feedback is visible to its
// user only.
func testFeedback(t *testing.T, open func(*testing.T) chat.Store) {
	judge := func(b suite, f chat.Feedback) chat.Feedback {
		b.t.Helper()
		stored, err := b.SetFeedback(b.t.Context(), anna, f)
		if err != nil {
			b.t.Fatalf("SetFeedback(%+v): %v", f, err)
		}
		return stored
	}
	list := func(b suite, s chat.Scope, q chat.FeedbackQuery) (runs []string) {
		b.t.Helper()
		for {
			page, next, err := b.Feedback(b.t.Context(), s, q)
			if err != nil {
				b.t.Fatalf("Feedback(%+v): %v", q, err)
			}
			for _, f := range page {
				runs = append(runs, f.RunID)
			}
			if q.Cursor = next; next == "" {
				return runs
			}
		}
	}
	parallel(t, open, "feedback is created, changed and deleted", func(t *testing.T, b suite) {
		run := b.ask("s", "Is the roof sound?")
		first := judge(b, chat.Feedback{RunID: run.ID, Rating: chat.RatingUp, Reason: "clear"})
		if first.Question != "Is the roof sound?" || first.SessionID != "s" || first.CreatedAt.IsZero() {
			t.Errorf("stored feedback = %+v", first)
		}
		second := judge(b, chat.Feedback{
			RunID: run.ID, Rating: chat.RatingDown, Reason: "wrong", Comment: "It is \x01 <b>not</b> –",
		})
		if second.Rating != chat.RatingDown || second.Reason != "wrong" ||
			second.Comment != "It is \x01 <b>not</b> –" || !second.CreatedAt.Equal(first.CreatedAt) {
			t.Errorf("changed feedback = %+v after %+v", second, first)
		}
		page, next, err := b.Feedback(t.Context(), anna, chat.FeedbackQuery{})
		if err != nil || next != "" || len(page) != 1 || page[0] != second {
			t.Errorf("Feedback = %+v, %q, %v; want %+v", page, next, err, second)
		}
		for range 2 {
			if err := b.DropFeedback(t.Context(), anna, run.ID); err != nil {
				t.Errorf("DropFeedback: %v", err)
			}
		}
		if left := list(b, anna, chat.FeedbackQuery{}); len(left) != 0 {
			t.Errorf("feedback after the deletion = %v, want none", left)
		}
	})
	parallel(t, open, "invalid feedback is rejected", func(t *testing.T, b suite) {
		run := b.ask("s", "q")
		for _, f := range []chat.Feedback{
			{}, {Rating: "sideways"}, {Rating: chat.RatingUp, Reason: "wrong"},
			{Rating: chat.RatingDown, Reason: "no such"},
			{Rating: chat.RatingUp, Comment: strings.Repeat("ü", chat.MaxComment+1)},
		} {
			f.RunID = run.ID
			_, err := b.SetFeedback(t.Context(), anna, f)
			wantCode(t, "SetFeedback", err, chat.CodeInvalid)
		}
		judge(b, chat.Feedback{RunID: run.ID, Rating: chat.RatingUp, Comment: strings.Repeat("ü", chat.MaxComment)})
	})
	parallel(t, open, "lists are paged by rating and session", func(t *testing.T, b suite) {
		var up, down []string
		for i := range 5 {
			run := b.ask([]string{"s", "other"}[i%2], "q")
			rating, all := chat.RatingUp, &up
			if i%2 == 1 {
				rating, all = chat.RatingDown, &down
			}
			judge(b, chat.Feedback{RunID: run.ID, Rating: rating})
			*all = append([]string{run.ID}, *all...)
		}
		if got := list(b, anna, chat.FeedbackQuery{Rating: chat.RatingUp, Limit: 1}); !slices.Equal(got, up) {
			t.Errorf("up = %v, want %v", got, up)
		}
		if got := list(b, anna, chat.FeedbackQuery{SessionID: "other", Limit: 1}); !slices.Equal(got, down) {
			t.Errorf("of the session = %v, want %v", got, down)
		}
		if got := list(b, anna, chat.FeedbackQuery{Limit: 2}); len(got) != 5 || got[0] != up[0] || got[1] != down[0] {
			t.Errorf("all = %v, want the last first", got)
		}
		_, _, err := b.Feedback(t.Context(), anna, chat.FeedbackQuery{Cursor: "?"})
		wantCode(t, "a foreign cursor", err, chat.CodeInvalid)
	})
	parallel(t, open, "user isolation and hidden sessions", func(t *testing.T, b suite) {
		run := b.ask("s", "q")
		judge(b, chat.Feedback{RunID: run.ID, Rating: chat.RatingUp})
		_, err := b.SetFeedback(t.Context(), bert, chat.Feedback{RunID: run.ID, Rating: chat.RatingUp})
		wantCode(t, "another user's SetFeedback", err, chat.CodeNotFound)
		wantCode(t, "another user's DropFeedback", b.DropFeedback(t.Context(), bert, run.ID), chat.CodeNotFound)
		if got := list(b, bert, chat.FeedbackQuery{}); len(got) != 0 {
			t.Errorf("other user: got %v, want none", got)
		}
		b.mustHide("s")
		_, err = b.SetFeedback(t.Context(), anna, chat.Feedback{RunID: run.ID, Rating: chat.RatingDown})
		wantCode(t, "SetFeedback in a hidden session", err, chat.CodeNotFound)
		if got := list(b, anna, chat.FeedbackQuery{}); len(got) != 0 {
			t.Errorf("feedback of a hidden session: got %v, want none", got)
		}
	})
}
