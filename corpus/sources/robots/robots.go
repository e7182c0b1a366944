// Package robots asks the servers of pages which of them programs may read, by RFC 9309.
//
// robots.go asks and remembers, rules.go reads the file. Only pages that no person named are checked: those of sitemaps
// and feeds.
package robots

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources/request"
)

// Limits of a file of rules. RFC 9309 §2.5 asks for at least 500 KiB to be parsed.
const (
	maxRead  = 512 << 10 // bytes that are read; what comes behind them is not there
	maxSent  = 64 << 20  // bytes of a file
	maxHosts = 100       // whose rules are kept at once
	maxKept  = 8 << 20   // bytes of files whose rules are kept at once
)

// Asker asks for the rules of servers, and keeps them for as long as it is used: not for long. It belongs to one look,
// so rules are at most as old as that.
type Asker struct {
	client *request.Client
	known  map[string]answer
	kept   int // bytes of the files that known was read from
}

// answer is what became of asking a server.
type answer struct {
	rules Rules
	err   error
}

// New returns an asker that sends its requests by a client.
func New(client *request.Client) *Asker { return &Asker{client: client, known: map[string]answer{}} }

var (
	errDisallowed = &chat.Error{
		Code:    chat.CodeForbidden,
		Message: "The site asks programs not to read this page (robots.txt), so it is not read.",
	}
	errUnreachable = &chat.Error{
		Code:    chat.CodeUnavailable,
		Message: "The server does not say which pages programs may read (robots.txt). It is asked again later.",
	}
)

// Check fails for a page that its server does not want to be read, and where the server can't say. A robots.txt holds
// for scheme, host and port together (RFC 9309 §2.3).
func (a *Asker) Check(ctx context.Context, page *url.URL) error {
	host := page.Scheme + "://" + page.Host
	said, there := a.known[host]
	if !there {
		var size int
		said.rules, size, said.err = a.ask(ctx, host+"/robots.txt")
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if a.kept += size; len(a.known) >= maxHosts || a.kept > maxKept {
			clear(a.known)
			a.kept = size
		}
		a.known[host] = said
	}
	if said.err != nil {
		return said.err
	}
	if !said.rules.Allow(page) {
		return errDisallowed
	}
	return nil
}

// ask reads the rules of a server and returns their size in bytes. A server without rules allows all; one that
// fails forbids all for now. By RFC 9309 §2.3.1: a client error (4xx) means no rules, a server error (5xx) or an
// unreachable server means that nothing may be read.
func (a *Asker) ask(ctx context.Context, address string) (rules Rules, size int, err error) {
	req, err := http.NewRequest(http.MethodGet, address, nil) //nolint:noctx // Do takes it
	if err != nil {
		return nil, 0, err
	}
	resp, err := a.client.Do(ctx, req, maxSent)
	switch code := chat.CodeOf(err); {
	case err == nil:
	case code == chat.CodeInvalid: // redirects without end
		return nil, 0, nil
	case code == chat.CodeForbidden: // no server that may be reached
		return nil, 0, err
	default:
		return nil, 0, unreachable(err)
	}
	defer resp.Body.Close()
	switch {
	case resp.Status >= 500:
		return nil, 0, errUnreachable
	case resp.Status >= 300:
		return nil, 0, nil
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxRead))
	if err != nil {
		return nil, 0, unreachable(err)
	}
	return Parse(raw), len(raw), nil
}

// unreachable is errUnreachable with its cause.
func unreachable(err error) error {
	told := *errUnreachable
	told.Err = errors.Join(errUnreachable, err)
	return &told
}
