package sources

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

// A way is a path below the root of a place: names that are parted by slashes. Of a name only what would be mistaken is
// escaped: slashes, percent signs, controls and what is no UTF-8. So it is the same however a server writes it.

// LongWay begins the key of a way that is too long to be one; no way begins so.
const LongWay = "%:"

// KeyOf is the key of a way: the way itself, or a hash where that is too long. The hash has 66 bytes with its mark and
// can't be turned back, so a kind keeps the long ways of its last list.
func KeyOf(way string) string {
	if len(way) <= MaxKey {
		return way
	}
	sum := sha256.Sum256([]byte(way))
	return LongWay + hex.EncodeToString(sum[:])
}

// EscapeName is a name as it is in a way. Percent signs are escaped as well, so that unescaping gives back the name
// whatever it was.
func EscapeName(name string) string {
	var b strings.Builder
	for len(name) > 0 {
		r, size := utf8.DecodeRuneInString(name)
		if r == '%' || r == '/' || r < ' ' || r == 0x7f || r == utf8.RuneError && size == 1 {
			_, _ = fmt.Fprintf(&b, "%%%02X", name[0])
		} else {
			b.WriteString(name[:size])
		}
		name = name[size:]
	}
	return b.String()
}

// inName takes out of a name what no name can have. It is for showing alone: two names may become one.
var inName = strings.NewReplacer("/", "-", "\x00", "")

// ReadableWay is a way as people read it.
func ReadableWay(way string) string {
	names := strings.Split(way, "/")
	for i, name := range names {
		if plain, err := url.PathUnescape(name); err == nil {
			names[i] = strings.ToValidUTF8(inName.Replace(plain), "\ufffd")
		}
	}
	return strings.Join(names, "/")
}
