package main_test

import (
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"

	"footnote/chat"
	"footnote/e2e/scripted"
	"footnote/llm"
)

// discard is a log that nobody reads.
var discard = slog.New(slog.DiscardHandler)

const (
	aProgram = "application/json"
	aBrowser = "text/html"
)

// doors are all ways to add something that package comments describe, each with its toy.
var doors = []door{
	{
		adds: "a format of files", toy: "format",
		table: "corpus/extract/formats_table.go", after: "var Formats = Registry{\n",
		entry: `	{
		Name: "toy", Label: "Toy", Kind: "toys", Called: "a toy", MIME: "text/x-toy", Extensions: []string{".toy"},
		Inert: true, text: readToy, bare: plainText,
	},
`,
		shows: func(h house) {
			dir := h.t.TempDir()
			putFiles(h.t, dir, map[string]string{"chest.toy": "Marbles~are~round."})
			got := h.command("ingest", dir, "--data="+h.dir)
			if got.code != 0 || !strings.Contains(got.stderr, "1 added") {
				h.t.Fatalf("ingest: %+v, want the file added", got)
			}
			h.has("/documents/"+h.named("chest.toy").ID+"/text", "text/plain", "", "Marbles are round.")
			h.has("/documents", aBrowser, "", ".toy,", ">TOY<", "toys")
			h.has("/documents?kind=toy", aBrowser, "", "chest.toy")
			h.has("/openapi.json", aProgram, "", "Toy, PDF")
		},
	},
	{
		adds: "a kind of place", toy: "place", table: "places/registry/registry.go",
		after: "return []places.Kind{\n", entry: "\t\ttoy.Kind(),\n", imports: "footnote/places/toy",
		shows: func(h house) {
			h.has("/places/kinds", aProgram, "", `"toy"`, "Toy box")
			h.has("/places/new?kind=toy", aBrowser, "", "Toy box", "Words")
			h.followPlace(`{"kind":"toy","name":"Attic","settings":{"words":"Dolls are old."}}`)
			h.has("/documents/"+h.named("attic.md").ID+"/text", "text/plain", "", "Dolls are old.")
		},
	},
	{
		adds: "a tool", toy: "tool", table: "agent/tools/table.go",
		after: "return []row{\n", entry: "\t\t{toy, \"cursor\"},\n",
		shows: func(h house) {
			if call := h.played(); string(call.ToolOutput) != `{"toys":42}` {
				h.t.Errorf("the tool says %s, want what it counted", call.ToolOutput)
			}
			for _, r := range h.model.inner.Requests() {
				if !slices.ContainsFunc(r.Tools, func(s llm.ToolSpec) bool { return s.Name == "toy" }) {
					h.t.Errorf("the model is told of %d tools without the toy", len(r.Tools))
				}
			}
			r := h.send("POST", "/chat", `{"message":"Hello","config":{"enabled_tools":["nothing"]}}`)
			if r.status != http.StatusBadRequest || !strings.Contains(r.body, "There are: toy, ") {
				h.t.Errorf("a wrong name of a tool: %d %s, want the toy among the right ones", r.status, r.body)
			}
		},
	},
	{
		adds: "a store of vectors", toy: "vectors", table: "cmd/footnote/wire/stores.go",
		after:   "\tif err := s.openMilvus(set, log); err != nil {\n\t\treturn s, err\n\t}\n",
		entry:   "\ts.vectors = toy.Over(s.vectors, log)\n",
		imports: "footnote/corpus/toy",
		shows: func(h house) {
			h.add(file{"kite.md", "Kites fly on windy days."})
			h.semantic()
			if status, body := h.meaning("kites"); status != 200 || !strings.Contains(body, "kite.md") ||
				!strings.Contains(h.log.String(), "toy vectors are searched") {
				h.t.Errorf("a search by meaning: %d %s, want it asked of the toy", status, body)
			}
		},
	},
	{
		adds: "a service of models", table: "cmd/footnote/answering/services.go",
		after: "var modelServices = []modelService{\n",
		entry: "\t{\"toy\", \"Toy models\", \"http://127.0.0.1:9/v1\", \"toy-1\"},\n",
		shows: func(h house) {
			h.has("/model", aProgram, "", `"Toy models"`, `"toy-1"`)
			h.has("/model", aBrowser, "", "Toy models")
		},
	},
	{
		adds: "a form of calls in text", toy: "dialect", table: "llm/textcalls/dialects.go",
		after: "var dialects = []dialect{\n",
		entry: "\t{name: \"toy\", begins: []string{\"<<toy\"}, body: afterName, marks: `<</?toy>>`,\n" +
			"\t\tnamed: regexp.MustCompile(`<<toy ` + name + `>>`)},\n",
		shows: func(h house) {
			if call := h.played(); string(call.ToolInput) != `{"boxes":6}` { // the model writes it in this form alone
				h.t.Errorf("the call has the arguments %s, want those of the reply", call.ToolInput)
			}
		},
	},
	{
		adds: "a setting", toy: "setting", table: "cmd/footnote/settings/settings.go",
		after: "type Settings struct {\n", entry: "\ttoySettings\n",
		shows: func(h house) { // the server has read toys: 12 in its settings file
			if got := h.command("--help"); !strings.Contains(got.stdout, "--toys=3") ||
				!strings.Contains(got.stdout, "FOOTNOTE_TOYS") {
				h.t.Errorf("--help does not know the setting:\n%s", got.stdout)
			}
			got := commandOf(h.t, h.program, "", []string{"FOOTNOTE_TOYS=many"}, "toy", "ball")
			if got.code == 0 || !strings.Contains(got.stderr, "toys") {
				h.t.Errorf("with a wrong value: %+v, want it refused", got)
			}
		},
	},
	{
		adds: "a page of the handbook", toy: "page",
		shows: func(h house) {
			r := h.send("POST", "/documents/samples", nil)
			for _, d := range loose[uploadAnswer](h.t, r.body).Documents {
				if d.Filename == "toy.md" {
					h.settled(d.ID)
					h.has("/documents/"+d.ID+"/text", "text/plain", "", "made of beech")
					h.has("/d/"+d.ID, aBrowser, "", "made of beech")
					return
				}
			}
			h.t.Errorf("POST /documents/samples: %d %s, want toy.md in it", r.status, r.body)
		},
	},
	{
		adds: "a language of the page", toy: "language", table: "locale/locale.go",
		after: "\n\tEnglish,\n", entry: "\ttranslated(\"eo\", \"Esperanto\"),\n",
		shows: func(h house) {
			h.has("/", aBrowser, "", "Esperanto</button>")
			h.has("/", aBrowser, "eo,en;q=0.5", `lang="eo"`, "Dokumentoj")
		},
	},
	{
		adds: "a command", toy: "command", table: "cmd/footnote/commands.go",
		after: "`help:\"Print the version and exit.\"`\n", entry: "\tToy toy.Command `cmd:\"\" help:\"Name toys.\"`\n",
		imports: "footnote/cmd/footnote/toy",
		shows: func(h house) {
			if got := h.command("--help"); !strings.Contains(got.stdout, "Name toys.") {
				h.t.Errorf("--help does not know the command:\n%s", got.stdout)
			}
			if got := h.command("toy", "ball"); got.code != 0 || got.stdout != "toys called ball\n" {
				h.t.Errorf("footnote toy ball: %+v", got)
			}
		},
	},
}

// playing makes a model that calls the toy tool in the form of the toy dialect, once in a run.
func playing(t *testing.T) scripted.Script {
	t.Helper()
	call := strings.TrimSpace(read(t, toys+"/dialect/llm/textcalls/testdata/dialects/toy.txt"))
	return func(r scripted.Request) scripted.Reply {
		if r.Turn() > 0 {
			return scripted.Reply{Text: "There are 42 toys in the boxes."}
		}
		return scripted.Reply{Text: call}
	}
}

// played has the model asked, and returns the finished call of the toy tool.
func (h house) played() chat.Step {
	h.t.Helper()
	for _, step := range h.run("How many toys are in six boxes?").steps {
		if step.ToolName == "toy" && step.Status == chat.StatusComplete {
			return step
		}
	}
	h.t.Fatal("the run has no call of the toy tool")
	return chat.Step{}
}

// named waits until a document of that file name is ready.
func (h house) named(name string) (found documentState) {
	h.t.Helper()
	eventually(h.t, name+" is ready", func() bool {
		body := h.send("GET", "/documents?limit=100", nil).body
		list := loose[struct{ Documents []documentState }](h.t, body).Documents
		i := slices.IndexFunc(list, func(d documentState) bool { return d.Filename == name && d.State == "ready" })
		if i >= 0 {
			found = list[i]
		}
		return i >= 0
	})
	return found
}
