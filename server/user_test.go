package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/chat/keys"
	"github.com/footnote/footnote/server/api"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/httpio/ssetest"
	"github.com/footnote/footnote/server/modelchoice"
)

// keyed returns a bench that needs keys, and the users' keys.
func keyed(t testing.TB, users ...string) (b *harness, path string, given map[string]string) {
	t.Helper()
	return keyedWith(t, users)
}

func keyedWith(
	t testing.TB, users []string, adjust ...func(*Config),
) (b *harness, path string, given map[string]string) {
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
	return newHarness(t, append(adjust, func(c *Config) { c.Keys = file })...), path, given
}

func TestKeyIsAcceptedFromEverySource(t *testing.T) {
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

func TestRequestsAreLocalUntilFirstKey(t *testing.T) {
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
		t.Errorf("earlier sessions: got %d %s; want 200 and %q in it", got.status, got.body, "roof")
	}
}

func TestRevokedKeyClosesStreams(t *testing.T) {
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
	if _, err := b.keys.Needed(); err != nil { // keys.File.Run does this each second
		t.Fatal(err)
	}
	ssetest.NewReader(res.Body).All(t) // ends although the run does not
	if got := b.send("GET", "/agent/runs/"+run.ID+"/events", "", "X-API-Key", given["anna"]); got.status != 401 {
		t.Errorf("after: %d, want 401", got.status)
	}
}

func TestBrowserSignIn(t *testing.T) {
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
		!strings.Contains(got.body, "Invalid API key") || strings.Contains(got.body, "wrong") {
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
		!strings.Contains(got.body, "Session not found.") {
		t.Errorf("a page that is not there: %d %q; want 404 and %q in it",
			got.status, got.body, "Session not found.")
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

func TestDailyQuestionLimit(t *testing.T) {
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
		!strings.Contains(got.problem(t).Detail.String(), "2 questions in 24 hours") ||
		got.problem(t).Limit != chat.QuestionsPerDay ||
		got.problem(t).RetryAt == nil {
		t.Errorf("%d, again in %d s: %s; want 429, at least 86_000, at most 86_400", got.status, wait, got.body)
	}
	if got := ask("bert"); got.status != 202 {
		t.Errorf("another user: %d, want 202", got.status)
	}
}

// withModelChooser enables the choice of models: two are discovered, and "broken" fails its test.
func withModelChooser(operators ...string) func(*Config) {
	return func(c *Config) {
		c.ModelChooser = modelchoice.Chooser{
			Find: func(context.Context) modelchoice.Found {
				return modelchoice.Found{
					Servers: []modelchoice.Server{{Program: "Ollama", Port: 11434, Models: []modelchoice.Model{
						{Name: "qwen3:8b", Size: "8.2B", Bytes: 5_200_000_000, Context: 40960, Tools: new(true),
							Suggested: true},
						{Name: "<b>", Tools: new(false)},
					}}, {Program: "vLLM", Port: 8000}},
					Services: []modelchoice.Service{{Service: "openai", Name: "OpenAI", Model: "gpt-4.1-mini"}},
				}
			},
			Choose: func(_ context.Context, choice modelchoice.Choice) (modelchoice.Tried, error) {
				if choice.Model == "broken" {
					return modelchoice.Tried{}, chat.Invalid("broken was not taken: it gave no reply.")
				}
				return modelchoice.Tried{Model: choice.Model, Tools: true, TookMS: 12}, nil
			},
			Operators: operators,
		}
	}
}

func TestLocalUserSelectsModel(t *testing.T) {
	b := newHarness(t, withModelChooser())
	if got := b.send("GET", "/model", ""); got.status != http.StatusOK ||
		!strings.Contains(got.body, `"name":"qwen3:8b"`) || !strings.Contains(got.body, `"locked":""`) {
		t.Errorf("GET /model: %d %s, want what was found", got.status, got.body)
	}
	page := b.send("GET", "/model", "", "Accept", "text/html").body
	for _, want := range []string{
		"8.2B · 5.2 GB · 40,960-token context · tool calling", "recommended", "&lt;b&gt;", "no tool calling",
		"No models available.", `<option value="openai">OpenAI`, `type="password" name="key"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if got := b.send("PUT", "/model", `{"port":11434,"model":"qwen3:8b"}`); got.status != http.StatusOK ||
		got.body != `{"model":"qwen3:8b","tools":true,"took_ms":12}`+"\n" {
		t.Errorf("PUT /model: got %d %s, want 200", got.status, got.body)
	}
	got := b.send("POST", "/model?_method=PUT", "service=openai&model=broken&key=sk-hidden", "Content-Type", formKind,
		"Accept", "text/html")
	for _, want := range []string{"broken was not taken", `value="broken"`, `role="alert"`} {
		if got.status != http.StatusBadRequest || !strings.Contains(got.body, want) {
			t.Errorf("unavailable model: got %d, want 400 and %q", got.status, want)
		}
	}
	if strings.Contains(got.body, "sk-hidden") {
		t.Error("page shows the key again")
	}
}

// A user who may not choose sees the reason, and learns nothing of the models on the machine.
func TestModelSelectionIsDeniedWithReason(t *testing.T) {
	asked := func(c *Config) {
		find := c.ModelChooser.Find
		c.ModelChooser.Find = func(ctx context.Context) modelchoice.Found {
			t.Error("got a look for models, want none")
			return find(ctx)
		}
		c.ModelChooser.Choose = func(context.Context, modelchoice.Choice) (modelchoice.Tried, error) {
			t.Error("got a selected model, want none")
			return modelchoice.Tried{}, nil
		}
	}
	behind := newHarness(t, withModelChooser(), asked, func(c *Config) { c.Hosts = []string{"footnote.example"} })
	keyed, _, given := keyedWith(t, []string{"anna"}, withModelChooser("bert"), asked)
	alone := newHarness(t)
	for name, tt := range map[string]struct {
		b      *harness
		header []string
		why    string
	}{
		"a server by another name": {behind, nil, "Other machines can reach this server"},
		"a user with a key":        {keyed, []string{"Authorization", "Bearer " + given["anna"]}, "FOOTNOTE_OPERATORS"},
		"one of several servers":   {alone, nil, "Several servers"},
	} {
		for _, ask := range [][2]string{{"GET", ""}, {"PUT", `{"service":"offline"}`}} {
			got := tt.b.send(ask[0], "/model", ask[1], tt.header...)
			if !strings.Contains(got.body, tt.why) || strings.Contains(got.body, "qwen3") ||
				ask[0] == "PUT" && got.status != http.StatusForbidden {
				t.Errorf("%s, %s: %d %s, want %q", name, ask[0], got.status, got.body, tt.why)
			}
		}
	}
}

// Settings and paths are for the log and the terminal: no response contains them in any form. The local user, who is
// the operator, gets a reference to them.
func TestResponsesOmitHints(t *testing.T) {
	down := &chat.Error{
		Code: chat.CodeUnavailable, Message: "The database is not there.", Hint: "Look at DATABASE_URL and /srv/data.",
		Err: errors.New("secret cause"),
	}
	b, path, _ := keyedWith(t, nil, func(c *Config) {
		c.Checks = []api.Check{{Name: "originals", Probe: func(context.Context) error { return down }}}
	})
	detail := func(user, accept string, err error) string {
		t.Helper()
		rec := httptest.NewRecorder()
		req := httptest.NewRequest("GET", "http://localhost/sessions", nil)
		req.Header.Set("Accept", accept)
		c := b.router.NewContext(req, rec)
		c.Set(httpio.UserField, user)
		httpio.Fail(c, err)
		return rec.Body.String()
	}
	for _, accept := range []string{httpio.TypeJSON, httpio.TypeHTML} {
		if got := detail(chat.LocalUser, accept, down); !strings.Contains(got, "footnote doctor") ||
			strings.Contains(got, "DATABASE_URL") || strings.Contains(got, "secret cause") {
			t.Errorf("the local user reads %s; want %q in it, no %q in it, no %q in it",
				got, "footnote doctor", "DATABASE_URL", "secret cause")
		}
		for _, user := range []string{"anna", ""} {
			if got := detail(user, accept, down); !strings.Contains(got, "The database is not there.") ||
				strings.Contains(got, "DATABASE_URL") || strings.Contains(got, "/srv") ||
				strings.Contains(got, "footnote doctor") {
				t.Errorf("user %q reads %s; want %q in it, no %q in it, no %q in it, no %q in it",
					user, got, "The database is not there.", "DATABASE_URL", "/srv", "footnote doctor")
			}
		}
		if got := detail(
			"anna", accept, errors.New("open /srv/data/x: FOOTNOTE_DATA"),
		); strings.Contains(got, "/srv") || strings.Contains(got, "FOOTNOTE_") {
			t.Errorf("an error of ours reads %s; want no %q in it and no %q in it", got, "/srv", "FOOTNOTE_")
		}
	}
	health := func() string { return b.send("GET", "/health", "").body }
	if got := health(); strings.Contains(got, "DATABASE_URL") || !strings.Contains(got, "footnote doctor") {
		t.Errorf("/health without keys: %s; want no %q in it and %q in it", got, "DATABASE_URL", "footnote doctor")
	}
	if _, err := keys.New(path, "anna"); err != nil {
		t.Fatal(err)
	}
	if got := health(); !strings.Contains(got, "The database is not there.") || strings.Contains(got, "DATABASE_URL") ||
		!json.Valid([]byte(got)) {
		t.Errorf("/health with keys: %s; want %q in it and no %q in it",
			got, "The database is not there.", "DATABASE_URL")
	}
}

// front is the allowed origin in the tests of cross-origin requests.
const front = "https://app.example.org"

// TestAllowedOriginsCanCallAPI covers cross-origin resource sharing (CORS), as the Fetch standard defines it.
func TestAllowedOriginsCanCallAPI(t *testing.T) {
	b := newHarness(t, func(c *Config) { c.Origins = []string{front} })
	run := b.begin("Is the roof sound?")
	for _, tt := range []struct {
		name, method, path string
		headers            []string
		status             int
		shared             bool // the cross-origin script may read the response
	}{
		{"a question", "POST", "/agent/chat", []string{"Origin", front}, 400, true},
		{"a failure", "GET", "/agent/runs/nothing", []string{"Origin", front}, 404, true},
		{"a stream", "HEAD", "/agent/runs/" + run.ID + "/events", []string{"Origin", front}, 200, true},
		{"a client of OpenAI", "POST", "/v1/chat/completions", []string{"Origin", front}, 400, true},
		{"the Model Context Protocol", "POST", "/mcp", []string{"Origin", front}, 400, true},
		{"a list", "GET", "/documents", []string{"Origin", front, "Sec-Fetch-Site", "cross-site"}, 200, true},
		{"another origin's question", "POST", "/agent/chat", []string{"Origin", "https://evil.example"}, 403, false},
		{"another origin's look", "GET", "/documents", []string{"Origin", "https://evil.example"}, 200, false},
		{"another port", "POST", "/agent/chat", []string{"Origin", front + ":8443"}, 403, false},
		{"another scheme", "POST", "/agent/chat", []string{"Origin", "http://app.example.org"}, 403, false},
		{"an opaque origin", "POST", "/agent/chat", []string{"Origin", "null"}, 403, false},
		{"a form of the page", "POST", "/add", []string{"Origin", front}, 403, false},
		{"the page's way to sign in", "POST", "/signin", []string{"Origin", front}, 403, false},
		{"a page", "GET", "/", []string{"Origin", front}, 200, false},
		{"a program without an origin", "POST", "/agent/chat", nil, 400, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := b.send(tt.method, tt.path, "{}", tt.headers...)
			if got.status != tt.status {
				t.Errorf("status = %d, want %d: %s", got.status, tt.status, got.body)
			}
			if vary := strings.Join(got.header.Values("Vary"), ", "); tt.path != "/" &&
				tt.path != "/add" && tt.path != "/signin" && !strings.Contains(vary, "Origin") {
				t.Errorf("Vary = %q, want Origin in it", vary)
			}
			want := map[string]string{"Access-Control-Allow-Origin": front, "Access-Control-Allow-Credentials": "true"}
			for name, value := range want {
				if !tt.shared {
					value = ""
				}
				if got := got.header.Get(name); got != value {
					t.Errorf("%s = %q, want %q", name, got, value)
				}
			}
			exposed := got.header.Get("Access-Control-Expose-Headers")
			for _, name := range []string{"X-Request-Id", "Retry-After", "Location"} {
				if strings.Contains(exposed, name) != tt.shared {
					t.Errorf("Access-Control-Expose-Headers = %q, want %s in it: %v", exposed, name, tt.shared)
				}
			}
		})
	}
}

func TestPreflightRequestsNeedNoKey(t *testing.T) {
	b, _, given := keyedWith(t, []string{"anna"}, func(c *Config) { c.Origins = []string{front} })
	for _, tt := range []struct {
		name, origin, path, method string
		allowed                    bool
	}{
		{"a question", front, "/agent/chat", "POST", true},
		{"a change", front, "/sessions/s1", "PATCH", true},
		{"a stream", front, "/agent/runs/r1/events", "GET", true},
		{"another origin", "https://evil.example", "/agent/chat", "POST", false},
		{"a form of the page", front, "/add", "POST", false},
		{"a method that the address does not answer", front, "/agent/chat", "DELETE", false},
		{"an address that is not there", front, "/nothing", "POST", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := b.send("OPTIONS", tt.path, "", "Origin", tt.origin, "Access-Control-Request-Method", tt.method,
				"Access-Control-Request-Headers", "content-type,x-api-key,last-event-id")
			want := map[string]string{
				"Access-Control-Allow-Origin": front, "Access-Control-Allow-Credentials": "true",
				"Access-Control-Allow-Methods": tt.method,
				"Access-Control-Allow-Headers": "content-type,x-api-key,last-event-id",
			}
			for name, value := range want {
				if !tt.allowed {
					value = ""
				}
				if got := got.header.Get(name); got != value {
					t.Errorf("%s = %q, want %q", name, got, value)
				}
			}
			if tt.allowed && (got.status != http.StatusNoContent || got.header.Get("Access-Control-Max-Age") == "") {
				t.Errorf("status = %d, headers %v; want 204 with a Max-Age", got.status, got.header)
			}
			if vary := got.header.Values("Vary"); tt.allowed && !slices.Contains(vary, "Origin") {
				t.Errorf("Vary = %q, want Origin", vary)
			}
		})
	}
	if got := b.send("POST", "/agent/chat", "{}", "Origin", front); got.status != http.StatusUnauthorized ||
		got.header.Get("Access-Control-Allow-Origin") != front {
		t.Errorf("without a key: %d, %v; want a 401 that the front end can read", got.status, got.header)
	}
	got := b.send("POST", "/agent/chat", "{}", "Origin", front, "X-API-Key", given["anna"])
	if got.status != http.StatusBadRequest {
		t.Errorf("with a key: status = %d, want 400", got.status)
	}
}

func TestCORSIsDisabledWithoutAllowedOrigins(t *testing.T) {
	b := newHarness(t)
	got := b.send("OPTIONS", "/agent/chat", "", "Origin", front, "Access-Control-Request-Method", "POST")
	for name := range got.header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("%s = %q, want no such header", name, got.header.Get(name))
		}
	}
	for _, origin := range []string{"*", "null", "app.example.org", front + "/", front + "/app",
		"https://APP.example.org",
		front + ":443", "http://app.example.org:80", "https://user@app.example.org", "file://"} {
		if _, err := New(Config{
			Store: b.store, Feed: b.feed, Library: b.library, Runs: b.stage, Places: b.Server.places.Follower,
			Origins: []string{origin},
		}); err == nil {
			t.Errorf("New accepts the origin %q, want an error", origin)
		}
	}
}

// fieldsOf returns the fields of a page's form by action, as a browser sends them.
func fieldsOf(t *testing.T, page, action string) url.Values {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	fields := url.Values{}
	for form := range root.Descendants() {
		if form.Data != "form" || attribute(form, "action") != action {
			continue
		}
		for n := range form.Descendants() {
			switch {
			case n.Data == "input" && attribute(n, "name") != "":
				fields.Add(attribute(n, "name"), attribute(n, "value"))
			case n.Data == "textarea":
				text := ""
				if n.FirstChild != nil {
					text = n.FirstChild.Data
				}
				fields.Add(attribute(n, "name"), text)
			}
		}
	}
	return fields
}

func TestQuestionSurvivesSignIn(t *testing.T) {
	b, _, given := keyed(t, "anna")
	body, kind := form(t, "@survey.md="+survey)
	b.send("POST", "/documents", body, "Content-Type", kind, "X-API-Key", given["anna"])
	run, _, err := b.stage.Start(t.Context(), "anna", chat.RunRequest{Message: "Before?"})
	if err != nil {
		t.Fatal(err)
	}
	const words = "Is the roof \"sound\" & dry?\r\n<b>Really</b>?"
	asHTML := []string{"Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html"}
	for _, tt := range []struct {
		name, path, session string
		cookie              string
		message             string
	}{
		{"without a key", "/chat", "", "", words},
		{"with a key that was revoked", "/chat", run.SessionID, httpio.KeyCookie + "=fn_gone", words},
		{"one that would wait", "/c/" + run.SessionID + "/queue", run.SessionID, "", words},
		{"a long one", "/chat", run.SessionID, "", strings.Repeat("Is the roof sound? ", 1500)},
		{"of a conversation that is not there", "/chat", "gone", "", words},
	} {
		sent := url.Values{"message": {tt.message}, "session_id": {tt.session}}
		got := b.send("POST", tt.path, sent.Encode(),
			append(asHTML, "Cookie", tt.cookie, "Referer", b.url+"/c/"+tt.session)...)
		if got.status != 401 || !strings.Contains(got.body, "Your question was not sent") {
			t.Fatalf("%s: %d %.300s; want 401 and %q in it",
				tt.name, got.status, got.body, "Your question was not sent")
		}
		fields := fieldsOf(t, got.body, "/signin")
		fields.Set("key", "wrong")
		if got = b.send("POST", "/signin", fields.Encode(), asHTML...); got.status != 401 {
			t.Fatalf("%s: a wrong key: %d, want 401", tt.name, got.status)
		}
		fields = fieldsOf(t, got.body, "/signin")
		fields.Set("key", given["anna"])
		got = b.send("POST", "/signin", fields.Encode(), asHTML...)
		box := fieldsOf(t, got.body, "/chat")
		if want := strings.ReplaceAll(tt.message, "\r\n", "\n"); got.status != 200 || box.Get("message") != want {
			t.Errorf("%s: %d, the box holds %.200q, want %.200q", tt.name, got.status, box.Get("message"), want)
		}
		if !strings.HasPrefix(got.header.Get("Set-Cookie"), httpio.KeyCookie+"=") || got.header.Get("Location") != "" {
			t.Errorf("%s: cookie %q, Location %q; want %q at its beginning and nothing",
				tt.name, got.header.Get("Set-Cookie"), got.header.Get("Location"), httpio.KeyCookie+"=")
		}
	}
	runs, err := b.stage.store.Runs(t.Context(), chat.Scope{User: "anna"}, run.SessionID)
	if err != nil || len(runs) != 1 {
		t.Errorf("got %d runs, %v after a question without a session; want 1 run", len(runs), err)
	}
}

func TestQuestionWithoutDocumentsIsKept(t *testing.T) {
	b, _, given := keyed(t, "anna")
	sent := url.Values{"message": {"Is the roof sound?"}, "key": {given["anna"]}}
	got := b.send("POST", "/signin", sent.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Accept",
		"text/html")
	if box := fieldsOf(t, got.body, "/chat"); box.Get("message") != "Is the roof sound?" ||
		!strings.Contains(got.body, "Your question is kept here.") {
		t.Errorf("after signing in: %d, the box holds %q: %.500s; want %q and %q in it",
			got.status, box.Get("message"), got.body, "Is the roof sound?", "Your question is kept here.")
	}
	long := url.Values{"message": {strings.Repeat("Is the roof sound? ", 2000)}}
	got = b.send("POST", "/chat", long.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Accept",
		"text/html", "X-API-Key", given["anna"])
	if box := fieldsOf(t, got.body, "/chat"); got.status != 400 || box.Get("message") != long.Get("message") ||
		!strings.Contains(got.body, "The question exceeds the limit of 32,000 characters.") {
		t.Errorf("a question that is too long: %d, the box holds %.100q, want 400", got.status, box.Get("message"))
	}
}

func TestSignedOutScriptGetsSignInURL(t *testing.T) {
	b, _, _ := keyed(t, "anna")
	got := b.send("POST", "/chat", "message=Why", "Content-Type", "application/x-www-form-urlencoded", "HX-Request",
		"true", "Referer", b.url+"/c/abc?x=1")
	if got.status != 401 || !strings.Contains(got.body, `href="/signin?to=%2Fc%2Fabc%3Fx%3D1"`) {
		t.Errorf("%d %s; want 401 and %q in it", got.status, got.body, `href="/signin?to=%2Fc%2Fabc%3Fx%3D1"`)
	}
	got = b.send("POST", "/chat", "message=Why", "Content-Type", "application/x-www-form-urlencoded", "HX-Request",
		"true", "Referer", "https://evil.example/c/abc")
	if !strings.Contains(got.body, `href="/signin?to=%2F"`) {
		t.Errorf("from elsewhere: %s, want %q in it", got.body, `href="/signin?to=%2F"`)
	}
}
