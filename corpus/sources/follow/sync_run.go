package follow

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/placestore"
	"github.com/footnote/footnote/text/locale"
)

// Limits of the data that a server can make the store keep. The values are estimates. Longer values are truncated,
// dropped or replaced by a hash that still identifies the item.
const (
	maxVersion = 500      // bytes; a longer version is stored as a hash
	maxName    = 1000     // characters of an item's name
	maxLink    = 2000     // bytes
	maxBody    = 16 << 10 // bytes of an item's encoded listing
)

// errMore ends the time slice of a sync that continues later. It is no failure.
var errMore = errors.New("there is more to do")

// syncRun is the work on one leased place in one time slice. It is used by one goroutine. State that outlasts the slice
// is in placestore.Progress.
//
// whole decides whether documents may be removed: only a complete list shows which items are missing.
type syncRun struct {
	f     *Follower
	p     placestore.Place
	lease placestore.Lease
	log   *slog.Logger
	until time.Time // end of the time slice for fetching items
	// Copies from the start of the sync. Other goroutines read them, and the user and the ID in p, without a lock.
	alone bool // a process died while it worked on the place
	cuts  int
	began time.Time

	kind       sources.Kind
	open       sources.Place
	number     int64
	whole      bool      // this sync's list is complete
	reportedAt time.Time // when progress was last stored
	broken     int       // failures of the place while items were fetched
	why        error     // the last of them
}

// listedItem is the stored listing of an item. It is in the store between the list and the fetch, which another
// server may do.
//
// Servers of other versions decode this JSON, so fields are only added.
type listedItem struct {
	Version string         `json:"version,omitempty"`
	Name    string         `json:"name,omitempty"`
	Link    string         `json:"link,omitempty"`
	Size    int64          `json:"size"`
	Meta    map[string]any `json:"meta,omitempty"`
	Bad     bool           `json:"bad,omitempty"` // its key is invalid
}

// run does one sync: it lists the place, compares, fetches new and changed items, and removes missing ones. Going is
// stored before the first change until the end, so an interrupted sync continues with its report. The state is
// stored only when everything was read; otherwise the next sync must not skip a place with an unchanged state.
func (l *syncRun) run(ctx context.Context) error {
	if l.f.Gone != nil && l.f.Gone(l.p.User) {
		return errGone
	}
	goesOn := l.p.Going
	if !goesOn {
		l.p.Report = placestore.Report{}
	}
	l.p.Going = true // until the sync ends, even after a crash
	var err error
	if l.open, l.kind, err = l.f.open(l.p); err != nil {
		return err
	}
	state, err := l.state(ctx)
	if err != nil {
		return err
	}
	// Nothing changed since the last complete sync.
	if !goesOn && state != "" && state == l.p.Seen {
		return nil
	}
	l.p.Note, l.p.Seen = "", ""
	if l.number, err = l.f.Store.BeginSync(ctx, l.p.ID, l.lease.Owner); err != nil {
		return err
	}
	listed, whole, part := l.list(ctx)
	if part != nil && !errors.Is(part, sources.ErrPart) {
		return part
	}
	l.whole = whole && !l.kind.Keeps
	l.until = time.Now().Add(sliceTime)
	if err := l.fetchWanted(ctx); err != nil {
		return err
	}
	if err := l.removeMissing(ctx, listed); err != nil {
		return err
	}
	if part != nil {
		return part
	}
	if l.why == nil && l.p.Note == "" {
		l.p.Seen = state
	}
	return l.why
}

// state returns the place's state combined with its settings, or an empty string if the place has no state. With
// other settings the same place lists other items.
func (l *syncRun) state(ctx context.Context) (string, error) {
	stated, ok := l.open.(sources.StateReader)
	if !ok {
		return "", nil
	}
	state, err := stated.State(ctx)
	return sources.StateOf(state, l.p.Settings), err
}

// list stores the items of the place in batches, so memory is bounded and a crash loses one batch at most. whole is
// false when the place has more than sources.MaxItems items.
func (l *syncRun) list(ctx context.Context) (listed int, whole bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, listTime, errSlow)
	defer cancel()
	batch := make([]placestore.Listed, 0, placestore.MaxBatch)
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		err := l.f.Store.RecordItems(ctx, l.p.ID, l.lease.Owner, l.number, batch)
		batch = batch[:0]
		if err == nil {
			err = l.reportProgress(ctx)
		}
		return err
	}
	whole = true
	for item, err := range l.open.List(ctx) {
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			if errors.Is(context.Cause(ctx), errSlow) {
				err = errSlow
			}
			// The batch of a partial list is stored. whole is false, so nothing is removed.
			if errors.Is(err, sources.ErrPart) {
				err = cmp.Or(flush(), err)
			}
			return listed, false, err
		}
		if listed == sources.MaxItems {
			whole = false
			l.p.Note = locale.Say(
				"The source exceeds the limit of 100,000 items. The rest are skipped, and no documents are removed.",
			)
			break
		}
		listed++
		if batch = append(batch, describe(item)); len(batch) == cap(batch) {
			if err := flush(); err != nil {
				return listed, false, err
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return listed, false, context.Cause(ctx)
	}
	return listed, whole, flush()
}

// errSlow cancels a list that exceeds the timeout listTime. Nothing is removed, as the list is incomplete. The owner
// reads its message beside the place.
var errSlow = &chat.Error{
	Code: chat.CodeTimeout, Message: sources.Retried("Timed out while listing the source."),
}

// describe encodes an item for the store. An invalid key is replaced by a hash, and the item is marked as Bad. It is
// then shown with a refusal instead of being lost.
func describe(item sources.Item) placestore.Listed {
	kept := listedItem{Version: item.Version, Name: sources.Cut(item.Name, maxName), Size: item.Size, Meta: item.Meta}
	if len(item.Link) <= maxLink {
		kept.Link = chat.WebLink(item.Link)
	}
	key := item.Key
	if key == "" || len(key) > sources.MaxKey || !utf8.ValidString(key) || strings.ContainsRune(key, 0) {
		kept.Bad, kept.Meta, kept.Name = true, nil, sources.Cut(key, 200)
		key = "#" + hash(key)
	}
	if len(kept.Version) > maxVersion {
		kept.Version = hash(kept.Version)
	}
	body, err := json.Marshal(kept)
	if err != nil || len(body) > maxBody {
		kept.Meta = nil
		body, _ = json.Marshal(kept) // plain fields always encode
	}
	return placestore.Listed{Key: key, Version: kept.Version, Name: kept.Name, Link: kept.Link, Body: body}
}

// hash returns the SHA-256 of a text in hexadecimal. It replaces keys that can't be stored, and keys of a place in
// the meta of documents, which must not show them.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// reportProgress stores the sync's progress, at most every two seconds. It renews the lease and returns errStop when
// the owner changed the place.
func (l *syncRun) reportProgress(ctx context.Context) error {
	if time.Since(l.reportedAt) < 2*time.Second {
		return nil
	}
	l.reportedAt = time.Now()
	counts, err := l.f.Store.CountItems(ctx, l.p.ID)
	if err != nil {
		return err
	}
	l.p.Counts = counts
	revision, err := l.f.Store.RenewPlace(ctx, l.p.ID, l.lease, &l.p.Progress)
	if err == nil && revision != l.p.Revision {
		err = errStop
	}
	return err
}

// removeMissing removes the documents of items that a complete list does not contain. An empty list is more likely a
// mistake than a removal of everything, so the owner gets a note instead.
func (l *syncRun) removeMissing(ctx context.Context, listed int) error {
	if !l.whole {
		return nil
	}
	if listed == 0 {
		if left, err := l.f.Store.MissingItems(ctx, l.p.ID, l.number, 1); err != nil || len(left) == 0 {
			return err
		}
		l.p.Note = locale.Say("The source is now empty, possibly by mistake. Its documents are kept.")
		return nil
	}
	return l.eachMissing(ctx, l.number, func(item placestore.Item) error {
		gone, err := l.dropDocument(ctx, item.Document, item.Key)
		if gone {
			l.p.Report.Removed++
			l.addToReport(item.Document, item.Name, "removed")
		}
		return err
	})
}

// eachMissing calls do for each item that was last seen before a sync, and deletes the item from the store
// afterwards. A retry continues with the remaining items.
func (l *syncRun) eachMissing(ctx context.Context, number int64, do func(placestore.Item) error) error {
	for {
		items, err := l.f.Store.MissingItems(ctx, l.p.ID, number, placestore.MaxBatch)
		if err != nil || len(items) == 0 {
			return err
		}
		for _, item := range items {
			if err := do(item); err != nil {
				return err
			}
			if err := l.f.Store.ForgetItem(ctx, l.p.ID, l.lease.Owner, item.Key); err != nil {
				return err
			}
		}
		if err := l.reportProgress(ctx); err != nil {
			return err
		}
	}
}

// dropDocument deletes the document of an item. It keeps a document that other items share, or that was not added
// for this place, such as the owner's upload.
func (l *syncRun) dropDocument(ctx context.Context, id, key string) (gone bool, err error) {
	if id == "" {
		return false, nil
	}
	others, err := l.f.Store.SharedItems(ctx, l.p.ID, id, key, 0)
	if err != nil || others > 0 {
		return false, err
	}
	d, err := l.f.Library.Document(ctx, l.scope(), id)
	if err == nil && d.MetaText(corpus.MetaPlace) == l.p.ID {
		err = l.f.Library.Delete(ctx, l.scope(), id)
		gone = err == nil
	}
	if chat.CodeOf(err) == chat.CodeNotFound && err != nil {
		return false, nil // already deleted
	}
	if err != nil {
		err = fmt.Errorf("remove the document of an item: %w", err)
	}
	return gone, err
}

// scope returns the owner's scope in the namespace of the place, for all requests to the library.
func (l *syncRun) scope() chat.Scope { return chat.Scope{User: l.p.User}.In(l.p.Namespace) }

// addToReport adds a document to the sync's report. Beyond MaxTouched they are counted but not listed.
func (l *syncRun) addToReport(id, name, what string) {
	if r := &l.p.Report; len(r.Documents) < placestore.MaxTouched {
		r.Documents = append(r.Documents, placestore.Touched{Document: id, Name: sources.Cut(name, 300), What: what})
	}
}

// remove deletes the place, with its documents if its owner chose that. Its sync number is above every other, so all
// items are missing.
func (l *syncRun) remove(ctx context.Context) error {
	const all = 1 << 62 // above every sync's number
	err := l.eachMissing(ctx, all, func(item placestore.Item) error {
		if l.p.Removing == placestore.KeepDocuments {
			return nil
		}
		_, err := l.dropDocument(ctx, item.Document, item.Key)
		return err
	})
	if err != nil {
		return err
	}
	return l.f.Store.DropPlace(ctx, l.p.ID, l.lease.Owner)
}
