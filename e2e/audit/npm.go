package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"time"
)

// asking is how long npm's registry may take. Retries are turned off, so this is for one try.
const asking = time.Minute

// npmFindings asks npm's registry about package-lock.json. What is less than moderate is left out.
//
// npm exits with an error when it has found something, so what it prints counts before its exit code. Without npm, or
// when the time is over, it fails with errNotAsked.
func npmFindings(ctx context.Context) (report, error) {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	out, err := run(ctx, "npm", "audit", "--json", "--audit-level=moderate", "--fetch-retries=0")
	if errors.Is(err, exec.ErrNotFound) || ctx.Err() != nil {
		return report{}, fmt.Errorf("%w: %w", errNotAsked, err)
	}
	findings, parsed := parseNPM(out)
	if parsed != nil && !errors.Is(parsed, errNotAsked) && err != nil {
		return report{}, err // npm's own words say more
	}
	return report{database: "npm's registry today", findings: findings}, parsed
}

// parseNPM reads the report of npm audit, and fails with errNotAsked when it says that the registry did not answer.
//
// It knows version 2 of the report alone. Each entry is a package with the reasons why it is vulnerable: an advisory
// of its own, or the name of another package, which has an entry too.
func parseNPM(out []byte) ([]finding, error) {
	var said struct {
		Message         string
		Version         int `json:"auditReportVersion"`
		Vulnerabilities map[string]struct {
			Via []json.RawMessage // advisories, and names of packages that have some
		}
		// Each is a JSON object or a string.
	}
	if err := json.Unmarshal(out, &said); err != nil {
		return nil, fmt.Errorf("read npm's report: %w", err)
	}
	if said.Message != "" {
		return nil, fmt.Errorf("%w: %s", errNotAsked, oneLine(said.Message))
	}
	if said.Version != 2 {
		return nil, fmt.Errorf("npm's report has version %d, want 2", said.Version)
	}
	var findings []finding
	for name, vulnerable := range said.Vulnerabilities {
		for _, raw := range vulnerable.Via {
			var advisory struct{ Title, URL, Severity, Range string }
			if raw[0] == '"' {
				continue // the package that it names has an entry of its own
			}
			if err := json.Unmarshal(raw, &advisory); err != nil {
				return nil, fmt.Errorf("read npm's report of %s: %w", name, err)
			}
			if advisory.Severity == "low" || advisory.Severity == "info" {
				continue
			}
			findings = append(findings, finding{
				id: path.Base(advisory.URL), module: name, version: advisory.Range, summary: advisory.Title,
			})
		}
	}
	sortFindings(findings)
	return findings, nil
}
