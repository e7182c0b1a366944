package chat

import (
	"context"
	"slices"
	"time"
	"unicode/utf8"
)

// Rating is a reader's rating of an answer.
//
//api:open
type Rating string

// The ratings.
const (
	RatingUp   Rating = "up"
	RatingDown Rating = "down"
)

// MaxComment is the maximum length of a comment in runes.
const MaxComment = 2000

// Feedback is a reader's feedback on a run's answer. Reason and Comment may be empty.
type Feedback struct {
	RunID string `json:"run_id" api:"shared"` // The run ID: GET /agent/runs/{id} returns the run.
	// The conversation ID. Conversations are called sessions in the API.
	SessionID string `json:"session_id" api:"shared"`
	Question  string `json:"question" api:"shared"` // The question.
	Rating    Rating `json:"rating"`                // The reader's rating of the answer.
	// The reason, from a fixed list.
	Reason    string    `json:"reason,omitempty"`        // one of Reasons(Rating)
	Comment   string    `json:"comment,omitempty"`       // A free-text comment.
	CreatedAt time.Time `json:"created_at" api:"shared"` // The creation time.
	UpdatedAt time.Time `json:"updated_at" api:"shared"` // The time of the last change.
}

// Reasons returns the reasons that a reader can choose for a rating, nil for an invalid rating. They are stored and
// part of the API, so a reason must stay valid once offered. The page translates them.
func Reasons(r Rating) []string {
	switch r {
	case RatingUp:
		return []string{"accurate", "complete", "well_sourced", "clear"}
	case RatingDown:
		return []string{"wrong", "incomplete", "wrong_sources", "off_topic", "unclear"}
	default:
		return nil
	}
}

// Check fails with CodeInvalid unless the rating is valid, the reason is one of its Reasons, and the comment has at
// most MaxComment runes.
func (f Feedback) Check() error {
	reasons := Reasons(f.Rating)
	switch {
	case reasons == nil:
		return &Error{Code: CodeInvalid, Message: "rating must be up or down."}
	case f.Reason != "" && !slices.Contains(reasons, f.Reason):
		return &Error{
			Code:    CodeInvalid,
			Message: "This reason does not match the rating. Remove it, or see the API description for valid reasons.",
		}
	case utf8.RuneCountInString(f.Comment) > MaxComment:
		return &Error{Code: CodeInvalid, Message: "The comment exceeds the limit of 2,000 characters. Shorten it."}
	}
	return nil
}

// FeedbackQuery selects a user's feedback, last changed first.
type FeedbackQuery struct {
	Rating    Rating // empty: both
	SessionID string // empty: all
	Limit     int    // 0: DefaultPage, at most MaxPage
	Cursor    string // from a previous page
}

// FeedbackStore keeps feedback on answers. Its guarantees are those of Store. Feedback on a hidden session's runs is
// hidden with them and deleted when they are purged.
type FeedbackStore interface {
	// SetFeedback stores f for f.RunID, replaces the same user's earlier feedback, and returns it as stored. It
	// fails with CodeInvalid if Check fails.
	SetFeedback(ctx context.Context, s Scope, f Feedback) (Feedback, error)

	// DropFeedback deletes it. Missing feedback is no error.
	DropFeedback(ctx context.Context, s Scope, runID string) error

	// Feedback returns one page and the cursor of the next, empty at the end. An invalid cursor fails with
	// CodeInvalid.
	Feedback(ctx context.Context, s Scope, q FeedbackQuery) ([]Feedback, string, error)
}
