package webpage

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
)

// maxTag is the maximum length of an ETag in bytes.
const maxTag = 200

// version identifies the page content: its ETag and Last-Modified headers and a hash of its text. It is encoded with
// tabs, which none of the three parts contains.
//
// All three may be empty. Versions are compared by the hash alone; the headers are only sent to the server.
type version struct{ etag, modified, hash string }

// String encodes a version in one line. The ETag is last, as the server chooses its format.
func (v version) String() string { return v.hash + "\t" + v.modified + "\t" + v.etag }

// parseVersion decodes a version from String. Any other text, such as a version of an earlier format, returns the
// zero version: the page is then fetched unconditionally.
func parseVersion(s string) version {
	parts := strings.SplitN(s, "\t", 3)
	if len(parts) != 3 {
		return version{}
	}
	return version{hash: parts[0], modified: parts[1], etag: parts[2]}
}

// versionOf returns the validators of a response. An ETag that is too long or has control characters, and an invalid
// date, are dropped.
func versionOf(header http.Header) version {
	v := version{etag: header.Get("ETag"), modified: header.Get("Last-Modified")}
	if len(v.etag) > maxTag || strings.ContainsFunc(v.etag, isControl) {
		v.etag = ""
	}
	if _, err := http.ParseTime(v.modified); err != nil {
		v.modified = ""
	}
	return v
}

// isControl reports whether a character would break the line of an encoded version.
func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// ask makes a request conditional on the version. Servers prefer the ETag to the date (RFC 9110 §13.2.2).
func (v version) ask(header http.Header) {
	if v.etag != "" {
		header.Set("If-None-Match", v.etag)
	}
	if v.modified != "" {
		header.Set("If-Modified-Since", v.modified)
	}
}

// hashOf returns half of a SHA-256 in hexadecimal, enough to distinguish contents of one page.
func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}
