package webdav

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Prefixes of the version of a file that is listed without an ETag: from the file's own ETag, else from its size and
// date.
const (
	tagged   = "tag "
	modified = "modified "
)

// fresh is the minimum age of a reliable modification date: a file may change twice in a second, and clocks differ.
// Last-Modified has a resolution of seconds; RFC 9110 §8.8.2.2 defines when it is a strong validator.
const fresh = time.Minute

// versionOf returns a version from a file's response headers, or an empty string without reliable ones. An ETag,
// weak or strong, is used as is, since it is only compared with itself.
//
// Without an ETag the version is size and date. now is compared with the date: a fresh one is not used, so the file
// is fetched again.
func versionOf(sent http.Header, size int64, now time.Time) string {
	if tag := sent.Get("ETag"); tag != "" && len(tag) < 300 {
		return tagged + tag
	}
	// The size is included, as a file that was restored from a backup may have an old date.
	date := sent.Get("Last-Modified")
	when, err := http.ParseTime(date)
	if err != nil || when.After(now.Add(-fresh)) || when.Unix() <= 0 { // the Unix epoch is no modification date
		return ""
	}
	return modified + strconv.FormatInt(size, 10) + " " + date
}

// setConditions makes a request conditional on the known version. The server then answers 304 without a body if it is
// unchanged. A date is sent only if the size is unchanged.
func setConditions(head http.Header, known string, size int64) {
	if tag, ok := strings.CutPrefix(known, tagged); ok {
		head.Set("If-None-Match", tag)
		return
	}
	if when, ok := strings.CutPrefix(known, modified+strconv.FormatInt(size, 10)+" "); ok {
		head.Set("If-Modified-Since", when)
	}
}
