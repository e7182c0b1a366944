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

// database is the module whose data/osv is what vuln.go.dev serves. A module comes from where Go's modules come from,
// which is reached wherever the program can be built.
//
// govulncheck would ask vuln.go.dev by itself; a build machine may only reach a proxy for modules.
const database = "golang.org/x/vulndb"

// fetching is how long the newest database may take: it is 25 MB, and cached with the modules.
const fetching = 2 * time.Minute

// goFindings reads the packages of the module and of its tests. It looks at what is imported, in a second; whether the
// code is called takes a minute and 7 GB.
//
// govulncheck is the program's path, and tags are build tags, so that packages are read that only some builds have.
// Its report names the day of the database. It fails with errNotAsked when the database can't be fetched, and with
// another error when govulncheck itself fails.
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

// fetchDatabase has the newest database in the module cache, and returns where it is and its version. When it can't be
// fetched, the error is errNotAsked with what go said, in one line.
func fetchDatabase(ctx context.Context) (dir, version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetching)
	defer cancel()
	out, failure := run(ctx, "go", "mod", "download", "-json", database+"@latest")
	var got struct{ Dir, Version, Error string }
	// When go failed it may have printed no JSON; then its own error counts.
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

// parseGovulncheck reads a stream of messages. What is in a module but in no package that is imported is left out. The
// order is by module and id. A vulnerability that is in several packages of one module is one finding.
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
		// The first step of a trace is where the vulnerability is.
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

// sortFindings puts findings in the same order each time, so that two reports can be compared.
func sortFindings(findings []finding) {
	slices.SortFunc(findings, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.module, b.module), cmp.Compare(a.id, b.id))
	})
}

// run returns what a program prints, also when it fails. The error has the last of what it says went wrong.
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
