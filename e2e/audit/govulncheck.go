package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/module"
)

// database is the module whose data/osv is the database of vuln.go.dev. It is downloaded from the module proxy,
// which is reachable wherever the program can be built.
//
// govulncheck itself would use vuln.go.dev, but a build machine may reach only a module proxy.
const database = "golang.org/x/vulndb"

// fetching is the timeout for downloading the newest database: it is 25 MB, and cached with the modules.
const fetching = 2 * time.Minute

// goFindings scans the packages of the module and its tests. It checks imports, which takes a second; a check of
// calls would take a minute and 7 GB.
//
// govulncheck is the program's path, and tags are build tags, which include packages of some builds. The report
// contains the database's date. It fails with errNotAsked if the database can't be downloaded, and with another
// error if govulncheck itself fails.
func goFindings(ctx context.Context, govulncheck, tags string) (report, error) {
	dir, version, err := fetchDatabase(ctx)
	if err != nil {
		return report{}, err
	}
	osv := filepath.ToSlash(filepath.Join(dir, "data", "osv"))
	out, err := run(ctx, govulncheck, "-json", "-scan=package", "-test", "-tags="+tags, "-db=file://"+osv, "./...")
	if err != nil {
		return report{}, err
	}
	at, err := module.PseudoVersionTime(version)
	if err != nil {
		return report{}, fmt.Errorf("version of the database: %w", err)
	}
	findings, err := parseGovulncheck(out)
	return report{database: "Go's database of " + at.Format(time.DateOnly), findings: findings}, err
}

// fetchDatabase downloads the newest database into the module cache, and returns its directory and version. A
// download error is errNotAsked with go's output in one line.
func fetchDatabase(ctx context.Context) (dir, version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetching)
	defer cancel()
	out, failure := run(ctx, "go", "mod", "download", "-json", database+"@latest")
	var got struct{ Dir, Version, Error string }
	// If go failed it may have printed no JSON; then its own error is returned.
	if err := json.Unmarshal(out, &got); failure == nil && err != nil {
		return "", "", fmt.Errorf("read what go mod download says: %w", err)
	}
	if got.Error != "" {
		failure = errors.New(got.Error)
	}
	if failure != nil {
		return "", "", fmt.Errorf("%w: %s", errNotAsked, oneLine(failure.Error()))
	}
	return got.Dir, got.Version, nil
}

// parseGovulncheck parses a stream of messages. Vulnerabilities of modules whose packages are not imported are
// skipped. The order is by module and id. A vulnerability in several packages of a module is deduplicated.
func parseGovulncheck(out []byte) ([]finding, error) {
	summaries := map[string]string{}
	found := map[finding]bool{}
	for messages := json.NewDecoder(bytes.NewReader(out)); ; {
		var message struct {
			OSV     *struct{ ID, Summary string }
			Finding *struct {
				OSV   string
				Fixed string `json:"fixed_version"`
				Trace []struct{ Module, Version, Package string }
			}
		}
		err := messages.Decode(&message)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read govulncheck's report: %w", err)
		}
		if message.OSV != nil {
			summaries[message.OSV.ID] = message.OSV.Summary
		}
		// The first frame of a trace is the vulnerable one.
		if f := message.Finding; f != nil && len(f.Trace) > 0 && f.Trace[0].Package != "" {
			in := f.Trace[0]
			found[finding{id: f.OSV, module: in.Module, version: in.Version, fixed: f.Fixed}] = true
		}
	}
	var findings []finding
	for f := range found {
		f.summary = summaries[f.id]
		findings = append(findings, f)
	}
	sortFindings(findings)
	return findings, nil
}

// sortFindings sorts findings, so that two reports can be compared.
func sortFindings(findings []finding) {
	slices.SortFunc(findings, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.module, b.module), cmp.Compare(a.id, b.id))
	})
}

// run returns a program's standard output, also if it fails. The error contains its standard error.
func run(ctx context.Context, name string, args ...string) ([]byte, error) {
	var out, said bytes.Buffer
	command := exec.CommandContext(ctx, name, args...)
	command.Stdout, command.Stderr = &out, &said
	if err := command.Run(); err != nil {
		return out.Bytes(), fmt.Errorf("%s: %w: %s", filepath.Base(name), err, strings.TrimSpace(said.String()))
	}
	return out.Bytes(), nil
}

// oneLine joins the lines of a text.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
