// Package grantstest is the test suite of grants.Store and of Issuer.
//
// sqlite and postgres run it over an empty store each time. It ends with a walk through an Issuer over that store,
// since a valid token depends on several records: client, grant, code, access and refresh token, and the user's key.
package grantstest

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/chat/grants"
	"github.com/footnote/footnote/chat/keys"
)

// TestStore checks each guarantee in grants.Store's comments. open returns an empty store, once per subtest. Times
// are in whole microseconds, as stores keep them.
//
// It tests a store by itself first, and at the end through package grants. A store that accepts a second use, or
// returns expired records, would make a stolen code or token valid.
func TestStore(t *testing.T, open func(*testing.T) grants.Store) {
	now := time.Now().UTC().Truncate(time.Microsecond)
	// A code is single-use: of several concurrent uses only the first gets true. Otherwise two programs would have
	// tokens for one consent.
	t.Run("grants are stored, used once and deleted", func(t *testing.T) {
		store, ctx := open(t), t.Context()
		want := grants.Record{
			Kind: grants.KindCode, ID: "a", Owner: "g", Made: now, Expires: now.Add(time.Minute),
			Body: []byte(`{"x":"é"}`),
		}
		if err := store.Put(ctx, want, 5); err != nil {
			t.Fatal(err)
		}
		got, err := store.Get(ctx, grants.KindCode, "a")
		if err != nil || got.Owner != "g" || got.Used || !got.Made.Equal(now) ||
			string(got.Body) != string(want.Body) ||
			!got.Expires.Equal(want.Expires) {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
		if _, err := store.Get(ctx, grants.KindAccess, "a"); chat.CodeOf(err) != chat.CodeNotFound {
			t.Errorf("of another kind: %v, want %s", err, chat.CodeNotFound)
		}
		// Of eight concurrent uses of a record one is first.
		var firsts atomic.Int32
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				r, first, err := store.Use(ctx, grants.KindCode, "a")
				if err != nil || r.Owner != "g" {
					t.Errorf("use: %+v, %v", r, err)
				}
				if first {
					firsts.Add(1)
				}
			})
		}
		wg.Wait()
		if firsts.Load() != 1 {
			t.Errorf("%d were first, want 1", firsts.Load())
		}
		for range 2 {
			if err := store.Drop(ctx, grants.KindCode, "a"); err != nil {
				t.Errorf("drop: %v", err)
			}
		}
		if _, _, err := store.Use(ctx, grants.KindCode, "a"); chat.CodeOf(err) != chat.CodeNotFound {
			t.Errorf("Use of a deleted grant: got %v, want %s", err, chat.CodeNotFound)
		}
	})
	// The limit keeps a program that registers in a loop from filling the database. A client with a grant is not
	// evicted by clients without one, even if it is the oldest.
	t.Run("oldest unused clients beyond the limit are deleted", func(t *testing.T) {
		store, ctx := open(t), t.Context()
		for _, kind := range []grants.Kind{grants.KindClient, grants.KindRefresh} {
			for n := range 6 {
				id := strconv.Itoa(n)
				if err := store.Put(ctx, grants.Record{
					Kind: kind, ID: id, Made: now.Add(time.Duration(n) * time.Second), Expires: now.Add(time.Hour),
				}, 3); err != nil {
					t.Fatal(err)
				}
				var err error
				switch n {
				case 0:
					_, _, err = store.Use(ctx, kind, id)
				case 1: // the client's consent page is open
					err = store.Put(ctx, grants.Record{
						Kind: grants.KindConsent, ID: "of " + string(kind), Owner: id, Made: now,
						Expires: now.Add(time.Hour),
					}, 2)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := ids(t, store, grants.KindRefresh); got != "3 4 5" {
			t.Errorf("refresh tokens = %s, want 3 4 5", got)
		}
		if got := ids(t, store, grants.KindClient); got != "0 1 3 4 5" {
			t.Errorf("clients = %s, want 0 1 3 4 5", got)
		}
	})
	// Valid records stay, whatever their kind.
	t.Run("expired grants are swept", func(t *testing.T) {
		store, ctx := open(t), t.Context()
		for id, life := range map[string]time.Duration{"old": -time.Second, "new": time.Hour} {
			if err := store.Put(ctx, grants.Record{
				Kind: grants.KindAccess, ID: id, Made: now, Expires: now.Add(life),
			}, 9); err != nil {
				t.Fatal(err)
			}
		}
		if err := store.Sweep(ctx, now); err != nil {
			t.Fatal(err)
		}
		if got := ids(t, store, grants.KindAccess); got != "new" {
			t.Errorf("access tokens = %s, want new", got)
		}
	})
	t.Run("a book of grants", func(t *testing.T) { testIssuer(t, open(t)) })
}

// ids returns the ids of a kind's records without an owner, in the store's order.
func ids(t *testing.T, store grants.Store, kind grants.Kind) string {
	t.Helper()
	list, err := store.List(t.Context(), kind, "")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range list {
		names = append(names, r.ID)
	}
	return strings.Join(names, " ")
}

// The verifier has 43 characters, the minimum in RFC 7636 (PKCE).
const (
	resource = "https://f.example/mcp"
	verifier = "0123456789012345678901234567890123456789012"
)

// testIssuer walks a client through all its operations and all ways to revoke it. The clock is a variable, so that a
// year passes at once.
//
// Each step checks the valid tokens after it. Tokens and keys are tried through Issuer, as a program would. At the end
// the store is searched for secrets in plain text.
func testIssuer(t *testing.T, store grants.Store) {
	path := filepath.Join(t.TempDir(), "keys")
	key, err := keys.New(path, "anna")
	if err != nil {
		t.Fatal(err)
	}
	file, err := keys.Open(path, false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, now := t.Context(), time.Now()
	book := &grants.Issuer{Store: store, Keys: file, Now: func() time.Time { return now }}
	client, err := book.Register(ctx, grants.Client{Name: "A\nprogram", Redirects: []string{"http://127.0.0.1/back"}})
	if err != nil || client.Name != "A program" {
		t.Fatalf("register: %+v, %v", client, err)
	}
	sum := sha256.Sum256([]byte(verifier))
	asked := map[string]string{
		"client_id": client.ID, "redirect_uri": "http://127.0.0.1:4711/back", "response_type": "code",
		"code_challenge": base64.RawURLEncoding.EncodeToString(sum[:]), "code_challenge_method": "S256",
		"resource": resource, "scope": "mcp", "state": "s",
	}
	// connect runs the authorisation flow: request, consent, exchange.
	connect := func() (string, grants.Tokens) {
		t.Helper()
		c, q, err := book.Check(ctx, func(name string) string { return asked[name] }, resource)
		if err != nil {
			t.Fatal(err)
		}
		code, err := book.Allow(ctx, "anna", key, c, q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := book.Exchange(ctx, code, verifier, client.ID, asked["redirect_uri"], resource)
		if err != nil {
			t.Fatal(err)
		}
		return code, got
	}
	// holds checks whether a token is valid.
	holds := func(token string, want bool) {
		t.Helper()
		user, _, err := book.User(ctx, token, resource)
		if (err == nil && user == "anna") != want || err != nil && chat.CodeOf(err) != chat.CodeUnauthorized {
			t.Errorf("the token is of %q, %v; want it to hold: %v", user, err, want)
		}
	}
	// Invalid requests. None returns a Request, since there must be no redirect to the address.
	for _, wrong := range []map[string]string{
		{"redirect_uri": "http://127.0.0.1:4711/other"}, {"redirect_uri": "https://evil.example/back"},
		{"redirect_uri": ""}, {"client_id": "x"}, {"response_type": "token"}, {"code_challenge_method": "plain"},
		{"code_challenge": ""}, {"scope": "admin"}, {"resource": "https://other.example/mcp"},
	} {
		_, q, err := book.Check(ctx, func(name string) string {
			if value, ok := wrong[name]; ok {
				return value
			}
			return asked[name]
		}, resource)
		if err == nil || chat.CodeOf(err) != chat.CodeInvalid || q != nil {
			t.Errorf("with %v: %v, %+v", wrong, err, q)
		}
	}
	code, first := connect()
	holds(first.Access, true)
	holds(first.Refresh, false)
	if _, _, err := book.User(ctx, first.Access, "https://other.example/mcp"); chat.CodeOf(
		err,
	) != chat.CodeUnauthorized {
		t.Errorf("for another resource: %v, want %s", err, chat.CodeUnauthorized)
	}
	// A reused refresh token and its successor are both revoked: one of them is a thief's.
	second, err := book.Refresh(ctx, first.Refresh, client.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	holds(second.Access, true)
	if _, err := book.Refresh(ctx, first.Refresh, client.ID, ""); err == nil {
		t.Error("refresh token was accepted twice")
	}
	holds(second.Access, false)
	if _, err := book.Refresh(ctx, second.Refresh, client.ID, ""); err == nil {
		t.Error("successor of a reused refresh token was accepted")
	}
	// A code used twice was stolen or resent: the tokens of the first exchange are then revoked too.
	code, first = connect()
	if _, err := book.Exchange(ctx, code, verifier, client.ID, asked["redirect_uri"], resource); err == nil {
		t.Error("code was accepted twice")
	}
	holds(first.Access, false)
	testEnds(t, book, connect, holds, &now)
	// Only hashes of secrets are stored: a reader of the database can't use them.
	_, last := connect()
	for kind, secret := range map[grants.Kind]string{grants.KindAccess: last.Access, grants.KindRefresh: last.Refresh} {
		if _, err := store.Get(ctx, kind, secret); chat.CodeOf(err) != chat.CodeNotFound {
			t.Errorf("a secret is kept as it is: %v, want %s", err, chat.CodeNotFound)
		}
		sum := sha256.Sum256([]byte(secret))
		r, err := store.Get(ctx, kind, hex.EncodeToString(sum[:]))
		if err != nil || strings.Contains(string(r.Body), secret) || strings.Contains(string(r.Body), key) {
			t.Errorf("record = %+v, %v, want no secrets", r, err)
		}
	}
	if _, err := keys.Revoke(path, "anna"); err != nil {
		t.Fatal(err)
	}
	holds(last.Access, false)
	if _, err := book.Refresh(ctx, last.Refresh, client.ID, ""); err == nil {
		t.Error("token of a revoked key was renewed")
	}
}

// testEnds revokes grants by their users, their programs and expiry.
//
// In each case the access token must be invalid at once, and not only when it expires.
func testEnds(
	t *testing.T, book *grants.Issuer, connect func() (string, grants.Tokens), holds func(string, bool), now *time.Time,
) {
	ctx := context.WithoutCancel(t.Context())
	_, got := connect()
	list, err := book.List(ctx, "anna")
	if err != nil || len(list) != 1 || list[0].Name != "A program" {
		t.Fatalf("list = %+v, %v, want one program", list, err)
	}
	// Another user's record looks like a missing one.
	if err := book.RevokeGrant(ctx, "bert", list[0].ID); chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("another user ends it: %v, want %s", err, chat.CodeNotFound)
	}
	holds(got.Access, true)
	if err := book.RevokeGrant(ctx, "anna", list[0].ID); err != nil {
		t.Error(err)
	}
	holds(got.Access, false)
	// A program may revoke its own refresh token, and an unknown token is no error (RFC 7009).
	_, got = connect()
	if err := book.RevokeToken(ctx, "unknown"); err != nil {
		t.Error(err)
	}
	if err := book.RevokeToken(ctx, got.Refresh); err != nil {
		t.Error(err)
	}
	holds(got.Access, false)
	_, got = connect()
	*now = now.Add(2 * time.Hour)
	holds(got.Access, false)
	// Addresses that must never get a code: without TLS, with a name and password, with a fragment, of executable
	// schemes, or that only look like this machine.
	for _, bad := range []string{
		"http://example.org/", "https://u:p@example.org/", "https://example.org/#x", "javascript:alert(1)",
		"cursor://x",
		"https://", "", "https://example.org/;script-src", "http://127.0.0.1.evil.example/", "https://*.example.org/",
		"https://example.org/*", "https://example.org:0/", "https://example.org:65536/", "https://example.org:x/",
		"https://example.org:/", "http://127.0.0.1:99999/", "https://-a.example/", "https://a..example/",
		"https://.example/",
		"https://a_b.example/", "https://[::1%25lo]/", "https://[::g]/", "https://1.2.3/", "https://2130706433/",
		"https://0x7f.1/", "https://:443/", "https://exa%20mple.org/", "https://example.org/\n",
	} {
		if _, err := book.Register(ctx, grants.Client{Redirects: []string{bad}}); err == nil {
			t.Errorf("redirect %q: got no error, want one", bad)
		}
	}
}
