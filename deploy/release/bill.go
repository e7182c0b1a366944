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

// bill is a software bill of materials (SBOM) in CycloneDX 1.6, without a serial number.
//
// The serial number is optional, and would make the build irreproducible. https://cyclonedx.org describes the
// fields.
type bill struct {
	Format      string      `json:"bomFormat"`
	SpecVersion string      `json:"specVersion"`
	Version     int         `json:"version"`
	Metadata    billHead    `json:"metadata"`
	Components  []component `json:"components"`
}

// billHead is the subject of the bill, and its timestamp.
type billHead struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

// component is one dependency. PURL is its package URL, which scanners use as its identifier; a work without a
// version has none.
type component struct {
	Type    string     `json:"type"`
	Ref     string     `json:"bom-ref,omitempty"`
	Name    string     `json:"name"`
	Version string     `json:"version,omitempty"`
	Hashes  []billHash `json:"hashes,omitempty"`
	PURL    string     `json:"purl,omitempty"`
}

// billHash is a hash in hexadecimal, with the standard's name of the algorithm.
type billHash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

// makeBill writes the modules that are linked into a built program, and the parts embedded in every one.
//
// binary is the program of one platform, since linked modules differ between platforms. Its build info is read, so
// the bill describes the binary and not go.mod. It requires node_modules below root, like embeddedParts.
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

// billOf lists Go itself, the linked modules in the order of the build info, then the embedded parts.
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
		// A replaced module is listed as its replacement.
		if module.Replace != nil {
			module = module.Replace
		}
		if strings.HasPrefix(module.Path, ".") { // a module of this repository
			continue
		}
		c := component{
			Type: "library", Name: module.Path, Version: module.Version,
			PURL: "pkg:golang/" + strings.ToLower(module.Path) + "@" + module.Version,
		}
		c.Ref = c.PURL
		// Go's own hash of a module is a SHA-256 of the list of its files' hashes.
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
