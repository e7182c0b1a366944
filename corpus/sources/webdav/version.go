package webdav

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// How the version of a file begins whose folder has no tags for versions: with the file's own tag, else with its size
// and date.
const (
	tagged   = "tag "
	modified = "modified "
)

// fresh is how old a date must be to be relied on: a file may change twice in a second, and clocks differ.
// Last-Modified has seconds only: RFC 9110 §8.8.2.2 says when such a date is a strong validator.
const fresh = time.Minute

// versionOf makes a version of what a server says of a file that it sends; empty: it says nothing that can be relied
// on. A tag is believed, weak or strong: it is only compared with itself. now is compared with the date that the
// server sends.
//
// Of a server without tags, size and date together make the version. A date that is fresh is left out, so that the
// file is fetched again.
func versionOf(sent http.Header, size int64, now time.Time) string {
	if tag := sent.Get("ETag"); tag != "" && len(tag) < 300 {
		return tagged + tag
	}
	// A date alone would say too little: a file that was put back from a backup may have an old one.
	date := sent.Get("Last-Modified")
	when, err := http.ParseTime(date)
	if err != nil || when.After(now.Add(-fresh)) || when.Unix() <= 0 { // the last is no date of a change
		return ""
	}
	return modified + strconv.FormatInt(size, 10) + " " + date
}

// askIfChanged has a server send a file only if it is another than the known one. A date is sent only for a file of
// the size it was known with. The server's answer is then 304 without a body.
func askIfChanged(head http.Header, known string, size int64) {
	if tag, ok := strings.CutPrefix(known, tagged); ok {
		head.Set("If-None-Match", tag)
		return
	}
	if when, ok := strings.CutPrefix(known, modified+strconv.FormatInt(size, 10)+" "); ok {
		head.Set("If-Modified-Since", when)
	}
}
