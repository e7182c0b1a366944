// Package doctor checks all dependencies of a question, from the disk to the model, and prints advice for each
// problem.
//
// [Check] uses the same code as the server: it claims the data directory, opens the database, parses a PDF in a
// worker, and requests a tool call from the model. All that it creates is removed. It continues after a problem,
// since one cause often has several findings.
//
//	footnote doctor            a line for each check, ✓ or ✕, and exit 1 when one failed
//	footnote doctor --health   asks a running server whether it is well, for containers
//
// It prints no keys and no text of documents.
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

// Command checks all dependencies of a question, from the disk to the model.
type Command struct {
	Health bool `help:"Only check the health of the server at FOOTNOTE_ADDR, for a container's health check."`
}

// Finding is the result of one check. What names the checked part, Fine describes its good state as a clause, and
// Err has a message with advice. If Err is set, it is printed instead of Fine.
type Finding struct {
	What string
	Fine string
	Err  error
}

// Run runs all checks and prints a line for each. A failed check is an error, but does not stop the others. The
// timeout for all of them is two minutes.
func (c Command) Run(p *command.Program) error {
	if c.Health {
		return probeHealth(p.Ctx, p.Settings.Addr)
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

// Check runs all checks with these settings, and returns the findings in the order in which to fix them. A
// directory that another process has locked is not touched; all that a check creates is removed. It sends the
// configured model a short request, which its service may charge for.
func Check(ctx context.Context, set *settings.Settings) []Finding {
	findings := []Finding{
		{What: "settings", Fine: "understood", Err: checkTools(set)}, checkAccess(set),
	}
	findings = append(findings, checkStorage(ctx, set)...)
	findings = append(findings, checkReader(ctx, set))
	findings = append(findings, vectorStore(ctx, set)...)
	model := checkModel(ctx, set)
	findings = append(findings, model...)
	// Local models are suggested only without a working model.
	if !set.WithModel() || model[0].Err != nil {
		look, cancel := context.WithTimeout(ctx, nearby.Look)
		findings = append(findings, findLocalModels(look, set, nearby.Ports)...)
		cancel()
	}
	findings = append(findings, checkRerank(ctx, set)...)
	return append(findings, checkOffice(set), checkConfinement())
}

// checkTools returns an error for unknown tool names. It creates the client of the tool servers like a start,
// without sending requests. Otherwise an unknown name would be noticed only in a run.
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

// checkStorage opens the stores like a server. A directory that is in use is fine, since its server has them open.
// The lock is released and the database closed before it returns, so that a server can start right after. It
// requires 200 MiB of free space, four files of the default maximum size.
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
		// Four files of the default maximum size: each is stored unchanged, beside its text and embeddings.
	} else if free < 200<<20 {
		found = append(found, Finding{
			What: "disk", Err: fmt.Errorf("only %d MiB are free at %s; uploads need more", free>>20, set.Data),
		})
	} else {
		found = append(found, Finding{What: "disk", Fine: fmt.Sprintf("%d MiB free", free>>20)})
	}
	// This migrates a database of an older version, like the next start.
	s, err := wire.OpenStores(ctx, set, dir, command.QuietLogger(io.Discard))
	if s != nil {
		err = errors.Join(err, s.Close())
	}
	found = append(found, Finding{What: "database", Fine: "opens, version is compatible", Err: err})
	if err == nil && set.Blobs != "" {
		found = append(found, probeOriginals(ctx, set, s.Blobs))
	} else if err == nil && set.DatabaseURL == "" {
		found = append(found, compareOriginals(ctx, dir))
	}
	if err := dir.Release(); err != nil {
		found = append(found, Finding{What: "data directory", Err: err})
	}
	return found
}

// page is a PDF of one page, embedded so that the check needs no file of the user.
//
//go:embed page.pdf
var page []byte

// checkReader parses [page] in a worker process, with compiled code in the cache.
func checkReader(ctx context.Context, set *settings.Settings) Finding {
	f := Finding{What: "PDF reader"}
	f.Err = func() error {
		// Workers open files by path.
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

// checkModel requests a small tool call from the model, and an embedding from the embedding model. Both are real
// requests: an open port does not prove that the key, the model or its tools work. The order is the model, its
// tools, its size if it is local, and the embedding model.
func checkModel(ctx context.Context, set *settings.Settings) []Finding {
	if !set.WithModel() {
		fine := "not set: offline mode quotes the documents verbatim"
		if set.ModelsSelect != "" {
			fine += "; FOOTNOTE_MODELS_SELECT has no effect without a model"
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
	// Its server refuses requests with tools; the model may support calls as JSON text, which writtenCalls tries.
	if textcalls.RefusesTools(health.Err) {
		health.Err = nil // the fallback handled it
	}
	name := set.OpenAIModel
	// A server with one model often accepts any model name.
	if served := health.Served.Name; served != "" && served != name {
		name = served + " (served instead of " + name + ")"
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

// checkSemantic reports the state of semantic search; err is the error of the embedding model. Off is not an error:
// search then uses the text index alone.
func checkSemantic(ctx context.Context, set *settings.Settings, err error) Finding {
	f := Finding{What: "semantic search", Fine: "off: no embedding model is configured"}
	if set.DatabaseURL != "" && set.MilvusAddress == "" {
		f.Fine = "off: DATABASE_URL requires a vector store; set MILVUS_ADDRESS"
	} else if set.EmbedsHere() {
		return embeddedHere(ctx, set)
	} else if set.EmbedsRemotely() {
		f.Fine, f.Err = set.OpenAIEmbeddingModel+" works", err
	}
	return f
}
