package webpage

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
)

// maxTag is how long a server's own words for a version may be, in bytes.
const maxTag = 200

// version tells contents of a page apart: by what its server says, and by a hash of what is read in it. Its three parts
// are joined by tabs, which none of them can hold.
//
// All three may be empty. Two versions are compared by the hash alone; the others are only sent to the server.
type version struct{ etag, modified, hash string }

// String writes a version in one line. The tag stands last, as it is the only part of which a server chooses the form.
func (v version) String() string { return v.hash + "\t" + v.modified + "\t" + v.etag }

// parseVersion reads what String wrote. Anything else, such as a version of an earlier form, is no version: then the
// page is fetched and compared by nothing.
func parseVersion(s string) version {
	parts := strings.SplitN(s, "\t", 3)
	if len(parts) != 3 {
		return version{}
	}
	return version{hash: parts[0], modified: parts[1], etag: parts[2]}
}

// versionOf is what a server says. A tag that is too long or would break the line, and a date that is none, are left
// out.
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

// isControl finds what would break the line that a version is written in.
func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// ask asks for a page only if it is another. Servers prefer the tag to the date (RFC 9110 §13.2.2).
func (v version) ask(header http.Header) {
	if v.etag != "" {
		header.Set("If-None-Match", v.etag)
	}
	if v.modified != "" {
		header.Set("If-Modified-Since", v.modified)
	}
}

// hashOf is half of a SHA-256 in hexadecimal, enough to tell contents of one page apart.
func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}
