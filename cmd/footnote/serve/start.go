package serve

import (
	"context"
	"errors"
	"net"

	"github.com/footnote/footnote/cmd/footnote/command"
	"github.com/footnote/footnote/cmd/footnote/datadir"
	"github.com/footnote/footnote/cmd/footnote/remote"
)

// Start runs a server in this process on a free local port, for one command. Closing it releases the directory.
// Only this command knows its address, and it accepts only the key in the settings. It logs only warnings, unless
// the settings set another level.
func Start(p *command.Program, dir *datadir.Dir) (*remote.Server, error) {
	listener, err := new(net.ListenConfig).Listen(p.Ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	log := p.Settings.NewLogger(p.Stderr)
	if p.Settings.LogLevel == "info" {
		log = command.QuietLogger(p.Stderr)
	}
	app, err := newApp(p.Ctx, p.Settings, p.Built, dir, log)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	ctx, cancel := context.WithCancel(p.Ctx)
	done := make(chan error, 1)
	go func() { done <- app.serveUntil(ctx, listener) }()
	return &remote.Server{
		URL:  "http://" + listener.Addr().String(),
		Key:  string(p.Settings.APIKey),
		Stop: func() error { cancel(); return errors.Join(<-done, dir.Release()) },
	}, nil
}
