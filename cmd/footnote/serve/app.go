// Package serve runs the server: the parts of the program with the pages and the API, from the claim of the data
// directory to the last write.
//
// It owns every goroutine of a server and stops them in order: first the sync of folders and places, then requests
// and runs, then the library, and the stores last. [Start] runs a server for a single command.
package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/cmd/footnote/access"
	"github.com/footnote/footnote/cmd/footnote/command"
	"github.com/footnote/footnote/cmd/footnote/datadir"
	"github.com/footnote/footnote/cmd/footnote/release"
	"github.com/footnote/footnote/cmd/footnote/settings"
	"github.com/footnote/footnote/cmd/footnote/watch"
	"github.com/footnote/footnote/cmd/footnote/wire"
	"github.com/footnote/footnote/docs"
	"github.com/footnote/footnote/server"
	"github.com/footnote/footnote/server/api"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/modelchoice"
	"github.com/footnote/footnote/text/locale"
)

// app is a complete Footnote: all parts, and the server that handles requests with them. close stops all of it;
// serveUntil calls it itself.
type app struct {
	*wire.Parts
	server  *server.Server
	folders []*watch.Folder  // in the settings
	chosen  *watch.FolderSet // chosen on the page; nil: the choice is disabled
}

// newApp creates all parts and the server on a claimed directory. Only the store's writer runs yet.
func newApp(
	ctx context.Context, set *settings.Settings, built release.Info, dir *datadir.Dir, log *slog.Logger,
) (_ *app, err error) {
	a := &app{}
	if a.Parts, err = wire.Open(ctx, set, built.Version, dir, log); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close())
		}
	}()
	if a.Stores.Exclusive { // the only server of its library
		a.chosen = watch.NewFolderSet(set, a.Library, dir, log)
	}
	samples, err := fs.Sub(docs.Handbook, "handbook")
	if err != nil {
		return nil, err
	}
	gather := func(ctx context.Context, user string, req chat.RunRequest, most int) (api.Gathered, error) {
		g, err := a.Runs.Gather(ctx, user, req, most)
		return api.Gathered(g), err
	}
	a.server, err = server.New(server.Config{ //nolint:contextcheck // each request has its own
		Keys: a.Keys, Grants: a.Grants, UserLimits: set.UserLimits(),
		Scheduler: a.Scheduler, Webhooks: a.Webhooks, Tables: a.Tables,
		Gather: gather, GatherAlone: !set.AgentFallbackToFixedPipeline, FallbackScore: set.AgentFallbackMinScore,
		Checker: a.Checker(set),
		Rules:   a.Runs.Rules, Stats: a.Runs.Stats,
		Store: a.Stores.Chats, Feed: a.Feed, Library: a.Library, Runs: a.Runs, Log: log,
		Version: built.Version, Commit: built.Commit, Date: built.Date,
		Places: a.Places, Pages: wire.PagesNet(set), Models: a.Runs.Models, ModelChooser: a.modelChoice(set),
		Folders:  a.chosen.Choice(),
		Toolsets: a.Runs.Toolsets(), KeepDays: set.SessionKeepDays,
		Samples: samples, Hosts: set.AllowedHosts, Origins: set.AllowedOrigins, Checks: a.HealthChecks(set),
		Limits: httpio.Limits{UploadFile: int64(set.MaxUploadMiB) << 20},
	})
	if err == nil {
		a.LocalUserAlone = a.server.LocalUserAlone
	}
	return a, err
}

// modelChoice allows the choice of a model only for the single server of a library. Several servers with one
// database would each answer with another model.
func (a *app) modelChoice(set *settings.Settings) modelchoice.Chooser {
	if !a.Stores.Exclusive {
		return modelchoice.Chooser{}
	}
	return modelchoice.Chooser{Find: a.Switcher.Find, Choose: a.Switcher.Choose, Operators: set.Operators}
}

// serveUntil handles requests and runs the background work until ctx ends, then shuts down in order: streams, runs,
// library, stores.
//
// All goroutines that it starts end with it. drainTime is the timeout of the whole shutdown. If other servers share
// the database, streams are closed at once and runs are handed over; otherwise runs may finish within the timeout.
// It returns the first error, and nil for an orderly shutdown.
func (a *app) serveUntil(ctx context.Context, listener net.Listener) (err error) {
	defer func() { err = errors.Join(err, a.close()) }()
	work, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	g, failed := errgroup.WithContext(work)
	following, stopFollowing := context.WithCancel(failed)
	defer context.AfterFunc(ctx, stopFollowing)() // before requests are refused
	a.server.ListenOn(listener.Addr())            // before requests are sent on behalf of users
	g.Go(func() error { return a.server.Serve(listener) })
	g.Go(func() error { a.Runs.KeepLeases(work); return nil })
	g.Go(func() error { return a.Library.Run(work) })
	g.Go(func() error { a.Keys.Run(work); return nil })
	g.Go(func() error { a.Grants.Run(work); return nil })
	g.Go(func() error { a.Scheduler.Run(following); return nil })
	g.Go(func() error { a.Webhooks.Run(following); return nil })
	g.Go(func() error { a.Tables.Run(following); return nil })
	g.Go(func() error { releaseMemory(work); return nil })
	g.Go(func() error { a.Switcher.LogOtherModels(work); return nil })
	if a.Tools != nil {
		g.Go(func() error { a.Tools.Run(work); return nil })
	}
	if a.Stores.Listen != nil {
		g.Go(func() error { a.Stores.Listen(work, a.Feed, a.Library, a.Runs); return nil })
	}
	defer context.AfterFunc(ctx, a.Switcher.CancelTrials)()
	defer stopFollowing()
	for _, folder := range a.folders {
		g.Go(func() error {
			a.Stores.Alone(following, folder.Work(), folder.Until)
			return nil
		})
	}
	g.Go(func() error { a.Places.Run(following); return nil })
	if a.chosen != nil {
		g.Go(func() error { a.chosen.Run(following, a.WithKeys()); return nil })
	}
	g.Go(func() error {
		select {
		case <-ctx.Done(): // an interrupt
		case <-failed.Done():
		}
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
		defer cancel()
		if !a.Stores.Exclusive { // the runs are handed over, so their streams may close at once
			a.server.Drain()
		}
		err := errors.Join(a.Runs.Stop(drain), a.server.Shutdown(drain))
		stopWork()
		return err
	})
	return g.Wait()
}

// openFolders opens the folders in the settings and those chosen on the page. The server at url follows them
// through its own API.
func (a *app) openFolders(set *settings.Settings, who access.Access, url string, log *slog.Logger) (err error) {
	if a.folders, err = watch.OpenNamed(set, who, url, log); err != nil || a.chosen == nil {
		return err
	}
	return a.chosen.Open(who, url, a.folders)
}

// close releases what newApp and openFolders opened, in reverse order.
func (a *app) close() error {
	var errs []error
	for _, folder := range a.folders {
		errs = append(errs, folder.Close())
	}
	return errors.Join(append(errs, a.Close())...)
}

// Command serves the pages and the API.
type Command struct{}

// Run serves until the context ends, then shuts down in order.
func (Command) Run(p *command.Program) (err error) { return serveWith(p, func(string) {}) }

// serveWith serves until the context ends, then shuts down in order. ready is called with the page's URL once
// requests are handled.
//
// The data directory is claimed before a port is opened, and the server's URL is announced only when everything is
// open. ready is called at most once. A directory that another server uses is a *datadir.InUse.
func serveWith(p *command.Program, ready func(url string)) (err error) {
	dir, err := datadir.Claim(p.Settings.Data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Release()) }()
	listener, err := listenOn(p.Ctx, p.Settings.Addr)
	if err != nil {
		return err
	}
	log := p.Settings.NewLogger(p.Stderr)
	who, err := access.At(p.Settings, listener.Addr())
	if err == nil {
		err = who.Check()
	}
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	who.Log(log)
	app, err := newApp(p.Ctx, p.Settings, p.Built, dir, log)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	url := "http://" + reachableAddr(listener.Addr())
	if err := app.openFolders(p.Settings, who, url, log); err != nil {
		return errors.Join(err, listener.Close(), app.close())
	}
	if err := dir.Announce(url); err != nil {
		return errors.Join(err, listener.Close(), app.close())
	}
	spareMemory()
	fmt.Fprintf(p.Stdout, "Footnote %s serves %s (model: %s, data: %s)\n",
		p.Built.Version, url, app.Switcher.Model().Name(), p.Settings.Data)
	ready(url) // the listener accepts connections already
	return app.serveUntil(p.Ctx, listener)
}

// listenOn opens the port. If it is in use, the error explains how to choose another one. Any other error has the
// address.
func listenOn(ctx context.Context, addr string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, &chat.Error{Code: chat.CodeConflict, Message: locale.Message(fmt.Sprintf(
			"%s is in use by another program; stop it, or choose another address, like --addr 127.0.0.1:8081",
			addr,
		))}
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	return listener, nil
}

// reachableAddr returns the address for a browser on this machine, without http://.
func reachableAddr(addr net.Addr) string {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return addr.String()
	}
	if tcp.IP.IsUnspecified() || tcp.IP.Equal(net.IPv4(127, 0, 0, 1)) || tcp.IP.Equal(net.IPv6loopback) {
		return fmt.Sprintf("localhost:%d", tcp.Port)
	}
	return tcp.String()
}

// drainTime is the timeout of a shutdown. It is below Kubernetes' default grace period of 30 seconds.
const drainTime = 25 * time.Second
