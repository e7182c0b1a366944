package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	agentrun "footnote/agent/run"
	"footnote/cmd/footnote/datadir"
	"footnote/cmd/footnote/settings"
	"footnote/corpus"
	"footnote/corpus/extract/worker"
	"footnote/docs"
	"footnote/english"
	"footnote/llm/nearby"
	"footnote/llm/openai"
	"footnote/llm/textcalls"
)

// doctorCommand checks what a question needs, from the disk to the model.
type doctorCommand struct {
	Health bool `help:"Only ask the server at FOOTNOTE_ADDR whether it is well, for a container's health check."`
}

// checkResult is what one check found: what is fine, or what is wrong and what to do.
type checkResult struct {
	what string
	fine string
	err  error
}

// Run checks everything that a question needs and prints a line for each. A failed check is an error.
func (c doctorCommand) Run(p *program) error {
	if c.Health {
		return askHealth(p.ctx, p.settings.Addr)
	}
	ctx, cancel := context.WithTimeout(p.ctx, 2*time.Minute)
	defer cancel()
	findings := []checkResult{
		{what: "settings", fine: "understood", err: checkTools(p.settings)}, checkAccess(p.settings),
	}
	findings = append(findings, checkStorage(ctx, p.settings)...)
	findings = append(findings, checkReader(ctx, p.settings))
	findings = append(findings, vectorStore(ctx, p.settings)...)
	model := checkModel(ctx, p.settings)
	findings = append(findings, model...)
	if !p.settings.WithModel() || model[0].err != nil {
		look, cancel := context.WithTimeout(ctx, nearby.Look)
		findings = append(findings, findLocalModels(look, p.settings, nearby.Ports)...)
		cancel()
	}
	findings = append(findings, checkRerank(ctx, p.settings)...)
	findings = append(findings, checkOffice(p.settings))
	wrong := 0
	for _, f := range findings {
		if f.err != nil {
			wrong++
			fmt.Fprintf(p.stdout, "✕ %-15s %s\n", f.what, errorMessage(f.err))
			continue
		}
		fmt.Fprintf(p.stdout, "✓ %-15s %s\n", f.what, f.fine)
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d checks failed", wrong, len(findings))
	}
	return nil
}

// checkTools reports tools that are named and that there are not.
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

// checkStorage opens the stores as serving would. A directory that is in use is fine: its server has them open.
func checkStorage(ctx context.Context, set *settings.Settings) []checkResult {
	dir, err := datadir.Claim(set.Data)
	if busy, ok := errors.AsType[*datadir.InUse](err); ok && busy.URL != "" {
		return []checkResult{
			{what: "data directory", fine: fmt.Sprintf("%s, in use by the Footnote at %s", set.Data, busy.URL)},
		}
	}
	if err != nil {
		return []checkResult{{what: "data directory", err: err}}
	}
	found := []checkResult{{what: "data directory", fine: set.Data + " can be written"}}
	if free, err := datadir.FreeSpace(set.Data); err != nil {
		found = append(found, checkResult{what: "disk", err: err})
	} else if free < 200<<20 {
		found = append(found, checkResult{
			what: "disk", err: fmt.Errorf("only %d MiB are free at %s; make room, uploads need it", free>>20, set.Data),
		})
	} else {
		found = append(found, checkResult{what: "disk", fine: fmt.Sprintf("%d MiB free", free>>20)})
	}
	s, err := openStores(ctx, set, dir, quietLogger(io.Discard))
	if s != nil {
		err = errors.Join(err, s.close())
	}
	found = append(found, checkResult{what: "database", fine: "opens, its version fits", err: err})
	if err == nil && set.Blobs != "" {
		found = append(found, tryOriginals(ctx, set, s.blobs))
	} else if err == nil && set.DatabaseURL == "" {
		found = append(found, compareOriginals(ctx, dir))
	}
	if err := dir.Release(); err != nil {
		found = append(found, checkResult{what: "data directory", err: err})
	}
	return found
}

// checkReader has a worker read the handbook.
func checkReader(ctx context.Context, set *settings.Settings) checkResult {
	f := checkResult{what: "PDF reader"}
	f.err = func() error {
		raw, err := fs.ReadFile(docs.Handbook, "handbook/footnote-handbook.pdf")
		if err != nil {
			return err
		}
		file, err := os.CreateTemp("", "footnote-doctor-*.pdf")
		if err != nil {
			return err
		}
		defer func() { _ = os.Remove(file.Name()) }()
		if _, err = file.Write(raw); err != nil {
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
			Path: file.Name(), Filename: "handbook.pdf", MIME: "application/pdf", Bytes: int64(len(raw)),
		}, func(int, int) {})
		f.fine = "read " + english.Count(read.Pages, "page")
		return errors.Join(err, files.Close())
	}()
	return f
}

// checkModel asks the model for a small tool call, and the embedding model for a vector.
func checkModel(ctx context.Context, set *settings.Settings) []checkResult {
	if !set.WithModel() {
		fine := "none is set: offline mode answers, word for word from the documents"
		if set.ModelsSelect != "" {
			fine += "; FOOTNOTE_MODELS_SELECT has no effect without one"
		}
		return append([]checkResult{{what: "model", fine: fine}}, checkEmbeddings(ctx, set)...)
	}
	if set.UsesAnthropic() {
		return append(anthropicModel(ctx, set), checkEmbeddings(ctx, set)...)
	}
	remote, err := openai.New(set.OpenAI(set.OpenAIModel, nil))
	if err != nil {
		return []checkResult{{what: "model", err: err}}
	}
	defer remote.Close()
	health := remote.Probe(ctx)
	if textcalls.RefusesTools(health.Err) {
		health.Err = nil // it answers all the same
	}
	name := set.OpenAIModel
	if served := health.Served.Name; served != "" && served != name {
		name = served + ", which the server has instead of " + name + ","
	}
	found := []checkResult{{what: "model", fine: fmt.Sprintf("%s answers (%.1f s)", name, health.Took.Seconds()),
		err: health.Err}}
	if health.Err == nil {
		tools := checkResult{what: "tool calls", fine: "work"}
		if !health.Tools {
			tools = writtenCalls(ctx, remote)
		}
		found = append(found, tools)
		found = append(found, measureModel(ctx, set, remote)...)
	}
	return append(found, checkSemantic(ctx, set, health.EmbedErr))
}

// checkSemantic says whether documents are found by meaning; err is what the embedding model was found to be.
func checkSemantic(ctx context.Context, set *settings.Settings, err error) checkResult {
	f := checkResult{what: "semantic search", fine: "off: no embedding model is set"}
	if set.DatabaseURL != "" && set.MilvusAddress == "" {
		f.fine = "off: with DATABASE_URL it needs a vector store; set MILVUS_ADDRESS"
	} else if set.EmbedsHere() {
		return embeddedHere(ctx, set)
	} else if set.EmbedsRemotely() {
		f.fine, f.err = set.OpenAIEmbeddingModel+" works", err
	}
	return f
}
