package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"path/filepath"
	"strings"
)

// launcher starts the program of the package for this system.
//
//go:embed launcher.cjs
var launcher []byte

// npmScope is before the names of the packages with the programs. One scope needs one owner. Registries would let
// others publish under another one.
const npmScope = "@footnote/"

// npmSystems and npmProcessors are Node's names (process.platform, process.arch).
var (
	npmSystems    = map[string]string{"darwin": "darwin", "linux": "linux", "windows": "win32"}
	npmProcessors = map[string]string{"amd64": "x64", "arm64": "arm64"}
)

// manifest is a package.json. OS and CPU have npm install it only there. PreferUnplug has Yarn unpack it, for a
// program can't be started inside an archive.
type manifest struct {
	Name         string            `json:"name"`
	Version      string            `json:"version"`
	Description  string            `json:"description"`
	License      string            `json:"license"`
	Homepage     string            `json:"homepage"`
	Repository   map[string]string `json:"repository"`
	Bin          map[string]string `json:"bin,omitempty"`
	Files        []string          `json:"files"`
	OS           []string          `json:"os,omitempty"`
	CPU          []string          `json:"cpu,omitempty"`
	PreferUnplug bool              `json:"preferUnplugged,omitempty"`
	Engines      map[string]string `json:"engines,omitempty"`
	Optional     map[string]string `json:"optionalDependencies,omitempty"`
}

// makeNPM writes a package for each platform, of which npm installs the one that fits, and the package footnote, which
// starts it. Nothing runs or is fetched after the installation.
//
// The programs' packages are optional dependencies of the package footnote, with exactly its version, so npm leaves
// out those for other systems. Node 18 is the oldest that it may be installed with.
func makeNPM(root, notices, dist, out string, about product) error {
	programs, with, err := contents(root, notices, dist, about)
	if err != nil {
		return err
	}
	main := newManifest("footnote", about)
	main.Bin, main.Files = map[string]string{"footnote": "launcher.cjs"}, []string{"launcher.cjs"}
	main.Engines, main.Optional = map[string]string{"node": ">=18"}, map[string]string{}
	for _, p := range programs {
		system, processor := npmSystems[p.system], npmProcessors[p.processor]
		m := newManifest(npmScope+system+"-"+processor, about)
		m.OS, m.CPU, m.Files, m.PreferUnplug = []string{system}, []string{processor}, []string{p.name()}, true
		main.Optional[m.Name] = about.version
		if err := writeNPM(out, m, append(with, entry{p.name(), p.content, true}), about); err != nil {
			return err
		}
	}
	return writeNPM(out, main, append(with, entry{"README.md", []byte(about.readme("npx footnote")), false},
		entry{"launcher.cjs", launcher, true}), about)
}

// newManifest is what all packages say alike.
func newManifest(name string, about product) manifest {
	return manifest{
		Name: name, Version: about.version, Description: summary, License: licence, Homepage: about.homepage(),
		Repository: map[string]string{"type": "git", "url": "git+https://" + about.repository + ".git"},
	}
}

// writeNPM packs what npm pack would. All files lie below package/, which is where npm looks. The file's name has no @
// and no slash.
func writeNPM(out string, m manifest, files []entry, about product) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(m); err != nil {
		return err
	}
	packed := []entry{{name: "package/package.json", content: text.Bytes()}}
	for _, e := range files {
		e.name = "package/" + e.name
		packed = append(packed, e)
	}
	name := strings.NewReplacer("@", "", "/", "-").Replace(m.Name) + "-" + m.Version + ".tgz"
	return writeTarball(filepath.Join(out, name), packed, about.made)
}
