package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/cmd/footnote/access"
	"github.com/footnote/footnote/cmd/footnote/command"
	"github.com/footnote/footnote/cmd/footnote/datadir"
)

// Command serves the page and the API.
type Command struct{}

// Run serves until the context ends, then stops in order.
func (Command) Run(p *command.Program) (err error) { return serveWith(p, func(string) {}) }

// serveWith serves until the context ends, then stops in order. ready is called with the page's address once requests
// are answered.
//
// The order matters: the data directory is claimed before a port is taken, and the folder says where the server is
// only when everything is open. ready is called once or never. A directory that another server has is a
// *datadir.InUse.
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
		p.Built.Version, url, app.Desk.Model().Name(), p.Settings.Data)
	ready(url) // the listener takes connections already
	return app.serveUntil(p.Ctx, listener)
}

// listenOn says which port is taken and how to choose another. Any other error names the address.
func listenOn(ctx context.Context, addr string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, &chat.Error{Code: chat.CodeConflict, Message: fmt.Sprintf(
			"%s is taken by another program; stop that one, or choose another address, like --addr 127.0.0.1:8081",
			addr,
		)}
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	return listener, nil
}

// reachableAddr is the address as one types it into a browser on this machine. It has no http:// before it.
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

// drainTime is how long a stop waits for what is under way. Kubernetes kills a container 30 seconds after it was asked
// to end, unless it is told otherwise; this is below that.
const drainTime = 25 * time.Second
