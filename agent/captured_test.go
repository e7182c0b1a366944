package agent

import (
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

func TestCapturedPagesGoWithTheirConversation(t *testing.T) {
	t.Parallel()
	in := newInternet(t)
	h := newHouse(t, scripted.New(webCall(), says(slateAnswer)), in.withWeb(false))
	run := h.ask(onTheWeb("How long does a slate roof last?"))
	cite := h.wait(run.ID).answer().Citations[0]
	purge := func() {
		t.Helper()
		if _, err := h.store.Purge(t.Context(), time.Now().Add(time.Minute), time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	purge()
	if _, err := h.library.Document(t.Context(), chat.Local, cite.DocumentID); err != nil {
		t.Fatalf("the page of a conversation that is there: %v, want no error", err)
	}
	if err := h.store.DeleteSession(t.Context(), chat.Local, run.SessionID); err != nil {
		t.Fatal(err)
	}
	purge()
	if _, err := h.library.Document(t.Context(), chat.Local, cite.DocumentID); err == nil ||
		chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("the page of one that was removed: %v, want %v", err, chat.CodeNotFound)
	}
}
