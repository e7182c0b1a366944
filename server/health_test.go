package server

import (
	"context"
	"errors"
	"testing"
	"testing/fstest"

	"footnote/chat"
	"footnote/server/api"
)

func TestHealthTellsWhatItDependsOn(t *testing.T) {
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
				"disk": {Status: "failed", Detail: "It can't be used now; the log has the details."},
			}},
		{"what is well may say more",
			[]api.Check{
				{Name: "vectors", Probe: fails(nil), Says: func(context.Context) string { return "a fast one" }},
			}, 200, "ok",
			map[string]api.CheckResult{"vectors": {Status: "ok", Detail: "a fast one"}}},
		{"slow is failed", []api.Check{{Name: "slow", Probe: fails(context.DeadlineExceeded)}}, 200, "degraded",
			map[string]api.CheckResult{"slow": {Status: "failed", Detail: "It did not answer within 2 seconds."}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, func(c *Config) { c.Checks = tt.checks })
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

func TestSamplesAreAddedOnce(t *testing.T) {
	if got := newBench(t).send("POST", "/documents/samples", ""); got.status != 404 {
		t.Errorf("a server without samples: %d, want 404", got.status)
	}
	b := newBench(t, func(c *Config) {
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
