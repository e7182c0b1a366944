package main

import (
	"context"
	"net/url"
	"time"
)

// waitEmbedded waits until every document has its vectors. It asks every half a second. A document whose vectors fail
// for good would be waited for until ctx ends.
func waitEmbedded(ctx context.Context, server *process) error {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		_, left, err := tallyPassages(ctx, server)
		if err != nil || left == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// tallyPassages counts the passages of the library, and the documents that have no vectors yet. It reads the list page
// by page, a thousand documents each.
func tallyPassages(ctx context.Context, server *process) (passages, left int, err error) {
	for cursor := ""; ; {
		var list struct {
			Documents []struct {
				Passages int    `json:"passages"`
				Semantic string `json:"semantic"`
			} `json:"documents"`
			Next string `json:"next"`
		}
		if err := getJSON(ctx, server, "/documents?limit=1000&cursor="+url.QueryEscape(cursor), &list); err != nil {
			return 0, 0, err
		}
		for _, d := range list.Documents {
			passages += d.Passages
			if d.Semantic != "ready" {
				left++
			}
		}
		if cursor = list.Next; cursor == "" {
			return passages, left, nil
		}
	}
}
