package robots

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"
)

// product is this program's product token in robots.txt, a prefix of its User-Agent. It is case-insensitive (RFC
// 9309 §2.2.1).
const product = "footnote"

// maxParts is the maximum number of parts of all rules; a rule has one more than stars. Rules beyond it are ignored.
const maxParts = 30_000

// Rules decide which paths may be read. The longest matching rule applies, and of equally long ones the one that
// allows. Without a match the path is allowed (RFC 9309 §2.2.2). “*” and “$” are those of §2.2.3.
type Rules []rule

// rule allows or forbids paths.
type rule struct {
	allow  bool
	length int      // bytes of the pattern as written
	parts  []string // between its stars
	whole  bool     // the path must end with the last part
}

// Parse parses robots.txt. It returns the rules for this program or, as a fallback, those for all programs.
// Consecutive user-agent lines start one group, and groups for the same program are merged.
func Parse(raw []byte) Rules {
	var own, all Rules
	ownParts, allParts := 0, 0
	ownGroup := false                            // a group for this program exists
	isOwn, isAll, inRules := false, false, false // of the current group
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

// token returns the product token at the start of a value.
func token(value string) string {
	end := strings.IndexFunc(value, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' || r == '_')
	})
	if end < 0 {
		return value
	}
	return value[:end]
}

// ruleOf parses a rule's pattern. A dollar at the end and stars are special, all else is literal. Its length is that
// of the pattern as written, to find the longest match (RFC 9309 §2.2.2).
func ruleOf(pattern string, allow bool) rule {
	r := rule{allow: allow, length: len(pattern)}
	pattern, r.whole = strings.CutSuffix(pattern, "$")
	r.parts = strings.Split(pattern, "*")
	for i, part := range r.parts {
		r.parts[i] = compared(part)
	}
	return r
}

// Allow reports whether a page may be read. robots.txt itself is always allowed. Rules match path and query.
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

// fits reports whether a rule matches a prefix of the path. Parts between stars are matched from the left, each at
// its first occurrence, which is sufficient.
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

// compared normalises a path for matching. By RFC 9309 §2.2.2, percent-encoded unreserved characters are decoded,
// and all other encoded and non-ASCII characters are encoded.
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
