package doctor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/footnote/footnote/agent/llm/anthropic"
	"github.com/footnote/footnote/agent/llm/openai"
	"github.com/footnote/footnote/agent/llm/textcalls"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/cmd/footnote/access"
	"github.com/footnote/footnote/cmd/footnote/datadir"
	"github.com/footnote/footnote/cmd/footnote/originals"
	"github.com/footnote/footnote/cmd/footnote/remote"
	"github.com/footnote/footnote/cmd/footnote/settings"
	"github.com/footnote/footnote/corpus/blobs"
	"github.com/footnote/footnote/sql/sqlite"
	"github.com/footnote/footnote/text/english"
)

// writtenCalls retries a model that did not call its tool, with the tool in the prompt.
// FOOTNOTE_AGENT_TOOL_CALLS=auto does the same if a run needs a tool.
func writtenCalls(ctx context.Context, model *openai.Model) Finding {
	f := Finding{What: "tool calls", Fine: "as JSON in the text: the model has no native tool calls"}
	if !textcalls.New(model, textcalls.JSON).CallsTools(ctx) {
		f.Err = fmt.Errorf(
			"%s failed the tool call test, both natively and as JSON in the text; choose another model with "+
				"OPENAI_MODEL",
			model.Name(),
		)
	}
	return f
}

// anthropicModel requests a tool call from Anthropic's model. It tries no other call format, since all of these
// models support tool calls.
func anthropicModel(ctx context.Context, set *settings.Settings) []Finding {
	model, err := anthropic.New(
		anthropic.Config{APIKey: string(set.AnthropicAPIKey), BaseURL: set.AnthropicBaseURL, Model: set.AnthropicModel},
	)
	if err != nil {
		return []Finding{{What: "model", Err: err}}
	}
	defer model.Close()
	health := model.Probe(ctx)
	found := []Finding{{What: "model", Fine: fmt.Sprintf(
		"%s answers (%.1f s)", set.AnthropicModel, health.Took.Seconds(),
	), Err: health.Err}}
	if health.Err == nil {
		tools := Finding{What: "tool calls", Fine: "work"}
		if !health.Tools {
			tools.Err = fmt.Errorf(
				"%s failed the tool call test; choose another model with ANTHROPIC_MODEL",
				set.AnthropicModel,
			)
		}
		found = append(found, tools, Finding{
			What: "seed", Fine: "not supported by Anthropic's models: questions with a seed get a note",
		})
	}
	return found
}

// checkEmbeddings checks an embedding model on another server than the model's. On the same OpenAI-compatible
// server, its Probe has requested an embedding already.
func checkEmbeddings(ctx context.Context, set *settings.Settings) []Finding {
	if !set.EmbedsRemotely() {
		return []Finding{checkSemantic(ctx, set, nil)}
	}
	model, err := openai.New(set.OpenAI(set.OpenAIModel, nil))
	if err != nil {
		return []Finding{{What: "semantic search", Err: err}}
	}
	defer model.Close()
	return []Finding{checkSemantic(ctx, set, model.PingEmbeddings(ctx))}
}

// measureModel reports the speed and context size of a local model, and the resulting profile. Remote models are
// not measured: they are usually fast, and charge for each token.
func measureModel(ctx context.Context, set *settings.Settings, model *openai.Model) []Finding {
	if local, _ := model.IsLocal(ctx); !local {
		return nil
	}
	f := Finding{What: "model's size"}
	found, err := model.Measure(ctx)
	profile := "profile: full"
	if why := found.Small(); set.AgentProfile == "small" || set.AgentProfile == "auto" && why != "" {
		profile = "profile: small, rules search, and the model answers from three passages"
		if why != "" && why != found.String() {
			profile += "; " + why
		}
	}
	f.Fine, f.Err = found.String()+"; "+profile, err
	// 0: the server does not report it.
	if room := found.Context; err == nil && room > 0 && room < leastRoom {
		f.Err = fmt.Errorf("a context of %d tokens is too small for a question with its passages: set at least %d "+
			"(llama-server --ctx-size, OLLAMA_CONTEXT_LENGTH)", room, leastRoom)
	}
	return []Finding{f}
}

// leastRoom is the minimum context in tokens: a question with its passages, its answer and a short conversation in
// the small profile. A smaller context is an error.
const leastRoom = 3072

// checkAccess reports who can use the server. It uses the address in the settings and opens no port, so a server
// may be running. The result also depends on the keys file in the data directory.
func checkAccess(set *settings.Settings) Finding {
	f := Finding{What: "access"}
	// A host name is resolved now, as by the server.
	addr, err := net.ResolveTCPAddr("tcp", set.Addr)
	if err != nil {
		f.Err = fmt.Errorf("FOOTNOTE_ADDR: %w", err)
		return f
	}
	a, err := access.At(set, addr)
	if err == nil {
		err = a.Check()
	}
	switch f.Err = err; {
	case err != nil:
	case a.NeedsKey && a.Holders == 0:
		f.Err = &chat.Error{
			Code:    chat.CodeUnauthorized,
			Message: "An API key is required, but none exists; create one with 'footnote key new NAME'",
		}
	case a.NeedsKey:
		f.Fine = fmt.Sprintf("an API key is required; valid keys: %d", a.Holders)
	case a.Network:
		f.Fine = fmt.Sprintf("everyone who can reach %s has access without a key (FOOTNOTE_OPEN_TO_NETWORK)", set.Addr)
	default:
		f.Fine = "without an API key, from this machine only"
	}
	return f
}

// probeHealth fails unless the server at addr, on this machine, reports that it is healthy. The timeout is four
// seconds, below the usual five of a container's health check. It sends no key: /health needs none. An unspecified
// address is requested as localhost.
func probeHealth(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, 4*time.Second)
	defer cancel()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	server := remote.Server{URL: "http://" + net.JoinHostPort(host, port)}
	if err := server.JSON(ctx, http.MethodGet, "/health", nil, nil); err != nil {
		return fmt.Errorf("unhealthy: %w", err)
	}
	return nil
}

// probeOriginals checks the storage of originals: it stores some bytes, reads them back and deletes them. The bytes
// are random, so that the delete can't hit an existing original with the same hash.
func probeOriginals(ctx context.Context, set *settings.Settings, kept originals.Store) Finding {
	found := Finding{What: "originals", Fine: "readable and writable: " + originals.Place(set)}
	found.Err = func() error {
		hash, _, err := kept.Put(ctx, strings.NewReader(rand.Text()), 1<<10)
		if err != nil {
			return err
		}
		there, err := originals.Intact(ctx, kept, hash)
		if err == nil && !there {
			err = errors.New("stored bytes were read back changed")
		}
		return errors.Join(err, kept.Delete(ctx, hash))
	}()
	return found
}

// compareOriginals checks whether the originals in a data directory belong to its database. An emptied or restored
// older database opens like any other. Their bytes are not read: a library of some gigabytes would take minutes.
func compareOriginals(ctx context.Context, dir *datadir.Dir) Finding {
	f := Finding{What: "originals"}
	f.Err = func() error {
		known, err := sqlite.Originals(ctx, dir.Path(datadir.Database))
		if err != nil {
			return err
		}
		files, err := fs.Glob(os.DirFS(dir.Path("blobs")), "??/*")
		if err != nil {
			return err
		}
		unknown := make(map[string]bool, len(files))
		for _, name := range files {
			unknown[name] = true
		}
		missing := 0
		for _, hash := range known {
			name, _ := blobs.Name(hash)
			if !unknown[name] {
				missing++
			}
			delete(unknown, name)
		}
		switch {
		case missing > 0:
			return fmt.Errorf("%d of %s are missing in %s; restore a backup with 'footnote restore'",
				missing, english.Count(len(known), "original"), dir.Path("blobs"))
		// A kill leaves unreferenced files, but a database always has some known ones.
		case len(known) == 0 && len(unknown) > 0:
			return fmt.Errorf("the database has no documents, but %s contains %s; if documents are missing, restore a "+
				"backup with 'footnote restore'", dir.Path("blobs"),
				english.Count(len(unknown), "original"))
		}
		f.Fine = english.Count(len(known), "original") + ", none missing"
		if len(unknown) > 0 {
			f.Fine += "; " + english.Count(len(unknown), "unreferenced file")
		}
		return nil
	}()
	return f
}
