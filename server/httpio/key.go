package httpio

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/footnote/footnote/chat"
)

// Context key of a request's user, and name of the page's cookie.
const (
	UserField = "user"
	KeyCookie = "footnote_key"
)

// withoutKey are the routes that need no key, since they reveal nothing.
//
// They are route patterns of the router, not request paths. Their handlers must read no user's data, or authorise
// readers themselves, as shared answers and feeds do by a token.
var withoutKey = []string{
	"/health", "/readyz", "/static/:version/*", "/favicon.ico", "/signin", "/signout", "/language", "/s/:token",
	MetadataPath, MetadataPath + MCPPath, "/.well-known/oauth-authorization-server",
	"/oauth/register", "/oauth/token", "/oauth/revoke",
	"/standing/feed/:token",
}

// The address of the OAuth metadata, and of the resource that tokens are for.
const (
	MetadataPath = "/.well-known/oauth-protected-resource"
	MCPPath      = "/mcp"
)

// Tokens looks up the user of a program's token for a resource; valid is cancelled with the user's key.
type Tokens interface {
	User(ctx context.Context, token, resource string) (user string, valid context.Context, err error)
}

// tokenPrefix is the prefix of program tokens, which distinguishes them from keys.
const tokenPrefix = "fno_"

// IdentifyUser is the middleware that authenticates a request: as the local user if no key was ever made, else as
// the key's user. Revoking a key cancels its open requests.
//
// A missing, wrong or revoked key gets 401. If keys can't be read, every request that needs one fails. Program
// tokens are accepted for MCPPath only.
func (g *Guard) IdentifyUser(next Handler) Handler {
	return func(c Context) error {
		if g.keys == nil {
			c.Set(UserField, chat.LocalUser)
			return next(c)
		}
		needed, err := g.keys.Needed()
		if err == nil && !needed {
			c.Set(UserField, chat.LocalUser)
			return next(c)
		}
		if slices.Contains(withoutKey, c.Path()) {
			return next(c)
		}
		if err != nil {
			return err
		}
		key, _ := RequestKey(c.Request())
		find := func() (string, context.Context, error) { return g.keys.User(key) }
		if g.Tokens != nil && c.Path() == MCPPath && strings.HasPrefix(key, tokenPrefix) {
			find = func() (string, context.Context, error) {
				return g.Tokens.User(context.WithoutCancel(c.Request().Context()), key, Origin(c)+MCPPath)
			}
		}
		user, valid, err := find()
		if err != nil {
			return err
		}
		c.Set(UserField, user)
		whole := c.Request()
		ctx, end := context.WithCancel(whole.Context())
		defer end()
		defer context.AfterFunc(valid, end)()
		c.SetRequest(whole.WithContext(ctx))
		err = next(c)
		c.SetRequest(whole) // the error response must still be rendered after ctx is cancelled
		if err != nil && valid.Err() != nil {
			_, _, err = find()
		}
		return err
	}
}

// RequestKey returns a request's key: from a header, as programs send it, or else from the page's cookie.
func RequestKey(r *http.Request) (key string, cookie bool) {
	if key := r.Header.Get("X-API-Key"); key != "" {
		return key, false
	}
	if kind, key, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok &&
		strings.EqualFold(kind, "Bearer") {
		return strings.TrimSpace(key), false
	}
	if kept, err := r.Cookie(KeyCookie); err == nil {
		return kept.Value, true
	}
	return "", false
}

// SignedOut reports whether a request has no user yet although keys are needed.
func (g *Guard) SignedOut(c Context) bool { return g.keys != nil && Scope(c).User == "" }
