package main

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestAReleaseIsWhatTheBuildOrGoStamped(t *testing.T) {
	stamped := &debug.BuildInfo{Main: debug.Module{Version: "v0.9.1"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "abc123"}, {Key: "vcs.time", Value: "2026-11-01T10:00:00Z"},
	}}
	set := release{Version: "v1.2.3", Commit: "def456", Date: "2026-11-27T05:12:00Z"}
	for _, tt := range []struct {
		name   string
		set    release
		stamps *debug.BuildInfo
		want   release
	}{
		{"what the build sets wins", set, stamped, set},
		{"go install leaves its stamps", release{}, stamped, release{"v0.9.1", "abc123", "2026-11-01T10:00:00Z"}},
		{"a plain go build", release{}, &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}},
			release{Version: "dev"}},
		{"no stamps at all", release{}, nil, release{Version: "dev"}},
		{"a commit does not get the date of another", release{Version: "v1", Commit: "def456"}, stamped,
			release{Version: "v1", Commit: "def456"}},
	} {
		got := readRelease(tt.set, func() (*debug.BuildInfo, bool) { return tt.stamps, tt.stamps != nil })
		if got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestTheVersionsFirstLineIsForPrograms(t *testing.T) {
	var out strings.Builder
	if err := (release{"v1.2.3", "def456", "2026-11-27T05:12:00Z"}).tell(&out); err != nil {
		t.Fatal(err)
	}
	if want := "v1.2.3\ncommit def456, 2026-11-27T05:12:00Z\ngo1."; !strings.HasPrefix(out.String(), want) {
		t.Errorf("footnote version says %q, want it to begin with %q", out.String(), want)
	}
}
