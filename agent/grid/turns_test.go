package grid

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
)

// keepFor keeps a table of one cell that is due.
func (h *house) keepFor(user string) chat.Grid {
	h.Helper()
	g, err := h.Chats.KeepGrid(h.Context(), chat.Scope{User: user}, chat.Grid{
		Name: "g", State: chat.GridFilling, MaxTokens: chat.GridTokens, DueAt: time.Now(),
		Columns: []chat.GridColumn{{Name: "Rent"}}, Rows: []chat.GridRow{{DocumentID: "d", Title: "Lease"}},
	})
	if err != nil {
		h.Fatal(err)
	}
	return g
}

// run has a filler work until the test ends.
func (h *house) run(f *Filler) {
	ctx, stop := context.WithCancel(h.Context())
	var all sync.WaitGroup
	all.Go(func() { f.Run(ctx) })
	h.Cleanup(func() { stop(); all.Wait() })
}

func TestATableDoesNotWaitForAnotherUsersTables(t *testing.T) {
	h := newHouse(t)
	begun, asked := make(chan struct{}, chat.MaxGrids), make(chan struct{})
	for range chat.MaxGrids {
		h.keepFor("many")
	}
	f := h.another(startFunc(func(ctx context.Context, user string, _ chat.RunRequest) (chat.Run, bool, error) {
		if user == "many" { // whose model does not answer
			begun <- struct{}{}
			<-ctx.Done()
			return chat.Run{}, false, ctx.Err()
		}
		close(asked)
		return chat.Run{}, false, &chat.Error{Code: chat.CodeNotFound, Message: "There is no such document."}
	}))
	h.run(f)
	<-begun
	h.keepFor("one")
	select {
	case <-asked:
	case <-time.After(20 * time.Second): // only a table that waits for others takes so long
		t.Error("the table of one cell was not asked beside another user's tables")
	}
}
