// Package httprerank is a client of rerankers with a /rerank route, which score how well passages answer a query.
// Cohere's v2, Jina's, vLLM's and llama.cpp's accept the same request and return the same format.
//
// It has no retries: on an error, callers fall back to the search's order (corpus/rerank.go).
package httprerank

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"

	"github.com/footnote/footnote/agent/llm/httpllm"
)

// maxAnswer is the maximum size of a response, in bytes.
const maxAnswer = 4 << 20

// Config configures the server.
type Config struct {
	URL   string // full URL of the route: http://localhost:8012/v1/rerank
	Model string // empty: the server has only one
	Key   string // empty: the server needs none
}

// Client is a client of one server. It is safe for concurrent use.
type Client struct {
	cfg    Config
	http   *http.Client
	server httpllm.Server // redacts the key
}

// New validates the URL. It sends no request.
func New(cfg Config) (*Client, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return nil, errors.New(
			"the reranker's URL must have the form http://localhost:8012/v1/rerank, without a password",
		)
	}
	return &Client{cfg: cfg, http: httpllm.NewHTTPClient(), server: httpllm.Server{Key: cfg.Key}}, nil
}

type request struct {
	Model     string   `json:"model,omitempty"`
	Query     string   `json:"query"`
	Documents []string `json:"documents"`
	TopN      int      `json:"top_n"`
}

type answer struct {
	Results []struct {
		Index int      `json:"index"`
		Score *float64 `json:"relevance_score"`
	} `json:"results"`
}

// Scores returns one score for each passage, 0–1, in the order of the passages. Logits, which llama.cpp returns, are
// normalised by the logistic function. One request contains all passages; the caller limits their number and length.
// Without passages no request is sent.
func (c *Client) Scores(ctx context.Context, query string, passages []string) ([]float64, error) {
	if len(passages) == 0 {
		return []float64{}, nil
	}
	body, err := json.Marshal(request{c.cfg.Model, query, passages, len(passages)})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.cfg.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if c.cfg.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.cfg.Key)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the reranker's response: %w", err)
	case len(raw) > maxAnswer:
		return nil, fmt.Errorf("the reranker's response exceeds %d bytes", maxAnswer)
	case res.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("the reranker returned status %d: %s", res.StatusCode,
			c.server.Redact(httpllm.Clip(string(raw), 300)))
	}
	return readScores(raw, len(passages))
}

// Ping returns an error if the server does not respond, or refuses the key. It sends a GET without passages, which
// costs nothing: a route for POST responds with a client error.
func (c *Client) Ping(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.cfg.URL, nil)
	if err != nil {
		return err
	}
	if c.cfg.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.cfg.Key)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	switch code := res.StatusCode; {
	case code == http.StatusUnauthorized, code == http.StatusForbidden, code >= http.StatusInternalServerError:
		err = fmt.Errorf("the reranker returned status %d", code)
	}
	return errors.Join(err, res.Body.Close())
}

// readScores decodes a response, which must score each of n passages once. One score below 0 or above 1 means that
// all are logits. The logistic function 1/(1+e⁻ˣ) keeps their order, so only thresholds depend on it. A missing
// score is an error, since it would be treated as a low one.
func readScores(raw []byte, n int) ([]float64, error) {
	var said answer
	if err := json.Unmarshal(raw, &said); err != nil {
		return nil, fmt.Errorf("decode the reranker's response: %w", err)
	}
	out, known := make([]float64, n), make([]bool, n)
	logits := false
	for _, r := range said.Results {
		if r.Index < 0 || r.Index >= n || r.Score == nil || known[r.Index] {
			return nil, errors.New("the reranker's response has a score for an unknown passage")
		}
		out[r.Index], known[r.Index] = *r.Score, true
		logits = logits || *r.Score < 0 || *r.Score > 1
	}
	if len(said.Results) != n {
		return nil, fmt.Errorf("the reranker scored %d of %d passages", len(said.Results), n)
	}
	for i := range out {
		if logits {
			out[i] = 1 / (1 + math.Exp(-out[i]))
		}
	}
	return out, nil
}

// Close closes idle connections.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}
