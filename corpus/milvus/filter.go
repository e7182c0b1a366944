package milvus

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"

	"github.com/footnote/footnote/chat"
)

// everything selects all vectors.
const everything = fieldID + ` != ""`

// plainLike matches names that are written into a filter as they are. All others are hashed, so that no name can end a
// string in a filter.
var plainLike = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// storedKey is a user's or a namespace's name as it is stored and asked for. A name that is hashed begins with "~",
// which no plain one has, so that both can't meet.
func storedKey(name string) string {
	if plainLike.MatchString(name) {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return "~" + hex.EncodeToString(sum[:16])
}

// scopeFilter selects what a scope may see, of documents only if there are any. ok is false when nothing can match. No
// namespaces mean all but the internal ones, whose names begin with a point.
func scopeFilter(s chat.Scope, documents []string) (expression string, ok bool) {
	parts := []string{fieldUser + " == " + quoteKey(storedKey(s.User))}
	if len(s.Namespaces) > 0 {
		keys := make([]string, len(s.Namespaces))
		for i, name := range s.Namespaces {
			keys[i] = storedKey(name)
		}
		parts = append(parts, oneOf(fieldNamespace, keys))
	} else {
		parts = append(parts, `not (`+fieldNamespace+` like ".%")`) // chat.IsInternal
	}
	if len(documents) > 0 {
		plain := onlyPlain(documents)
		if len(plain) == 0 {
			return "", false
		}
		parts = append(parts, oneOf(fieldDocument, plain))
	}
	return strings.Join(parts, " and "), true
}

// onlyPlain drops ids that no vector can have: Upsert takes plain ones only.
func onlyPlain(ids []string) []string {
	plain := make([]string, 0, len(ids))
	for _, id := range ids {
		if plainLike.MatchString(id) {
			plain = append(plain, id)
		}
	}
	return plain
}

// oneOf selects what has one of the keys in a field.
func oneOf(field string, keys []string) string {
	var b strings.Builder
	b.WriteString(field + " in [")
	for i, key := range keys {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quoteKey(key))
	}
	b.WriteByte(']')
	return b.String()
}

// quoteKey writes a key, which holds no quote of its own.
func quoteKey(key string) string { return `"` + key + `"` }
