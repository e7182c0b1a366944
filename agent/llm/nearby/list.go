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
	"slices"
	"strings"
	"sync"

	"github.com/footnote/footnote/text/lazy"
)

const (
	mostBytes  = 1 << 20 // of one response
	mostModels = 100     // maximum number of models of a server
	mostShown  = 20      // maximum number of Ollama's models whose details are requested
)

// footnote is the owner and model name in the list of a Footnote server, which is not a model server.
const footnote = "footnote"

// list returns the models of the server at a port. It requests Ollama's, LM Studio's and OpenAI's route
// concurrently, since the timeout is short. The first successful one in this order is used, as Ollama and LM Studio
// have OpenAI's route too, but with less metadata. Models with an invalid name (modelName) are excluded. It returns
// an error if the listener is not a model server.
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
			models := slices.DeleteFunc(found[i], func(m Model) bool { return !modelName().MatchString(m.Name) })
			if len(models) == 0 && listed > 0 {
				return nil, errors.New("its list contains no models")
			}
			return models[:min(len(models), mostModels)], nil
		}
	}
	return nil, errors.Join(errs[:]...)
}

// modelName matches valid names of models, which need no quoting in a shell. Other kinds of servers have lists in
// the same format.
var modelName = lazy.Regexp(`^[\w.:/@+-]{1,200}$`)

// listOpenAI lists models by OpenAI's route, with the extensions of llama.cpp and vLLM.
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
			return nil, errors.New("it is another Footnote server")
		}
		models = append(models, Model{
			Name: m.ID, Bytes: max(0, m.Meta.Size), Size: billions(m.Meta.Params),
			Context: max(0, cmp.Or(m.Meta.Context, m.MaxModelLen, m.Meta.Trained)),
			Loaded:  m.Meta.Params > 0 || m.MaxModelLen > 0, // such a server has one model, which is loaded
		})
	}
	return models, nil
}

// billions formats a number of parameters, like 7.6B.
func billions(n int64) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("%.1fB", float64(n)/1e9)
}

// listOllama lists models by Ollama's routes, with the details of each. Embedding models are excluded.
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

// show requests a model's details from Ollama, and reports whether it only makes embeddings. Details that time out
// stay empty. The context length is under the name of the model's architecture: “llama.context_length”.
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
			_ = json.Unmarshal(value, &m.Context) // other versions may use another format
		}
	}
	m.Context = max(0, m.Context)
	if said.Capabilities != nil {
		m.Tools = new(slices.Contains(said.Capabilities, "tools"))
		return !slices.Contains(said.Capabilities, "completion") && slices.Contains(said.Capabilities, "embedding")
	}
	return false
}

// listLMStudio lists models by LM Studio's route. Embedding models are excluded.
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

// short returns a value of a server if it is short and safe to show, else an empty string.
func short(s string) string {
	if len(s) > 20 || !modelName().MatchString(s) {
		return ""
	}
	return s
}

// ask requests a port of this machine and decodes JSON. A body longer than mostBytes is truncated and fails to
// decode.
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
