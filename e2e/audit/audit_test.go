package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// testdata/govulncheck.json is the output of govulncheck 1.9.0 for this program, with three of its 39
// vulnerabilities: one with a fix, one without, and one in a module whose vulnerable packages are not imported.
func TestGovulncheckIsRead(t *testing.T) {
	findings, err := parseGovulncheck(read(t, "govulncheck.json"))
	if err != nil {
		t.Fatal(err)
	}
	want := []finding{
		{"GO-2026-6838", "github.com/labstack/echo/v4", "v4.16.0", "v4.16.1", "Echo: WebSocket proxy can retain " +
			"connections and handlers after client disconnect in github.com/labstack/echo"},
		{"GO-2026-6872", "github.com/labstack/echo/v4", "v4.16.0", "", "Rate Limiter Bypass via Spoofed " +
			"X-Forwarded-For Header in Default Configuration in github.com/labstack/echo"},
	}
	if !slices.Equal(findings, want) {
		t.Errorf("findings = %q, want %q", findings, want)
	}
	if _, err := parseGovulncheck([]byte(`{"finding": {"osv": "GO-1", "tra`)); err == nil {
		t.Error("a report that is cut is read")
	}
}

// testdata/npm.json is the output of npm 11.19 with a registry that returned three invented vulnerabilities, one of
// them low. npm-refused.json is its output if the registry serves only packages.
func TestNPMIsRead(t *testing.T) {
	findings, err := parseNPM(read(t, "npm.json"))
	if err != nil {
		t.Fatal(err)
	}
	want := []finding{
		{"GHSA-dddd-eeee-ffff", "express-rate-limit", "<99.0.0", "", "express-rate-limit counts wrongly"},
		{"GHSA-aaaa-bbbb-cccc", "htmx.org", "<4.0.2", "", "htmx runs what it should not"},
	}
	if !slices.Equal(findings, want) {
		t.Errorf("findings = %q, want %q", findings, want)
	}
	if _, err := parseNPM(read(t, "npm-refused.json")); !errors.Is(err, errNotAsked) ||
		!strings.Contains(err.Error(), "405 Method Not Allowed") {
		t.Errorf("a registry that refuses: %v, want the refusal", err)
	}
	for _, other := range []string{"", `{"auditReportVersion": 3}`, `{"error": {"code": "ENOLOCK"}}`} {
		if _, err := parseNPM([]byte(other)); err == nil || errors.Is(err, errNotAsked) {
			t.Errorf("%q is read: %v", other, err)
		}
	}
}

func TestWhatIsNotAcceptedFails(t *testing.T) {
	said := report{database: "a test", findings: []finding{{"GO-1", "example.com/a", "v1.0.0", "v1.0.1", "it falls"}}}
	const entry = "GO-1 example.com/a 2026-11-28 2027-02-28 it is not called"
	for _, tt := range []struct {
		name, list, today string
		said              report
		err               error
		ok                bool
		prints            string
	}{
		{"nothing found", "", "2026-11-28", report{database: "a test"}, nil, true, "0 not accepted, 0 accepted"},
		{"a finding", "", "2026-11-28", said, nil, false, "GO-1 example.com/a v1.0.0, repaired in v1.0.1: it falls"},
		{"an accepted one", "# why\n\n" + entry, "2026-11-28", said, nil, true, "0 not accepted, 1 accepted"},
		{"its last day", entry, "2027-02-28", said, nil, true, "1 accepted"},
		{"the day after", entry, "2027-03-01", said, nil, false, "was accepted until 2027-02-28: look"},
		{"the day after, not found any more", entry, "2027-03-01", report{}, nil, false, "look again"},
		{"in another module", strings.Replace(entry, "/a", "/b", 1), "2026-11-28", said, nil, false, "it falls"},
		{"not asked", "", "2026-11-28", report{}, errNotAsked, true, "could not be asked, so nothing is known"},
		{"not asked, and overdue", entry, "2027-03-01", report{}, errNotAsked, false, "look again"},
		{"a broken report", "", "2026-11-28", report{}, errors.New("cut off"), false, "cut off"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			accepted, err := parseAccepted(tt.list)
			if err != nil {
				t.Fatal(err)
			}
			today, err := time.Parse(time.DateOnly, tt.today)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			ok := tellOverdue(&out, accepted, today.Add(23*time.Hour))
			ok = tell(&out, "asked", tt.said, tt.err, accepted) && ok
			if ok != tt.ok || !strings.Contains(out.String(), tt.prints) {
				t.Errorf("ok = %v, want %v; printed %q, want %q", ok, tt.ok, out.String(), tt.prints)
			}
			if tt.err != nil && strings.Contains(out.String(), "0 not accepted") {
				t.Errorf("printed %q, as if something had been asked", out.String())
			}
		})
	}
}

func TestTheListIsRead(t *testing.T) {
	for list, want := range map[string]string{
		"GO-1 example.com/a 2026-11-28 2027-02-28":                     "1: want id",
		"\nGO-1 example.com/a 28.11.2026 2027-02-28 it is not called":  `2: parsing time "28.11.2026"`,
		"GO-1 example.com/a 2026-11-28 never it is not called":         `1: parsing time "never"`,
		"GO-1 example.com/a 2026-11-28 2026-11-27 it is not called.\n": "1: the last day is before",
	} {
		if _, err := parseAccepted(list); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", list, err, want)
		}
	}
	if _, err := readAccepted(filepath.Join("..", "..", ".ci", "accepted-vulnerabilities.txt")); err != nil {
		t.Errorf("the list of this program: %v", err)
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
