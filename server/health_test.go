package server

import (
	"context"
	"errors"
	"testing"
	"testing/fstest"

	"golang.org/x/net/html"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/api"
)

func TestHealthReportsDependencies(t *testing.T) {
	fails := func(err error) func(context.Context) error { return func(context.Context) error { return err } }
	model := api.Check{
		Name: "model", Probe: fails(&chat.Error{
			Code: chat.CodeUnavailable, Message: "The model's server is not there.",
		}),
	}
	disk := api.Check{Name: "disk", Critical: true, Probe: fails(errors.New("secret /dev/sda1"))}
	for _, tt := range []struct {
		name   string
		checks []api.Check
		status int
		want   string
		detail map[string]api.CheckResult
	}{
		{"all is well", nil, 200, "ok",
			map[string]api.CheckResult{"database": {Status: "ok"}, "index": {Status: "ok"}}},
		{"a model that is down only degrades", []api.Check{model}, 200, "degraded",
			map[string]api.CheckResult{"model": {Status: "failed", Detail: "The model's server is not there."}}},
		{"what serves everything takes it down, and nothing internal is shown", []api.Check{model, disk}, 503, "down",
			map[string]api.CheckResult{
				"disk": {Status: "failed", Detail: "Unavailable. See the log for details."},
			}},
		{"what is well may say more",
			[]api.Check{
				{Name: "vectors", Probe: fails(nil), Says: func(context.Context) string { return "a fast one" }},
			}, 200, "ok",
			map[string]api.CheckResult{"vectors": {Status: "ok", Detail: "a fast one"}}},
		{"slow is failed", []api.Check{{Name: "slow", Probe: fails(context.DeadlineExceeded)}}, 200, "degraded",
			map[string]api.CheckResult{"slow": {Status: "failed", Detail: "Timed out after 2 seconds."}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newHarness(t, func(c *Config) { c.Checks = tt.checks })
			got := b.send("GET", "/health", "")
			var body struct {
				Status string
				Checks map[string]api.CheckResult
			}
			got.decode(t, &body)
			if got.status != tt.status || body.Status != tt.want {
				t.Errorf("got %d %s, want %d", got.status, got.body, tt.status)
			}
			for name, want := range tt.detail {
				if body.Checks[name] != want {
					t.Errorf("%s = %+v, want %+v", name, body.Checks[name], want)
				}
			}
		})
	}
}

// The build's version is shown to programs, and to people at the foot of the page's menu, also on error pages.
func TestServerReportsBuildVersion(t *testing.T) {
	const commit = "4462e41bf60a2f03be02a7f5f4b8b4f7a8d5ff01"
	for _, tt := range []struct{ name, version, commit, date, want string }{
		{"a release", "v1.2.3", commit, "2026-11-27T05:12:00Z", "v1.2.3 · 4462e41 · 2026-11-27"},
		{"a version that names its commit", "v1.2.3-4-g4462e41b", commit, "2026-11-27T05:12:00Z",
			"v1.2.3-4-g4462e41b · 2026-11-27"},
		{"nothing is known", "dev", "", "", "dev"},
		{"stamps that are too short", "dev", "44", "2026", "dev · 44 · 2026"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newHarness(t, func(c *Config) { c.Version, c.Commit, c.Date = tt.version, tt.commit, tt.date })
			var body api.HealthReport
			b.send("GET", "/health", "").decode(t, &body)
			if body.Version != tt.version || body.Commit != tt.commit || body.Date != tt.date {
				t.Errorf("GET /health = %+v, want %+v", body, tt)
			}
			for _, path := range []string{"/", "/c/no-such-conversation"} {
				got := b.send("GET", path, "", "Accept", "text/html")
				foot := elements(parsed(t, got.body), func(n *html.Node) bool {
					return attribute(n, "data-testid") == "build"
				})
				if len(foot) != 1 || foot[0].FirstChild == nil || foot[0].FirstChild.Data != tt.want {
					t.Errorf("footer of %s differs from %q: %.300s", path, tt.want, got.body)
				}
			}
		})
	}
}

func TestSampleDocumentsAreAddedOnce(t *testing.T) {
	if got := newHarness(t).send("POST", "/documents/samples", ""); got.status != 404 {
		t.Errorf("a server without samples: %d, want 404", got.status)
	}
	b := newHarness(t, func(c *Config) {
		c.Samples = fstest.MapFS{
			"handbook/start.md": {Data: []byte(survey)}, "handbook/more.md": {Data: []byte("# More\n\nMore text.")},
		}
	})
	for i := range 2 {
		got := b.send("POST", "/documents/samples", "")
		var res api.Uploaded
		got.decode(t, &res)
		if got.status != 202 || len(res.Documents) != 2 || (res.Documents[0].DuplicateOf != "") != (i == 1) {
			t.Errorf("time %d: %d %s, want 202", i+1, got.status, got.body)
		}
	}
}
