package grants

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/lazy"
	"github.com/footnote/footnote/text/locale"
)

// Scope is the only scope: the use of /mcp.
const Scope = "mcp"

// Request is a client's authorization request. State is returned to the client unchanged and not stored: only its
// own browser window knows it.
type Request struct {
	Client    string `json:"client"`
	Redirect  string `json:"redirect"`
	Challenge string `json:"challenge"` // S256
	State     string `json:"-"`
	Resource  string `json:"resource"`
}

const maxState = 2000 // bytes

// challengeForm matches the base64url encoding of a SHA-256, 43 characters; verifierForm a verifier by RFC 7636,
// section 4.1.
var (
	challengeForm = lazy.Regexp(`^[A-Za-z0-9_-]{43}$`)
	verifierForm  = lazy.Regexp(`^[A-Za-z0-9._~-]{43,128}$`)
)

// Check validates the parameters of an authorization request at a server with an issuer and a resource. It fails
// with chat.CodeInvalid and a user-facing message. No failure is sent to the client: anybody can register an
// address, so an invalid request would be an open redirect (RFC 9700, section 4.11.2). PKCE with S256 is required
// (OAuth 2.1), and “resource” is RFC 8707's.
func (iss *Issuer) Check(ctx context.Context, get func(string) string, resource string) (Client, *Request, error) {
	c, err := iss.Client(ctx, get("client_id"))
	if err != nil {
		return c, nil, err
	}
	if !c.allowsRedirect(get("redirect_uri")) {
		return c, nil, &chat.Error{
			Code: chat.CodeInvalid, Message: "The program asks to send you to an address that it did not register.",
		}
	}
	q := &Request{
		Client: c.ID, Redirect: get("redirect_uri"), Challenge: get("code_challenge"), State: get("state"),
		Resource: resource,
	}
	var fault string
	switch {
	case len(q.State) > maxState:
		fault = "state is too long"
	case get("response_type") != "code":
		fault = "response_type must be code"
	case get("code_challenge_method") != "S256" || !challengeForm().MatchString(q.Challenge):
		fault = "PKCE with the method S256 is required"
	case get("scope") != "" && get("scope") != Scope:
		fault = "the only scope is " + Scope
	case get("resource") != "" && get("resource") != resource:
		fault = "the only resource is " + resource
	}
	if fault != "" {
		return c, nil, &chat.Error{
			Code: chat.CodeInvalid,
			Message: locale.Say(
				"The program's request can't be granted: {1}. Update the program, then connect from it again.", fault,
			),
		}
	}
	return c, q, nil
}

// Back returns the redirect address with an answer's parameters. “iss” (RFC 9207) identifies the answering server to
// a client of several servers. Existing parameters of the address stay.
func (q *Request) Back(issuer string, answer map[string]string) string {
	u, err := url.Parse(q.Redirect)
	if err != nil {
		return "/"
	}
	values := u.Query()
	for name, value := range answer {
		values.Set(name, value)
	}
	if q.State != "" {
		values.Set("state", q.State)
	}
	values.Set("iss", issuer)
	u.RawQuery = values.Encode()
	return u.String()
}

// Origin returns the origin of the redirect, for a Content-Security-Policy.
func (q *Request) Origin() string {
	u, err := url.Parse(q.Redirect)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// KeepPending records an open consent page of a client, so that other registrations do not evict it.
func (iss *Issuer) KeepPending(ctx context.Context, c Client) error {
	return iss.put(ctx, Record{
		Kind: KindConsent, ID: rand.Text(), Owner: c.ID, Expires: iss.now().Add(consentLife),
	}, nil, 1)
}

// Allow creates a grant of a user, who is signed in with key, and returns the code that its client exchanges for
// tokens. The client is marked as used before the grant is created, so that it is not swept meanwhile. The code is
// stored as its hash, with the request that it has to match.
func (iss *Issuer) Allow(ctx context.Context, user, key string, c Client, q *Request) (code string, err error) {
	g := Grant{
		ID: rand.Text(), User: user, Key: hash(key), Client: c.ID, Name: c.Name, Resource: q.Resource,
	}
	if _, _, err := iss.Store.Use(ctx, KindClient, c.ID); err != nil {
		return "", err
	}
	now := iss.now()
	if err := iss.put(
		ctx, Record{Kind: KindGrant, ID: g.ID, Owner: user, Expires: now.Add(usedLife)}, g, mostGrants,
	); err != nil {
		return "", err
	}
	code, sum := secret("")
	return code, iss.put(ctx, Record{Kind: KindCode, ID: sum, Owner: g.ID, Expires: now.Add(codeLife)}, q, mostTokens)
}

// Exchange exchanges a code for tokens, once. A second use of the code revokes its grant (RFC 6749, section 4.1.2).
// The code is used up before any validation: a wrong verifier must not allow another guess.
func (iss *Issuer) Exchange(ctx context.Context, code, verifier, client, redirect, resource string) (Tokens, error) {
	r, err := iss.use(ctx, KindCode, code)
	if err != nil {
		return Tokens{}, err
	}
	var q Request
	if err := json.Unmarshal(r.Body, &q); err != nil {
		return Tokens{}, fmt.Errorf("read a code: %w", err)
	}
	sum := sha256.Sum256([]byte(verifier))
	if !verifierForm().MatchString(verifier) || base64.RawURLEncoding.EncodeToString(sum[:]) != q.Challenge ||
		q.Client != client || q.Redirect != redirect || resource != "" && resource != q.Resource {
		if err := iss.Store.Drop(ctx, KindGrant, r.Owner); err != nil { // revokes its tokens
			return Tokens{}, err
		}
		return Tokens{}, invalidGrant("the code was issued for another client, redirect_uri, resource or verifier")
	}
	return iss.tokens(ctx, r.Owner, client)
}

// Refresh exchanges a refresh token for new tokens, once. A second use means that the token or its successor was
// stolen: it revokes the grant. This rotation is RFC 9700, section 4.14.2.
func (iss *Issuer) Refresh(ctx context.Context, token, client, resource string) (Tokens, error) {
	r, err := iss.use(ctx, KindRefresh, token)
	if err != nil {
		return Tokens{}, err
	}
	if g, _, err := iss.grant(ctx, r.Owner); err == nil && resource != "" && resource != g.Resource {
		return Tokens{}, &Error{"invalid_target", "the only resource is " + g.Resource}
	}
	return iss.tokens(ctx, r.Owner, client)
}

// use marks a single-use secret as used. The store's Use is atomic: of concurrent calls one is first.
func (iss *Issuer) use(ctx context.Context, kind Kind, text string) (Record, error) {
	r, first, err := iss.Store.Use(ctx, kind, hash(text))
	if err != nil {
		if chat.CodeOf(err) == chat.CodeNotFound {
			err = invalidGrant("it is unknown or expired")
		}
		return r, err
	}
	if !first {
		if err := iss.Store.Drop(ctx, KindGrant, r.Owner); err != nil {
			return r, err
		}
		return r, invalidGrant("it was already used; the connection was revoked")
	}
	if !iss.now().Before(r.Expires) {
		return r, invalidGrant("it has expired")
	}
	return r, nil
}

// tokens issues the tokens of a valid grant. The grant is read again, since it or its user's key may have ended
// since the secret was issued.
func (iss *Issuer) tokens(ctx context.Context, grant, client string) (Tokens, error) {
	g, _, err := iss.grant(ctx, grant)
	switch {
	case err == nil && g.Client == client:
	case err == nil || chat.CodeOf(err) == chat.CodeNotFound || chat.CodeOf(err) == chat.CodeUnauthorized:
		return Tokens{}, invalidGrant("the connection was revoked")
	default:
		return Tokens{}, err
	}
	t := Tokens{Seconds: int(accessLife.Seconds())}
	now := iss.now()
	var sum string
	t.Access, sum = secret(AccessPrefix)
	if err := iss.put(
		ctx, Record{Kind: KindAccess, ID: sum, Owner: grant, Expires: now.Add(accessLife)}, nil, mostTokens,
	); err != nil {
		return t, err
	}
	t.Refresh, sum = secret(refreshPrefix)
	return t, iss.put(
		ctx, Record{Kind: KindRefresh, ID: sum, Owner: grant, Expires: now.Add(refreshLife)}, nil, mostTokens,
	)
}
