//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"slices"
	"time"
)

const (
	turnRows    = 500             // documents of the attacker, the maximum of a table's rows
	turnTables  = 40              // of 12 columns: 240,000 cells
	turnTries   = 5               // tables of one cell, sequential
	mostForCell = 2 * time.Second // limit for each of them
)

// noLimits disables the limits of each user that would stop the attack.
var noLimits = []string{
	"FOOTNOTE_LIMITS_RUNS_AT_ONCE=0", "FOOTNOTE_LIMITS_QUESTIONS_PER_MINUTE=0", "FOOTNOTE_LIMITS_QUESTIONS_PER_DAY=0",
	"FOOTNOTE_LIMITS_FILES_PER_DAY=0",
}

// turnCells fill 240,000 cells of one user and then a table of one cell of another, with the default limits and
// without.
func turnCells() []cell {
	return []cell{
		{name: "turns: tables of 240,000 cells", keys: true, act: floodTables},
		{name: "turns: tables of 240,000 cells, no limits", keys: true, env: noLimits, act: floodTables},
	}
}

// floodTables fills the attacker's tables and measures the latency of a third user's tables of one cell. The
// bystander is not that user: tables have a lower priority than its questions.
func floodTables(ctx context.Context, s *site, _ *result) (string, error) {
	third, err := newKey(ctx, s.binary, s.data, "third", s.env)
	if err != nil {
		return "", err
	}
	if err := s.uploadNotes(ctx, turnRows); err != nil {
		return "", err
	}
	if d, err := s.uploadFile(ctx, third, "warranty.md", []byte(warranty)); err != nil || d.State != "ready" {
		return "", fmt.Errorf("the third user's document is %s: %w", d.State, err)
	}
	var columns []map[string]any
	for i := range 12 {
		columns = append(columns, map[string]any{"name": fmt.Sprintf("Warranty %d", i)})
	}
	for i := range turnTables {
		got, err := s.postJSON(ctx, s.attack, "/agent/table", map[string]any{"columns": columns})
		if err != nil || got.status != http.StatusCreated {
			return "", fmt.Errorf("table %d: status = %d, %w: %s", i, got.status, err, clipBytes(got.body))
		}
	}
	var took []time.Duration
	for range turnTries {
		begun := time.Now()
		if err := s.fillOneCell(ctx, third); err != nil {
			return "", fmt.Errorf("after %v: %w", time.Since(begun).Round(time.Millisecond), err)
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	outcome := fmt.Sprintf("one cell of another user in %d ms (median), %d ms (worst)",
		took[len(took)/2].Milliseconds(), took[len(took)-1].Milliseconds())
	if worst := took[len(took)-1]; worst > mostForCell {
		return outcome, fmt.Errorf("a cell took %v, want at most %v", worst, mostForCell)
	}
	return outcome, nil
}

// uploadNotes adds n small documents of the attacker and waits until all are ready.
func (s *site) uploadNotes(ctx context.Context, n int) error {
	for from := 0; from < n; from += 50 {
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		for i := from; i < min(from+50, n); i++ {
			part, err := form.CreateFormFile("files", fmt.Sprintf("note-%d.md", i))
			if err == nil {
				_, err = fmt.Fprintf(part, "# Note %d\n\nThe warranty of boiler %d ends after %d years.\n", i, i, i)
			}
			if err != nil {
				return err
			}
		}
		if err := form.Close(); err != nil {
			return err
		}
		got, err := s.sendRequest(ctx, s.attack, http.MethodPost, "/documents", "application/json",
			form.FormDataContentType(), &body)
		if err != nil || got.status >= 300 {
			return fmt.Errorf("add notes: status = %d, %w: %s", got.status, err, clipBytes(got.body))
		}
		var said added
		if err := json.Unmarshal(got.body, &said); err != nil {
			return err
		}
		for _, d := range said.Documents {
			if _, err := s.waitSettled(ctx, s.attack, d.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// fillOneCell creates a table of one cell and waits until it is filled. The timeout is a minute.
func (s *site) fillOneCell(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	made, err := s.postJSON(ctx, key, "/agent/table", map[string]any{
		"columns": []any{map[string]any{"name": "Warranty"}},
	})
	if err != nil || made.status != http.StatusCreated {
		return fmt.Errorf("make a table: status = %d, %w: %s", made.status, err, clipBytes(made.body))
	}
	var table struct{ ID, State string }
	if err := json.Unmarshal(made.body, &table); err != nil {
		return err
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for table.State == "filling" {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("the cell is not filled: %w", ctx.Err())
		}
		got, err := s.getPath(ctx, key, "/tables/"+table.ID, "application/json")
		if err != nil {
			return fmt.Errorf("read the table: %w", err)
		}
		if err := json.Unmarshal(got.body, &table); err != nil {
			return err
		}
	}
	return nil
}
