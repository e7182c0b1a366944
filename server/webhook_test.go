package server

import (
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/api"
)

func TestAWebhookIsSetByAFormAndByAProgram(t *testing.T) {
	b := newBench(t)
	got := b.send("POST", "/standing/webhook", "url=https%3A%2F%2Fhook.example%2Fin", "Content-Type", formKind,
		"Accept", "text/html")
	if got.status != 200 || !strings.Contains(got.body, "whsec_") ||
		!strings.Contains(got.body, `value="https://hook.example/in"`) ||
		got.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("the form: %d %v, want the page with the secret", got.status, got.header)
	}
	got = b.send("GET", "/standing", "", "Accept", "text/html")
	if strings.Contains(got.body, "whsec_") || !strings.Contains(got.body, "The first message is on its way.") {
		t.Error("the secret is shown twice, or the state is missing")
	}
	got = b.send("POST", "/standing/webhook", "url=%22%3E%3Cb%3E", "Content-Type", formKind, "Accept", "text/html")
	if got.status != 400 || !strings.Contains(got.body, "This is no address that changes can be sent to.") ||
		!strings.Contains(got.body, `value="&#34;&gt;&lt;b&gt;"`) {
		t.Errorf("what is no address: %d, want it back with the reason", got.status)
	}
	var state api.WebhookState
	b.send("PUT", "/standing/webhook", `{"url":"https://two.example/"}`, "Content-Type", "application/json").
		decode(t, &state)
	if state.URL != "https://two.example/" || !strings.HasPrefix(state.Secret, "whsec_") || state.SentAt != nil {
		t.Errorf("PUT = %+v", state)
	}
	for _, body := range []string{`{"url":"file:///etc/passwd"}`, `{"url":"https://a:b@x.example/"}`, `{}`} {
		if got := b.send("PUT", "/standing/webhook", body, "Content-Type", "application/json"); got.status != 400 {
			t.Errorf("%s: %d, want 400", body, got.status)
		}
	}
	if h, err := b.store.Webhook(t.Context(), chat.Local); err != nil || h.URL != "https://two.example/" ||
		!strings.HasPrefix(h.Origin, "http://") || len(h.Secret) != 32 {
		t.Errorf("stored %+v, %v", h, err)
	}
}

// setWebhook gives a user a webhook whose address has the secret.
func (b *bench) setWebhook(user string) {
	b.t.Helper()
	if err := b.store.SetWebhook(b.t.Context(), chat.Scope{User: user}, &chat.Webhook{
		URL: "https://hook.example/" + secret, Secret: []byte(secret), SetAt: time.Now(),
	}); err != nil {
		b.t.Fatal(err)
	}
}

// forgetAll takes back what requests of a user made.
func (b *bench) forgetAll(user string) {
	b.t.Helper()
	b.forget(user, "owned")
	if err := b.store.SetWebhook(b.t.Context(), chat.Scope{User: user}, nil); err != nil {
		b.t.Fatal(err)
	}
}
