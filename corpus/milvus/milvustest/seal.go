package milvustest

import (
	"context"
	"time"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
)

// Seal flushes the server's memory and waits until its vector index includes all data. It returns the time taken.
func (s *Server) Seal(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	c, err := client.NewClient(ctx, client.Config{Address: s.Address})
	if err != nil {
		return 0, err
	}
	defer c.Close()
	collections, err := c.ListCollections(ctx)
	if err != nil {
		return 0, err
	}
	for _, collection := range collections {
		if err := c.Flush(ctx, collection.Name, false); err != nil {
			return 0, err
		}
		for {
			total, indexed, err := c.GetIndexBuildProgress(ctx, collection.Name, "meaning")
			if err != nil {
				return 0, err
			}
			if total == indexed {
				break
			}
			select {
			case <-ctx.Done():
				return 0, ctx.Err()
			case <-time.After(200 * time.Millisecond):
			}
		}
	}
	return time.Since(began), nil
}
