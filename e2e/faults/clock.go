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

// A process can't have its own clock from outside, so the program is built again with a modified package time. Its
// wall clock is wrong from some moment on. Its monotonic clock stays right, like on a machine whose clock is set.
//
// If a server compared its own clock with another's timestamps, a fast clock would make every lease look expired.
// It would take over the runs of others. docs/reliability.md guarantees that only the database's clock is used.
// These are parts of the source of Go's package time: the text to search for, its replacement, and the code to
// append.
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

// buildClock builds this module's program with a clock that can be wrong.
//
// It requires a Go toolchain and the sources of this module, and compiles everything, since all packages depend on
// package time. The toolchain's own files stay unchanged: an overlay replaces one of them for this build. If a new
// Go version has changed the code, it fails with an error. The modified file and the program are written to dir; it
// returns the program's path.
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
	// Both must match exactly once, or the change would be in the wrong place.
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

// clockOff makes one replica's clock jump during runs. No replica may then take over a run of a live one.
//
// by may be negative. The jump is four seconds after the program's start. Both directions are tested: with a fast
// clock, leases of others look expired; with a slow one, its own seem to last for ever.
func clockOff(binary string, by time.Duration) act {
	return func(ctx context.Context, g *rig, c *cell) error {
		c.unbroken = true
		r := g.replicas[2]
		right, env := r.binary, r.env
		r.killServer()
		// The slice's capacity is limited so that append copies it: the original r.env is used again.
		r.binary, r.env = binary, append(env[:len(env):len(env)], fmt.Sprintf("FAULTS_CLOCK=%d@4", int(by.Seconds())))
		if err := r.startServing(); err != nil {
			return err
		}
		err := underLoad(ctx, g, c, func() error {
			select {
			case <-time.After(25 * time.Second): // two checks of the others' runs after the jump
			case <-ctx.Done():
			}
			return nil
		})
		c.wg.Wait() // a run interrupted by this replica's end would count
		r.killServer()
		r.binary, r.env = right, env
		return errors.Join(err, r.startServing())
	}
}
