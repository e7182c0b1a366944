package release

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestReleaseVersionComesFromBuildOrGo(t *testing.T) {
	stamped := &debug.BuildInfo{Main: debug.Module{Version: "v0.9.1"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "abc123"}, {Key: "vcs.time", Value: "2026-11-01T10:00:00Z"},
	}}
	set := Info{Version: "v1.2.3", Commit: "def456", Date: "2026-11-27T05:12:00Z"}
	for _, tt := range []struct {
		name   string
		set    Info
		stamps *debug.BuildInfo
		want   Info
	}{
		{"what the build sets wins", set, stamped, set},
		{"go install leaves its stamps", Info{}, stamped,
			Info{Version: "v0.9.1", Commit: "abc123", Date: "2026-11-01T10:00:00Z"}},
		{"a plain go build", Info{}, &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}},
			Info{Version: "dev"}},
		{"no stamps at all", Info{}, nil, Info{Version: "dev"}},
		{"a commit does not get the date of another", Info{Version: "v1", Commit: "def456"}, stamped,
			Info{Version: "v1", Commit: "def456"}},
	} {
		got := Read(tt.set, func() (*debug.BuildInfo, bool) { return tt.stamps, tt.stamps != nil })
		if got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestVersionFirstLineIsMachineReadable(t *testing.T) {
	var out strings.Builder
	if err := (Info{Version: "v1.2.3", Commit: "def456", Date: "2026-11-27T05:12:00Z"}).Print(&out); err != nil {
		t.Fatal(err)
	}
	if want := "v1.2.3\ncommit def456, 2026-11-27T05:12:00Z\ngo1."; !strings.HasPrefix(out.String(), want) {
		t.Errorf("footnote version = %q, want %q at its beginning", out.String(), want)
	}
}
