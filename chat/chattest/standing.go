package chattest

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
)

// testStanding checks kept questions: concurrent changes are all stored, and each claim has one holder.
func testStanding(t *testing.T, open func(*testing.T) chat.Store) {
	keep := func(b suite, s chat.Scope, question string) chat.Standing {
		b.t.Helper()
		kept, err := b.AddStanding(b.t.Context(), s, chat.Standing{Request: chat.RunRequest{Message: question}})
		if err != nil {
			b.t.Fatalf("AddStanding: %v", err)
		}
		return kept
	}
	parallel(t, open, "create, read, update and delete", func(t *testing.T, b suite) {
		ctx := t.Context()
		first, second := keep(b, anna, "one"), keep(b, anna, "two \x01 ü")
		keep(b, bert, "another's")
		list, err := b.AllStanding(ctx, anna)
		if err != nil || len(list) != 2 || list[1].ID != first.ID || list[0].Request.Message != "two \x01 ü" {
			t.Fatalf("AllStanding = %+v, %v; want both of hers, newest first", list, err)
		}
		at := time.Now().UTC().Truncate(time.Microsecond)
		changed, err := b.ChangeStanding(ctx, anna, second.ID, func(k *chat.Standing) error {
			k.Changes, k.DueAt, k.Version = []chat.Change{{ID: "c", At: at}}, at, 7
			return nil
		})
		if err != nil || !changed.Unseen() || changed.User != "anna" {
			t.Fatalf("ChangeStanding = %+v, %v", changed, err)
		}
		got, err := b.Standing(ctx, anna, second.ID)
		if err != nil || got.Version != 7 || !got.DueAt.Equal(at) || !got.CreatedAt.Equal(second.CreatedAt) {
			t.Errorf("Standing = %+v, %v; want it as changed", got, err)
		}
		if n, err := b.UnseenStanding(ctx, anna); n != 1 || err != nil {
			t.Errorf("UnseenStanding = %d, %v; want 1", n, err)
		}
		refused := errors.New("refused")
		if _, err := b.ChangeStanding(ctx, anna, second.ID, func(k *chat.Standing) error {
			k.Paused = true
			return refused
		}); !errors.Is(err, refused) {
			t.Errorf("ChangeStanding: %v, want its own error", err)
		}
		if got, _ := b.Standing(ctx, anna, second.ID); got.Paused {
			t.Error("rejected change was stored")
		}
		if err := b.DropStanding(ctx, anna, second.ID); err != nil {
			t.Errorf("DropStanding: %v", err)
		}
		_, err = b.Standing(ctx, anna, second.ID)
		wantCode(t, "one that was dropped", err, chat.CodeNotFound)
	})
	parallel(t, open, "other user's is not found", func(t *testing.T, b suite) {
		hers := keep(b, anna, "hers")
		_, err := b.Standing(t.Context(), bert, hers.ID)
		wantCode(t, "reading it", err, chat.CodeNotFound)
		_, err = b.ChangeStanding(t.Context(), bert, hers.ID, func(*chat.Standing) error { return nil })
		wantCode(t, "changing it", err, chat.CodeNotFound)
		wantCode(t, "dropping it", b.DropStanding(t.Context(), bert, hers.ID), chat.CodeNotFound)
	})
	parallel(t, open, "concurrent changes are all stored", func(t *testing.T, b suite) {
		kept := keep(b, anna, "q")
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if _, err := b.ChangeStanding(t.Context(), anna, kept.ID, func(k *chat.Standing) error {
					k.Turn++
					return nil
				}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if got, err := b.Standing(t.Context(), anna, kept.ID); got.Turn != 20 || err != nil {
			t.Errorf("Turn = %d, %v; want 20", got.Turn, err)
		}
	})
	parallel(t, open, "due item is claimed once, and again after a crash", func(t *testing.T, b suite) {
		now := time.Now().UTC().Truncate(time.Microsecond)
		until := now.Add(time.Minute)
		for i, due := range []time.Time{{}, now.Add(-time.Second), now.Add(time.Second), now.Add(-time.Second)} {
			kept := keep(b, anna, "q")
			if _, err := b.ChangeStanding(t.Context(), anna, kept.ID, func(k *chat.Standing) error {
				k.DueAt, k.Paused = due, i == 3
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		if n := sumParallel(t, 8, func() (int, error) {
			_, ok, err := b.ClaimStanding(t.Context(), anna.User, now, until)
			return count(ok), err
		}); n != 1 {
			t.Errorf("%d were claimed, want the one that is due", n)
		}
		for n := range 3 {
			kept, ok, err := b.ClaimStanding(t.Context(), anna.User, until, until.Add(time.Minute))
			if err != nil || ok != (n < 2) || ok && kept.User != anna.User {
				t.Errorf("claim %d a minute later = %+v, %v, %v; want 2", n, kept, ok, err)
			}
		}
		if users, err := b.DueStanding(t.Context(), until.Add(time.Minute)); err != nil ||
			!slices.Equal(users, []string{anna.User}) {
			t.Errorf("DueStanding = %q, %v; want her once", users, err)
		}
	})
	parallel(t, open, "limit per user", func(t *testing.T, b suite) {
		b.SetLimits(chat.Limits{chat.KeptQuestions: 3})
		if n := inParallel(t, func() error {
			_, err := b.AddStanding(t.Context(), anna, chat.Standing{Request: chat.RunRequest{Message: "q"}})
			return err
		}); n != 3 {
			t.Errorf("%d were kept, want 3", n)
		}
	})
	parallel(t, open, "feed is found by its hash until replaced", func(t *testing.T, b suite) {
		one, two := chat.TokenHash{1}, chat.TokenHash{2}
		for _, hash := range []*chat.TokenHash{&one, &two} {
			if err := b.SetStandingFeed(t.Context(), anna, hash); err != nil {
				t.Fatal(err)
			}
		}
		_, err := b.StandingFeed(t.Context(), one)
		wantCode(t, "the former", err, chat.CodeNotFound)
		if s, err := b.StandingFeed(t.Context(), two); err != nil || s.User != "anna" {
			t.Errorf("StandingFeed = %+v, %v; want hers", s, err)
		}
		if err := b.SetStandingFeed(t.Context(), anna, nil); err != nil {
			t.Fatal(err)
		}
		_, err = b.StandingFeed(t.Context(), two)
		wantCode(t, "a feed that was taken back", err, chat.CodeNotFound)
	})
}
