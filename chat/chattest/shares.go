package chattest

import (
	"crypto/sha256"
	"slices"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
)

// testShares checks links: they end by expiry, by hand and with their session, and expired ones do not count against
// the limit.
func testShares(t *testing.T, open func(*testing.T) chat.Store) {
	hash := func(token string) chat.TokenHash { return sha256.Sum256([]byte(token)) }
	now := time.Now().UTC().Truncate(time.Microsecond)
	week := now.Add(7 * 24 * time.Hour)
	share := func(b suite, run, token string, until time.Time) chat.Share {
		b.t.Helper()
		h, err := b.AddShare(b.t.Context(), anna, run, hash(token), until)
		if err != nil {
			b.t.Fatalf("AddShare: %v", err)
		}
		return h
	}
	list := func(b suite, s chat.Scope, now time.Time) (ids []string) {
		b.t.Helper()
		all, err := b.Shares(b.t.Context(), s, now)
		if err != nil {
			b.t.Fatalf("Shares: %v", err)
		}
		for _, h := range all {
			ids = append(ids, h.ID)
		}
		return ids
	}
	parallel(t, open, "link opens its answer until it expires, and counts", func(t *testing.T, b suite) {
		run := b.ask("s", "Is the roof sound?")
		h := share(b, run.ID, "one", week)
		if h.RunID != run.ID || h.SessionID != "s" || h.Question != "Is the roof sound?" || h.Opens != 0 ||
			!h.OpenedAt.IsZero() || !h.ExpiresAt.Equal(week) || h.CreatedAt.IsZero() || h.ID == "" {
			t.Errorf("AddShare = %+v", h)
		}
		for n := int64(1); n <= 2; n++ {
			user, opened, err := b.OpenShare(t.Context(), hash("one"), now)
			if err != nil || user != "anna" || opened.RunID != run.ID || opened.Opens != n ||
				!opened.OpenedAt.Equal(now) {
				t.Errorf("OpenShare %d = %q, %+v, %v", n, user, opened, err)
			}
		}
		all, err := b.Shares(t.Context(), anna, now)
		if err != nil || len(all) != 1 || all[0].Opens != 2 || !all[0].OpenedAt.Equal(now) {
			t.Errorf("Shares = %+v, %v; want it opened twice", all, err)
		}
		for token, at := range map[string]time.Time{"another": now, "one": week} {
			_, _, err := b.OpenShare(t.Context(), hash(token), at)
			wantCode(t, "OpenShare of "+token+" at "+at.String(), err, chat.CodeNotFound)
		}
		if got := list(b, anna, week); len(got) != 0 {
			t.Errorf("Shares when it is over = %v, want none", got)
		}
	})
	parallel(t, open, "links are listed latest first and revoked", func(t *testing.T, b suite) {
		run := b.ask("s", "q")
		first, second := share(b, run.ID, "1", week), share(b, run.ID, "2", week)
		if got, want := list(b, anna, now), []string{second.ID, first.ID}; !slices.Equal(got, want) {
			t.Errorf("Shares = %v, want %v", got, want)
		}
		wantCode(t, "another user's DropShare", b.DropShare(t.Context(), bert, first.ID), chat.CodeNotFound)
		if err := b.DropShare(t.Context(), anna, first.ID); err != nil {
			t.Errorf("DropShare: %v", err)
		}
		wantCode(t, "DropShare again", b.DropShare(t.Context(), anna, first.ID), chat.CodeNotFound)
		_, _, err := b.OpenShare(t.Context(), hash("1"), now)
		wantCode(t, "OpenShare of a dropped one", err, chat.CodeNotFound)
		if _, _, err := b.OpenShare(t.Context(), hash("2"), now); err != nil {
			t.Errorf("OpenShare of the other link: %v", err)
		}
	})
	parallel(t, open, "user isolation and hidden sessions", func(t *testing.T, b suite) {
		run := b.ask("s", "q")
		share(b, run.ID, "1", week)
		_, err := b.AddShare(t.Context(), bert, run.ID, hash("2"), week)
		wantCode(t, "another user's AddShare", err, chat.CodeNotFound)
		if got := list(b, bert, now); len(got) != 0 {
			t.Errorf("other user: got %v, want none", got)
		}
		b.mustHide("s")
		_, _, err = b.OpenShare(t.Context(), hash("1"), now)
		wantCode(t, "OpenShare of a hidden session's", err, chat.CodeNotFound)
		_, err = b.AddShare(t.Context(), anna, run.ID, hash("3"), week)
		wantCode(t, "AddShare in a hidden session", err, chat.CodeNotFound)
		if got := list(b, anna, now); len(got) != 0 {
			t.Errorf("links of a hidden session: got %v, want none", got)
		}
		if err := b.RestoreSession(t.Context(), anna, "s"); err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.OpenShare(t.Context(), hash("1"), now); err != nil {
			t.Errorf("OpenShare of a restored session: %v", err)
		}
	})
	parallel(t, open, "limit ignores expired links", func(t *testing.T, b suite) {
		run := b.ask("s", "q")
		share(b, run.ID, "over", time.Now().Add(-time.Second))
		for i := range chat.MaxShares {
			share(b, run.ID, string(rune('a'+i%26))+time.Duration(i).String(), week)
		}
		_, err := b.AddShare(t.Context(), anna, run.ID, hash("one more"), week)
		wantCode(t, "AddShare beyond the limit", err, chat.CodeTooMany)
	})
}
