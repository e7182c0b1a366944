package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/footnote/footnote/chat"
)

const (
	searchTime = 10 * time.Second
	maxAnswer  = 2 << 20 // maximum bytes of a provider's response
)

// api is the JSON API of a search service.
type api struct {
	base, key string
	client    *http.Client
}

// requestJSON sends a request and decodes the response. Its errors are chat.Errors with the status; the response's text
// is omitted, as it may contain the key.
func (a api) requestJSON(ctx context.Context, method, address string, header map[string]string, in, out any) error {
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("encode request: %w", err)
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return unreachable(err)
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized, http.StatusForbidden:
		return failedWith(
			chat.CodeUnavailable, "The web search service refused the key or the request (status %d).", resp.StatusCode,
		)
	case http.StatusTooManyRequests:
		return failedWith(chat.CodeTooMany, "The web search service allows no more searches right now.")
	default:
		return failedWith(chat.CodeUnavailable, "The web search service answered %d.", resp.StatusCode)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(out); err != nil {
		return &chat.Error{
			Code: chat.CodeUnavailable, Message: "The web search service's answer can't be read.", Err: err,
		}
	}
	return nil
}

// ping requests the server's root. Any status below 500 counts as reachable.
func (a api) ping(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.base+"/", nil)
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return unreachable(err)
	}
	if resp.StatusCode >= http.StatusInternalServerError {
		err = failedWith(chat.CodeUnavailable, "The web search service answered %d.", resp.StatusCode)
	}
	return errors.Join(err, resp.Body.Close())
}

// unreachable returns the error for a service that can't be reached.
func unreachable(err error) error {
	return &chat.Error{Code: chat.CodeUnavailable, Message: "The web search service can't be reached.", Err: err}
}

// results are the results of a service, each with a text under one of two names.
type results []struct{ URL, Title, Content, Description string }

func (rs results) found() []Found {
	found := make([]Found, 0, len(rs))
	for _, r := range rs {
		found = append(found, Found{URL: r.URL, Title: r.Title, Snippet: cmp.Or(r.Content, r.Description)})
	}
	return found
}

// searxng is a SearXNG server; its search.formats must include "json".
type searxng struct{ api }

// search requests the first page of results, whose length the server determines.
func (p searxng) search(ctx context.Context, query string, _ int) ([]Found, error) {
	var out struct{ Results results }
	header := map[string]string{}
	if p.key != "" {
		header["Authorization"] = "Bearer " + p.key
	}
	err := p.requestJSON(
		ctx, http.MethodGet, p.base+"/search?"+url.Values{"q": {query}, "format": {"json"}}.Encode(), header, nil, &out,
	)
	return out.Results.found(), err
}

// tavily is the API of tavily.com.
type tavily struct{ api }

// search calls Tavily's POST /search, with the key as a bearer token.
func (p tavily) search(ctx context.Context, query string, n int) ([]Found, error) {
	in := map[string]any{"query": query, "max_results": n}
	var out struct{ Results results }
	err := p.requestJSON(ctx, http.MethodPost, p.base+"/search",
		map[string]string{"Authorization": "Bearer " + p.key}, in, &out)
	return out.Results.found(), err
}

// brave is Brave's search API.
type brave struct{ api }

// search calls Brave's web search. text_decorations=false removes HTML markup from the snippets.
func (p brave) search(ctx context.Context, query string, n int) ([]Found, error) {
	var out struct{ Web struct{ Results results } }
	address := p.base + "/res/v1/web/search?" +
		url.Values{"q": {query}, "count": {strconv.Itoa(n)}, "text_decorations": {"false"}}.Encode()
	err := p.requestJSON(ctx, http.MethodGet, address, map[string]string{"X-Subscription-Token": p.key}, nil, &out)
	return out.Web.Results.found(), err
}
