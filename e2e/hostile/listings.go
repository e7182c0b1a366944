//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/footnote/footnote/corpus/sources/placestest"
)

// listTime is the timeout of one sync. If the list has a hundred thousand items, their downloads are not awaited.
const listTime = 40 * time.Second

// listingCells sync a place of each kind whose server returns one hostile listing after another. Feeds and sitemaps
// may only be on the public internet, so corpus/sources/registry tests those.
func listingCells() []cell {
	shapes := map[string][]placestest.Hostile{}
	for _, h := range placestest.HostileListings(1) {
		if h.Kind != "feed" && h.Kind != "sitemap" {
			shapes[h.Kind] = append(shapes[h.Kind], h)
		}
	}
	var cells []cell
	for _, kind := range sortedKeys(shapes) {
		cells = append(cells, cell{name: "listing: " + kind, keys: true,
			act: func(ctx context.Context, s *site, r *result) (string, error) {
				return s.followListings(ctx, r, shapes[kind])
			}})
	}
	return cells
}

// followListings adds a place for each listing and removes it again. The outcome names the listing with the highest
// memory usage. The memory limit is checked for each, so that a failure names it.
func (s *site) followListings(ctx context.Context, r *result, listings []placestest.Hostile) (string, error) {
	pid, worst, failed := s.server.cmd.Process.Pid, "", 0
	for n, h := range listings {
		handler := h.Handler(1) // adding the place sends one request
		s.outside.listing.Store(&handler)
		if err := forgetPeak(pid); err != nil {
			return "", fmt.Errorf("set the peak of memory back: %w", err)
		}
		looking, cancel := context.WithTimeout(ctx, listTime)
		p, err := s.follow(looking, h.Kind, fmt.Sprintf("listing %d", n), h.Settings(s.outside.server.URL))
		cancel()
		refused := errors.Is(err, errTooLarge) // by the check before the first sync
		if err != nil && !refused && !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return "", fmt.Errorf("%s: the server was %d MiB above idle: %w", h.Shape,
				(memoryOf(pid, "VmHWM")-s.idle)>>20, errors.Join(err, ctx.Err()))
		}
		if refused || p.Failure != nil {
			failed++
		}
		peak := memoryOf(pid, "VmHWM")
		if above := peak - s.idle; above > mostAboveIdle {
			r.noteProblem("%s: the server's memory rose %d MiB above idle", h.Shape, above>>20)
		}
		if peak > r.peak {
			r.peak, worst = peak, h.Shape
		}
		if refused {
			continue
		}
		got, err := s.sendRequest(ctx, s.attack, http.MethodDelete, "/places/"+p.ID, "application/json", "", nil)
		if err != nil || got.status >= http.StatusBadRequest {
			return "", fmt.Errorf("%s: DELETE /places: status %d, %w: %s",
				h.Shape, got.status, err, clipBytes(got.body))
		}
	}
	return fmt.Sprintf("%d listings, %d refused; most memory for %s", len(listings), failed, worst), nil
}

// errTooLarge is the refusal of a place whose server sent too much when it was checked.
var errTooLarge = errors.New("the server of the place sends too much")

// follow adds a place, and returns it after its first sync. It polls every 100 ms until ctx ends. A server that
// died is an error.
func (s *site) follow(ctx context.Context, kind, name string, settings map[string]string) (place, error) {
	got, err := s.postJSON(ctx, s.attack, "/places", map[string]any{
		"kind": kind, "name": name, "schedule": "request", "settings": settings,
	})
	var p place
	if err == nil {
		err = json.Unmarshal(got.body, &p)
	}
	if got.status == http.StatusRequestEntityTooLarge {
		return p, errTooLarge
	}
	if err != nil || got.status != http.StatusCreated {
		return p, fmt.Errorf("follow %s: status %d, %w: %s", name, got.status, err, clipBytes(got.body))
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for p.LookedAt == "" {
		select {
		case <-ctx.Done():
			return p, ctx.Err()
		case <-s.server.ended:
			return p, errServerDied
		case <-tick.C:
		}
		if got, err = s.getPath(ctx, s.attack, "/places/"+p.ID, "application/json"); err == nil {
			err = json.Unmarshal(got.body, &p)
		}
		if err != nil {
			return p, err
		}
	}
	return p, nil
}
