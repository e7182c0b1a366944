package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"regexp"
	"slices"
	"time"

	"github.com/footnote/footnote/agent/mcp"
)

// toolSettings are the MCP servers whose tools questions may use. They are JSON, from the environment or a settings
// file.
type toolSettings struct {
	MCPServers Secret `name:"mcp-servers" help:"MCP servers (Model Context Protocol), as JSON, or in the settings file under mcp: servers:. See the handbook." env:"FOOTNOTE_MCP_SERVERS" placeholder:"JSON"`
}

// toolServer is an entry of mcp.servers. It has either a command or a URL.
type toolServer struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Tools   []string          `json:"tools"`
	Approve json.RawMessage   `json:"approve"` // always, never, or the names of the tools that require approval
	Timeout string            `json:"timeout"` // of one call, like 45s
}

// named matches a reference to an environment variable, so that keys need not be in a file. The name has letters,
// digits and underscores.
var named = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// ToolServers returns the client of the configured servers, or nil. No server is started or contacted yet. All
// errors are returned, with the server's name.
func (s *Settings) ToolServers(version string, log *slog.Logger) (*mcp.Client, error) {
	if s.MCPServers == "" {
		return nil, nil
	}
	var given map[string]toolServer
	decoder := json.NewDecoder(bytes.NewReader([]byte(s.MCPServers)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&given); err != nil {
		return nil, fmt.Errorf(
			"the MCP servers must be {name: {command: …, args: […]}} or {name: {url: …}}: %w", plainJSONError(err),
		)
	}
	servers := map[string]mcp.Server{}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(given)) {
		server, err := given[name].mcpServer(name)
		if err == nil {
			err = server.Check(name)
		}
		errs = append(errs, err)
		servers[name] = server
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return mcp.New(mcp.Config{Servers: servers, Version: version, Log: log})
}

// plainJSONError returns a JSON error without the input, which may be a key. A type error has the field and its
// type, a syntax error no details. Other errors are returned unchanged.
func plainJSONError(err error) error {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s should be %s", e.Field, e.Type)
	}
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return errors.New("not JSON")
	}
	return err
}

// mcpServer returns a server's configuration, with ${NAME} replaced from the environment. The error lists every
// missing variable. Inserted values are not expanded again.
func (t toolServer) mcpServer(name string) (mcp.Server, error) {
	var missing []error
	fill := func(in string) string {
		return named.ReplaceAllStringFunc(in, func(ref string) string {
			variable := named.FindStringSubmatch(ref)[1]
			value, ok := os.LookupEnv(variable)
			if !ok {
				missing = append(missing, fmt.Errorf("the MCP server %s needs %s, which is not set", name, variable))
			}
			return value
		})
	}
	filled := func(in map[string]string) map[string]string {
		out := map[string]string{}
		for key, value := range in {
			out[key] = fill(value)
		}
		return out
	}
	s := mcp.Server{
		Command: t.Command, Env: filled(t.Env), URL: fill(t.URL), Headers: filled(t.Headers), Tools: t.Tools,
	}
	for _, arg := range t.Args {
		s.Args = append(s.Args, fill(arg))
	}
	if t.Timeout != "" {
		var err error
		if s.Timeout, err = time.ParseDuration(t.Timeout); err != nil {
			missing = append(missing, fmt.Errorf("the timeout of the MCP server %s must be a duration like 45s", name))
		}
	}
	var err error
	s.Free, s.Held, err = readApprovals(t.Approve)
	if err != nil {
		missing = append(
			missing, fmt.Errorf("approve of the MCP server %s must be always, never, or a list of its tools", name),
		)
	}
	return s, errors.Join(missing...)
}

// readApprovals parses the approval mode; the default is always. A list of names applies only to those tools; it
// may be empty.
func readApprovals(raw json.RawMessage) (free bool, held []string, err error) {
	var word string
	switch {
	case len(raw) == 0:
		return false, nil, nil
	case json.Unmarshal(raw, &word) == nil && word == "always":
		return false, nil, nil
	case word == "never":
		return true, nil, nil
	case word != "":
		return false, nil, errors.New("unknown word")
	}
	err = json.Unmarshal(raw, &held)
	return err == nil, held, err
}
