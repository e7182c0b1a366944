package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
)

// bundle is the manifest.json of a bundle that chat programs on a desktop install (MCPB, version 0.3).
//
// The fields are those of that format, of which only what is used is here. about's check has passed when one is made.
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

// bundleServer says how the program is started.
type bundleServer struct {
	Type       string        `json:"type"`
	EntryPoint string        `json:"entry_point"`
	Config     bundleCommand `json:"mcp_config"`
}

// Env may name what the person entered at the installation, as ${user_config.NAME}.
type bundleCommand struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

// bundleField is what a person is asked for at the installation. Sensitive has the chat program keep it apart from its
// settings.
type bundleField struct {
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
	Default     string `json:"default"`
	Sensitive   bool   `json:"sensitive,omitempty"`
}

// makeBundles writes a bundle for each platform: the program, started as "footnote mcp". It speaks to the server that
// is named, else to the one that has the data directory, else it serves that itself.
//
// dist is what goreleaser wrote and out is the folder for the bundles, whose names have the version and Node's names
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

// newBundle is the manifest for the program of one platform. The tools are those that “footnote mcp” has; they are
// shown before it is installed.
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
