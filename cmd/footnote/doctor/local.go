package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/footnote/footnote/agent/llm/nearby"
	"github.com/footnote/footnote/cmd/footnote/settings"
)

// findLocalModels lists the model servers on this machine with the settings that connect them, except the one that
// the settings name. ports are scanned concurrently, on loopback addresses only, until ctx ends. An unused server
// is not an error.
func findLocalModels(ctx context.Context, set *settings.Settings, ports []nearby.Port) []Finding {
	var results []Finding
	for _, server := range nearby.Find(ctx, ports) {
		if !server.IsNamed(set.OpenAIBaseURL) {
			results = append(results, Finding{What: "model server", Fine: describeServer(set, server)})
		}
	}
	return results
}

// describeServer returns the settings that connect a server. Users copy this text into a shell, so names that a
// shell would run are left out (nearby.Find).
func describeServer(set *settings.Settings, at nearby.Server) string {
	names := make([]string, len(at.Models))
	for i, model := range at.Models {
		names[i] = model.Name
	}
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
		"connects it%s", at.Number, at.Program, at.Number, model, which)
	if set.Model == "offline" || set.Model == "anthropic" {
		text += "; leave FOOTNOTE_MODEL out then"
	}
	return text
}
