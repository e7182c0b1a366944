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
)

// They bound what a server can make the store keep. They are choices. What is longer is cut or replaced by a hash, so
// that an item is still known by it.
const (
	maxVersion = 500      // bytes; longer ones are kept as a hash
	maxName    = 1000     // characters of an item's name
	maxLink    = 2000     // bytes
	maxBody    = 16 << 10 // bytes of what is kept of an item as it was listed
)

// errMore says that a look goes on in another slice. The look has done something useful, so it is no failure.
var errMore = errors.New("there is more to do")

// look is the work on one leased place. One goroutine uses it. It is made for one slice; what has to outlive it is in
// placestore.Progress.
//
// whole decides whether something may be removed: only a list that came to its end says what is not there.
type look struct {
	f     *Follower
	p     placestore.Place
	lease placestore.Lease
	log   *slog.Logger
	until time.Time // when others get their turn, once items are fetched
	// As they were when the look began. Other goroutines read them, and the user and the ID in p.
	alone bool // a process died over the place
	cuts  int
	began time.Time

	kind   sources.Kind
	open   sources.Place
	number int64
	whole  bool      // the list of this look names all that the place has
	told   time.Time // when progress was stored last
	broken int       // failures of the place while items were fetched
	why    error     // the last of them
}

// listedItem is what is kept of an item as it was listed. It lies in the store between the list and the fetch, which
// another server may do.
//
// The form is read by servers of other versions, so fields are only added.
type listedItem struct {
	Version string         `json:"version,omitempty"`
	Name    string         `json:"name,omitempty"`
	Link    string         `json:"link,omitempty"`
	Size    int64          `json:"size"`
	Meta    map[string]any `json:"meta,omitempty"`
	Bad     bool           `json:"bad,omitempty"` // its key can't be used
}

// run looks at the place once: lists it, compares, fetches what is new or changed, and removes what is gone. Going
// stands in the store from before the first change to the end, so a look that was cut off goes on with its report. The
// state is kept only when everything was read: else the next look has something to do although the place says that
// nothing changed.
func (l *look) run(ctx context.Context) error {
	if l.f.Gone != nil && l.f.Gone(l.p.User) {
		return errGone
	}
	goesOn := l.p.Going
	if !goesOn {
		l.p.Report = placestore.Report{}
	}
	l.p.Going = true // until it ends, however this process does
	var err error
	if l.open, l.kind, err = l.f.open(l.p); err != nil {
		return err
	}
	state, err := l.state(ctx)
	if err != nil {
		return err
	}
	// Nothing changed since a look that read everything: there is nothing to do.
	if !goesOn && state != "" && state == l.p.Seen {
		return nil
	}
	l.p.Note, l.p.Seen = "", ""
	if l.number, err = l.f.Store.BeginLook(ctx, l.p.ID, l.lease.Owner); err != nil {
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

// state is the state of a place with these settings; empty for one that does not say it. The settings are part of it:
// with others the same place lists something else.
func (l *look) state(ctx context.Context) (string, error) {
	stated, ok := l.open.(sources.Stated)
	if !ok {
		return "", nil
	}
	state, err := stated.State(ctx)
	return sources.StateOf(state, l.p.Settings), err
}

// list notes what the place has. whole is false when it has more than is followed. It stores items in batches as they
// come, so neither memory nor a crash matters.
func (l *look) list(ctx context.Context) (listed int, whole bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, listTime, errSlow)
	defer cancel()
	batch := make([]placestore.Listed, 0, placestore.MaxBatch)
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		err := l.f.Store.SeeItems(ctx, l.p.ID, l.lease.Owner, l.number, batch)
		batch = batch[:0]
		if err == nil {
			err = l.tell(ctx)
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
			// What came before is stored all the same; the list is not whole, so nothing is removed.
			if errors.Is(err, sources.ErrPart) {
				err = cmp.Or(flush(), err)
			}
			return listed, false, err
		}
		if listed == sources.MaxItems {
			whole = false
			l.p.Note = (&chat.Error{Message: "The place has more than 100000 items. The further ones are left out, " +
				"and no documents are removed."}).Message
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

// errSlow ends a list that takes longer than listTime. Nothing is removed then, as the list is not whole. It is a
// *chat.Error that the owner reads beside the place.
var errSlow = &chat.Error{
	Code: chat.CodeTimeout, Message: "The place took too long to say what it has. It is tried again by itself.",
}

// describe is an item as it is kept. One whose key can't be used gets another, and is refused when it is its turn. A
// key that can't be used is replaced by a hash, so that the item is shown with its reason instead of being lost.
func describe(item sources.Item) placestore.Listed {
	kept := listedItem{Version: item.Version, Name: cut(item.Name, maxName), Size: item.Size, Meta: item.Meta}
	if len(item.Link) <= maxLink {
		kept.Link = chat.WebLink(item.Link)
	}
	key := item.Key
	if key == "" || len(key) > sources.MaxKey || !utf8.ValidString(key) || strings.ContainsRune(key, 0) {
		kept.Bad, kept.Meta, kept.Name = true, nil, cut(strings.ToValidUTF8(key, "�"), 200)
		key = "#" + hash(key)
	}
	if len(kept.Version) > maxVersion {
		kept.Version = hash(kept.Version)
	}
	body, err := json.Marshal(kept)
	if err != nil || len(body) > maxBody {
		kept.Meta = nil
		body, _ = json.Marshal(kept) // plain fields
	}
	return placestore.Listed{Key: key, Version: kept.Version, Name: kept.Name, Link: kept.Link, Body: body}
}

// cut returns the first characters of a text, without NUL.
func cut(text string, most int) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", "")
	if utf8.RuneCountInString(text) > most {
		return string([]rune(text)[:most])
	}
	return text
}

// hash is the SHA-256 of a text in hexadecimal: for keys that can't be kept as they are, and for the meta of documents,
// which must not show a place's own keys.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// tell stores how far the look is, every two seconds. It also renews the lease, and ends the work when the owner
// changed the place.
func (l *look) tell(ctx context.Context) error {
	if time.Since(l.told) < 2*time.Second {
		return nil
	}
	l.told = time.Now()
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

// removeMissing removes the documents of items that a whole list does not name. A list without any item is more likely
// a mistake than an order to remove everything, so that is told instead.
func (l *look) removeMissing(ctx context.Context, listed int) error {
	if !l.whole {
		return nil
	}
	if listed == 0 {
		if left, err := l.f.Store.MissingItems(ctx, l.p.ID, l.number, 1); err != nil || len(left) == 0 {
			return err
		}
		l.p.Note = (&chat.Error{Message: "The place is empty now, as if something went wrong there. Its documents " +
			"stay."}).Message
		return nil
	}
	return l.eachMissing(ctx, l.number, func(item placestore.Item) error {
		gone, err := l.dropDocument(ctx, item.Document, item.Key)
		if gone {
			l.p.Report.Removed++
			l.touch(item.Document, item.Name, "removed")
		}
		return err
	})
}

// eachMissing calls do with the items that were last seen before a look, and forgets them. Items are forgotten one by
// one behind what is done with them, so a second try finds the rest.
func (l *look) eachMissing(ctx context.Context, number int64, do func(placestore.Item) error) error {
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
		if err := l.tell(ctx); err != nil {
			return err
		}
	}
}

// dropDocument deletes a document of an item, unless other items have it, or somebody else added it. A document that
// the owner uploaded, or that another item of the place also is, stays.
func (l *look) dropDocument(ctx context.Context, id, key string) (gone bool, err error) {
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
		return false, nil // it is gone already
	}
	if err != nil {
		err = fmt.Errorf("remove the document of an item: %w", err)
	}
	return gone, err
}

// scope is the owner's own, in the namespace of the place: whatever the library is asked, it is asked for them.
func (l *look) scope() chat.Scope { return chat.Scope{User: l.p.User}.In(l.p.Namespace) }

// touch notes what became of a document. Beyond MaxTouched they are counted and not named.
func (l *look) touch(id, name, what string) {
	if r := &l.p.Report; len(r.Documents) < placestore.MaxTouched {
		r.Documents = append(r.Documents, placestore.Touched{Document: id, Name: cut(name, 300), What: what})
	}
}

// remove removes the place for good, with its documents if its owner said so. The number is above every look's, so all
// items are missing from it.
func (l *look) remove(ctx context.Context) error {
	const all = 1 << 62 // after every look
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
