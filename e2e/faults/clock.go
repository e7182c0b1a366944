//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A program's clock can't be set for it alone from outside, so the program is built once more, with a package time
// whose wall clock can be off from some moment on. Its monotonic clock stays right, as it does on a machine whose
// clock is set.
//
// If a server compared its own clock with times that another one wrote, a clock an hour ahead would make every lease
// look over, and it would take the runs of others from them. docs/reliability.md promises that the database's clock
// alone decides. They are pieces of the source of Go's package time: what is looked for, what takes its place, and
// what is added at the end of the file.
const (
	clockBefore = "	sec, nsec, mono := runtimeNow()\n	if mono == 0 {\n		return Time{uint64(nsec), sec + " +
		"unixToInternal, Local}"
	clockAfter = "	sec, nsec, mono := runtimeNow()\n	if mono-startNano > offFrom {\n		sec += " +
		"offBy\n	}\n	if " +
		"mono == " +
		"0 {\n		return Time{uint64(nsec), sec + unixToInternal, Local}"
	clockRest = `
// FAULTS_CLOCK is OFF@FROM: by how many seconds the clock is off, and from which second of the program's life on.
var offBy, offFrom = func() (by, from int64) {
	setting, _ := syscall.Getenv("FAULTS_CLOCK")
	sign, at := int64(1), &by
	for _, c := range []byte(setting) {
		switch {
		case c == '-':
			sign = -1
		case c == '@':
			at = &from
		default:
			*at = *at*10 + int64(c-'0')
		}
	}
	return sign * by, from * 1e9
}()
`
)

// buildClock builds the program of this module with a clock that can be off.
//
// It needs a Go toolchain and the sources of this module, and compiles all anew, for package time is below everything.
// The toolchain's own files are left as they are: an overlay replaces one of them for this build. When a version of Go
// has changed the place, it fails and says so. dir gets the changed file and the program, whose path it returns.
func buildClock(ctx context.Context, dir string) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	root, module, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	source := filepath.Join(root, "src", "time", "time.go")
	raw, err := os.ReadFile(source)
	if err != nil {
		return "", err
	}
	text := string(raw)
	// Both have to be there exactly once, or the change would be somewhere else.
	if strings.Count(text, clockBefore) != 1 || strings.Count(text, "import (\n") != 1 {
		return "", errors.New("this version of Go keeps its clock elsewhere")
	}
	text = strings.Replace(text, clockBefore, clockAfter, 1)
	text = strings.Replace(text, "import (\n", "import (\n\t\"syscall\"\n", 1) + clockRest
	changed := filepath.Join(dir, "time.go")
	if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {source: changed}})
	if err != nil {
		return "", err
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "footnote-clock")
	build := exec.CommandContext(
		ctx, "go", "build", "-buildvcs=false", "-overlay", list, "-o", binary, "./cmd/footnote",
	)
	build.Dir = filepath.Dir(module)
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build with another clock: %w\n%s", err, out)
	}
	return binary, nil
}

// clockOff has one replica's clock jump while runs are under way. No replica may then take over a run of another that
// lives.
//
// by may be negative. The jump comes four seconds after the start of the replica's program. Both directions are tried:
// ahead, leases of others look over; back, its own look as if they lasted for ever.
func clockOff(binary string, by time.Duration) act {
	return func(ctx context.Context, g *rig, c *cell) error {
		c.unbroken = true
		r := g.replicas[2]
		right, env := r.binary, r.env
		r.killServer()
		// The slice is cut so that append copies it: r.env of before is used again.
		r.binary, r.env = binary, append(env[:len(env):len(env)], fmt.Sprintf("FAULTS_CLOCK=%d@4", int(by.Seconds())))
		if err := r.startServing(); err != nil {
			return err
		}
		err := underLoad(ctx, g, c, func() error {
			select {
			case <-time.After(25 * time.Second): // two looks at the others' runs after the jump
			case <-ctx.Done():
			}
			return nil
		})
		c.wg.Wait() // a run that the end of this replica breaks off would count
		r.killServer()
		r.binary, r.env = right, env
		return errors.Join(err, r.startServing())
	}
}
