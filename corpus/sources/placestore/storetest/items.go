package storetest

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources/placestore"
	"github.com/footnote/footnote/text/locale"
)

// testItems checks which listed items are wanted: new ones, those without a version and those with a changed
// version, until they are settled.
//
// If a store missed a new or changed item, its document would be missing or outdated. If it wanted settled items,
// each sync would fetch everything again.
//
// The long key verifies that a store compares whole keys, not prefixes.
func testItems(t *testing.T, s placestore.Store) {
	ctx := t.Context()
	id, look := lease(t, s)
	// A key of 1,024 bytes, the maximum.
	long := strings.Repeat("é", 512)
	ok(t, s.RecordItems(ctx, id, one.Owner, look, listed("b", "a", "a", long)))
	wantKeys(t, "new items", wanted(ctx, t, s, id, look), "a", "b", long)
	item := placestore.Item{Key: "a", Version: "v1", Document: "d1", Name: "a", Link: "https://x.example/a"}
	ok(t, s.SettleItem(ctx, id, one.Owner, item))
	refused := placestore.Item{Key: "b", Version: "v1", Name: "b", Refusal: &placestore.Failure{
		Code: chat.CodeUnsupported, Message: locale.Say("It is {1}.", "a film"),
	}}
	ok(t, s.SettleItem(ctx, id, one.Owner, refused))
	wantKeys(t, "what is left", wanted(ctx, t, s, id, look), long)
	all := must[[]placestore.Item](t)(s.Items(ctx, alice, id, false, "", 2))
	item.Listed, refused.Listed = []byte(`{"k":"a"}`), []byte(`{"k":"b"}`)
	if diff := cmp.Diff([]placestore.Item{item, refused}, all); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
	want := placestore.Counts{Items: 3, Refused: 1, Waiting: 1}
	if got := must[placestore.Counts](t)(s.CountItems(ctx, id)); got != want {
		t.Errorf("counts = %+v, want %+v", got, want)
	}
	// In a new sync no item is wanted until it is listed.
	look = must[int64](t)(s.BeginSync(ctx, id, one.Owner))
	wantKeys(t, "before anything is listed", wanted(ctx, t, s, id, look))
	again := listed("a", "b")
	again[1].Version = "v2"
	ok(t, s.RecordItems(ctx, id, one.Owner, look, again))
	wantKeys(t, "what has another version", wanted(ctx, t, s, id, look), "b")
	// Without a version a change can't be excluded, so the item is wanted each time.
	again[0].Version = ""
	ok(t, s.RecordItems(ctx, id, one.Owner, look, again))
	wantKeys(t, "what has no version", wanted(ctx, t, s, id, look), "a", "b")
	// After losing the lease a server must not write: the other server may have read a newer state.
	if err := s.SettleItem(ctx, id, other.Owner, item); !errors.Is(err, placestore.ErrLost) {
		t.Errorf("another's SettleItem: %v, want ErrLost", err)
	}
	if err := s.RecordItems(ctx, id, other.Owner, look, again); !errors.Is(err, placestore.ErrLost) {
		t.Errorf("another's RecordItems: %v, want ErrLost", err)
	}
}

// testPutOff checks that a postponed item waits for the next sync and is then last. Otherwise an item that always
// fails would block the others.
func testPutOff(t *testing.T, s placestore.Store) {
	ctx := t.Context()
	id, look := lease(t, s)
	ok(t, s.RecordItems(ctx, id, one.Owner, look, listed("a", "b")))
	ok(t, s.PostponeItem(ctx, id, one.Owner, look, "a"))
	wantKeys(t, "in this look", wanted(ctx, t, s, id, look), "b")
	next := must[int64](t)(s.BeginSync(ctx, id, one.Owner))
	if next <= look {
		t.Errorf("version of the check = %d, want more than %d", next, look)
	}
	ok(t, s.RecordItems(ctx, id, one.Owner, next, listed("a", "b")))
	wantKeys(t, "in the next", wanted(ctx, t, s, id, next), "b", "a")
}

// testMissing checks that items of an earlier sync are missing from a later one, and deleted by ForgetItem. Missing
// items are removed from the library, so a listed item must never be missing.
func testMissing(t *testing.T, s placestore.Store) {
	ctx := t.Context()
	id, look := lease(t, s)
	ok(t, s.RecordItems(ctx, id, one.Owner, look, listed("a", "b")))
	look = must[int64](t)(s.BeginSync(ctx, id, one.Owner))
	ok(t, s.RecordItems(ctx, id, one.Owner, look, listed("b")))
	missing := must[[]placestore.Item](t)(s.MissingItems(ctx, id, look, 10))
	if len(missing) != 1 || missing[0].Key != "a" {
		t.Fatalf("missing = %+v, want a", missing)
	}
	ok(t, s.ForgetItem(ctx, id, one.Owner, "a"))
	if missing := must[[]placestore.Item](t)(s.MissingItems(ctx, id, look, 10)); len(missing) > 0 {
		t.Errorf("missing = %+v, want none", missing)
	}
}

// testShared checks SharedItems and UnsettleItems for items that share a document. The library deduplicates
// documents with equal bytes. So a document must not be deleted while another item needs it, and when it changes,
// the other item has to be fetched again.
func testShared(t *testing.T, s placestore.Store) {
	ctx := t.Context()
	id, look := lease(t, s)
	ok(t, s.RecordItems(ctx, id, one.Owner, look, listed("a", "b", "c")))
	for _, key := range []string{"a", "b"} {
		ok(t, s.SettleItem(ctx, id, one.Owner, placestore.Item{Key: key, Version: "v1", Document: "d", Name: key}))
	}
	ok(t, s.SettleItem(ctx, id, one.Owner, placestore.Item{Key: "c", Version: "v1", Name: "c"}))
	if n := must[int](t)(s.SharedItems(ctx, id, "d", "a", 0)); n != 1 {
		t.Errorf("%d others share the document, want 1", n)
	}
	if n := must[int](t)(s.SharedItems(ctx, id, "", "a", 0)); n != 0 {
		t.Errorf("%d others share no document, want none", n)
	}
	next := must[int64](t)(s.BeginSync(ctx, id, one.Owner))
	ok(t, s.RecordItems(ctx, id, one.Owner, next, listed("b")))
	if n := must[int](t)(s.SharedItems(ctx, id, "d", "b", next)); n != 0 {
		t.Errorf("%d others that are listed share the document, want none", n)
	}
	if n := must[int](t)(s.SharedItems(ctx, id, "d", "a", next)); n != 1 {
		t.Errorf("%d others that are listed share the document, want b", n)
	}
	ok(t, s.RecordItems(ctx, id, one.Owner, next, listed("a", "c")))
	look = next
	ok(t, s.UnsettleItems(ctx, id, one.Owner, "d", "a"))
	wantKeys(t, "fetched again", wanted(ctx, t, s, id, look), "b")
	if n := must[int](t)(s.SharedItems(ctx, id, "d", "", 0)); n != 1 {
		t.Errorf("%d items have the document, want one", n)
	}
}

// testListed checks that a place's items are ordered by key, in pages, optionally only refused ones. The order is by
// bytes in both databases: collations would differ between them and lose items between pages.
func testListed(t *testing.T, s placestore.Store) {
	ctx := t.Context()
	id, look := lease(t, s)
	ok(t, s.RecordItems(ctx, id, one.Owner, look, listed("a", "B", "c", "ä")))
	for _, key := range []string{"B", "ä"} {
		ok(t, s.SettleItem(ctx, id, one.Owner, placestore.Item{
			Key: key, Name: key, Refusal: &placestore.Failure{Code: chat.CodeInvalid, Message: "No."},
		}))
	}
	keys := func(refused bool, after string) (keys []string) {
		for _, item := range must[[]placestore.Item](t)(s.Items(ctx, alice, id, refused, after, 3)) {
			keys = append(keys, item.Key)
		}
		return keys
	}
	wantKeys(t, "the first three", keys(false, ""), "B", "a", "c")
	wantKeys(t, "the rest", keys(false, "c"), "ä")
	wantKeys(t, "refused ones", keys(true, ""), "B", "ä")
	wantKeys(t, "the next refused ones", keys(true, "B"), "ä")
}
