package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestUpgradeAsksOnlyWhenItIsTold(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = w.Write([]byte(`{"tag_name":"v1.3.0"}`))
	}))
	defer server.Close()
	t.Setenv("FOOTNOTE_RELEASES_URL", server.URL)
	t.Setenv("FOOTNOTE_DATA", t.TempDir())
	for _, tt := range []struct {
		args  []string
		code  int
		asked int
		says  string
	}{
		{[]string{"version"}, 0, 0, "commit"},
		{[]string{"help", "upgrade"}, 0, 0, "--check"},
		{[]string{"key", "list"}, 0, 0, ""},
		{[]string{"upgrade"}, 1, 0, "upgrade --check says"},
		{[]string{"upgrade", "--check"}, 0, 1, "The newest version is v1.3.0"},
		{[]string{"upgrade", "--check", "--from=http://127.0.0.1:1"}, 1, 1,
			"whether there is a newer version is not known"},
		{[]string{"upgrade", "--check", "--from="}, 1, 1, "does not know where versions are published"},
	} {
		var out strings.Builder
		code := runProgram(t.Context(), tt.args, func(string) string { return "" }, strings.NewReader(""), &out, &out)
		if code != tt.code || asked != tt.asked || !strings.Contains(out.String(), tt.says) {
			t.Errorf("footnote %q: code %d, %d requests, %q; want %d, %d, %q",
				tt.args, code, asked, out.String(), tt.code, tt.asked, tt.says)
		}
	}
}
