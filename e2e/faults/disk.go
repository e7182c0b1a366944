//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// diskBytes is the size of the disk, enough for one cell's data. The value is arbitrary.
const diskBytes = 64 << 20

// smallDisk mounts an in-memory file system of diskBytes at dir. It requires root. A separate file system can be
// filled without affecting the machine's own.
func smallDisk(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", diskBytes)); err != nil {
		return fmt.Errorf("a small disk needs root: %w", err)
	}
	return nil
}

// fillDisk fills the disk at dir completely, and returns a function that frees it. It writes smaller and smaller
// chunks until not one byte fits. free removes only the filler.
func fillDisk(dir string) (free func() error, err error) {
	name := filepath.Join(dir, "filler")
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for piece := 1 << 20; piece > 0; {
		if _, err := f.Write(make([]byte, piece)); errors.Is(err, unix.ENOSPC) {
			piece /= 2
		} else if err != nil {
			return nil, err
		}
	}
	return func() error { return os.Remove(name) }, nil
}

// aloneRig returns a rig of one process with all data in its data directory, on a small disk.
//
// It has the model and the tools of g, but not PostgreSQL and Milvus: their settings are removed from the first
// replica's. Model and tools have no links, since link faults are for replicas. proxy is the process itself.
func (g *rig) aloneRig(ctx context.Context) (*rig, error) {
	r := &replica{life: ctx, binary: g.binary, dir: filepath.Join(g.dir, "alone", "data"), log: filepath.Join(
		g.dir, "alone.log",
	), links: map[string]*link{}}
	var err error
	if r.addr, err = freeAddr(ctx); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return nil, err
	}
	for _, setting := range g.replicas[0].env {
		switch name, _, _ := strings.Cut(setting, "="); name {
		case "DATABASE_URL", "MILVUS_ADDRESS", "FOOTNOTE_BLOBS", "OPENAI_BASE_URL":
		default:
			r.env = append(r.env, setting)
		}
	}
	r.env = append(r.env, "OPENAI_BASE_URL=http://"+g.outside.addr+"/v1")
	return &rig{
		dir: g.dir, binary: g.binary, log: g.log, outside: g.outside, replicas: []*replica{r}, proxy: r.baseURL(),
	}, nil
}

// byItself runs an act on a single process with all data in its data directory, beside the replicas.
//
// With disk, its data directory is a small disk. The database is removed at the end, so that the next cell starts
// with an empty one. do gets a rig whose only replica is that process.
func byItself(disk bool, do act) act {
	return func(ctx context.Context, g *rig, c *cell) (err error) {
		one, err := g.aloneRig(ctx)
		if err != nil {
			return err
		}
		r := one.replicas[0]
		if disk {
			if err := smallDisk(r.dir); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, unix.Unmount(r.dir, unix.MNT_DETACH)) }()
		}
		if err := r.startServing(); err != nil {
			return err
		}
		defer func() {
			r.killServer()
			err = errors.Join(err, os.RemoveAll(filepath.Join(r.dir, "footnote.db")))
		}()
		if err := one.stockLibrary(ctx); err != nil {
			return err
		}
		err = do(ctx, one, c)
		c.wg.Wait() // before it ends
		return err
	}
}

// diskFull fills the disk under load, checks the remaining functions, and frees it again.
//
// dir selects the disk. While it is full, an upload must be refused with the code disk_full, and a lexical search
// must still return results, since reads need no space. With questions, a question must be refused with 507 as
// well; that is for one process whose database is on that disk. Once the disk has space again, all operations must
// recover without a restart, which underLoad waits for.
func diskFull(dir func(*rig) string, questions bool) act {
	return func(ctx context.Context, g *rig, c *cell) error {
		if dir(g) == "" {
			return errors.New("there is no small disk to fill, which needs root")
		}
		return underLoad(ctx, g, c, func() error {
			free, err := fillDisk(dir(g))
			if err != nil {
				return err
			}
			// A file of 800 KB is far larger than any remaining space.
			defer free() //nolint:errcheck // it is freed below; this is for errors
			body, contentType, err := uploadForm(
				"full", strings.Repeat("This file comes while the disk is full.\n", 20_000),
			)
			if err != nil {
				return err
			}
			status, answer, err := sendRequest(ctx, http.MethodPost, g.proxy+"/documents", contentType, body, "")
			if err != nil || !strings.Contains(string(answer), `"disk_full"`) {
				c.noteProblem("an upload to the full disk: %d %.300s %v", status, answer, err)
			}
			if questions {
				status, answer, err := sendRequest(ctx, http.MethodPost, g.proxy+"/chat", "application/json", []byte(
					`{"message":"Is there room?"}`,
				), "")
				if err != nil || status != http.StatusInsufficientStorage {
					c.noteProblem("a question on the full disk: %d %.300s %v", status, answer, err)
				}
			}
			status, answer, err = sendRequest(ctx, http.MethodPost, g.proxy+"/search", "application/json", []byte(
				`{"query":"slates","mode":"lexical"}`,
			), "")
			if err != nil || status != http.StatusOK || !strings.Contains(string(answer), "slates") {
				c.noteProblem("a search on the full disk: %d %.300s %v", status, answer, err)
			}
			time.Sleep(3 * time.Second) // runs in flight are affected
			return free()
		})
	}
}

// originalsOf returns the small disk of the replicas' shared originals. It is empty without root.
func originalsOf(g *rig) string { return g.disk }
