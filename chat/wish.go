package chat

import (
	"context"
	"encoding/json"
)

// WishKind says what a user wants of a run under way.
type WishKind string

// The kinds of Wish.
const (
	WishCancel    WishKind = "cancel"
	WishAnswerNow WishKind = "answer_now"
	WishApprove   WishKind = "approve" // a call that waits may run
	WishDeny      WishKind = "deny"    // it must not
)

// Wish is what a user wants of a run, whichever server works on it.
type Wish struct {
	RunID  string
	Kind   WishKind
	CallID string          // of the call that waits; empty unless Kind is WishApprove or WishDeny
	Input  json.RawMessage // of WishApprove: an object instead of the model's input; nil: as it is
}

// Decides reports whether the wish is the one decision about a call.
func (w Wish) Decides() bool { return w.Kind == WishApprove || w.Kind == WishDeny }

// About is what a run can have one wish about only.
func (w Wish) About() string {
	if w.Decides() {
		return "call " + w.CallID
	}
	return string(w.Kind)
}

// WishStore keeps what is wanted of runs under way. Its promises are those of Store. A wish stays until its run is
// over, so that a server which takes the run over meanwhile finds it too; who acts on it must bear to read it again.
type WishStore interface {
	// Wish keeps a wish and wakes the run's server. It survives power loss. The same wish again changes nothing, but
	// of two decisions about one call the later fails with CodeConflict, as does any wish about a run that is over.
	Wish(ctx context.Context, s Scope, w Wish) error

	// Wishes returns what is wanted of the running runs that owner holds, oldest first.
	Wishes(ctx context.Context, owner string) ([]Wish, error)
}
