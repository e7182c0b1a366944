// Package storetest is the contract test of placestore.Store.
//
// sqlite and postgres run the same suite, each test on an empty database. suite.go tests places and leases, items.go
// items.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources/placestore"
)

const (
	alice, bob = "alice", "bob"
	long       = time.Hour
)

// one and other are the leases of two servers. An hour is longer than any test.
//
// Real owners are random for each lease.
var one, other = placestore.Lease{Owner: "one", For: long}, placestore.Lease{Owner: "other", For: long}

// Test runs the contract tests of placestore.Store in parallel. open returns an empty store for each test.
func Test(t *testing.T, open func(*testing.T) placestore.Store) {
	for name, test := range map[string]func(*testing.T, placestore.Store){
		"a place comes back as it was set up, to its user alone":              testOwner,
		"a place is changed by who knows its last revision":                   testUpdate,
		"names are one of a user, and places have a limit":                    testNames,
		"one server at a time has a place":                                    testLease,
		"the first due place of each user comes first":                        testDueTurns,
		"a lease that ended is another's":                                     testDeadLease,
		"a place that two processes died over is due no more":                 testDeaths,
		"what was changed meanwhile stays due":                                testRelease,
		"a place that is being removed is hidden, and goes with its items":    testDrop,
		"items are wanted until they are settled, and again when they differ": testItems,
		"an item that was put off waits for the next look":                    testPutOff,
		"items that a look did not see are missing":                           testMissing,
		"items that share a document are fetched again":                       testShared,
		"items are listed by key, refused ones alone":                         testListed,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// setup returns a configuration with a secret and a setting with a space, which verifies that values are stored
// unchanged.
func setup(name string) placestore.Setup {
	return placestore.Setup{
		Kind: "webdav", Name: name, Namespace: "default", Settings: map[string]string{"url": "https://x.example/a b"},
		Secrets: []string{"password"}, SecretsAt: "r1", Schedule: placestore.EveryDay,
		Local: true,
	}
}

// must returns the value of a call, or ends the test on an error.
func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// ok ends the test on an error.
func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantCode checks an error's code.
func wantCode(t *testing.T, what string, err error, code chat.Code) {
	t.Helper()
	if err == nil || chat.CodeOf(err) != code {
		t.Errorf("%s: %v, want %s", what, err, code)
	}
}

// create stores a place of alice's, which is due at once.
func create(t *testing.T, s placestore.Store, name string) placestore.Place {
	t.Helper()
	return must[placestore.Place](t)(s.CreatePlace(t.Context(), chat.NewID(), alice, setup(name)))
}

// lease creates and leases a place for the owner one, and starts a sync.
func lease(t *testing.T, s placestore.Store) (id string, look int64) {
	t.Helper()
	id = create(t, s, "cloud").ID
	if _, got, err := s.LeasePlace(t.Context(), id, one); err != nil || !got {
		t.Fatalf("LeasePlace = %v, %v; want it taken", got, err)
	}
	return id, must[int64](t)(s.BeginSync(t.Context(), id, one.Owner))
}

// testOwner checks that every method with a user treats another user's place as missing. A different error would
// reveal that the place exists.
func testOwner(t *testing.T, s placestore.Store) {
	p := create(t, s, "cloud")
	if diff := cmp.Diff(setup("cloud"), p.Setup); diff != "" {
		t.Errorf("setup (-want +got):\n%s", diff)
	}
	if p.NextAt.IsZero() || p.Looking || p.User != alice || p.CreatedAt.IsZero() {
		t.Errorf("a new place = %+v, want it due and alice's", p)
	}
	got := must[placestore.Place](t)(s.Place(t.Context(), alice, p.ID))
	if diff := cmp.Diff(p, got); diff != "" {
		t.Errorf("Place (-want +got):\n%s", diff)
	}
	_, err := s.Place(t.Context(), bob, p.ID)
	wantCode(t, "another user's Place", err, chat.CodeNotFound)
	_, err = s.Items(t.Context(), bob, p.ID, false, "", 10)
	wantCode(t, "another user's Items", err, chat.CodeNotFound)
	_, err = s.UpdatePlace(t.Context(), bob, p.ID, p.Revision, setup("x"), 0)
	wantCode(t, "another user's UpdatePlace", err, chat.CodeNotFound)
	if all := must[[]placestore.Place](t)(s.Places(t.Context(), bob)); len(all) > 0 {
		t.Errorf("another user's Places = %+v, want none", all)
	}
	create(t, s, "a mail")
	all := must[[]placestore.Place](t)(s.Places(t.Context(), alice))
	if len(all) != 2 || all[0].Name != "a mail" || all[1].Name != "cloud" {
		t.Errorf("Places = %+v, want two by name", all)
	}
	if !must[bool](t)(s.PlaceExists(t.Context(), p.ID)) || must[bool](t)(s.PlaceExists(t.Context(), "none")) {
		t.Error("PlaceExists: got the same for a known and an unknown source")
	}
}

// testUpdate checks that the later of two changes to the same revision fails, and that a change sets the next due
// time. Otherwise two browser windows would overwrite each other's changes.
func testUpdate(t *testing.T, s placestore.Store) {
	p := create(t, s, "cloud")
	changed := setup("sky")
	changed.Paused = true
	q := must[placestore.Place](t)(s.UpdatePlace(t.Context(), alice, p.ID, p.Revision, changed, placestore.Never))
	if q.Revision == p.Revision || q.Name != "sky" || !q.Paused || !q.NextAt.IsZero() {
		t.Errorf("UpdatePlace = %+v, want it renamed, paused and not due", q)
	}
	_, err := s.UpdatePlace(t.Context(), alice, p.ID, p.Revision, changed, 0)
	wantCode(t, "a change of what was changed", err, chat.CodeConflict)
	q = must[placestore.Place](t)(s.UpdatePlace(t.Context(), alice, p.ID, q.Revision, changed, long))
	if wait := time.Until(q.NextAt); wait < long/2 || wait > 2*long {
		t.Errorf("the next look is in %v, want an hour", wait)
	}
	kept := must[placestore.Place](t)(s.UpdatePlace(t.Context(), alice, p.ID, q.Revision, changed, -2))
	if !kept.NextAt.Equal(q.NextAt) {
		t.Errorf("the next look is at %v, want it left at %v", kept.NextAt, q.NextAt)
	}
}

// testNames checks that names are unique per user and that a user has at most placestore.MaxPlaces places. Other
// users are unaffected.
func testNames(t *testing.T, s placestore.Store) {
	create(t, s, "cloud")
	_, err := s.CreatePlace(t.Context(), chat.NewID(), alice, setup("cloud"))
	wantCode(t, "a second place of a name", err, chat.CodeConflict)
	must[placestore.Place](t)(s.CreatePlace(t.Context(), chat.NewID(), bob, setup("cloud")))
	p := create(t, s, "sky")
	_, err = s.UpdatePlace(t.Context(), alice, p.ID, p.Revision, setup("cloud"), 0)
	wantCode(t, "a rename to a name that is taken", err, chat.CodeConflict)
	for i := 2; i < placestore.MaxPlaces; i++ {
		create(t, s, fmt.Sprint(i))
	}
	_, err = s.CreatePlace(t.Context(), chat.NewID(), alice, setup("more"))
	wantCode(t, "one more place", err, chat.CodeTooMany)
}

// testLease checks that one owner at a time holds a place's lease and that a write without the lease changes
// nothing. Two servers at work on one place would add each document twice.
//
// It covers a lease's life cycle: a due place is leased by one server, another can neither lease nor renew it,
// progress is stored, and writes fail after the release.
func testLease(t *testing.T, s placestore.Store) {
	p := create(t, s, "cloud")
	if due := must[[]placestore.Place](t)(s.DuePlaces(t.Context(), 10)); len(due) != 1 || due[0].ID != p.ID {
		t.Fatalf("DuePlaces = %+v, want the new place", due)
	}
	took := 0
	for _, l := range []placestore.Lease{one, other, one} {
		_, got, err := s.LeasePlace(t.Context(), p.ID, l)
		ok(t, err)
		if got {
			took++
		}
	}
	if took != 1 {
		t.Errorf("the place was leased %d times, want once", took)
	}
	if due := must[[]placestore.Place](t)(s.DuePlaces(t.Context(), 10)); len(due) > 0 {
		t.Errorf("DuePlaces = %+v, want none: a server is at work", due)
	}
	if got := must[placestore.Place](t)(s.Place(t.Context(), alice, p.ID)); !got.Looking {
		t.Error("leased source is not marked as being checked")
	}
	if _, err := s.RenewPlace(t.Context(), p.ID, other, nil); !errors.Is(err, placestore.ErrLost) {
		t.Errorf("another's RenewPlace: %v, want ErrLost", err)
	}
	progress := placestore.Progress{Failures: 3, Report: placestore.Report{Added: 1}}
	if r := must[int64](t)(s.RenewPlace(t.Context(), p.ID, one, &progress)); r != p.Revision {
		t.Errorf("RenewPlace = revision %d, want %d", r, p.Revision)
	}
	got := must[placestore.Place](t)(s.Place(t.Context(), alice, p.ID))
	if diff := cmp.Diff(progress, got.Progress); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
	ok(t, s.ReleasePlace(t.Context(), p.ID, one.Owner, p.Revision, progress, placestore.Never))
	if _, got, err := s.LeasePlace(t.Context(), p.ID, other); got || err != nil {
		t.Errorf("LeasePlace before its time = %v, %v; want false", got, err)
	}
	_, err := s.BeginSync(t.Context(), p.ID, one.Owner)
	if !errors.Is(err, placestore.ErrLost) {
		t.Errorf("BeginSync after the release: %v, want ErrLost", err)
	}
}

// testDeadLease checks that an expired lease is free by the database's clock. A lease with a negative duration is
// expired from the start, so the test need not wait. A killed server can't release its lease.
func testDeadLease(t *testing.T, s placestore.Store) {
	p := create(t, s, "cloud")
	dead := placestore.Lease{Owner: "dead", For: -time.Second}
	if _, got, err := s.LeasePlace(t.Context(), p.ID, dead); !got || err != nil {
		t.Fatalf("LeasePlace = %v, %v", got, err)
	}
	if _, err := s.BeginSync(t.Context(), p.ID, dead.Owner); !errors.Is(err, placestore.ErrLost) {
		t.Errorf("BeginSync after the lease's end: %v, want ErrLost", err)
	}
	if _, got, err := s.LeasePlace(t.Context(), p.ID, other); !got || err != nil {
		t.Errorf("LeasePlace after another's end = %v, %v; want it taken over", got, err)
	}
	ok(t, s.CountDeaths(t.Context(), true))
	if _, got, err := s.LeasePlace(t.Context(), p.ID, one); !got || err != nil {
		t.Errorf("LeasePlace after CountDeaths = %v, %v; want it taken", got, err)
	}
}

// testDeaths checks that an expired lease counts as a death, that the second death pauses the place, and that a
// change by the owner resets both.
func testDeaths(t *testing.T, s placestore.Store) {
	ctx, dead := t.Context(), placestore.Lease{Owner: "dead", For: -time.Second}
	p, alive := create(t, s, "cloud"), create(t, s, "alive")
	take := func(id string, l placestore.Lease) (got bool) {
		t.Helper()
		_, got, err := s.LeasePlace(ctx, id, l)
		ok(t, err)
		return got
	}
	wantDeaths := func(what, id string, want int) {
		t.Helper()
		if got := must[placestore.Place](t)(s.Place(ctx, alice, id)); got.Deaths != want {
			t.Errorf("%s: got %d deaths, want %d", what, got.Deaths, want)
		}
	}
	take(alive.ID, one)
	take(p.ID, dead)
	ok(t, s.CountDeaths(ctx, false))
	ok(t, s.CountDeaths(ctx, false))
	wantDeaths("a lease that ended", p.ID, 1)
	wantDeaths("a lease that holds", alive.ID, 0)
	// A sync that continues keeps the deaths; one that ended resets them.
	take(p.ID, other)
	ok(t, s.ReleasePlace(ctx, p.ID, other.Owner, p.Revision, placestore.Progress{Going: true}, 0))
	wantDeaths("a look that goes on", p.ID, 1)
	take(p.ID, other)
	ok(t, s.ReleasePlace(ctx, p.ID, other.Owner, p.Revision, placestore.Progress{}, 0))
	wantDeaths("a look that ended", p.ID, 0)
	for range placestore.MaxDeaths {
		if !take(p.ID, dead) {
			t.Fatal("got no lease, want one")
		}
		ok(t, s.CountDeaths(ctx, false))
	}
	if got := must[placestore.Place](t)(s.Place(ctx, alice, p.ID)); got.State() != "paused" || got.Trouble() == nil ||
		!got.NextAt.IsZero() {
		t.Errorf("after two deaths: got %s, %+v, due %v; want it paused with its reason", got.State(), got.Trouble(),
			got.NextAt)
	}
	if take(p.ID, other) {
		t.Error("got a lease of a place that two processes died over")
	}
	p = must[placestore.Place](t)(s.UpdatePlace(ctx, alice, p.ID, p.Revision, setup("cloud"), 0))
	if p.Deaths != 0 || !take(p.ID, dead) {
		t.Errorf("after a change: got %d deaths, want none and a lease", p.Deaths)
	}
	// A removal is retried without a limit.
	going := setup("cloud")
	going.Removing = placestore.KeepDocuments
	must[placestore.Place](t)(s.UpdatePlace(ctx, alice, p.ID, p.Revision, going, 0))
	for range placestore.MaxDeaths + 1 {
		ok(t, s.CountDeaths(ctx, false))
		if !take(p.ID, dead) {
			t.Fatal("got no lease of a place that is being removed, want one")
		}
	}
	ok(t, s.CountDeaths(ctx, true))
	wantDeaths("a lease that holds, when no other process has the database open", alive.ID, 1)
}

// testDueTurns checks that a user with many due places does not hide another's.
func testDueTurns(t *testing.T, s placestore.Store) {
	for _, name := range []string{"a", "b", "c"} {
		create(t, s, name)
	}
	late := must[placestore.Place](t)(s.CreatePlace(t.Context(), chat.NewID(), bob, setup("late")))
	due := must[[]placestore.Place](t)(s.DuePlaces(t.Context(), 2))
	if len(due) != 2 || due[0].User != alice || due[1].ID != late.ID {
		t.Errorf("DuePlaces = %+v, want the first place of each user", due)
	}
}

// testRelease checks that a change during a sync keeps its own due time. If the end of the sync overwrote it, the
// owner's request would be lost.
func testRelease(t *testing.T, s placestore.Store) {
	id, _ := lease(t, s)
	p := must[placestore.Place](t)(s.Place(t.Context(), alice, id))
	must[placestore.Place](t)(s.UpdatePlace(t.Context(), alice, id, p.Revision, setup("cloud"), 0))
	if r := must[int64](t)(s.RenewPlace(t.Context(), id, one, nil)); r == p.Revision {
		t.Error("RenewPlace does not report the changed revision")
	}
	ok(t, s.ReleasePlace(t.Context(), id, one.Owner, p.Revision, p.Progress, placestore.Never))
	if due := must[[]placestore.Place](t)(s.DuePlaces(t.Context(), 10)); len(due) != 1 {
		t.Errorf("DuePlaces = %+v, want the place, as its owner asked for a look", due)
	}
}

// testDrop checks that a place is deleted with all of its items. It is hidden first and deleted later, since
// removing documents takes time and may be interrupted.
func testDrop(t *testing.T, s placestore.Store) {
	id, look := lease(t, s)
	ok(t, s.RecordItems(t.Context(), id, one.Owner, look, listed("a")))
	p := must[placestore.Place](t)(s.Place(t.Context(), alice, id))
	going := p.Setup
	going.Removing = placestore.KeepDocuments
	must[placestore.Place](t)(s.UpdatePlace(t.Context(), alice, id, p.Revision, going, 0))
	_, err := s.Place(t.Context(), alice, id)
	wantCode(t, "a place that is being removed", err, chat.CodeNotFound)
	if all := must[[]placestore.Place](t)(s.Places(t.Context(), alice)); len(all) != 1 || all[0].Removing == "" {
		t.Errorf("Places = %+v, want it said that it is being removed", all)
	}
	if err := s.DropPlace(t.Context(), id, other.Owner); !errors.Is(err, placestore.ErrLost) {
		t.Errorf("another's DropPlace: %v, want ErrLost", err)
	}
	ok(t, s.DropPlace(t.Context(), id, one.Owner))
	if c := must[placestore.Counts](t)(s.CountItems(t.Context(), id)); c.Items != 0 {
		t.Errorf("got %d items of a deleted source, want none", c.Items)
	}
}

// listed returns items with the keys, of version v1.
func listed(keys ...string) (all []placestore.Listed) {
	for _, key := range keys {
		all = append(all, placestore.Listed{Key: key, Version: "v1", Name: key, Body: []byte(`{"k":"` + key + `"}`)})
	}
	return all
}

// wanted returns the keys of the wanted items, in the store's order.
func wanted(ctx context.Context, t *testing.T, s placestore.Store, id string, look int64) (keys []string) {
	t.Helper()
	for _, item := range must[[]placestore.Item](t)(s.WantedItems(ctx, id, look, 100)) {
		keys = append(keys, item.Key)
	}
	return keys
}

// wantKeys compares keys with the expected ones, in order.
func wantKeys(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s = %q, want %q", what, got, want)
	}
}
