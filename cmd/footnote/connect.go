package main

import (
	"errors"
	"footnote/cmd/footnote/datadir"
	"strings"
)

// connect finds the server that the settings name or that has the data directory, or starts one in this process.
func (p *program) connect() (*remote, error) {
	key := string(p.settings.APIKey)
	if p.settings.Server != "" {
		return &remote{url: strings.TrimRight(p.settings.Server, "/"), key: key}, nil
	}
	dir, err := datadir.Claim(p.settings.Data)
	if busy, ok := errors.AsType[*datadir.InUse](err); ok && busy.URL != "" {
		return &remote{url: busy.URL, key: key}, nil
	}
	if err != nil {
		return nil, err
	}
	server, err := p.start(p, dir)
	if err != nil {
		return nil, errors.Join(err, dir.Release())
	}
	return server, nil
}
