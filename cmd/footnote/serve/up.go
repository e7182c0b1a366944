package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"sync"

	"github.com/footnote/footnote/cmd/footnote/command"
	"github.com/footnote/footnote/cmd/footnote/datadir"
	"github.com/footnote/footnote/cmd/footnote/remote"
	"github.com/footnote/footnote/cmd/footnote/watch"
)

// Up serves, follows folders and opens the page. It is the first command for a new user.
type Up struct {
	Dirs   []string `arg:"" optional:"" name:"dir" help:"Folders to sync with the library." type:"path"`
	NoOpen bool     `help:"Do not open the browser."`
}

// Run serves and also follows the given folders. If a server uses the data directory already, it opens that
// server's page and follows the folders for it.
func (c *Up) Run(p *command.Program) error {
	for _, dir := range c.Dirs { // before any start
		if err := watch.Check(dir); err != nil {
			return err
		}
	}
	set := *p.Settings
	set.Watch = append(append([]string{}, set.Watch...), c.Dirs...)
	own := *p
	own.Settings = &set
	err := serveWith(&own, func(url string) { c.open(p, url) })
	busy, ok := errors.AsType[*datadir.InUse](err)
	if !ok || busy.URL == "" {
		return err
	}
	fmt.Fprintf(p.Stdout, "Footnote is already running at %s\n", busy.URL)
	c.open(p, busy.URL)
	return c.followFor(p, &remote.Server{URL: busy.URL, Key: string(set.APIKey)})
}

// followFor follows the folders for a running server until the program is stopped. A folder that can't be opened is
// an error.
func (c *Up) followFor(p *command.Program, server *remote.Server) error {
	log := slog.New(slog.NewTextHandler(p.Stderr, &slog.HandlerOptions{Level: slog.LevelInfo}))
	var all sync.WaitGroup
	for _, dir := range c.Dirs {
		folder, err := watch.Open(p.Settings, dir, server, log)
		if err != nil {
			return err
		}
		all.Go(func() {
			folder.Until(p.Ctx)
			_ = folder.Close() // it was only read
		})
	}
	all.Wait()
	return nil
}

// open opens the page, unless it is disabled or the machine has no screen. It does not wait for the browser.
func (c *Up) open(p *command.Program, url string) {
	command := browserCommand(url)
	if c.NoOpen || command == nil {
		fmt.Fprintf(p.Stdout, "Open %s in a browser.\n", url)
		return
	}
	browser := exec.CommandContext(context.WithoutCancel(p.Ctx), command[0], command[1:]...) // it outlives the server
	if err := browser.Start(); err != nil {
		fmt.Fprintf(p.Stdout, "Open %s in a browser.\n", url)
		return
	}
	go func() { _ = browser.Wait() }() // it ends when the browser is open; the user sees a failure
}

// browserCommand returns the command that opens a URL in the user's browser. It is nil without a screen or a known
// command.
func browserCommand(url string) []string {
	switch runtime.GOOS {
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler", url}
	case "darwin":
		return []string{"open", url}
	case "linux", "freebsd", "openbsd", "netbsd":
		if os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != "" {
			return []string{"xdg-open", url}
		}
	}
	return nil
}
