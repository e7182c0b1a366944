package chat

import "unicode/utf8"

// Capability is what a tool is for. Tools that share one can stand in for each other.
type Capability string

// The capabilities of tools. A tool may have none.
const (
	CapabilitySearch    Capability = "search"
	CapabilityRead      Capability = "read"
	CapabilityList      Capability = "list"
	CapabilitySummarise Capability = "summarise"
	CapabilityCalculate Capability = "calculate"
	CapabilityCite      Capability = "cite"
	CapabilityOpen      Capability = "open"
	CapabilityAnswer    Capability = "answer" // its argument is the answer
)

// Retrieves reports whether tools of this kind search, read or list documents.
func (c Capability) Retrieves() bool {
	return c == CapabilitySearch || c == CapabilityRead || c == CapabilityList
}

// Label says for people what a tool does, in whichever tense the step's status asks for, and what with.
type Label struct {
	Doing    string    `json:"doing"`              // "Searching for"
	Done     string    `json:"done"`               // "Searched for"
	Noun     string    `json:"noun,omitempty"`     // for calls that are counted: "search"
	Argument string    `json:"argument,omitempty"` // the tool's argument that names the object
	Form     LabelForm `json:"form,omitempty"`     // empty: the words have no object
}

// LabelForm is what the object of a label is, and so how it is set.
type LabelForm string

// The forms of objects.
const (
	LabelQuote LabelForm = "quote" // words in quotes
	LabelCode  LabelForm = "code"  // a pattern or a formula
	// a document: its title from the result, else what the message says after the verb, else the argument
	LabelTitle LabelForm = "title"
)

// Bounds of a result, so that an event stays small.
const (
	MaxSnippet = 240    // runes of a hit's snippet
	MaxHits    = 50     // hits that are told in full; of further ones only what Hit.withoutTexts keeps
	maxText    = 10_000 // runes of running text
)

// StepResult is what a tool call came to. It is stored with the step, and whatever shows, counts or restores steps
// reads it rather than the tool's own output, whose shape only the tool knows. A phase has one if it shows parts of a
// plan.
type StepResult struct {
	// what was looked for: words, a pattern, the name of a document, or filters as JSON
	Query   string       `json:"query,omitempty"`
	Found   int          `json:"found,omitempty"`   // how many results there are, those that are not listed too
	Title   string       `json:"title,omitempty"`   // of the one document that the call was about
	Hits    []Hit        `json:"hits,omitempty"`    // in the order of the output
	Opened  []OpenedPart `json:"opened,omitempty"`  // what was read
	Quote   *QuotedWords `json:"quote,omitempty"`   // words that were checked and found
	Formula string       `json:"formula,omitempty"` // of a calculation
	Value   string       `json:"value,omitempty"`   // likewise
	Parts   []PlanPart   `json:"parts,omitempty"`   // of a plan
	Outline []string     `json:"outline,omitempty"` // headings, indented by their levels
	Text    string       `json:"text,omitempty"`    // running text
	Facts   []Fact       `json:"facts,omitempty"`   // what has no field of its own, by name
	Notes   []string     `json:"notes,omitempty"`   // for people, in sentences
	Failure string       `json:"failure,omitempty"` // why the call did not do what it was asked for
}

// Hit is a place in a document, or a whole document, that a call found or read. Where several passages of one
// document stand together, the first hit tells of the document and of its first passage; the others are Sub.
type Hit struct {
	N          int      `json:"n,omitempty"` // number of the passage in the run
	DocumentID string   `json:"document_id,omitempty"`
	ChunkID    string   `json:"chunk_id,omitempty"` // of the passage
	BlockID    string   `json:"block_id,omitempty"`
	Title      string   `json:"title,omitempty"`      // empty for one of StepResult.Title, and for a Sub
	Filename   string   `json:"filename,omitempty"`   // where it is not the title
	MIME       string   `json:"mime,omitempty"`       // where the file name does not say the kind
	SourceURL  string   `json:"source_url,omitempty"` // where it is on the web
	Page       int      `json:"page,omitempty"`       // from 1
	Section    string   `json:"section,omitempty"`    // heading path
	Score      *float64 `json:"score,omitempty"`      // of the search
	Similarity *float64 `json:"similarity,omitempty"` // in meaning, 0–1: from 0.7 on a passage probably answers
	Snippet    string   `json:"snippet,omitempty"`    // at most MaxSnippet runes
	Matches    [][2]int `json:"matches,omitempty"`    // rune ranges in the snippet that answer the query
	Note       string   `json:"note,omitempty"`       // why there is nothing to open
	Sub        bool     `json:"sub,omitempty"`
	URL        string   `json:"url,omitempty"` // a Link, where it is another than Link makes of the ids
}

// withoutTexts keeps what recovery and memory need of a hit.
func (h Hit) withoutTexts() Hit {
	return Hit{N: h.N, DocumentID: h.DocumentID, ChunkID: h.ChunkID, Page: h.Page, Sub: h.Sub, URL: h.URL}
}

// Link opens the hit's document, at its passage, else at its block; empty when there is nothing to open. It is not
// stored: it would be a fifth of a hit.
func (h Hit) Link() string {
	switch {
	case h.URL != "":
		return h.URL
	case h.DocumentID == "":
		return ""
	case h.ChunkID != "":
		return Link{Document: h.DocumentID, Passage: h.ChunkID}.String()
	default:
		return Link{Document: h.DocumentID, Block: h.BlockID}.String()
	}
}

// OpenedPart is a part of a document that was read: the number of a reading page from 1, or the id of the first
// passage of a reading that was about something.
type OpenedPart struct {
	DocumentID string `json:"document_id"`
	Part       string `json:"part"`
}

// QuotedWords are words that a model quotes from a passage, in its own wording.
type QuotedWords struct {
	N     int    `json:"n"` // number of the passage
	Words string `json:"words"`
}

// PlanPart is one part of a question.
type PlanPart struct {
	Query     string `json:"query"`
	Reasoning string `json:"reasoning"`
	DependsOn []int  `json:"depends_on"` // places in the list of the parts that have to be searched first, from 0
	Status    Status `json:"status"`
}

// Fact is a named value.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Bounded returns the result within the bounds of an event.
func (r StepResult) Bounded() *StepResult {
	r.Text = firstRunes(r.Text, maxText)
	var hits []Hit
	for i, h := range r.Hits {
		if i >= MaxHits {
			h = h.withoutTexts()
		}
		h.Snippet = firstRunes(h.Snippet, MaxSnippet)
		for len(h.Matches) > 0 && h.Matches[len(h.Matches)-1][1] > MaxSnippet {
			h.Matches = h.Matches[:len(h.Matches)-1]
		}
		hits = append(hits, h)
	}
	r.Hits = hits
	return &r
}

// firstRunes cuts a text that is longer, with an ellipsis for its last rune.
func firstRunes(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
