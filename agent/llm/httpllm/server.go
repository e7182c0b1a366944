// Package httpllm holds what the clients of model servers share: reading refusals (Server.Classify), trying again and
// leaving a dead server alone (Server.Retry), ending a reply that falls silent (Watchdog), remembering whether a server
// can be reached (Reach) and mending histories that providers would refuse (Repair). It knows the forms of several
// providers, and none of their protocols.
package httpllm

import (
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"
)

// Server is what a client knows of the server it speaks to. The names of settings stand in the sentences of errors.
// Key, the names, Log and RetryFor are set before its first use; after that it is safe for concurrent use.
type Server struct {
	Name           string // of the model, for the log
	Key            string // never printed; empty for none
	KeySetting     string // like OPENAI_API_KEY
	ModelSetting   string
	AddressSetting string
	Log            *slog.Logger
	RetryFor       time.Duration // no further try begins after this
	Reach          Reach         // requests tell it what they find

	once    sync.Once
	breaker *gobreaker.TwoStepCircuitBreaker[struct{}]
}

// NewHTTPClient returns a client that keeps connections for many runs at once and leaves streams uncompressed, so that
// no piece waits in a buffer. It has no time limit of its own: a Watchdog ends what takes too long. The proxy comes
// from the environment, as everywhere in Go. Many idle connections to one host are kept, because all runs speak to one
// model server, and a handshake for each would be felt before the first token.
func NewHTTPClient() *http.Client {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: 10 * time.Second, MaxIdleConns: 1024, MaxIdleConnsPerHost: 1024,
		IdleConnTimeout: 90 * time.Second, DisableCompression: true,
	}}
}

// Redact takes the key out of a text that goes to the log. Providers repeat the key that they refuse, at least in part;
// a part is not found by this.
func (s *Server) Redact(text string) string {
	if s.Key == "" {
		return text
	}
	return strings.ReplaceAll(text, s.Key, "[key]")
}
