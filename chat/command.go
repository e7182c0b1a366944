package chat

import (
	"context"
	"encoding/json"
)

// CommandKind is the kind of a Command. Kinds are stored and sent between servers: their texts must not change.
type CommandKind string

// The kinds of Command.
const (
	CommandCancel    CommandKind = "cancel"
	CommandAnswerNow CommandKind = "answer_now"
	CommandApprove   CommandKind = "approve" // a pending call may run
	CommandDeny      CommandKind = "deny"    // a pending call must not run
)

// Command is a user's instruction to a running run, on any server.
type Command struct {
	RunID  string
	Kind   CommandKind
	CallID string          // of the pending call; empty unless Kind is CommandApprove or CommandDeny
	Input  json.RawMessage // of CommandApprove: an object that replaces the model's input; nil: unchanged
}

// Decides reports whether the command approves or denies a call. Such a command has a CallID; others concern the
// whole run.
func (c Command) Decides() bool { return c.Kind == CommandApprove || c.Kind == CommandDeny }

// About returns the subject of a command: a run has at most one command per subject. A call is one subject for both
// decisions. Stores keep it with the run's id under a unique key: of two concurrent decisions about one call, the
// later insert fails.
func (c Command) About() string {
	if c.Decides() {
		return "call " + c.CallID
	}
	return string(c.Kind)
}

// CommandStore keeps commands to running runs. Its guarantees are those of Store. A command is kept until its run is
// over, so that a server which takes over the run reads it too: delivery is at least once. A notification only
// triggers a read; the run's server reads its commands and executes the new ones (docs/decisions/replicas.md). Lost
// or duplicate notifications are therefore harmless.
type CommandStore interface {
	// AddCommand stores a command and wakes the run's server. It is durable over power loss. Adding the same command
	// again is a no-op. The later of two decisions about one call fails with CodeConflict, as does any command to a
	// run that is over.
	AddCommand(ctx context.Context, s Scope, c Command) error

	// Commands returns the commands to the running runs whose lease owner holds, oldest first.
	Commands(ctx context.Context, owner string) ([]Command, error)
}
