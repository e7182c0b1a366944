package web

import (
	"bytes"
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
	maxAnswer  = 2 << 20 // bytes of a provider's answer
)

// api is a search service's JSON API.
type api struct {
	base, key string
	client    *http.Client
}

// askJSON sends a request and decodes the answer. The sentence of its error names the status, never the key. Errors are
// chat.Errors for the user: what a service wrote is not repeated, as it may hold the key.
func (a api) askJSON(ctx context.Context, method, address string, header map[string]string, in, out any) error {
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

// reach asks for the server's first page. Whatever it says of that page, it is there.
func (a api) reach(ctx context.Context) error {
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

// unreachable is the error for a service that does not answer.
func unreachable(err error) error {
	return &chat.Error{Code: chat.CodeUnavailable, Message: "The web search service can't be reached.", Err: err}
}

// searxng is a SearXNG server; "json" has to be among its search.formats.
type searxng struct{ api }

// search asks for the first page of results, whose length is the server's.
func (p searxng) search(ctx context.Context, query string, _ int) ([]Found, error) {
	var out struct {
		Results []struct{ URL, Title, Content string }
	}
	header := map[string]string{}
	if p.key != "" {
		header["Authorization"] = "Bearer " + p.key
	}
	err := p.askJSON(
		ctx, http.MethodGet, p.base+"/search?"+url.Values{"q": {query}, "format": {"json"}}.Encode(), header, nil, &out,
	)
	found := make([]Found, 0, len(out.Results))
	for _, r := range out.Results {
		found = append(found, Found{URL: r.URL, Title: r.Title, Snippet: r.Content})
	}
	return found, err
}

// tavily is the service at tavily.com.
type tavily struct{ api }

// search asks Tavily's POST /search, with the key as a bearer token.
func (p tavily) search(ctx context.Context, query string, n int) ([]Found, error) {
	in := map[string]any{"query": query, "max_results": n}
	var out struct {
		Results []struct{ URL, Title, Content string }
	}
	err := p.askJSON(ctx, http.MethodPost, p.base+"/search",
		map[string]string{"Authorization": "Bearer " + p.key}, in, &out)
	found := make([]Found, 0, len(out.Results))
	for _, r := range out.Results {
		found = append(found, Found{URL: r.URL, Title: r.Title, Snippet: r.Content})
	}
	return found, err
}

// brave is Brave's search API.
type brave struct{ api }

// search asks Brave's web search. Without text_decorations no marks of HTML stand in the snippets.
func (p brave) search(ctx context.Context, query string, n int) ([]Found, error) {
	var out struct {
		Web struct {
			Results []struct{ URL, Title, Description string }
		}
	}
	address := p.base + "/res/v1/web/search?" +
		url.Values{"q": {query}, "count": {strconv.Itoa(n)}, "text_decorations": {"false"}}.Encode()
	err := p.askJSON(ctx, http.MethodGet, address, map[string]string{"X-Subscription-Token": p.key}, nil, &out)
	found := make([]Found, 0, len(out.Web.Results))
	for _, r := range out.Web.Results {
		found = append(found, Found{URL: r.URL, Title: r.Title, Snippet: r.Description})
	}
	return found, err
}
