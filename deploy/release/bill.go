package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"
)

// bill is a bill of materials in CycloneDX 1.6, without the number of its own that would differ each time.
//
// A serial number is optional in the standard, and is left out for that reason. https://cyclonedx.org describes the
// fields.
type bill struct {
	Format      string      `json:"bomFormat"`
	SpecVersion string      `json:"specVersion"`
	Version     int         `json:"version"`
	Metadata    billHead    `json:"metadata"`
	Components  []component `json:"components"`
}

// billHead is what the bill is of, and when that was made.
type billHead struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

// component is one work. PURL is its package URL, by which scanners know it; works without a version have none.
type component struct {
	Type    string     `json:"type"`
	Ref     string     `json:"bom-ref,omitempty"`
	Name    string     `json:"name"`
	Version string     `json:"version,omitempty"`
	Hashes  []billHash `json:"hashes,omitempty"`
	PURL    string     `json:"purl,omitempty"`
}

// billHash is a hash as hexadecimal digits, with the standard's name for how it was made.
type billHash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

// makeBill writes what a built program says is linked into it, and what is embedded in every one.
//
// binary is the program of one platform, since what is linked differs between them. It asks the program itself, so the
// bill is of what was built and not of what go.mod says. It needs node_modules below root, as embeddedParts does.
func makeBill(root, binary, out string, about product) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	embedded, err := embeddedParts(root)
	if err != nil {
		return err
	}
	raw, err := json.MarshalIndent(billOf(info, embedded, about), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(raw, '\n'), 0o644)
}

// billOf lists Go itself, the linked modules, and the embedded parts. The order is Go, the modules as the program
// lists them, then what is embedded.
func billOf(info *debug.BuildInfo, embedded []part, about product) bill {
	setting := map[string]string{}
	for _, s := range info.Settings {
		setting[s.Key] = s.Value
	}
	goVersion := strings.TrimPrefix(info.GoVersion, "go")
	list := []component{{
		Type: "library", Ref: "pkg:golang/std@" + goVersion, Name: "std", Version: goVersion,
		PURL: "pkg:golang/std@" + goVersion,
	}}
	for _, module := range info.Deps {
		// A module that was replaced counts as what took its place.
		if module.Replace != nil {
			module = module.Replace
		}
		if strings.HasPrefix(module.Path, ".") { // code of this repository
			continue
		}
		c := component{
			Type: "library", Name: module.Path, Version: module.Version,
			PURL: "pkg:golang/" + strings.ToLower(module.Path) + "@" + module.Version,
		}
		c.Ref = c.PURL
		// Go's own hash of a module is a SHA-256 of the list of its files' hashes
		sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(module.Sum, "h1:"))
		if err == nil && len(sum) == 32 {
			c.Hashes = []billHash{{Algorithm: "SHA-256", Content: hex.EncodeToString(sum)}}
		}
		list = append(list, c)
	}
	for _, p := range embedded {
		c := component{Type: "library", Name: p.Name, Version: p.Version}
		if p.Version != "" {
			c.PURL = "pkg:npm/" + strings.ReplaceAll(p.Name, "@", "%40") + "@" + p.Version
		}
		list = append(list, c)
	}
	return bill{
		Format: "CycloneDX", SpecVersion: "1.6", Version: 1, Components: list,
		Metadata: billHead{Timestamp: about.made.Format(time.RFC3339), Component: component{
			Type: "application", Ref: "footnote",
			Name:    fmt.Sprintf("footnote (%s/%s)", setting["GOOS"], setting["GOARCH"]),
			Version: about.version, PURL: "pkg:generic/footnote@" + about.version,
		}},
	}
}
