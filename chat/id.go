package chat

import (
	"regexp"

	"github.com/google/uuid"
)

// NewID returns a fresh UUIDv7 (RFC 9562 §5.7) in lower case: later ones sort after earlier ones of the same process,
// and 62 bits are random. It panics if the system has no random numbers. Ids that grow with time keep inserts at the
// right end of the databases' indexes. An id is no secret: whoever knows one still has to own the thing.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// Clients may choose the ids of their sessions. These signs need no escaping in addresses, in JSON and in SSE.
var sessionID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// CheckSessionID fails with CodeInvalid unless id may name a session: 1 to 128 letters, digits, "_" and "-".
func CheckSessionID(id string) error {
	if !sessionID.MatchString(id) {
		return &Error{Code: CodeInvalid, Message: "A session id has 1 to 128 letters, digits, underscores and hyphens."}
	}
	return nil
}
