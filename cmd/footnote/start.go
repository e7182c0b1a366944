package main

import (
	"context"
	"errors"
	"footnote/cmd/footnote/datadir"
	"net"
)

// startFor has a server of this process answer on a free port of this machine, for one command. It gives the directory
// up when it is closed.
func startFor(p *program, dir *datadir.Dir) (*remote, error) {
	listener, err := new(net.ListenConfig).Listen(p.ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	log := p.settings.NewLogger(p.stderr)
	if p.settings.LogLevel == "info" {
		log = quietLogger(p.stderr)
	}
	app, err := wireApp(p.ctx, p.settings, p.built, dir, log)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	ctx, cancel := context.WithCancel(p.ctx)
	done := make(chan error, 1)
	go func() { done <- app.serveUntil(ctx, listener) }()
	return &remote{
		url:  "http://" + listener.Addr().String(),
		key:  string(p.settings.APIKey),
		stop: func() error { cancel(); return errors.Join(<-done, dir.Release()) },
	}, nil
}
