// Package robots checks robots.txt (RFC 9309), which restricts the pages that programs may read.
//
// robots.go fetches and caches the files, rules.go parses them. Only pages that no person entered are checked: those
// of sitemaps and feeds.
package robots

import (
	"context"
	"errors"
	"io"
	"net/url"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/request"
)

// Limits of robots.txt. RFC 9309 §2.5 requires a parser to support at least 500 KiB.
const (
	maxRead  = 512 << 10 // bytes that are parsed; the rest is ignored
	maxSent  = 64 << 20  // bytes of a file
	maxHosts = 100       // hosts in the cache
	maxKept  = 8 << 20   // bytes of files in the cache
)

// Checker fetches and caches the rules of servers. It belongs to one sync, which limits the age of cached rules.
type Checker struct {
	client *request.Client
	known  map[string]answer
	kept   int // bytes of the files in the cache
}

// answer is the cached result for a server.
type answer struct {
	rules Rules
	err   error
}

// New returns a Checker that uses a client.
func New(client *request.Client) *Checker {
	return &Checker{client: client, known: map[string]answer{}}
}

var (
	errDisallowed = &chat.Error{
		Code:    chat.CodeForbidden,
		Message: "The site's robots.txt disallows this page, so it is not imported.",
	}
	errUnreachable = &chat.Error{
		Code:    chat.CodeUnavailable,
		Message: sources.Retried("The site's robots.txt could not be loaded."),
	}
)

// Check returns an error for a page that robots.txt forbids, and if robots.txt is unavailable. A robots.txt is valid
// for scheme, host and port together (RFC 9309 §2.3).
func (a *Checker) Check(ctx context.Context, page *url.URL) error {
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

// ask fetches and parses the rules of a server and returns their size in bytes. By RFC 9309 §2.3.1, a client error
// (4xx) means that all is allowed. A server error (5xx) or an unreachable server means that nothing is allowed.
func (a *Checker) ask(ctx context.Context, address string) (rules Rules, size int, err error) {
	resp, err := a.client.Get(ctx, address, nil, maxSent)
	switch code := chat.CodeOf(err); {
	case err == nil:
	case code == chat.CodeInvalid: // endless redirects
		return nil, 0, nil
	case code == chat.CodeForbidden: // an address that may not be reached
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

// unreachable returns errUnreachable with its cause.
func unreachable(err error) error {
	told := *errUnreachable
	told.Err = errors.Join(errUnreachable, err)
	return &told
}
