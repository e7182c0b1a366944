package main_test

import (
	"os"
	"strings"
	"testing"
)

func TestTheHealthCheckOfAContainer(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	_, port, _ := strings.Cut(strings.TrimPrefix(s.url, "http://"), ":")
	for _, addr := range []string{"127.0.0.1:" + port, "0.0.0.0:" + port, ":" + port} {
		if got := command(t, "", []string{"FOOTNOTE_ADDR=" + addr}, "doctor", "--health"); got.code != 0 ||
			got.stdout+got.stderr != "" {
			t.Errorf("%s: %d %s%s, want 0", addr, got.code, got.stdout, got.stderr)
		}
	}
	s.end(os.Interrupt)
	if got := command(t, "", []string{"FOOTNOTE_ADDR=127.0.0.1:" + port}, "doctor", "--health"); got.code != 1 ||
		!strings.Contains(got.stderr, "not well") {
		t.Errorf("without a server: %d %s%s; want 1 and %q in it", got.code, got.stdout, got.stderr, "not well")
	}
}
