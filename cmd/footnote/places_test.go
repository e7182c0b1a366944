package main_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/footnote/footnote/e2e/scripted"
)

// A passage that begins on the first page and ends on the second: whatever says where words stand says it of the words,
// not of the passage.
func TestPlacesAreThoseOfTheWords(t *testing.T) {
	t.Parallel()
	const words = "The drawbridge is painted dark green"
	m := newModel(t, scripted.Config{Script: func(r scripted.Request) scripted.Reply {
		switch r.Turn() {
		case 0:
			return calling("search_documents", `{"query":"drawbridge painted"}`)
		case 1:
			return calling("cite_source", `{"cited_text":"`+words+`","block_id":"b2","citation_number":1}`)
		case 2:
			return calling("open_document", `{"citation_number":1,"reason":"It stands here"}`)
		case 3:
			return calling("grep_documents", `{"pattern":"dark green"}`)
		case 4:
			return calling("read_document", `{"doc_id":"plan.pdf"}`)
		}
		return saying(words + " [1].")
	}})
	s := serve(t, newDir(t), m.env()...)
	s.add(file{"plan.pdf", pdfOf("The first sheet shows the river and the weir.", words+" and has two oak beams.")})

	type hit struct {
		Metadata struct {
			Page int
			URL  string
		}
	}
	for _, path := range []string{"/search", "/agent/retrieve"} {
		r := s.send("POST", path, `{"query":"drawbridge painted","mode":"lexical"}`)
		var got struct {
			Results, Chunks []hit
		}
		if err := json.Unmarshal([]byte(r.body), &got); err != nil {
			t.Fatalf("%s: %v in %s, want no error", path, err, r.body)
		}
		hits := append(got.Results, got.Chunks...)
		if len(hits) != 1 || hits[0].Metadata.Page != 2 || !strings.HasSuffix(hits[0].Metadata.URL, "&page=2") {
			t.Errorf("%s found %+v, want page 2: %s", path, hits, r.body)
		}
	}

	log := s.run("How is the drawbridge painted?")
	if log.answer == nil || len(log.answer.Citations) != 1 {
		t.Fatalf("answered %+v, want 1 citation", log.answer)
	}
	if c := log.answer.Citations[0]; c.Page != 2 || c.BlockID != "b2" || len(c.Boxes) != 1 || c.Boxes[0][0] != 2 {
		t.Errorf("the citation stands on page %d, block %s, boxes %v, want page 2, b2", c.Page, c.BlockID, c.Boxes)
	}
	want := map[string]string{
		"search_documents": `"block_id":"b2","page":2,`, "cite_source": `"block_id":"b2","page":2,`,
		"open_document":  `"block_id":"b2","page":2,`,
		"grep_documents": `"block_id":"b2","page":2`, "read_document": `(b1–b2, p. 1–2`,
	}
	for _, step := range log.steps {
		if part, ok := want[step.ToolName]; ok && len(step.ToolOutput) > 0 {
			delete(want, step.ToolName)
			if !strings.Contains(string(step.ToolOutput), part) {
				t.Errorf("%s says %s, want %s in it", step.ToolName, step.ToolOutput, part)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("these tools said nothing: %v", want)
	}
	asked := m.asked()
	if last := asked[len(asked)-1]; !strings.Contains(last,
		`\"block_id\":\"b1\",\"last_block_id\":\"b2\",\"page\":1,\"last_page\":2`) {
		t.Errorf("the model was not told which blocks and pages a passage has: %s", last)
	}
	if r := s.send("GET", log.answer.Citations[0].URL, nil); !strings.Contains(r.body, `data-page="2"`) {
		t.Error("the viewer does not show page 2")
	}
}

// What a search finds says where it stands in the words of its kind, on the page as in the API.
func TestHitsSayTheirPlaces(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	s.add(
		file{"invoices.csv", "Number,Payer,Amount\n1,Harrow,20.00\n2,Quillfeather,30.00\n"},
		file{"gutter.py", "import os\n\n\ndef clear(downpipe):\n    return os.name\n"},
		file{"damp.ipynb", `{"cells":[{"cell_type":"markdown","source":"# Damp"},` +
			`{"cell_type":"markdown","source":"The hygrometer read ninety."}]}`},
		file{"rents.md", "# Rents\n\n| Flat | Tenant |\n|---|---|\n| 1 | Ashby |\n| 2 | Wolverton |\n"},
	)
	for query, want := range map[string]string{
		"Quillfeather": "row 3", "downpipe": "line 4", "hygrometer": "cell 2", "Wolverton": "Rents, row 3",
	} {
		r := s.send("POST", "/search", `{"query":"`+query+`","mode":"lexical"}`)
		var got struct {
			Results []struct{ Metadata struct{ Place string } }
		}
		if err := json.Unmarshal([]byte(r.body), &got); err != nil || len(got.Results) != 1 {
			t.Fatalf("%s: %v in %s, want one hit", query, err, r.body)
		}
		if place := got.Results[0].Metadata.Place; place != want {
			t.Errorf("%s stands at %q, want %q", query, place, want)
		}
		if r := s.send("GET", "/find?q="+query, nil); !strings.Contains(r.body, want) {
			t.Errorf("the page does not say that %s stands at %q", query, want)
		}
	}
}
