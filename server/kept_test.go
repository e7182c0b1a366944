package server

import (
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
)

// fieldsOf are the fields of a page's form to an address, as a browser sends them.
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

func TestAQuestionAskedWhileSignedOutIsInTheBoxAfterSigningIn(t *testing.T) {
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
		t.Errorf("%d runs, %v: a question of somebody signed out was asked; want 1 run", len(runs), err)
	}
}

func TestAQuestionAskedWithoutDocumentsIsKeptUntilThereAreSome(t *testing.T) {
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
		!strings.Contains(got.body, "The question is longer than 32,000 characters.") {
		t.Errorf("a question that is too long: %d, the box holds %.100q, want 400", got.status, box.Get("message"))
	}
}

func TestAScriptThatIsSignedOutIsToldWhereToSignIn(t *testing.T) {
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
