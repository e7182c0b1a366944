package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/chat/keys"
	"github.com/footnote/footnote/server/api"
	"github.com/footnote/footnote/server/httpio"
)

// What names settings and paths is for the log and the terminal: nobody reads it in any form of an answer. The local
// user, who runs the server, reads where it is said.
func TestNoAnswerHoldsAHint(t *testing.T) {
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
