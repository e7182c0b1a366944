//go:build linux

package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/corpus/milvus/milvustest"
	"github.com/footnote/footnote/sql/postgres/postgrestest"
)

// One pass through the faults that fit into a minute. "make faults" runs all of them.
func TestFaultSample(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "footnote")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", binary, "../../cmd/footnote")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // static, like a release
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	plans := []plan{{"kill -9 of a replica", func(ctx context.Context, g *rig, c *cell) error {
		return killReplicas(ctx, g, c, []failPoint{{at: atTool}, {events: 0}, {at: midAnswer}, {events: 3}}, 1,
			time.Minute)
	}}}
	for _, p := range append(dependencyPlans(), linkPlans()...) {
		switch p.name {
		case "SIGTERM, one replica after the other", "PostgreSQL restarted",
			"link to PostgreSQL: reset, during the answer", "link to Milvus: bandwidth 0, during a tool",
			"link to the model: slice, first turn":
			plans = append(plans, p)
		}
	}
	if len(plans) != 6 {
		t.Fatalf("%d cells, want 6", len(plans))
	}
	cells, err := tryPlans(t.Context(), binary, milvustest.Lite, plans, t.Logf, "FOOTNOTE_RUN_LEASE=4s")
	missing := errors.Is(err, milvustest.ErrMissing) || errors.Is(err, postgrestest.ErrMissing) ||
		errors.Is(err, os.ErrNotExist)
	if missing && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Error(err)
	}
	var table strings.Builder
	if failed := printReport(&table, cells); failed > 0 {
		t.Errorf("%d cells failed, want at most 0", failed)
	}
	t.Logf("\n%s", &table)
}
