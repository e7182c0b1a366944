package server

import (
	"crypto/rand"
	"encoding/json"
	"maps"
	"net/url"
	"strings"
	"testing"
)

// Without keys the OAuth routes are off.
func TestOAuthIsDisabledWithoutKeys(t *testing.T) {
	b := newHarness(t)
	for _, at := range []string{
		"GET /.well-known/oauth-protected-resource", "GET /.well-known/oauth-protected-resource/mcp",
		"GET /.well-known/oauth-authorization-server", "POST /oauth/register", "POST /oauth/token", "POST " +
			"/oauth/revoke",
		"GET /oauth/authorize", "GET /connections",
	} {
		method, path, _ := strings.Cut(at, " ")
		if got := b.send(method, path, ""); got.status != 404 {
			t.Errorf("%s = %d, want 404: %s", at, got.status, got.body)
		}
	}
}

// TestInvalidAuthorizationIsNotRedirected covers invalid authorization requests: the user gets an error page, and
// there is no redirect, neither before nor after a click.
func TestInvalidAuthorizationIsNotRedirected(t *testing.T) {
	b, _, given := keyed(t, "anna")
	var client struct {
		ID string `json:"client_id"`
	}
	b.send("POST", "/oauth/register", `{"redirect_uris":["https://c.example/back"]}`, "Content-Type",
		"application/json").decode(t, &client)
	for name, wrong := range map[string]url.Values{
		"client": {"client_id": {"x"}}, "address": {"redirect_uri": {"https://evil.example/"}},
		"type": {"response_type": {"token"}}, "no PKCE": {"code_challenge": {""}},
		"plain PKCE": {"code_challenge_method": {"plain"}}, "scope": {"scope": {"admin"}},
		"resource": {"resource": {"https://evil.example/mcp"}}, "state": {"state": {strings.Repeat("s", 3000)}},
	} {
		ask := url.Values{
			"response_type": {"code"}, "client_id": {client.ID}, "redirect_uri": {"https://c.example/back"},
			"code_challenge":        {"_RpfHqw8pAZIomzVUE7sjRmHSM543WVdC4o-Kc4_3C0"},
			"code_challenge_method": {"S256"},
		}
		maps.Copy(ask, wrong)
		got := b.send("GET", "/oauth/authorize?"+ask.Encode(), "", "X-API-Key", given["anna"], "Accept", "text/html")
		if got.status != 400 || got.header.Get("Location") != "" ||
			strings.Contains(got.body, `href="https://c.example`) {
			t.Errorf("%s: GET = %d to %q, want a page with 400", name, got.status, got.header.Get("Location"))
		}
		for _, answer := range []string{"allow", "refuse"} {
			got = b.send("POST", "/oauth/authorize", ask.Encode()+"&answer="+answer, "Content-Type", formKind,
				"X-API-Key", given["anna"], "Accept", "text/html")
			if got.status != 400 || got.header.Get("Location") != "" {
				t.Errorf("%s: %s = %d to %q, want 400", name, answer, got.status, got.header.Get("Location"))
			}
		}
	}
}

func TestRegistrationsPerAddressAreLimited(t *testing.T) {
	b, _, _ := keyed(t, "anna")
	register := func() reply {
		return b.send("POST", "/oauth/register", `{"redirect_uris":["https://c.example/"]}`, "Content-Type",
			"application/json", "X-Forwarded-For", rand.Text())
	}
	made := 0
	for range 100 {
		got := register()
		if got.status == 201 {
			made++
		} else if got.status != 429 || got.header.Get("Retry-After") == "" {
			t.Fatalf("register = %d %s, want 201 or 429 with Retry-After", got.status, got.body)
		}
	}
	if made != 60 {
		t.Errorf("%d of 100 registrations were taken, want 60", made)
	}
}

// A program goes through the protocol's authorization flow; its token is valid for /mcp only.
func TestTokenIsValidOnlyForMCP(t *testing.T) {
	b, _, given := keyed(t, "anna", "bert")
	kind := []string{"Content-Type", "application/json"}
	refused := b.send("POST", "/mcp", `{}`, kind...)
	if how := refused.header.Get("WWW-Authenticate"); refused.status != 401 ||
		!strings.Contains(how, `resource_metadata="`+b.url+`/.well-known/oauth-protected-resource/mcp"`) {
		t.Errorf("/mcp without a token = %d, %q", refused.status, how)
	}
	if how := b.send("GET", "/sessions", "").header.Get("WWW-Authenticate"); strings.Contains(how, "metadata") {
		t.Errorf("WWW-Authenticate of /sessions = %q, want no metadata", how)
	}
	var client struct {
		ID string `json:"client_id"`
	}
	made := b.send("POST", "/oauth/register",
		`{"client_name":"<b>Prog</b>","redirect_uris":["https://c.example/back?x=1"],"logo_uri":"x"}`, kind...)
	if err := json.Unmarshal([]byte(made.body), &client); err != nil || made.status != 201 {
		t.Fatalf("register = %d %s, %v", made.status, made.body, err)
	}
	ask := url.Values{
		"response_type": {"code"}, "client_id": {client.ID}, "redirect_uri": {"https://c.example/back?x=1"},
		"code_challenge":        {"_RpfHqw8pAZIomzVUE7sjRmHSM543WVdC4o-Kc4_3C0"},
		"code_challenge_method": {"S256"}, "state": {"s t"}, "resource": {b.url + "/mcp"},
	}
	page := b.send("GET", "/oauth/authorize?"+ask.Encode(), "", "X-API-Key", given["anna"], "Accept", "text/html")
	policy := page.header.Get("Content-Security-Policy")
	if page.status != 200 || !strings.Contains(page.body, "&lt;b&gt;Prog") || !strings.Contains(page.body, "anna") ||
		!strings.Contains(policy, "frame-ancestors 'none'") ||
		!strings.Contains(policy, "form-action 'self' https://c.example;") ||
		page.header.Get("X-Frame-Options") != "DENY" {
		t.Errorf("the page = %d %q %s", page.status, policy, page.body)
	}
	form := []string{"Content-Type", formKind, "X-API-Key", given["anna"]}
	if got := b.send("POST", "/oauth/authorize", ask.Encode()+"&answer=allow",
		append(form, "Origin", "https://evil.example")...); got.status != 403 {
		t.Errorf("another site's page = %d, want 403", got.status)
	}
	back := func(answer string) url.Values {
		got := b.send("POST", "/oauth/authorize", ask.Encode()+"&answer="+answer, form...)
		to, err := url.Parse(got.header.Get("Location"))
		if err != nil || got.status != 303 || to.Host != "c.example" || to.Query().Get("x") != "1" ||
			to.Query().Get("state") != "s t" || to.Query().Get("iss") != b.url {
			t.Fatalf("%s = %d to %s, %v", answer, got.status, to, err)
		}
		return to.Query()
	}
	if got := back("refuse"); got.Get("error") != "access_denied" || got.Has("code") {
		t.Errorf("refused: %v", got)
	}
	var token struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
	}
	got := b.send("POST", "/oauth/token", url.Values{
		"grant_type": {"authorization_code"}, "code": {back("allow").Get("code")}, "client_id": {client.ID},
		"redirect_uri": ask["redirect_uri"], "code_verifier": {strings.Repeat("v", 43)}, "resource": ask["resource"],
	}.Encode(), "Content-Type", formKind)
	if got.status != 400 || !strings.Contains(got.body, "invalid_grant") {
		t.Errorf("a wrong verifier = %d %s, want 400 invalid_grant", got.status, got.body)
	}
	got = b.send("POST", "/oauth/token", url.Values{
		"grant_type": {"authorization_code"}, "code": {back("allow").Get("code")}, "client_id": {client.ID},
		"redirect_uri": ask["redirect_uri"], "code_verifier": {"0123456789012345678901234567890123456789012"},
		"resource": ask["resource"],
	}.Encode(), "Content-Type", formKind)
	if err := json.Unmarshal([]byte(got.body), &token); err != nil || got.status != 200 || token.Access == "" {
		t.Fatalf("token = %d %s, %v", got.status, got.body, err)
	}
	bearer := []string{"Content-Type", "application/json", "Authorization", "Bearer " + token.Access}
	if got := b.send("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, bearer...); got.status != 200 {
		t.Errorf("/mcp with the token = %d %s, want 200", got.status, got.body)
	}
	for _, at := range []string{"GET /sessions", "POST /search", "GET /connections", "GET /oauth/authorize", "GET /"} {
		method, path, _ := strings.Cut(at, " ")
		if got := b.send(method, path, "{}", bearer...); got.status != 401 {
			t.Errorf("%s with the token = %d, want 401", at, got.status)
		}
	}
	list := b.send("GET", "/connections", "", "X-API-Key", given["anna"]).body
	_, rest, _ := strings.Cut(list, `name="id" value="`)
	id, _, _ := strings.Cut(rest, `"`)
	end := func(key string) int {
		return b.send("POST", "/connections/end", "id="+id, "Content-Type", formKind, "X-API-Key", key).status
	}
	if strings.Contains(b.send("GET", "/connections", "", "X-API-Key", given["bert"]).body, "Prog") ||
		end(given["bert"]) != 404 {
		t.Error("other user can list or end the connection")
	}
	if end(given["anna"]) != 303 {
		t.Error("user cannot end the connection")
	}
	ended := b.send("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, bearer...)
	if how := ended.header.Get("WWW-Authenticate"); ended.status != 401 ||
		!strings.Contains(how, `error="invalid_token"`) {
		t.Errorf("after the end /mcp = %d %q, want 401 and invalid_token", ended.status, how)
	}
}
