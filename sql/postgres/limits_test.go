package postgres

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
)

func TestReplicasShareALimitToTheLastOne(t *testing.T) {
	t.Parallel()
	url := server.Schema(t)
	var replicas [2]*Chats
	for i := range replicas {
		db := openURL(t, url)
		replicas[i] = db.Chats()
		replicas[i].SetLimits(chat.Limits{chat.QuestionsPerMinute: 20, chat.SearchesPerMinute: 30})
	}
	for _, row := range []struct {
		what string
		do   func(c *Chats) error
		want int64
	}{
		{"questions", func(c *Chats) error {
			_, _, err := c.StartRun(t.Context(), "anna", chat.RunRequest{Message: "q"},
				chat.Lease{Owner: "one", Until: time.Now().Add(time.Hour)})
			return err
		}, 20},
		{"searches", func(c *Chats) error { return c.Spend(t.Context(), "anna", chat.ResourceSearches, 1) }, 30},
	} {
		var done atomic.Int64
		var group sync.WaitGroup
		for i := range 50 {
			group.Go(func() {
				err := row.do(replicas[i%2])
				if _, over := errors.AsType[*chat.OverLimit](err); err != nil && !over {
					t.Error(err)
				}
				if err == nil {
					done.Add(1)
				}
			})
		}
		group.Wait()
		if done.Load() != row.want {
			t.Errorf("%d of 50 %s passed at two replicas, want %d", done.Load(), row.what, row.want)
		}
	}
}
