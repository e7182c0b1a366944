package imap

import (
	"strconv"
	"strings"
)

// maxStops is how often a server may stop before it has looked at all mails. With 1,000 mails each time it reaches five
// million.
const maxStops = 5000

// noteStop notes where a server stopped, as RFC 9738 lets it, if that is what the text of an answer says: a command was
// done for some mails alone, those with the highest numbers. Some servers look at no more than 1,000 at once, and say
// so only here.
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
