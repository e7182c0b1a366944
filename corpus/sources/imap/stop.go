package imap

import (
	"strconv"
	"strings"
)

// maxStops is the maximum number of responses with a message limit to one search. With 1,000 mails each, that covers
// five million.
const maxStops = 5000

// noteStop parses the response code MESSAGELIMIT (RFC 9738) and stores its lowest UID. It means that a command
// processed only the mails with the highest UIDs. Some servers process at most 1,000 at once and report that only
// here.
func (w *wire) noteStop(text string) error {
	if codeIn(text) != "MESSAGELIMIT" {
		return nil
	}
	inside, _, _ := strings.Cut(strings.TrimPrefix(text, "["), "]")
	fields := strings.Fields(inside)
	if len(fields) != 3 {
		return errForm
	}
	lowest, err := strconv.ParseUint(fields[2], 10, 32)
	if err != nil || lowest == 0 {
		return errForm
	}
	w.lowest = uint32(lowest)
	return nil
}
