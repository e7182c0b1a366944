package standing

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
)

type startFunc func(context.Context, string, chat.RunRequest) (chat.Run, bool, error)

func (f startFunc) Start(ctx context.Context, user string, req chat.RunRequest) (chat.Run, bool, error) {
	return f(ctx, user, req)
}

// keepFor keeps a question that its user wants asked now.
func (h *house) keepFor(user string) {
	h.Helper()
	if _, err := h.Chats.KeepStanding(h.Context(), chat.Scope{User: user}, chat.Standing{
		Request: chat.RunRequest{Message: "What is the rent?"}, Wanted: true, DueAt: time.Now(),
	}); err != nil {
		h.Fatal(err)
	}
}

func TestAQuestionDoesNotWaitForAnotherUsersQuestions(t *testing.T) {
	h := newHouse(t)
	begun, asked := make(chan struct{}, chat.MaxKept), make(chan struct{})
	for range chat.MaxKept {
		h.keepFor("many")
	}
	k := New(Config{Store: h.Chats, Library: h.Library, Runs: startFunc(
		func(ctx context.Context, user string, _ chat.RunRequest) (chat.Run, bool, error) {
			if user == "many" { // whose model does not answer
				begun <- struct{}{}
				<-ctx.Done()
				return chat.Run{}, false, ctx.Err()
			}
			close(asked)
			<-ctx.Done()
			return chat.Run{}, false, ctx.Err()
		})})
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { k.Run(ctx) })
	defer all.Wait()
	defer stop()
	<-begun
	h.keepFor("one")
	select {
	case <-asked:
	case <-time.After(20 * time.Second): // only a question that waits for others takes so long
		t.Error("the question was not asked beside another user's questions")
	}
}
