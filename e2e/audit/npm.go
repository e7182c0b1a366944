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

// asking is the timeout of npm's registry. Retries are disabled, so it applies to one try.
const asking = time.Minute

// npmFindings audits package-lock.json with npm's registry. Vulnerabilities below moderate are skipped.
//
// npm exits with an error if it has found some, so its output takes precedence over its exit code. Without npm, or
// on a timeout, it fails with errNotAsked.
func npmFindings(ctx context.Context) (report, error) {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	out, err := run(ctx, "npm", "audit", "--json", "--audit-level=moderate", "--fetch-retries=0")
	if errors.Is(err, exec.ErrNotFound) || ctx.Err() != nil {
		return report{}, fmt.Errorf("%w: %w", errNotAsked, err)
	}
	findings, parsed := parseNPM(out)
	if parsed != nil && !errors.Is(parsed, errNotAsked) && err != nil {
		return report{}, err // npm's own error is more precise
	}
	return report{database: "npm's registry today", findings: findings}, parsed
}

// parseNPM parses the report of npm audit. It fails with errNotAsked if the registry did not respond.
//
// It supports only version 2 of the report. Each entry is a package with the reasons for its vulnerability: its own
// advisory, or the name of another package, which has an entry too.
func parseNPM(out []byte) ([]finding, error) {
	var said struct {
		Message         string
		Version         int `json:"auditReportVersion"`
		Vulnerabilities map[string]struct {
			Via []json.RawMessage // advisories as objects, names of vulnerable packages as strings
		}
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
				continue // the named package has its own entry
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
