//go:build linux

package main

import (
	"context"
	"errors"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// inBucket stores the originals in a bucket, kills a replica, and then disconnects the storage for a while.
//
// There are two faults in a row: a replica is killed while it streams an answer, and then the storage refuses
// connections for four seconds. An upload must wait for the storage or be refused, and an accepted document must
// become complete later. An original that is only on a replica's own disk, or an upload that is confirmed before
// the bucket has it, would leave an incomplete document.
//
// The bucket is in this process, in memory, behind a link. All replicas are restarted with other settings, and at
// the end with their original ones.
func inBucket(ctx context.Context, g *rig, c *cell) error {
	backend := s3mem.New()
	if err := backend.CreateBucket("originals"); err != nil {
		return err
	}
	storage := httptest.NewServer(gofakes3.New(backend).Server())
	defer storage.Close()
	// The link is between all three replicas and the storage, so one fault applies to all.
	wire, err := newLink(ctx, "tcp", "127.0.0.1:0", "tcp", strings.TrimPrefix(storage.URL, "http://"))
	if err != nil {
		return err
	}
	defer wire.close()
	before := make([][]string, len(g.replicas))
	// Their original settings, by index.
	for i, r := range g.replicas {
		before[i] = r.env
		r.env = append(slices.DeleteFunc(
			slices.Clone(r.env), func(s string) bool { return strings.HasPrefix(s, "FOOTNOTE_BLOBS=") },
		),
			"FOOTNOTE_BLOBS=s3://originals?region=us-east-1&endpoint=http://"+wire.addr, "AWS_ACCESS_KEY_ID=key",
			"AWS_SECRET_ACCESS_KEY=secret")
		if err := r.restartInOrder(ctx); err != nil {
			return err
		}
	}
	err = underLoad(ctx, g, c, func() error {
		if err := c.killOne(ctx, g); err != nil {
			return err
		}
		if err := wire.setFault(refused); err != nil {
			return err
		}
		select {
		case <-time.After(4 * time.Second): // uploads wait for it
		case <-ctx.Done():
		}
		return wire.setFault(fine)
	})
	c.wg.Wait() // all documents are complete while their originals can be read
	for i, r := range g.replicas {
		r.env = before[i]
		err = errors.Join(err, r.restartInOrder(ctx))
	}
	return err
}
