// Command release builds the release files that goreleaser does not: the licence notices of all linked and embedded
// parts, the bill of materials, the packages for npm and PyPI, and the bundles for chat clients. Its output is
// reproducible. It is part of "make release" and is not installed.
//
//	go run ./deploy/release notices -out FILE                        licences of all that is in the program
//	go run ./deploy/release sbom -binary BIN -version V -out FILE    what one built program has in it
//	go run ./deploy/release model -model DIR -out FILE               the sentence model, packed
//	go run ./deploy/release npm -version V -repository R -out DIR    likewise wheels and bundles
//
// It requires SOURCE_DATE_EPOCH, the Unix time of the commit, in the environment: it is the timestamp of all packed
// files. It packs the programs that goreleaser wrote into dist. On success it prints nothing and exits with 0.
// Otherwise it prints the error and exits with 1; files written before stay.
//
// It never builds the program, and never publishes anything.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// run runs the first argument's command. All commands have the same flags; each uses those that it needs. -out is
// always required.
func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	out := flags.String("out", "", "file or folder to write")
	root := flags.String("root", ".", "folder of the sources")
	dist := flags.String("dist", "dist", "folder that goreleaser wrote")
	binary := flags.String("binary", "", "program whose bill of materials is made")
	repository := flags.String("repository", "", "where versions are published, such as github.com/owner/name")
	version := flags.String("version", "", "version without the v")
	notices := flags.String("notices", ".cache/release/THIRD-PARTY-NOTICES.txt", "file of the notices, for packages")
	model := flags.String("model", "", "folder of the sentence model")
	if len(args) == 0 {
		return errors.New("say what to make: notices, sbom, model, npm, wheels or bundles")
	}
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if *out == "" || flags.NArg() != 0 {
		return errors.New("-out is needed, and nothing beside flags")
	}
	made, err := madeAt(os.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return err
	}
	about := product{version: *version, repository: *repository, made: made}
	switch args[0] {
	case "notices":
		return makeNotices(ctx, *root, *out)
	case "sbom":
		return makeBill(*root, *binary, *out, about)
	case "model":
		return makeModel(*model, *out, about)
	case "npm":
		return makeNPM(*root, *notices, *dist, *out, about)
	case "wheels":
		return makeWheels(*root, *notices, *dist, *out, about)
	case "bundles":
		return makeBundles(*root, *notices, *dist, *out, about)
	default:
		return fmt.Errorf("%s is nothing to make: notices, sbom, model, npm, wheels or bundles", args[0])
	}
}

// product is the program's metadata in all packages. Packages require all fields, see check; the notices and the
// model only the timestamp.
type product struct {
	version    string // 1.2.3, without the v
	repository string // github.com/owner/name
	made       time.Time
}

// summary is one sentence without a full stop, since registries cut longer texts. licence is the SPDX identifier.
const (
	summary = "Answers questions from your own documents, with footnotes that open the source at the very words"
	licence = "MIT"
)

// homepage returns the repository's URL.
func (p product) homepage() string { return "https://" + p.repository }

// readme returns the registry's page for a package that is started by a command.
func (p product) readme(command string) string {
	return "# Footnote\n\n" + summary + ".\n\n    " + command + " up ~/papers\n\nMore: " + p.homepage() + "\n"
}

// check validates the metadata for packages. The timestamp was validated before, by madeAt.
func (p product) check() error {
	if p.version == "" || p.repository == "" {
		return errors.New("-version and -repository are needed")
	}
	return nil
}

// madeAt parses SOURCE_DATE_EPOCH, the commit's time, which is the timestamp of everything in packages.
//
// A missing value is an error instead of “now”: others can't verify a package that differs for each build. The
// result is in UTC.
func madeAt(epoch string) (time.Time, error) {
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil || seconds < 315532800 { // 1980, the start of a zip file's timestamps
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is %q, want the seconds of the commit", epoch)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// launcher starts the program of the package for this system.
//
//go:embed launcher.cjs
var launcher []byte

// npmScope is the npm scope of the packages with the programs. A scope has one owner, so that others can't publish
// under these names.
const npmScope = "@footnote/"

// npmSystems and npmProcessors map to Node's names (process.platform, process.arch).
var (
	npmSystems    = map[string]string{"darwin": "darwin", "linux": "linux", "windows": "win32"}
	npmProcessors = map[string]string{"amd64": "x64", "arm64": "arm64"}
)

// manifest is a package.json. OS and CPU limit the platforms on which npm installs it. PreferUnplug makes Yarn
// unpack it, since a program can't be started inside an archive.
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

// makeNPM writes a package for each platform, and the package footnote, which starts the matching one that npm
// installed. There are no install scripts and no downloads after the installation.
//
// The programs' packages are optional dependencies of the package footnote, pinned to its version, so npm skips
// those for other systems. Node 18 is the oldest supported version.
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

// newManifest returns the fields that all packages share.
func newManifest(name string, about product) manifest {
	return manifest{
		Name: name, Version: about.version, Description: summary, License: licence, Homepage: about.homepage(),
		Repository: map[string]string{"type": "git", "url": "git+https://" + about.repository + ".git"},
	}
}

// writeNPM writes the same archive as npm pack. All files are below package/, as npm requires. The file's name has
// no @ and no slash.
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

// bundle is the manifest.json of a bundle that desktop chat clients install (MCPB, version 0.3).
//
// Only the used fields of that format are declared. about was validated with check before.
type bundle struct {
	ManifestVersion string                 `json:"manifest_version"`
	Name            string                 `json:"name"`
	DisplayName     string                 `json:"display_name"`
	Version         string                 `json:"version"`
	Description     string                 `json:"description"`
	LongDescription string                 `json:"long_description"`
	Author          map[string]string      `json:"author"`
	Repository      map[string]string      `json:"repository"`
	Homepage        string                 `json:"homepage"`
	License         string                 `json:"license"`
	Keywords        []string               `json:"keywords"`
	Server          bundleServer           `json:"server"`
	Tools           []map[string]string    `json:"tools"`
	UserConfig      map[string]bundleField `json:"user_config"`
	Compatibility   map[string]any         `json:"compatibility"`
}

// bundleServer configures how the program is started.
type bundleServer struct {
	Type       string        `json:"type"`
	EntryPoint string        `json:"entry_point"`
	Config     bundleCommand `json:"mcp_config"`
}

// Env may refer to the user's input at the installation as ${user_config.NAME}.
type bundleCommand struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

// bundleField is an input of the user at the installation. For a Sensitive one the chat client stores the value
// apart from its settings.
type bundleField struct {
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
	Default     string `json:"default"`
	Sensitive   bool   `json:"sensitive,omitempty"`
}

// makeBundles writes a bundle for each platform: the program, started as "footnote mcp". It connects to the
// configured server, or the one that uses the data directory, or serves that itself.
//
// dist is goreleaser's output and out is the folder for the bundles, whose names have the version and Node's names
// for the system.
func makeBundles(root, notices, dist, out string, about product) error {
	programs, with, err := contents(root, notices, dist, about)
	if err != nil {
		return err
	}
	for _, p := range programs {
		var text bytes.Buffer
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(newBundle(p, about)); err != nil {
			return err
		}
		entries := append([]entry{{"manifest.json", text.Bytes(), false}, {p.name(), p.content, true}}, with...)
		name := "footnote-" + about.version + "-" + npmSystems[p.system] + "-" + npmProcessors[p.processor] + ".mcpb"
		if err := writeZip(filepath.Join(out, name), entries, about.made); err != nil {
			return err
		}
	}
	return nil
}

// newBundle returns the manifest for the program of one platform. The tools are those of “footnote mcp”; clients
// show them before the installation.
func newBundle(p program, about product) bundle {
	return bundle{
		ManifestVersion: "0.3", Name: "footnote", DisplayName: "Footnote", Version: about.version, Description: summary,
		LongDescription: "Your documents as tools: search, fetch, read, list_documents, and ask, which answers with " +
			"a " +
			"footnote for every claim. Add documents on the page of `footnote up FOLDER`, or name a server that has " +
			"them.",
		Author:     map[string]string{"name": "The authors of Footnote", "url": about.homepage()},
		Repository: map[string]string{"type": "git", "url": about.homepage() + ".git"},
		Homepage:   about.homepage(), License: licence, Keywords: []string{"documents", "search", "citations"},
		Server: bundleServer{"binary", p.name(), bundleCommand{
			Command: "${__dirname}/" + p.name(), Args: []string{"mcp"},
			Env: map[string]string{
				"FOOTNOTE_SERVER": "${user_config.server}", "FOOTNOTE_API_KEY": "${user_config.key}",
				"FOOTNOTE_DATA": "${user_config.data}",
			},
		}},
		Tools: []map[string]string{
			{"name": "search", "description": "Finds passages in the documents."},
			{"name": "fetch", "description": "Reads what search found."},
			{"name": "read", "description": "Reads a document."},
			{"name": "list_documents", "description": "Lists the documents."},
			{"name": "ask", "description": "Answers a question, with a footnote for every claim."},
		},
		UserConfig: map[string]bundleField{
			"server": {
				Type: "string", Title: "Server",
				Description: "Address of a Footnote server, such as https://footnote.example.org. Empty: the " +
					"documents " +
					"of this machine.",
			},
			"key": {Type: "string", Title: "Key", Description: "Your key, if that server needs one.", Sensitive: true},
			"data": {
				Type: "directory", Title: "Data directory", Default: "${HOME}/footnote-data",
				Description: "Where Footnote keeps the documents of this machine.",
			},
		},
		Compatibility: map[string]any{"platforms": []string{npmSystems[p.system]}},
	}
}

// program is a built program for one platform. content is the whole program, in memory.
type program struct {
	system    string // GOOS
	processor string // GOARCH
	content   []byte
}

// name returns the program's file name on its system.
func (p program) name() string {
	if p.system == "windows" {
		return "footnote.exe"
	}
	return "footnote"
}

// contents reads the common content of all packages: the programs, one for each platform, and the licence files for
// each. It fails first if the product has no version or no repository.
//
// Their order is that of platforms. notices is the file written by makeNotices.
func contents(root, notices, dist string, about product) ([]program, []entry, error) {
	if err := about.check(); err != nil {
		return nil, nil, err
	}
	programs, err := builtPrograms(root, dist)
	if err != nil {
		return nil, nil, err
	}
	with, err := papers(root, notices)
	return programs, with, err
}

// builtPrograms reads the programs that goreleaser built, by its list of artifacts, in the order of platforms.
//
// A missing platform or an empty program is an error, since only users would notice it. Paths in the list are
// relative to root.
func builtPrograms(root, dist string) ([]program, error) {
	raw, err := os.ReadFile(filepath.Join(dist, "artifacts.json"))
	if err != nil {
		return nil, err
	}
	var made []struct {
		Path, Type, Goos, Goarch string
	}
	if err := json.Unmarshal(raw, &made); err != nil {
		return nil, fmt.Errorf("read artifacts.json: %w", err)
	}
	var programs []program
	for _, platform := range platforms {
		system, processor, _ := strings.Cut(platform, "/")
		i := slices.IndexFunc(made, func(a struct{ Path, Type, Goos, Goarch string }) bool {
			return a.Type == "Binary" && a.Goos == system && a.Goarch == processor
		})
		if i < 0 {
			return nil, fmt.Errorf("%s has no program for %s", dist, platform)
		}
		path := made[i].Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(root, path)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if len(content) == 0 {
			return nil, errors.New(path + " is empty")
		}
		programs = append(programs, program{system, processor, content})
	}
	return programs, nil
}

// papers returns the files that are packed with every program: the product's licence and the notices, under their
// own names.
func papers(root, notices string) ([]entry, error) {
	var entries []entry
	for _, path := range []string{filepath.Join(root, "LICENSE"), notices} {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{name: filepath.Base(path), content: content})
	}
	return entries, nil
}
