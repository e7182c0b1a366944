package server

import (
	"context"
	"errors"
	"testing"
	"testing/fstest"

	"footnote/chat"
)

func TestHealthTellsWhatItDependsOn(t *testing.T) {
	fails := func(err error) func(context.Context) error { return func(context.Context) error { return err } }
	model := Check{Name: "model", Probe: fails(&chat.Error{Code: chat.CodeUnavailable, Message: "The model's server is not there."})}
	disk := Check{Name: "disk", Critical: true, Probe: fails(errors.New("secret /dev/sda1"))}
	for _, tt := range []struct {
		name   string
		checks []Check
		status int
		want   string
		detail map[string]checkResult
	}{
		{"all is well", nil, 200, "ok", map[string]checkResult{"database": {Status: "ok"}, "index": {Status: "ok"}}},
		{"a model that is down only degrades", []Check{model}, 200, "degraded", map[string]checkResult{"model": {"failed", "The model's server is not there."}}},
		{"what serves everything takes it down, and nothing internal is shown", []Check{model, disk}, 503, "down",
			map[string]checkResult{"disk": {"failed", "It can't be used now; the log has the details."}}},
		{"what is well may say more", []Check{{Name: "vectors", Probe: fails(nil), Says: func(context.Context) string { return "a fast one" }}}, 200, "ok",
			map[string]checkResult{"vectors": {"ok", "a fast one"}}},
		{"slow is failed", []Check{{Name: "slow", Probe: fails(context.DeadlineExceeded)}}, 200, "degraded", map[string]checkResult{"slow": {"failed", "It did not answer within 2 seconds."}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, func(c *Config) { c.Checks = tt.checks })
			got := b.send("GET", "/health", "")
			var body struct {
				Status string
				Checks map[string]checkResult
			}
			got.decode(t, &body)
			if got.status != tt.status || body.Status != tt.want {
				t.Errorf("got %d %s", got.status, got.body)
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
		t.Errorf("a server without samples: %d", got.status)
	}
	b := newBench(t, func(c *Config) {
		c.Samples = fstest.MapFS{"handbook/start.md": {Data: []byte(survey)}, "handbook/more.md": {Data: []byte("# More\n\nMore text.")}}
	})
	for i := range 2 {
		got := b.send("POST", "/documents/samples", "")
		var res uploaded
		got.decode(t, &res)
		if got.status != 202 || len(res.Documents) != 2 || (res.Documents[0].DuplicateOf != "") != (i == 1) {
			t.Errorf("time %d: %d %s", i+1, got.status, got.body)
		}
	}
}
