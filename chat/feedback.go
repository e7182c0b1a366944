package chat

import (
	"context"
	"slices"
	"time"
	"unicode/utf8"
)

// Rating is what a reader thinks of an answer.
//
//api:open
type Rating string

// The ratings.
const (
	RatingUp   Rating = "up"
	RatingDown Rating = "down"
)

// MaxComment is how many runes a reader may write about an answer.
const MaxComment = 2000

// Feedback is one reader's judgement of one run's answer. Reason and Comment may be empty.
type Feedback struct {
	RunID string `json:"run_id" api:"shared"` // The run's id: GET /agent/runs/{id} has all of it.
	// The conversation's id: what pages call a conversation the API calls a session.
	SessionID string `json:"session_id" api:"shared"`
	Question  string `json:"question" api:"shared"` // The question.
	Rating    Rating `json:"rating"`                // What the reader thinks of the answer.
	// Why, from a few.
	Reason    string    `json:"reason,omitempty"`        // one of Reasons(Rating)
	Comment   string    `json:"comment,omitempty"`       // Why, in the reader's own words.
	CreatedAt time.Time `json:"created_at" api:"shared"` // When it was made.
	UpdatedAt time.Time `json:"updated_at" api:"shared"` // When it last changed.
}

// Reasons are what a reader can choose from to explain a rating; none for anything that is no rating. They are stored
// and in the API, so a reason that was once offered must stay known. The page writes them in the reader's language.
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

// Check fails with CodeInvalid unless the rating is one, the reason one of its Reasons, and the comment at most
// MaxComment runes.
func (f Feedback) Check() error {
	reasons := Reasons(f.Rating)
	switch {
	case reasons == nil:
		return &Error{Code: CodeInvalid, Message: "rating must be up or down."}
	case f.Reason != "" && !slices.Contains(reasons, f.Reason):
		return &Error{
			Code: CodeInvalid,
			Message: "This reason does not go with the rating. Leave it out, or look the reasons up in the API's " +
				"description.",
		}
	case utf8.RuneCountInString(f.Comment) > MaxComment:
		return &Error{Code: CodeInvalid, Message: "The comment is longer than 2,000 characters. Shorten it."}
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

// FeedbackStore keeps what readers think of answers. Its promises are those of Store. Feedback on a hidden session's
// runs is hidden with them and goes when they are purged.
type FeedbackStore interface {
	// SetFeedback stores f for f.RunID, in the place of what the same user said before, and returns it as stored.
	// What does not pass Check fails with CodeInvalid.
	SetFeedback(ctx context.Context, s Scope, f Feedback) (Feedback, error)

	// DropFeedback withdraws it. That there is none is no error.
	DropFeedback(ctx context.Context, s Scope, runID string) error

	// Feedback returns one page and the cursor of the next, empty at the end. A cursor it did not give fails with
	// CodeInvalid.
	Feedback(ctx context.Context, s Scope, q FeedbackQuery) ([]Feedback, string, error)
}
