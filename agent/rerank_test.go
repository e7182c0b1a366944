package agent

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// scattered has the words of the question often, but apart; gathered has them in one sentence of a long passage.
const (
	scattered = "# Overview\n\nCost, cost and cost again. The gutter is old. Gutter! Snow clearing is done by the " +
		"town. Clearing is done weekly.\n"
	gathered = "# Works\n\nThe house was visited on a dry day in spring and all its rooms were seen from the " +
		"inside. The neighbour was at home and told of a storm two years ago that took a tree down. " +
		"The cost of clearing the gutter is 180 pounds. The ladder was lent by the owner, who also opened the loft, " +
		"the cellar, the shed and the summer house behind the pond for us to look around.\n"
)

func firstFile(t *testing.T, s chat.Step) (file string, found int) {
	t.Helper()
	var out tools.FoundPassages
	if err := json.Unmarshal(s.ToolOutput, &out); err != nil || len(out.Results) == 0 {
		t.Fatalf("output = %s, %v", s.ToolOutput, err)
	}
	for i, r := range out.Results[1:] {
		if r.Score > out.Results[i].Score {
			t.Errorf("scores are not in order: %v", out.Results)
		}
	}
	return out.Results[0].Filename, len(out.Results)
}

func TestRerankResultsLooksASecondTime(t *testing.T) {
	t.Parallel()
	for _, semantic := range []bool{false, true} {
		h := newHouse(t, scripted.New())
		if semantic {
			h = newSemanticHouse(t, scripted.New())
		}
		h.add("Scattered.md", scattered)
		h.add("Together.md", gathered)
		on, off := true, false
		find := call("retrieve", `{"query":"cost of clearing the gutter","top_k":2}`)
		for _, tt := range []struct {
			name   string
			rerank *bool
			want   string
		}{{"on", &on, "Together.md"}, {"off", &off, "Scattered.md"}, {"left out", nil, "Scattered.md"}} {
			if semantic {
				tt.want = "Scattered.md" // has more of the words, and words are all that these vectors know
			}
			req := react("What does clearing the gutter cost?")
			req.Config.RerankResults = tt.rerank
			if file, n := firstFile(t, h.used(req, find)[0]); file != tt.want || n != 2 {
				t.Errorf("vectors %v, rerank_results %s: %s first of %d, want %s", semantic, tt.name, file, n, tt.want)
			}
		}
	}
}

func TestRerankingGoesOnWithoutVectorsThatDoNotAnswer(t *testing.T) {
	t.Parallel()
	server := &embeddingServer{}
	h := &house{tb: t, path: filepath.Join(t.TempDir(), "footnote.db"), semantic: true, embeds: server}
	h.furnish()
	h.add("Scattered.md", scattered)
	h.add("Together.md", gathered)
	server.down.Store(true)
	on := true
	req := react("What does clearing the gutter cost?")
	req.Config.RerankResults = &on
	s := h.used(req, call("retrieve", `{"query":"cost of clearing the gutter"}`))[0]
	if file, _ := firstFile(t, s); file != "Together.md" || !strings.Contains(string(s.ToolOutput), "found by words") {
		t.Errorf("%s first: %s, want %q", file, s.ToolOutput, "Together.md")
	}
}
