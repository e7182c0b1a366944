package follow

import (
	"context"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/text/locale"
)

// A stored secret is only sent to the server that it was entered for. A person who may change a place must not
// obtain its secret by changing the address to a server of their own.

// checkMoved returns a *FieldError if a change would send a stored secret to another origin. settings are the old
// settings with secrets, changed the new ones, and kept the names of the secrets that are not entered again.
func checkMoved(ctx context.Context, kind sources.Kind, settings, changed map[string]string, kept []string) error {
	if len(kept) == 0 {
		return nil
	}
	to, err := originOf(ctx, kind, changed)
	if err != nil {
		return err
	}
	if from, err := originOf(ctx, kind, settings); err == nil && from == to {
		return nil
	}
	for _, field := range kind.Fields {
		if slices.Contains(kept, field.Name) {
			return badField(field.Name, locale.Say(
				"“{1}” was saved for another server. Enter it again.", locale.Message(field.Title.English()),
			))
		}
	}
	return nil
}

// originOf returns the scheme, host and port of a kind's first request with these settings, or the host and port of
// its first connection. It sends nothing. Invalid settings return the error of Open.
func originOf(ctx context.Context, kind sources.Kind, settings map[string]string) (string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := probe{cancel, make(chan string, 1)}
	place, err := kind.Open(maps.Clone(settings), sources.Net{HTTP: &http.Client{Transport: p}, Dial: p.dial})
	if err != nil {
		return "", err
	}
	_ = place.Check(ctx) // cancelled at the first request
	select {
	case origin := <-p.origin:
		return origin, nil
	default:
		return "", nil
	}
}

// probe is a network transport that records the first requested origin and cancels the caller's context.
type probe struct {
	end    context.CancelFunc
	origin chan string // a buffer for one
}

// RoundTrip implements http.RoundTripper.
func (p probe) RoundTrip(r *http.Request) (*http.Response, error) {
	port := r.URL.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[r.URL.Scheme]
	}
	_, err := p.dial(r.Context(), r.URL.Scheme, net.JoinHostPort(r.URL.Hostname(), port))
	return nil, err
}

func (p probe) dial(_ context.Context, network, address string) (net.Conn, error) {
	select {
	case p.origin <- network + "://" + strings.ToLower(address):
	default:
	}
	p.end()
	return nil, context.Canceled
}
