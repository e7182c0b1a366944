package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"sync"

	"footnote/cmd/footnote/datadir"
	"footnote/watch"
)

// upCommand serves, follows folders and opens the page.
type upCommand struct {
	Dirs   []string `arg:"" optional:"" name:"dir" help:"Folders to keep the library like." type:"path"`
	NoOpen bool     `help:"Leave the browser alone."`
}

// Run is serve with the folders among those that it follows. Where a server has the data directory already, its page is
// opened, and the folders are followed for it.
func (c *upCommand) Run(p *program) error {
	for _, dir := range c.Dirs { // before anything starts
		folder, err := watch.OpenFolder(dir)
		if err != nil {
			return err
		}
		if err := folder.Close(); err != nil {
			return err
		}
	}
	set := *p.settings
	set.Watch = append(append([]string{}, set.Watch...), c.Dirs...)
	own := *p
	own.settings = &set
	err := own.serve(func(url string) { c.open(p, url) })
	busy, ok := errors.AsType[*datadir.InUse](err)
	if !ok || busy.URL == "" {
		return err
	}
	fmt.Fprintf(p.stdout, "Footnote serves %s already\n", busy.URL)
	c.open(p, busy.URL)
	return c.followFor(p, &remote{url: busy.URL, key: string(set.APIKey)})
}

// followFor follows the folders for a server that runs, until the program is stopped.
func (c *upCommand) followFor(p *program, server *remote) error {
	log := slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelInfo}))
	var all sync.WaitGroup
	for _, dir := range c.Dirs {
		folder, err := openFolder(p.settings, dir)
		if err != nil {
			return err
		}
		f := newFolderWatch(folder, server, p.settings.WatchNamespace, p.settings.MaxUploadMiB, log)
		all.Go(func() {
			f.followUntil(p.ctx)
			_ = folder.Close() // it was only read
		})
	}
	all.Wait()
	return nil
}

// open opens the page, unless that is not wanted or nobody sits at this machine.
func (c *upCommand) open(p *program, url string) {
	command := browserCommand(url)
	if c.NoOpen || command == nil {
		fmt.Fprintf(p.stdout, "Open %s in a browser.\n", url)
		return
	}
	browser := exec.CommandContext(context.WithoutCancel(p.ctx), command[0], command[1:]...) // it outlives the server
	if err := browser.Start(); err != nil {
		fmt.Fprintf(p.stdout, "Open %s in a browser.\n", url)
		return
	}
	go func() { _ = browser.Wait() }() // ends with the process that opens the browser; how it ended is seen
}

// browserCommand is what opens an address in the user's browser; nil: there is no screen, or no such command is known.
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
