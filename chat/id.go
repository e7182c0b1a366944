package chat

import (
	"crypto/rand"
	"encoding/hex"
	"regexp"
	"time"
)

// NewID returns a fresh UUIDv7 (RFC 9562 §5.7): sorted by time to the millisecond, unguessable, lower case.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[6:]) // never fails since Go 1.24
	ms := uint64(time.Now().UnixMilli())
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	b[6] = b[6]&0x0f | 0x70
	b[8] = b[8]&0x3f | 0x80
	var s [36]byte
	hex.Encode(s[0:8], b[0:4])
	hex.Encode(s[9:13], b[4:6])
	hex.Encode(s[14:18], b[6:8])
	hex.Encode(s[19:23], b[8:10])
	hex.Encode(s[24:36], b[10:16])
	s[8], s[13], s[18], s[23] = '-', '-', '-', '-'
	return string(s[:])
}

var sessionID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// CheckSessionID fails with CodeInvalid unless id may name a session: 1 to 128 letters, digits, "_" and "-".
func CheckSessionID(id string) error {
	if !sessionID.MatchString(id) {
		return &Error{Code: CodeInvalid, Message: "A session id has 1 to 128 letters, digits, underscores and hyphens."}
	}
	return nil
}
