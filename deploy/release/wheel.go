package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// wheelPlatforms are the platform tags of the wheels. Linux needs no C library, so any tag is right; Go 1.26
// requires macOS 12.
var wheelPlatforms = map[string]string{
	"darwin/amd64":  "macosx_12_0_x86_64",
	"darwin/arm64":  "macosx_12_0_arm64",
	"linux/amd64":   "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
	"linux/arm64":   "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
	"windows/amd64": "win_amd64",
	"windows/arm64": "win_arm64",
}

// makeWheels writes a wheel for each platform, whose only script is the program itself.
//
// Installers copy the scripts folder unchanged to the directory of commands, so no Python runs at the start.
func makeWheels(root, notices, dist, out string, about product) error {
	programs, with, err := contents(root, notices, dist, about)
	if err != nil {
		return err
	}
	for _, p := range programs {
		if err := writeWheel(out, p, with, about); err != nil {
			return err
		}
	}
	return nil
}

// writeWheel writes one wheel: the program, its licence files, and the three metadata files (METADATA, WHEEL,
// RECORD). RECORD lists all files with their hashes; its own line has none, as the format requires.
func writeWheel(out string, p program, with []entry, about product) error {
	version := pythonVersion(about.version)
	tag, name := "py3-none-"+wheelPlatforms[p.system+"/"+p.processor], "footnote-"+version
	info := name + ".dist-info/"
	var tags strings.Builder
	for platform := range strings.SplitSeq(strings.TrimPrefix(tag, "py3-none-"), ".") {
		tags.WriteString("Tag: py3-none-" + platform + "\n")
	}
	metadata := "Metadata-Version: 2.4\nName: footnote\nVersion: " + version + "\nSummary: " + summary +
		"\nLicense-Expression: " + licence + "\nProject-URL: Homepage, " + about.homepage() +
		"\nRequires-Python: >=3.8\n"
	entries := []entry{{name + ".data/scripts/" + p.name(), p.content, true}}
	for _, e := range with {
		metadata += "License-File: " + e.name + "\n"
		entries = append(entries, entry{info + "licenses/" + e.name, e.content, false})
	}
	metadata += "Description-Content-Type: text/markdown\n\n" + about.readme("uvx footnote")
	entries = append(entries,
		entry{info + "METADATA", []byte(metadata), false},
		entry{info + "WHEEL", []byte(
			"Wheel-Version: 1.0\nGenerator: footnote\nRoot-Is-Purelib: false\n" + tags.String(),
		), false},
	)
	var record strings.Builder
	for _, e := range entries {
		sum := sha256.Sum256(e.content)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", e.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(e.content))
	}
	record.WriteString(info + "RECORD,,\n")
	entries = append(entries, entry{info + "RECORD", []byte(record.String()), false})
	return writeZip(filepath.Join(out, name+"-"+tag+".whl"), entries, about.made)
}

// preview matches the suffix of a pre-release: -rc.1, -beta.2, -alpha.3. The dot between name and number is
// optional.
var preview = regexp.MustCompile(`^(alpha|beta|rc)\.?(\d+)$`)

// pythonVersion converts a semver version to a Python one (PEP 440). A pre-release with another name becomes a
// development version, which sorts before the release too. For example 1.2.0-rc.1 becomes 1.2.0rc1, and 1.2.0-next
// becomes 1.2.0.dev0+next. Build metadata after + is dropped.
func pythonVersion(version string) string {
	version, _, _ = strings.Cut(version, "+")
	number, before, ok := strings.Cut(version, "-")
	if !ok {
		return number
	}
	if m := preview.FindStringSubmatch(before); m != nil {
		return number + map[string]string{"alpha": "a", "beta": "b", "rc": "rc"}[m[1]] + m[2]
	}
	return number + ".dev0+" + regexp.MustCompile(`[^A-Za-z0-9]+`).ReplaceAllString(strings.ToLower(before), ".")
}
