package server

import (
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/chat/keys"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/httpio/ssetest"
)

// keyed is a bench that needs keys, and the key of each of users.
func keyed(t testing.TB, users ...string) (b *bench, path string, given map[string]string) {
	t.Helper()
	return keyedWith(t, users)
}

func keyedWith(t testing.TB, users []string, adjust ...func(*Config)) (b *bench, path string, given map[string]string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "keys")
	given = map[string]string{}
	for _, name := range users {
		key, err := keys.New(path, name)
		if err != nil {
			t.Fatal(err)
		}
		given[name] = key
	}
	file, err := keys.Open(path, false)
	if err != nil {
		t.Fatal(err)
	}
	return newBench(t, append(adjust, func(c *Config) { c.Keys = file })...), path, given
}

func TestAKeyIsTakenFromEveryPlaceItCanBeIn(t *testing.T) {
	b, _, given := keyed(t, "anna")
	anna := given["anna"]
	for _, tt := range []struct {
		name    string
		headers []string
		want    int
	}{
		{"none", nil, 401},
		{"X-API-Key", []string{"X-API-Key", anna}, 200},
		{"Bearer", []string{"Authorization", "Bearer " + anna}, 200},
		{"bearer in small letters", []string{"Authorization", "bearer " + anna}, 200},
		{"the cookie", []string{"Cookie", httpio.KeyCookie + "=" + anna}, 200},
		{"a wrong one", []string{"X-API-Key", anna + "x"}, 401},
		{"a wrong one before a right cookie", []string{"X-API-Key", "x", "Cookie", httpio.KeyCookie + "=" + anna}, 401},
		{"Basic", []string{"Authorization", "Basic " + anna}, 401},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := b.send("GET", "/sessions", "", tt.headers...)
			if got.status != tt.want {
				t.Fatalf("status = %d, want %d: %s", got.status, tt.want, got.body)
			}
			if tt.want == 401 &&
				(got.problem(t).Code != chat.CodeUnauthorized ||
					!strings.HasPrefix(got.header.Get("WWW-Authenticate"), "Bearer")) {
				t.Errorf("%s %q", got.body, got.header.Get("WWW-Authenticate"))
			}
		})
	}
}

func TestWithoutAKeyEverybodyIsTheLocalUserUntilTheFirstIsMade(t *testing.T) {
	b, path, _ := keyed(t)
	b.begin("Is the roof sound?")
	if got := b.send("GET", "/sessions", ""); got.status != 200 || !strings.Contains(got.body, "roof") {
		t.Fatalf("%d %s; want 200 and %q in it", got.status, got.body, "roof")
	}
	local, err := keys.New(path, chat.LocalUser)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.send("GET", "/sessions", ""); got.status != 401 {
		t.Errorf("without a key: %d, want 401", got.status)
	}
	if got := b.send("GET", "/sessions", "", "X-API-Key", local); got.status != 200 ||
		!strings.Contains(got.body, "roof") {
		t.Errorf("what was there before: %d %s; want 200 and %q in it", got.status, got.body, "roof")
	}
}

func TestARevokedKeyEndsWhatIsOpen(t *testing.T) {
	b, path, given := keyed(t, "anna")
	run, _, err := b.stage.Start(t.Context(), "anna", chat.RunRequest{Message: "Is the roof sound?"})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), "GET", b.url+"/agent/runs/"+run.ID+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-Key", given["anna"])
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != 200 {
		t.Fatal(res.Status)
	}
	if _, err := keys.Revoke(path, "anna"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.keys.Needed(); err != nil { // what keys.File.Run does each second
		t.Fatal(err)
	}
	ssetest.NewReader(res.Body).All(t) // ends although the run does not
	if got := b.send("GET", "/agent/runs/"+run.ID+"/events", "", "X-API-Key", given["anna"]); got.status != 401 {
		t.Errorf("after: %d, want 401", got.status)
	}
}

func TestABrowserSignsIn(t *testing.T) {
	b, _, given := keyed(t, "anna")
	page := b.send("GET", "/documents?q=a", "", "Accept", "text/html")
	if page.status != 401 || !strings.Contains(page.body, `type="password"`) ||
		!strings.Contains(page.body, `value="/documents?q=a"`) {
		t.Fatalf("%d %s; want 401, %q in it, %q in it",
			page.status, page.body, `type="password"`, `value="/documents?q=a"`)
	}
	post := func(key, to string) reply {
		form := url.Values{"key": {key}, "to": {to}}.Encode()
		return b.send("POST", "/signin", form, "Content-Type", "application/x-www-form-urlencoded", "Accept",
			"text/html")
	}
	if got := post("wrong", "/documents?q=a"); !strings.Contains(got.body, `value="/documents?q=a"`) {
		t.Errorf("after a wrong key the way is lost: %s, want %q in it", got.body, `value="/documents?q=a"`)
	}
	if got := post("wrong", "/"); got.status != 401 || got.header.Get("Set-Cookie") != "" ||
		!strings.Contains(got.body, "not valid") || strings.Contains(got.body, "wrong") {
		t.Errorf("%d %v; want 401 and nothing", got.status, got.header)
	}
	in := post(given["anna"], "/documents?q=a")
	kept := in.header.Get("Set-Cookie")
	if in.status != 303 || in.header.Get("Location") != "/documents?q=a" || !strings.Contains(kept, "HttpOnly") ||
		!strings.Contains(kept, "SameSite=Lax") {
		t.Fatalf("%d %v; want 303 and %q", in.status, in.header, "/documents?q=a")
	}
	cookie, _, _ := strings.Cut(kept, ";")
	if got := b.send("GET", "/", "", "Accept", "text/html", "Cookie", cookie); got.status != 200 ||
		!strings.Contains(got.body, `action="/signout"`) || !strings.Contains(got.body, "anna") {
		t.Errorf("signed in: %d, want 200", got.status)
	}
	if got := b.send("GET", "/c/not-there", "", "Accept", "text/html", "Cookie", cookie); got.status != 404 ||
		!strings.Contains(got.body, "There is no such session.") {
		t.Errorf("a page that is not there: %d %q; want 404 and %q in it",
			got.status, got.body, "There is no such session.")
	}
	for _, away := range []string{"https://evil.example/", "//evil.example", `/\evil.example`, "evil", "", "/signin"} {
		if got := post(given["anna"], away); got.header.Get("Location") != "/" {
			t.Errorf("to %q: %q, want %q", away, got.header.Get("Location"), "/")
		}
	}
	out := b.send("POST", "/signout", "", "Cookie", cookie)
	if out.status != 303 || !strings.Contains(out.header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("%d %v; want 303 and %q in it", out.status, out.header, "Max-Age=0")
	}
	if got := b.send("POST", "/signin", "key=x", "Content-Type", "application/x-www-form-urlencoded", "Origin",
		"https://evil.example"); got.status != 403 {
		t.Errorf("another site's form: %d, want 403", got.status)
	}
}

func TestADayOfQuestions(t *testing.T) {
	b, _, given := keyed(t, "anna", "bert")
	b.stage.store.SetLimits(chat.Limits{chat.QuestionsPerDay: 2})
	ask := func(user string) reply {
		return b.send("POST", "/chat", `{"message":"Why?"}`, "X-API-Key", given[user])
	}
	for range 2 {
		if got := ask("anna"); got.status != 202 {
			t.Fatalf("%d %s, want 202", got.status, got.body)
		}
	}
	got := ask("anna")
	wait, err := strconv.Atoi(got.header.Get("Retry-After"))
	if got.status != 429 || err != nil || wait < 86_000 || wait > 86_400 ||
		!strings.Contains(got.problem(t).Detail, "2 questions in 24 hours") ||
		got.problem(t).Limit != chat.QuestionsPerDay ||
		got.problem(t).RetryAt == nil {
		t.Errorf("%d, again in %d s: %s; want 429, at least 86_000, at most 86_400", got.status, wait, got.body)
	}
	if got := ask("bert"); got.status != 202 {
		t.Errorf("another user: %d, want 202", got.status)
	}
}
