//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/footnote/footnote/corpus/milvus/milvustest"
	"github.com/footnote/footnote/sql/postgres/postgrestest"
)

// The dependencies of a replica. They are the keys of replica.links and part of the rows' names.
const (
	onPostgres = "PostgreSQL"
	onMilvus   = "Milvus"
	onModel    = "the model"
)

// rig is three replicas behind nginx, on a real PostgreSQL and a real Milvus, each with its own links to its
// dependencies.
//
// Each replica has its own links, so that a single one can be cut off. It is immutable after newRig, except for
// state that replicas and links guard themselves.
type rig struct {
	dir      string
	binary   string
	log      func(format string, args ...any)
	postgres *postgrestest.Server
	milvus   *milvustest.Server
	outside  *outside
	replicas []*replica
	nginx    *process
	proxy    string // the URL of nginx
	links    []*link
	disk     string // the small disk of the originals; empty: none
}

// newRig starts all processes, with additional settings for each replica. close stops them; on error newRig does.
func newRig(
	ctx context.Context, binary string, kind milvustest.Kind, log func(string, ...any), more ...string,
) (_ *rig, err error) {
	g := &rig{binary: binary, log: log}
	// All processes are started in the order of their dependencies, and close stops those that exist.
	defer func() {
		if err != nil {
			err = errors.Join(err, g.close())
		}
	}()
	if g.dir, err = os.MkdirTemp("", "footnote-faults-*"); err != nil {
		return nil, err
	}
	if err := os.Chmod(g.dir, 0o755); err != nil {
		return nil, err
	}
	if g.postgres, err = postgrestest.StartOwn(ctx); err != nil {
		return nil, err
	}
	if g.milvus, err = milvustest.Start(ctx, kind); err != nil {
		return nil, err
	}
	if g.outside, err = startOutside(ctx); err != nil {
		return nil, err
	}
	if err := smallDisk(filepath.Join(g.dir, "originals")); err != nil {
		// Without root the cells of full disks are skipped.
		log("%v: the originals are on the machine's disk", err)
	} else {
		g.disk = filepath.Join(g.dir, "originals")
	}
	for i := range 3 {
		r, err := g.newReplica(ctx, i)
		if err != nil {
			return nil, err
		}
		r.env = append(r.env, more...)
		g.replicas = append(g.replicas, r)
		if err := r.startServing(); err != nil {
			return nil, err
		}
	}
	if g.nginx, g.proxy, err = startNginx(ctx, g.dir, g.replicas); err != nil {
		return nil, err
	}
	return g, nil
}

// newReplica prepares a replica with its links.
//
// PostgreSQL is reached by a socket, whose file must have the name that PostgreSQL's clients expect; the others by
// TCP. The tool has no link. Environment variables are not inherited, except PATH and the folder for temporary
// files: no real key may be used.
func (g *rig) newReplica(ctx context.Context, i int) (*replica, error) {
	r := &replica{life: ctx, binary: g.binary, dir: filepath.Join(g.dir, fmt.Sprint("data", i)), log: filepath.Join(
		g.dir, fmt.Sprintf("replica%d.log", i),
	), links: map[string]*link{}}
	var err error
	if r.addr, err = freeAddr(ctx); err != nil {
		return nil, err
	}
	sockets := filepath.Join(g.dir, fmt.Sprint("pg", i))
	if err := os.Mkdir(sockets, 0o700); err != nil {
		return nil, err
	}
	for _, l := range []struct{ on, network, addr, toNetwork, target string }{
		{onPostgres, "unix", filepath.Join(sockets, ".s.PGSQL.5432"), "unix", g.postgres.Socket()},
		{onMilvus, "tcp", "127.0.0.1:0", "tcp", g.milvus.Address},
		{onModel, "tcp", "127.0.0.1:0", "tcp", g.outside.addr},
	} {
		made, err := newLink(ctx, l.network, l.addr, l.toNetwork, l.target)
		if err != nil {
			return nil, err
		}
		r.links[l.on] = made
		g.links = append(g.links, made)
	}
	r.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "TMPDIR=" + os.TempDir(), "FOOTNOTE_LOG_LEVEL=info",
		"DATABASE_URL=postgres://postgres@/postgres?host=" + url.QueryEscape(sockets),
		"FOOTNOTE_LIMITS_DISK_RESERVE_MIB=0", // the disks to fill are smaller than the reserve
		"FOOTNOTE_BLOBS=file://" + filepath.Join(g.dir, "originals"),
		"MILVUS_ADDRESS=" + r.links[onMilvus].addr,
		"OPENAI_BASE_URL=http://" + r.links[onModel].addr + "/v1", "OPENAI_API_KEY=faults", "OPENAI_MODEL=scripted",
		"OPENAI_EMBEDDING_MODEL=hash",
		`FOOTNOTE_MCP_SERVERS={"ledger":{"url":"http://` + g.outside.addr + `/mcp","approve":"never"}}`,
	}
	return r, nil
}

// disturbLinks injects a fault into the links of all replicas to one dependency. It continues after an error, and
// returns all.
func (g *rig) disturbLinks(on string, f fault) error {
	var errs []error
	for _, r := range g.replicas {
		errs = append(errs, r.links[on].setFault(f))
	}
	return errors.Join(errs...)
}

// waitCalm waits until every replica is healthy: a run on each uses the tool, and each runs a semantic search. The
// timeout is two minutes in all. A lasting failure is detected here, and ends the whole run of cells.
func (g *rig) waitCalm(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for _, r := range g.replicas {
		for {
			probe := newCell("probe")
			a, err := probe.askQuestion(ctx, g, r.baseURL(), nil, nil)
			if err != nil {
				return fmt.Errorf("%s does not work any more: %w", r.addr, err)
			}
			<-a.over
			if g.outside.countEffects(a.key) == 1 && a.status == "completed" && g.byMeaning(ctx, r.baseURL()) {
				break
			}
			select {
			case <-time.After(300 * time.Millisecond):
			case <-ctx.Done():
				return fmt.Errorf(
					"%s does not recover: its last run ended as %q after %d uses of the tool", r.addr, a.status,
					g.outside.countEffects(a.key),
				)
			}
		}
	}
	return nil
}

// byMeaning reports whether semantic search works. Only the status is checked.
func (g *rig) byMeaning(ctx context.Context, base string) bool {
	status, _, err := sendRequest(ctx, http.MethodPost, base+"/search", "application/json", []byte(
		`{"query":"slates on the roof","mode":"semantic"}`,
	), "")
	return err == nil && status == http.StatusOK
}

// close kills the replicas first, then their proxy and dependencies, and removes the directory. It may be called on
// a partially started rig.
func (g *rig) close() error {
	for _, r := range g.replicas {
		r.killServer()
	}
	if g.nginx != nil {
		g.nginx.killProcess()
	}
	for _, l := range g.links {
		l.close()
	}
	if g.outside != nil {
		g.outside.close()
	}
	var errs []error
	if g.disk != "" {
		errs = append(errs, unix.Unmount(g.disk, unix.MNT_DETACH))
	}
	if g.milvus != nil {
		errs = append(errs, g.milvus.Close())
	}
	if g.postgres != nil {
		errs = append(errs, g.postgres.Stop())
	}
	return errors.Join(append(errs, os.RemoveAll(g.dir))...)
}
