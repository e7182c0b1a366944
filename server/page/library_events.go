package page

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/text/locale"
	"github.com/footnote/footnote/text/sse"
)

// libraryNews is the data of a "library" event.
type libraryNews struct {
	Seen      string `json:"seen"`      // for ?seen= of the next stream
	Documents string `json:"documents"` // their number, formatted for the menu
}

// LibraryEvents handles GET /documents/events. It streams a "library" event when the pages' view of the user's
// documents differs from ?seen= or the last event, and at every change while documents are processed. While nothing
// changes, the stream costs no store query. Without ?seen= it sends the current state and ends.
//
// Only the page's script calls it. The library wakes it, and it queries the store at most once in checkPause per
// stream.
func (h *Handlers) LibraryEvents(c httpio.Context) error {
	ctx, scope, told := c.Request().Context(), httpio.Scope(c), c.QueryParam("seen")
	changed := h.Library.Changes() // before the first query, so that no change is missed
	counts, seen, err := h.watchLibrary(ctx, scope)
	if err != nil {
		return err
	}
	out, leave, err := h.Streams.Open(c)
	if out == nil {
		return err
	}
	defer leave()
	for {
		// While documents are processed their progress changes, which the hash does not cover.
		if seen != told || counts.Working > 0 {
			told = seen
			body, err := json.Marshal(libraryNews{seen, locale.Digits(ctx, counts.Documents)})
			if err != nil {
				return err
			}
			if err := out.Send(sse.Append(nil, 0, "library", body)); err != nil {
				return nil
			}
		}
		if !c.QueryParams().Has("seen") {
			return nil
		}
		next := time.NewTimer(checkPause)
		if !httpio.Await(h.Streams, c, out, changed) || !httpio.Await(h.Streams, c, out, next.C) {
			next.Stop()
			return nil
		}
		changed = h.Library.Changes()
		if counts, seen, err = h.watchLibrary(ctx, scope); err != nil {
			return err
		}
	}
}

// watchLibrary counts a user's documents. seen is a hash that changes with every displayed change of them.
//
// It is opaque and only compared.
func (h *Handlers) watchLibrary(ctx context.Context, scope chat.Scope) (counts corpus.Counts, seen string, err error) {
	version, err := h.Library.KnownVersion(ctx, scope)
	if err != nil {
		return counts, "", err
	}
	if counts, err = h.Library.Count(ctx, scope); err != nil {
		return counts, "", err
	}
	seen = fmt.Sprintf("%d-%d-%d-%d-%d-%d-%d", version, counts.Documents, counts.Ready, counts.Failed, counts.Working,
		counts.Unembedded, h.Library.WatchedChanges())
	return counts, seen, nil
}
