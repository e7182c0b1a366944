//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A few cells of each family, which fit into a minute. "make hostile" runs all of them.
func TestAttackSample(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "footnote")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", binary, "../../cmd/footnote")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // static, like a release
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	sample := []string{
		"file: Markdown table, 20,000 columns × 20,000 rows",
		"file: Markdown, 1 MiB of tiny paragraphs",
		"file: HTML, 2 MiB of open elements",
		"file: PDF, forms in forms: 6 levels × 10 calls",
		"reader: killed as it starts",
		"picture, a note of forms in forms: 12 levels × 10 calls",
		"answer: a table of 500 × 500",
		"answer: a table of 2,000 × 2,000",
		"answer: brackets",
		"context: tiny paragraphs",
		"title: elements and scripts",
		"tool output: 64 MiB",
		"page: a page that unpacks without end",
		"page: a way to this machine",
		"flood: 100 slow questions of one user",
		"flood: 200 slow readers of a text of 20 MiB",
		"program: what no program should send",
		"place: addresses of the inside",
		"place: what no form should send",
		"place: files with names that hurt",
	}
	passes(t, binary, false, sample)
	passes(t, binary, true, []string{"file: text, 20 MiB of different words"}) // the largest index for its size
}

// passes fails the test unless the cells of the given names pass, with PostgreSQL or without.
func passes(t *testing.T, binary string, withPostgres bool, sample []string) {
	t.Helper()
	var chosen []cell
	for _, c := range allCells() {
		if slices.Contains(sample, c.name) {
			chosen = append(chosen, c)
		}
	}
	if len(chosen) != len(sample) {
		t.Fatalf("found %d cells of the sample, want %d", len(chosen), len(sample))
	}
	results, err := tryCells(t.Context(), binary, withPostgres, chosen, t.Logf)
	if err != nil {
		t.Errorf("the sample ended early: %v, want no error", err)
	}
	var table strings.Builder
	if failed := printReport(&table, results); failed > 0 {
		t.Errorf("%d cells failed, want 0", failed)
	}
	t.Logf("\n%s", &table)
}
