// Command scriptedserver serves the scripted model on a port, for tests in a browser and for benchmarks.
//
//	go run ./e2e/scripted/scriptedserver -addr 127.0.0.1:9000
//
// It prints only its base URL, the value for OPENAI_BASE_URL, and ends with Ctrl-C or SIGTERM. The model is
// scripted.Librarian: a question may request a fault. It listens on loopback unless -addr is set, and requires no
// key.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/footnote/footnote/e2e/scripted"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "scriptedserver:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends. It prints the base URL as its first line. It returns an error for invalid flags or an
// unavailable port.
func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("scriptedserver", flag.ContinueOnError)
	addr := flags.String("addr", "127.0.0.1:0", "where to listen; port 0 takes a free one")
	delay := flags.Duration("delay", 0, "the wait before each piece of a reply")
	tokens := flags.Int("tokens", 0, "how many pieces each text reply has; 0: as many as it needs")
	if err := flags.Parse(args); err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", *addr)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:           scripted.NewServer(scripted.Config{Delay: *delay, Tokens: *tokens}),
		ReadHeaderTimeout: 10 * time.Second,
	}
	fmt.Printf("http://%s/v1\n", listener.Addr())
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
		_ = server.Close() // open streams are cut
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	}
}
