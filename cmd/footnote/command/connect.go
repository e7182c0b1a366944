package command

import (
	"errors"
	"strings"

	"github.com/footnote/footnote/cmd/footnote/datadir"
	"github.com/footnote/footnote/cmd/footnote/remote"
)

// Connect finds the server that the settings name or that has the data directory, or starts one in this process.
func (p *Program) Connect() (*remote.Server, error) {
	key := string(p.Settings.APIKey)
	if p.Settings.Server != "" {
		return &remote.Server{URL: strings.TrimRight(p.Settings.Server, "/"), Key: key}, nil
	}
	dir, err := datadir.Claim(p.Settings.Data)
	if busy, ok := errors.AsType[*datadir.InUse](err); ok && busy.URL != "" {
		return &remote.Server{URL: busy.URL, Key: key}, nil
	}
	if err != nil {
		return nil, err
	}
	server, err := p.Start(p, dir)
	if err != nil {
		return nil, errors.Join(err, dir.Release())
	}
	return server, nil
}
