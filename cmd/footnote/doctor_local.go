package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	v1 "footnote/server/v1"
)

// modelPort is where a model server listens unless it is told otherwise.
type modelPort struct {
	port   int
	server string
}

var modelPorts = []modelPort{
	{11434, "Ollama"}, {1234, "LM Studio"}, {8081, "llama.cpp"}, {8080, "llama.cpp"}, {8000, "vLLM"}, {1337, "Jan"},
}

// Looking for model servers may take so long in all, and each may say so much.
const (
	lookTime  = 300 * time.Millisecond
	lookBytes = 1 << 20
)

// findLocalModels says which model servers listen on this machine, and which settings connect them; one that the
// settings name is left out. It asks all ports at once, until ctx ends.
func findLocalModels(ctx context.Context, set *settings, ports []modelPort) []checkResult {
	client := loopbackClient()
	defer client.CloseIdleConnections()
	found := make([]string, len(ports))
	var all sync.WaitGroup
	for i, at := range ports {
		if at.isNamed(set.OpenAIBaseURL) {
			continue
		}
		all.Go(func() {
			if names, err := listModels(ctx, client, at.port); err == nil {
				found[i] = at.describe(set, names)
			}
		})
	}
	all.Wait()
	var results []checkResult
	for _, text := range found {
		if text != "" {
			results = append(results, checkResult{what: "model server", fine: text})
		}
	}
	return results
}

// isNamed reports whether a base address is this port of this machine.
func (at modelPort) isNamed(base string) bool {
	u, err := url.Parse(base)
	if err != nil || u.Port() != strconv.Itoa(at.port) {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// describe says how the server at a port is connected, which has models with these names.
func (at modelPort) describe(set *settings, names []string) string {
	const few = 5
	model, which := "NAME", ""
	switch {
	case len(names) == 0:
		which = ", once it has a model"
	case len(names) == 1:
		model = names[0]
	default:
		which = ", NAME being one of " + strings.Join(names[:min(len(names), few)], ", ")
		if len(names) > few {
			which += " …"
		}
	}
	text := fmt.Sprintf("one listens on port %d, as %s does; OPENAI_BASE_URL=http://localhost:%d/v1 OPENAI_MODEL=%s "+
		"connects it%s", at.port, at.server, at.port, model, which)
	if set.Model == "offline" || set.Model == "anthropic" {
		text += "; leave FOOTNOTE_MODEL out then"
	}
	return text
}

// loopbackClient reaches this machine and nothing else: whatever the address says it connects to the loopback address
// of the same port, without a proxy, and follows nobody elsewhere.
func loopbackClient() *http.Client {
	var dialer net.Dialer
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		_, port, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, err
		}
		conn, err4 := dialer.DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
		if err4 == nil {
			return conn, nil
		}
		conn, err6 := dialer.DialContext(ctx, network, net.JoinHostPort("::1", port))
		if err6 != nil {
			return nil, errors.Join(err4, err6)
		}
		return conn, nil
	}
	return &http.Client{
		Transport:     &http.Transport{DialContext: dial, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// listModels lists the models of the server at a port by OpenAI's route, or by Ollama's own, which older ones have
// alone. It fails when what listens there is no model server; Footnote itself is none.
func listModels(ctx context.Context, client *http.Client, port int) ([]string, error) {
	var openAI struct {
		Object string `json:"object"`
		Data   []struct {
			ID      string `json:"id"`
			OwnedBy string `json:"owned_by"`
		} `json:"data"`
	}
	names := []string{}
	err := getLocal(ctx, client, port, "/v1/models", &openAI)
	if err == nil && openAI.Object == "list" && openAI.Data != nil {
		for _, model := range openAI.Data {
			if model.ID == v1.ModelName && model.OwnedBy == v1.ModelName {
				return nil, errors.New("it is a Footnote")
			}
			names = append(names, model.ID)
		}
		return names, checkNames(names)
	}
	var ollama struct {
		Models []struct {
			Name string `json:"name"`
		} `json:"models"`
	}
	if err := cmp.Or(ctx.Err(), getLocal(ctx, client, port, "/api/tags", &ollama)); err != nil {
		return nil, err
	}
	if ollama.Models == nil {
		return nil, errors.New("it lists no models")
	}
	for _, model := range ollama.Models {
		names = append(names, model.Name)
	}
	return names, checkNames(names)
}

// modelName is the form of models' names, which can stand in a shell's command as they are.
var modelName = regexp.MustCompile(`^[\w.:/@+-]{1,200}$`)

// checkNames refuses names that are none: other servers have lists under these words too.
func checkNames(names []string) error {
	for _, name := range names {
		if !modelName.MatchString(name) {
			return fmt.Errorf("%q is no model's name", name)
		}
	}
	return nil
}

// getLocal reads JSON from a port of this machine.
func getLocal(ctx context.Context, client *http.Client, port int, path string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://localhost:%d%s", port, path), nil)
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
		return fmt.Errorf("GET %s: %s", path, res.Status)
	}
	return json.NewDecoder(io.LimitReader(res.Body, lookBytes)).Decode(into)
}
