package corpus

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/footnote/footnote/chat"
)

// numbered returns a new number for each reading of a version, and blocks each until the test ends it.
type numbered struct {
	Documents
	begun int64
	end   chan error
}

func (n *numbered) Version(context.Context, chat.Scope) (int64, error) {
	n.begun++
	number := n.begun
	return number, <-n.end
}

func TestConcurrentVersionRequestsShareRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		documents := &numbered{end: make(chan error)}
		l := &Library{cfg: Config{Documents: documents}}
		type outcome struct {
			version int64
			err     error
		}
		ask := func(ctx context.Context) <-chan outcome {
			done := make(chan outcome, 1)
			go func() {
				v, err := l.Version(ctx, chat.Local)
				done <- outcome{v, err}
			}()
			synctest.Wait()
			return done
		}
		first := ask(t.Context())
		impatient, leave := context.WithCancel(t.Context())
		left := ask(impatient)
		var later []<-chan outcome
		for range 10 {
			later = append(later, ask(t.Context()))
		}
		leave()
		if got := <-left; !errors.Is(got.err, context.Canceled) {
			t.Errorf("who left got %+v, want %v", got, context.Canceled)
		}
		documents.end <- nil
		if got := <-first; got != (outcome{1, nil}) {
			t.Errorf("the first got %+v", got)
		}
		synctest.Wait()
		last := ask(t.Context())
		documents.end <- nil
		for _, asked := range later {
			if got := <-asked; got != (outcome{2, nil}) {
				t.Errorf("who asked while the first reading was on its way got %+v, want the second", got)
			}
		}
		lost := errors.New("lost")
		documents.end <- lost
		if got := <-last; !errors.Is(got.err, lost) {
			t.Errorf("the last got %+v, want %v", got, lost)
		}
		if documents.begun != 3 {
			t.Errorf("%d readings, want 3", documents.begun)
		}
		if v, ok := l.versions.knownVersion(chat.LocalUser); v != 2 || !ok {
			t.Errorf("known is %d, %v; want 2", v, ok)
		}
	})
}
