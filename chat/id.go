package chat

import (
	"github.com/google/uuid"

	"github.com/footnote/footnote/text/lazy"
)

// NewID returns a new UUIDv7 (RFC 9562 §5.7) in lower case. Ids of one process sort by time, and 62 bits are random.
// It panics if the system has no random numbers. Increasing ids keep inserts at the right end of database indexes.
// An id is no secret: access is always authorised separately.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// Clients may choose their session ids. These characters need no escaping in URLs, JSON and SSE.
var sessionID = lazy.Regexp(`^[A-Za-z0-9_-]{1,128}$`)

// CheckSessionID fails with CodeInvalid unless id is 1 to 128 letters, digits, "_" and "-".
func CheckSessionID(id string) error {
	if !sessionID().MatchString(id) {
		return &Error{Code: CodeInvalid, Message: "A session ID must have 1 to 128 letters, digits, underscores or " +
			"hyphens."}
	}
	return nil
}
