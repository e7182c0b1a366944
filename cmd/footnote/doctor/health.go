package doctor

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/footnote/footnote/cmd/footnote/remote"
)

// askHealth fails unless the server at addr, on this machine, says within four seconds that it can serve.
// A container's health check has five seconds as a rule. No key is sent: /health needs none. An address that stands for
// all of a machine's is asked as localhost.
func askHealth(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, 4*time.Second)
	defer cancel()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	server := remote.Server{URL: "http://" + net.JoinHostPort(host, port)}
	resp, err := server.Send(ctx, http.MethodGet, "/health", "", "application/json", nil)
	if err != nil {
		return fmt.Errorf("not well: %w", err)
	}
	return resp.Body.Close()
}
