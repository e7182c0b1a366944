package robots

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"
)

// product is what rules for this program alone call it. The User-Agent of its requests begins so. It is matched without
// case (RFC 9309 §2.2.1).
const product = "footnote"

// maxParts is how many parts of rules count; a rule has one more than stars. A rule for which none are left is left
// out.
const maxParts = 30_000

// Rules say which paths may be read: the longest that fits decides, of two the one that allows. Without one that fits
// all is allowed. It is RFC 9309 §2.2.2; “*” and “$” are those of §2.2.3.
type Rules []rule

// rule allows or forbids paths.
type rule struct {
	allow  bool
	length int      // bytes, as it is written
	parts  []string // between its stars
	whole  bool     // the path ends with the last part
}

// Parse reads a file of rules: those for this program or, when there are none, those for all. Several user-agent lines
// in a row begin one group, and groups for the same program count together.
func Parse(raw []byte) Rules {
	var own, all Rules
	ownParts, allParts := 0, 0
	ownGroup := false                            // there is a group for this program
	isOwn, isAll, inRules := false, false, false // of the group
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	for line := range strings.FieldsFuncSeq(string(raw), func(r rune) bool { return r == '\n' || r == '\r' }) {
		line, _, _ = strings.Cut(line, "#")
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch key = strings.ToLower(strings.TrimSpace(key)); key {
		case "user-agent":
			if inRules {
				isOwn, isAll, inRules = false, false, false
			}
			isOwn = isOwn || strings.EqualFold(token(value), product)
			isAll = isAll || value == "*" || strings.HasPrefix(value, "* ")
			ownGroup = ownGroup || isOwn
		case "allow", "disallow":
			inRules = true
			if r := ruleOf(value, key == "allow"); value != "" {
				if isOwn && ownParts+len(r.parts) <= maxParts {
					own, ownParts = append(own, r), ownParts+len(r.parts)
				}
				if isAll && allParts+len(r.parts) <= maxParts {
					all, allParts = append(all, r), allParts+len(r.parts)
				}
			}
		}
	}
	if ownGroup {
		return own
	}
	return all
}

// token is the name of a program at the beginning of a value.
func token(value string) string {
	end := strings.IndexFunc(value, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' || r == '_')
	})
	if end < 0 {
		return value
	}
	return value[:end]
}

// ruleOf reads a rule's pattern: a dollar at the end and stars anywhere are signs, all else stands for itself. Its
// length is that of the pattern as it is written, by which the longest is found (RFC 9309 §2.2.2).
func ruleOf(pattern string, allow bool) rule {
	r := rule{allow: allow, length: len(pattern)}
	pattern, r.whole = strings.CutSuffix(pattern, "$")
	r.parts = strings.Split(pattern, "*")
	for i, part := range r.parts {
		r.parts[i] = compared(part)
	}
	return r
}

// Allow reports whether a page may be read. robots.txt itself may always be read. Rules are compared with the path and
// the query.
func (rs Rules) Allow(page *url.URL) bool {
	path := page.EscapedPath()
	if path == "" {
		path = "/"
	}
	if path == "/robots.txt" {
		return true
	}
	if page.RawQuery != "" || page.ForceQuery {
		path += "?" + page.RawQuery
	}
	path = compared(path)
	longest, allow := -1, true
	for _, r := range rs {
		if r.length < longest || r.length == longest && !r.allow || !r.fits(path) {
			continue
		}
		longest, allow = r.length, r.allow
	}
	return allow
}

// fits reports whether a path begins with the rule. Parts between stars are looked for from the left, each at its first
// place, which finds a match if there is one.
func (r rule) fits(path string) bool {
	rest, found := strings.CutPrefix(path, r.parts[0])
	if !found {
		return false
	}
	last := len(r.parts) - 1
	if last == 0 {
		return !r.whole || rest == ""
	}
	for _, part := range r.parts[1:last] {
		_, after, found := strings.Cut(rest, part)
		if !found {
			return false
		}
		rest = after
	}
	if r.whole {
		return strings.HasSuffix(rest, r.parts[last])
	}
	return strings.Contains(rest, r.parts[last])
}

// compared writes a path in the one way in which paths are compared: what needs no escape has none, and what is no
// ASCII has one. Percent-encodings are compared as RFC 9309 §2.2.2 asks: unreserved characters decoded, all others
// encoded.
func compared(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		c, escaped := path[i], false
		if c == '%' && i+2 < len(path) {
			if raw, err := url.PathUnescape(path[i : i+3]); err == nil {
				c, escaped = raw[0], true
				i += 2
			}
		}
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			strings.IndexByte("-._~", c) >= 0
		switch {
		case escaped && !plain, c >= 0x80, c <= ' ', c == '*', c == '$':
			_, _ = fmt.Fprintf(&b, "%%%02X", c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
