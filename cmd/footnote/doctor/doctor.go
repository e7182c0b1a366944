// Package doctor checks what a question needs, from the disk to the model, and says what to do about what is wrong.
//
// [Check] uses the parts of the program as serving would, so that what it calls fine works: it claims the data
// directory and opens the database, has a worker read a PDF, and asks the model for a call of a tool. Nothing that it
// makes stays. It never stops at a finding, since one cause often has several.
//
//	footnote doctor            a line for each check, ✓ or ✕, and exit 1 when one failed
//	footnote doctor --health   asks a running server whether it is well, for containers
//
// It shows no key and no text of a document.
package doctor

import (
	"context"
	_ "embed" // page.pdf
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/footnote/footnote/agent/llm/nearby"
	"github.com/footnote/footnote/agent/llm/openai"
	"github.com/footnote/footnote/agent/llm/textcalls"
	agentrun "github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/cmd/footnote/command"
	"github.com/footnote/footnote/cmd/footnote/datadir"
	"github.com/footnote/footnote/cmd/footnote/settings"
	"github.com/footnote/footnote/cmd/footnote/wire"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/worker"
	"github.com/footnote/footnote/text/english"
)

// Command checks what a question needs, from the disk to the model.
type Command struct {
	Health bool `help:"Only ask the server at FOOTNOTE_ADDR whether it is well, for a container's health check."`
}

// Finding is what one check found: what is fine, or what is wrong and what to do.
// What names the part in a word or two, Fine is a clause for people, and the message of Err says what to do. Where
// there is an Err it is told instead of Fine.
type Finding struct {
	What string
	Fine string
	Err  error
}

// Run checks everything that a question needs and prints a line for each. A failed check is an error.
// All of it ends after two minutes: a person waits for it. A failed check does not keep the others from being made.
func (c Command) Run(p *command.Program) error {
	if c.Health {
		return askHealth(p.Ctx, p.Settings.Addr)
	}
	ctx, cancel := context.WithTimeout(p.Ctx, 2*time.Minute)
	defer cancel()
	findings := Check(ctx, p.Settings)
	wrong := 0
	for _, f := range findings {
		if f.Err != nil {
			wrong++
			fmt.Fprintf(p.Stdout, "✕ %-15s %s\n", f.What, command.Message(f.Err))
			continue
		}
		fmt.Fprintf(p.Stdout, "✓ %-15s %s\n", f.What, f.Fine)
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d checks failed", wrong, len(findings))
	}
	return nil
}

// Check checks everything that a question needs with these settings, and returns a finding for each check, in the
// order in which a person mends them. A directory that another process has is left alone; everything that a check
// makes is removed again. It asks the model that is set for a few words, which its service may charge for.
func Check(ctx context.Context, set *settings.Settings) []Finding {
	findings := []Finding{
		{What: "settings", Fine: "understood", Err: checkTools(set)}, checkAccess(set),
	}
	findings = append(findings, checkStorage(ctx, set)...)
	findings = append(findings, checkReader(ctx, set))
	findings = append(findings, vectorStore(ctx, set)...)
	model := checkModel(ctx, set)
	findings = append(findings, model...)
	// only who has no model that works is told of others
	if !set.WithModel() || model[0].Err != nil {
		look, cancel := context.WithTimeout(ctx, nearby.Look)
		findings = append(findings, findLocalModels(look, set, nearby.Ports)...)
		cancel()
	}
	findings = append(findings, checkRerank(ctx, set)...)
	return append(findings, checkOffice(set), checkConfinement())
}

// checkTools reports tools that are named and that there are not. It makes the client of the tool servers as a start
// would, and asks none of them. A tool that is named wrongly would otherwise only be missed in a run.
func checkTools(set *settings.Settings) error {
	search, err := set.WebSearch()
	if err != nil {
		return err
	}
	others, err := set.ToolServers("", nil)
	if err != nil {
		return err
	}
	return agentrun.Config{Toolset: set.AgentToolset, Tools: set.AgentTools, Web: search, MCP: others}.CheckTools()
}

// checkStorage opens the stores as serving would. A directory that is in use is fine: its server has them open. The
// lock is given up before it returns, and the database closed, so that a server can start right after. Two hundred MiB
// are the least that it calls enough; that is four files of the largest size that is taken by default.
func checkStorage(ctx context.Context, set *settings.Settings) []Finding {
	dir, err := datadir.Claim(set.Data)
	if busy, ok := errors.AsType[*datadir.InUse](err); ok && busy.URL != "" {
		return []Finding{
			{What: "data directory", Fine: fmt.Sprintf("%s, in use by the Footnote at %s", set.Data, busy.URL)},
		}
	}
	if err != nil {
		return []Finding{{What: "data directory", Err: err}}
	}
	found := []Finding{{What: "data directory", Fine: set.Data + " can be written"}}
	if free, err := datadir.FreeSpace(set.Data); err != nil {
		found = append(found, Finding{What: "disk", Err: err})
		// four of the largest files that are taken by default: each is kept as it came, beside its text and vectors
	} else if free < 200<<20 {
		found = append(found, Finding{
			What: "disk", Err: fmt.Errorf("only %d MiB are free at %s; make room, uploads need it", free>>20, set.Data),
		})
	} else {
		found = append(found, Finding{What: "disk", Fine: fmt.Sprintf("%d MiB free", free>>20)})
	}
	// this migrates a database of an older version, as the next start would
	s, err := wire.OpenStores(ctx, set, dir, command.QuietLogger(io.Discard))
	if s != nil {
		err = errors.Join(err, s.Close())
	}
	found = append(found, Finding{What: "database", Fine: "opens, its version fits", Err: err})
	if err == nil && set.Blobs != "" {
		found = append(found, tryOriginals(ctx, set, s.Blobs))
	} else if err == nil && set.DatabaseURL == "" {
		found = append(found, compareOriginals(ctx, dir))
	}
	if err := dir.Release(); err != nil {
		found = append(found, Finding{What: "data directory", Err: err})
	}
	return found
}

// page is a PDF of one page. It is embedded, so that the check needs no file of the user's.
//
//go:embed page.pdf
var page []byte

// checkReader has a worker read [page], in a process of its own and with compiled code in the cache.
func checkReader(ctx context.Context, set *settings.Settings) Finding {
	f := Finding{What: "PDF reader"}
	f.Err = func() error {
		// workers read files by their paths
		file, err := os.CreateTemp("", "footnote-doctor-*.pdf")
		if err != nil {
			return err
		}
		defer func() { _ = os.Remove(file.Name()) }()
		if _, err = file.Write(page); err != nil {
			return errors.Join(err, file.Close())
		}
		if err := file.Close(); err != nil {
			return err
		}
		self, err := os.Executable()
		if err != nil {
			return err
		}
		files, err := worker.New(worker.Config{
			Command: []string{self, "extract-worker"}, CacheDir: datadir.At(set.Data).Path("cache", "pdf"),
		})
		if err != nil {
			return err
		}
		read, err := files.Extract(ctx, corpus.File{
			Path: file.Name(), Filename: "page.pdf", MIME: "application/pdf", Bytes: int64(len(page)),
		}, func(int, int) {})
		f.Fine = "read " + english.Count(read.Pages, "page")
		return errors.Join(err, files.Close())
	}()
	return f
}

// checkModel asks the model for a small tool call, and the embedding model for a vector. Both are real requests: that
// a server takes connections says nothing about its key, its model or its tools. Their order is the model, its tools,
// its size if it is served here, and the embedding model.
func checkModel(ctx context.Context, set *settings.Settings) []Finding {
	if !set.WithModel() {
		fine := "none is set: offline mode answers, word for word from the documents"
		if set.ModelsSelect != "" {
			fine += "; FOOTNOTE_MODELS_SELECT has no effect without one"
		}
		return append([]Finding{{What: "model", Fine: fine}}, checkEmbeddings(ctx, set)...)
	}
	if set.UsesAnthropic() {
		return append(anthropicModel(ctx, set), checkEmbeddings(ctx, set)...)
	}
	remote, err := openai.New(set.OpenAI(set.OpenAIModel, nil))
	if err != nil {
		return []Finding{{What: "model", Err: err}}
	}
	defer remote.Close()
	health := remote.Probe(ctx)
	// its server refuses requests with tools; by JSON in the text it may call them, which writtenCalls tries
	if textcalls.RefusesTools(health.Err) {
		health.Err = nil // it answers all the same
	}
	name := set.OpenAIModel
	// a server with one model often serves that by any name
	if served := health.Served.Name; served != "" && served != name {
		name = served + ", which the server has instead of " + name + ","
	}
	found := []Finding{{What: "model", Fine: fmt.Sprintf("%s answers (%.1f s)", name, health.Took.Seconds()),
		Err: health.Err}}
	if health.Err == nil {
		tools := Finding{What: "tool calls", Fine: "work"}
		if !health.Tools {
			tools = writtenCalls(ctx, remote)
		}
		found = append(found, tools)
		found = append(found, measureModel(ctx, set, remote)...)
	}
	return append(found, checkSemantic(ctx, set, health.EmbedErr))
}

// checkSemantic says whether documents are found by meaning; err is what the embedding model was found to be.
// Off is no fault: documents are found by words then.
func checkSemantic(ctx context.Context, set *settings.Settings, err error) Finding {
	f := Finding{What: "semantic search", Fine: "off: no embedding model is set"}
	if set.DatabaseURL != "" && set.MilvusAddress == "" {
		f.Fine = "off: with DATABASE_URL it needs a vector store; set MILVUS_ADDRESS"
	} else if set.EmbedsHere() {
		return embeddedHere(ctx, set)
	} else if set.EmbedsRemotely() {
		f.Fine, f.Err = set.OpenAIEmbeddingModel+" works", err
	}
	return f
}
