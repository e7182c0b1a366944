package chat

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
)

// What every Store answers of the keys that keep a question from being asked twice, and of a queue that is full.
var (
	ErrKeyReused = &Error{
		Code: CodeKeyReused, Message: "This Idempotency-Key was used for another request. Send a new key.",
	}
	ErrKeyUnknown = &Error{Code: CodeNotFound, Message: "No question was asked with this Idempotency-Key."}
	ErrQueueFull  = &Error{Code: CodeConflict, Message: fmt.Sprintf(
		"%d questions wait already. Remove one, or ask this one later.", MaxQueued,
	)}

	errLongKey = &Error{Code: CodeInvalid, Message: fmt.Sprintf(
		"An Idempotency-Key has 1 to %d bytes.", MaxIdempotencyKey,
	)}
)

// Start is a run as a Store writes it down first. Both stores begin with it, so ids, digests and JSON are made in one
// place.
type Start struct {
	Run     Run               // its ParentID and CreatedAt are for the store to set
	Key     string            // the Idempotency-Key; empty for none
	Digest  [sha256.Size]byte // see RunRequest.Digest
	Request []byte            // JSON of Run.Request
}

// Start makes the run that a user asks for, in a new session where the request names none. It fails with CodeInvalid
// for a key that is too long or a session's name that can't be one. The id of the run is new at each call: a request
// that is repeated under a key gets the id that the store has, and this one is dropped. The key is stored in a column
// of its own and not in the request's JSON.
func (r RunRequest) Start(user string) (s Start, err error) {
	if len(r.IdempotencyKey) > MaxIdempotencyKey {
		return s, errLongKey
	}
	if s.Digest, err = r.Digest(); err != nil {
		return s, err
	}
	if r.SessionID == "" {
		r.SessionID = NewID()
	} else if err := CheckSessionID(r.SessionID); err != nil {
		return s, err
	}
	s.Key, r.IdempotencyKey = r.IdempotencyKey, ""
	s.Run = Run{ID: NewID(), SessionID: r.SessionID, User: user, Request: r, Status: RunRunning}
	s.Request, err = json.Marshal(r)
	return s, err
}

// Trial makes a question and its first event for Store.CheckWrites. Its session is made up, so its row is in nobody's
// way, and the store takes everything back.
func Trial() (asked Start, first Event, err error) {
	asked, err = RunRequest{Message: "Can a question be stored?"}.Start(LocalUser)
	if err == nil {
		first, err = NewEvent(asked.Run.ID, RunStarted{SessionID: asked.Run.SessionID})
	}
	return asked, first, err
}

// Digest is the SHA-256 of all that is asked, whatever the key is: two requests with one key must have the same. It is
// the hash of the request's JSON, which leaves the key out. Session ids count, so a client must send the same one
// again, or none both times.
func (r RunRequest) Digest() ([sha256.Size]byte, error) {
	asked, err := json.Marshal(r)
	return sha256.Sum256(asked), err
}

// AsQueued makes the waiting question that a user asks for, and its JSON as a Store writes it. One without a key gets
// one of its own. It fails with CodeInvalid for a key that is too long. The run that it becomes is started under that
// key, so two servers that send the same question make one run. The key that is made begins with a word and a colon, to
// be told from those of clients in a database.
func (r RunRequest) AsQueued(user string) (q Queued, request []byte, err error) {
	if len(r.IdempotencyKey) > MaxIdempotencyKey {
		return q, nil, errLongKey
	}
	q = Queued{ID: NewID(), SessionID: r.SessionID, User: user, Request: r}
	q.Request.IdempotencyKey = cmp.Or(r.IdempotencyKey, "queued:"+q.ID)
	request, err = json.Marshal(r)
	return q, request, err
}
