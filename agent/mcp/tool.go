package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/footnote/footnote/text/lazy"
)

// Limits of this package, except maxName, for the size of each request to a model.
const (
	between  = "__"     // between a server's name and its tool's
	maxTools = 64       // of a server
	maxName  = 64       // of a tool's name, the providers' limit
	maxAbout = 2000     // runes of a description
	maxShape = 32 << 10 // bytes of a schema
	maxText  = 64 << 10 // bytes of a result
)

// Result is the result of a call.
type Result struct {
	Text   string          // at most 64 KiB; images, audio and files are named, not included
	Data   json.RawMessage // structured content; nil if there is text, which repeats it
	Failed bool            // the tool reported a failure
	Cut    bool            // truncated
}

// strange matches characters that are invalid in a name.
var strange = lazy.Regexp(`[^a-zA-Z0-9_-]`)

// modelName returns a tool's name in the format that all providers accept. A name that is too long ends in a hash,
// so that names stay unique.
func modelName(server, tool string) string {
	name := server + between + strange().ReplaceAllString(tool, "_")
	if len(name) <= maxName {
		return name
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(tool)) // a hash never fails
	return fmt.Sprintf("%s_%08x", name[:maxName-9], sum.Sum32())
}

// readTool converts a tool, truncated to the limits for models. It returns an error for a schema that is not an
// object's, since arguments are objects.
func (l *link) readTool(t *sdk.Tool) (*Tool, error) {
	shape, err := json.Marshal(t.InputSchema)
	if err != nil {
		return nil, fmt.Errorf("its schema is invalid: %w", err)
	}
	if len(shape) > maxShape {
		return nil, errors.New("its schema is larger than 32 KiB")
	}
	var kind struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(shape, &kind) != nil || kind.Type != "object" {
		return nil, errors.New("its schema must describe an object")
	}
	return &Tool{
		Name: modelName(l.name, t.Name), Server: l.name, Remote: t.Name, Schema: shape, Timeout: l.server.Timeout,
		Description: cutRunes(strings.ToValidUTF8(t.Description, "\ufffd"), maxAbout),
		Approve:     !l.server.Free || slices.Contains(l.server.Held, t.Name),
	}, nil
}

// readResult returns the text of a result and the names of other content. Secrets of the server are redacted, since
// a tool may echo its configuration.
func (l *link) readResult(res *sdk.CallToolResult) Result {
	out := Result{Failed: res.IsError}
	var parts []string
	for _, c := range res.Content {
		switch c := c.(type) {
		case *sdk.TextContent:
			parts = append(parts, c.Text)
		case *sdk.ImageContent:
			parts = append(parts, fmt.Sprintf("[an image, %s, %d bytes]", cutRunes(c.MIMEType, 60), len(c.Data)))
		case *sdk.AudioContent:
			parts = append(parts, fmt.Sprintf("[a sound, %s, %d bytes]", cutRunes(c.MIMEType, 60), len(c.Data)))
		case *sdk.ResourceLink:
			parts = append(parts, fmt.Sprintf("[a link to %s: %s]", cutRunes(c.Name, 200), cutRunes(c.URI, 500)))
		case *sdk.EmbeddedResource:
			if c.Resource != nil && c.Resource.Text != "" {
				parts = append(parts, c.Resource.Text)
			} else if c.Resource != nil {
				parts = append(
					parts, fmt.Sprintf("[a file, %s, %d bytes]", cutRunes(c.Resource.URI, 500), len(c.Resource.Blob)),
				)
			}
		}
	}
	text := strings.ToValidUTF8(l.hide.Replace(strings.Join(parts, "\n\n")), "\ufffd")
	if len(text) > maxText {
		text, out.Cut = cutBytes(text, maxText), true
	}
	out.Text = text
	// By the protocol's advice, text repeats the structured content.
	if res.StructuredContent != nil && len(parts) == 0 {
		if data, err := json.Marshal(res.StructuredContent); err == nil && len(data) <= maxText {
			out.Data = json.RawMessage(l.hide.Replace(string(data)))
		} else {
			out.Cut = true
		}
	}
	return out
}

// cutRunes truncates a string to a number of runes.
func cutRunes(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-1]) + "…"
}

// cutBytes truncates a string to a number of bytes, at a rune boundary.
func cutBytes(s string, limit int) string {
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
