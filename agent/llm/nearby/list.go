package nearby

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
)

const (
	mostBytes  = 1 << 20 // of one answer
	mostModels = 100     // of a server that are listed
	mostShown  = 20      // of an Ollama that are asked for what they can do
)

// footnote is what a Footnote calls itself and its model in OpenAI's list: it is no server of models.
const footnote = "footnote"

// list lists the models of the server at a port: by the routes of its own that say most, or by OpenAI's. It fails when
// what listens there is no model server. All three ways are asked at once, since the time is short; the first in this
// order that answered counts, as Ollama and LM Studio speak OpenAI's route too, but say less there. Models without a
// name of that form (modelName) are left out.
func list(ctx context.Context, client *http.Client, port int) ([]Model, error) {
	var errs [3]error
	var found [3][]Model
	var all sync.WaitGroup
	for i, way := range []func(context.Context, *http.Client, int) ([]Model, error){
		listOllama, listLMStudio, listOpenAI,
	} {
		all.Go(func() { found[i], errs[i] = way(ctx, client, port) })
	}
	all.Wait()
	for i := range found {
		if errs[i] == nil {
			listed := len(found[i])
			models := slices.DeleteFunc(found[i], func(m Model) bool { return !modelName.MatchString(m.Name) })
			if len(models) == 0 && listed > 0 {
				return nil, errors.New("what it lists are no models")
			}
			return models[:min(len(models), mostModels)], nil
		}
	}
	return nil, errors.Join(errs[:]...)
}

// modelName is the form of models' names, which can stand in a shell's command as they are. Other servers have lists
// under the same words.
var modelName = regexp.MustCompile(`^[\w.:/@+-]{1,200}$`)

// listOpenAI lists by OpenAI's route, with what llama.cpp and vLLM add.
func listOpenAI(ctx context.Context, client *http.Client, port int) ([]Model, error) {
	var said struct {
		Object string `json:"object"`
		Data   []struct {
			ID          string `json:"id"`
			OwnedBy     string `json:"owned_by"`
			MaxModelLen int    `json:"max_model_len"` // vLLM
			Meta        struct {
				Context int   `json:"n_ctx"` // llama.cpp
				Trained int   `json:"n_ctx_train"`
				Params  int64 `json:"n_params"`
				Size    int64 `json:"size"`
			} `json:"meta"`
		} `json:"data"`
	}
	if err := ask(ctx, client, http.MethodGet, port, "/v1/models", nil, &said); err != nil {
		return nil, err
	}
	if said.Object != "list" || said.Data == nil {
		return nil, errors.New("it lists no models")
	}
	models := []Model{}
	for _, m := range said.Data {
		if m.ID == footnote && m.OwnedBy == footnote {
			return nil, errors.New("it is a Footnote")
		}
		models = append(models, Model{
			Name: m.ID, Bytes: max(0, m.Meta.Size), Size: billions(m.Meta.Params),
			Context: max(0, cmp.Or(m.Meta.Context, m.MaxModelLen, m.Meta.Trained)),
			Loaded:  m.Meta.Params > 0 || m.MaxModelLen > 0, // such a server has one model, which it has read
		})
	}
	return models, nil
}

// billions writes a number of parameters as 7.6B.
func billions(n int64) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("%.1fB", float64(n)/1e9)
}

// listOllama lists by Ollama's routes: what there is, and of each what it can do. Models that only make vectors are
// left out.
func listOllama(ctx context.Context, client *http.Client, port int) ([]Model, error) {
	var said struct {
		Models []struct {
			Name    string `json:"name"`
			Size    int64  `json:"size"`
			Details struct {
				Parameters string `json:"parameter_size"`
			} `json:"details"`
		} `json:"models"`
	}
	if err := ask(ctx, client, http.MethodGet, port, "/api/tags", nil, &said); err != nil {
		return nil, err
	}
	if said.Models == nil {
		return nil, errors.New("it lists no models")
	}
	models, embeds := make([]Model, len(said.Models)), make([]bool, len(said.Models))
	var all sync.WaitGroup
	for i, m := range said.Models {
		models[i] = Model{Name: m.Name, Bytes: max(0, m.Size), Size: short(m.Details.Parameters)}
		if i < mostShown {
			all.Go(func() { embeds[i] = models[i].show(ctx, client, port) })
		}
	}
	all.Wait()
	left := models[:0]
	for i, m := range models {
		if !embeds[i] {
			left = append(left, m)
		}
	}
	return left, nil
}

// show fills in what an Ollama knows of a model, and reports whether it only makes vectors. What is not known in time
// stays out. The context's length stands under the name of the model's architecture: “llama.context_length”.
func (m *Model) show(ctx context.Context, client *http.Client, port int) (embeds bool) {
	var said struct {
		Capabilities []string                   `json:"capabilities"`
		Info         map[string]json.RawMessage `json:"model_info"`
	}
	body, err := json.Marshal(map[string]string{"model": m.Name})
	if err != nil || ask(ctx, client, http.MethodPost, port, "/api/show", body, &said) != nil {
		return false
	}
	for name, value := range said.Info {
		if strings.HasSuffix(name, ".context_length") {
			_ = json.Unmarshal(value, &m.Context) // another version may say it otherwise
		}
	}
	m.Context = max(0, m.Context)
	if said.Capabilities != nil {
		m.Tools = new(slices.Contains(said.Capabilities, "tools"))
		return !slices.Contains(said.Capabilities, "completion") && slices.Contains(said.Capabilities, "embedding")
	}
	return false
}

// listLMStudio lists by LM Studio's route. Models that only make vectors are left out.
func listLMStudio(ctx context.Context, client *http.Client, port int) ([]Model, error) {
	var said struct {
		Data []struct {
			ID           string   `json:"id"`
			Type         string   `json:"type"`
			State        string   `json:"state"`
			MaxContext   int      `json:"max_context_length"`
			Loaded       int      `json:"loaded_context_length"`
			Capabilities []string `json:"capabilities"`
		} `json:"data"`
	}
	if err := ask(ctx, client, http.MethodGet, port, "/api/v0/models", nil, &said); err != nil {
		return nil, err
	}
	if said.Data == nil {
		return nil, errors.New("it lists no models")
	}
	models := []Model{}
	for _, m := range said.Data {
		if m.Type == "embeddings" {
			continue
		}
		model := Model{Name: m.ID, Context: max(0, cmp.Or(m.Loaded, m.MaxContext)), Loaded: m.State == "loaded"}
		if m.Capabilities != nil {
			model.Tools = new(slices.Contains(m.Capabilities, "tool_use"))
		}
		models = append(models, model)
	}
	return models, nil
}

// short is a word of a server that can be shown; empty if it is none.
func short(s string) string {
	if len(s) > 20 || !modelName.MatchString(s) {
		return ""
	}
	return s
}

// ask reads JSON from a port of this machine. The body is read up to mostBytes; a longer one is no JSON then and fails.
func ask(
	ctx context.Context, client *http.Client, method string, port int, path string, body []byte, into any,
) error {
	address := fmt.Sprintf("http://localhost:%d%s", port, path)
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s", method, path, res.Status)
	}
	return json.NewDecoder(io.LimitReader(res.Body, mostBytes)).Decode(into)
}
