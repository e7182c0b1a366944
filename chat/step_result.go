package chat

import "unicode/utf8"

// Capability is what a tool is for. Tools that share one can stand in for each other. The step carries it, so nothing
// that shows or counts steps has to know tools by their names.
type Capability string

// The capabilities of tools. A tool may have none.
const (
	CapabilitySearch    Capability = "search"
	CapabilityRead      Capability = "read"
	CapabilityList      Capability = "list"
	CapabilitySummarise Capability = "summarise"
	CapabilityCalculate Capability = "calculate"
	CapabilityQuery     Capability = "query" // asks tables
	CapabilityCite      Capability = "cite"
	CapabilityOpen      Capability = "open"
	CapabilityAnswer    Capability = "answer" // its argument is the answer
)

// Retrieves reports whether tools of this kind search, read, list or ask documents. Such calls are charged to the
// budget of searches and readings.
func (c Capability) Retrieves() bool {
	return c == CapabilitySearch || c == CapabilityRead || c == CapabilityList || c == CapabilityQuery
}

// Label says for people what a tool does, in whichever tense the step's status asks for, and what with. It is stored
// with the step, so a log is drawn in the words of the version that wrote it.
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
	Table   *Table       `json:"table,omitempty"`   // of a question to a table
	Parts   []PlanPart   `json:"parts,omitempty"`   // of a plan
	Outline []string     `json:"outline,omitempty"` // headings, indented by their levels
	Text    string       `json:"text,omitempty"`    // running text
	Facts   []Fact       `json:"facts,omitempty"`   // what has no field of its own, by name
	Notes   []string     `json:"notes,omitempty"`   // for people, in sentences
	Failure string       `json:"failure,omitempty"` // why the call did not do what it was asked for
}

// Bounds of a Table.
const (
	maxTableRows    = 20
	maxTableColumns = 12
	maxTableCell    = 80 // runes
)

// Table is what a table was asked for: rows of it, or what was computed of groups of rows.
type Table struct {
	Name    string     `json:"name"` // of the sheet or table
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
	Links   []string   `json:"links,omitempty"` // where each row stands, as many as there are rows; empty for groups
	More    int        `json:"more,omitempty"`  // rows that are not shown
	Totals  []Fact     `json:"totals,omitempty"`
	Used    int        `json:"used,omitempty"` // rows of the document that it comes from
	URL     string     `json:"url,omitempty"`  // opens the document at them
}

// bounded returns the table within the bounds of an event. The given table stays as it is: the tool's own output may
// still need all rows.
func (t *Table) bounded() *Table {
	if t == nil {
		return nil
	}
	cut := func(cells []string) (out []string) {
		for _, c := range cells[:min(len(cells), maxTableColumns)] {
			out = append(out, firstRunes(c, maxTableCell))
		}
		return out
	}
	short := *t
	short.Columns, short.Rows = cut(t.Columns), nil
	for _, row := range t.Rows[:min(len(t.Rows), maxTableRows)] {
		short.Rows = append(short.Rows, cut(row))
	}
	short.More += len(t.Rows) - len(short.Rows)
	short.Links = t.Links[:min(len(t.Links), maxTableRows)]
	return &short
}

// Hit is a place in a document, or a whole document, that a call found or read. Where several passages of one document
// stand together, the first hit tells of the document and of its first passage; the others are Sub. Its link is made of
// its ids when it is shown; only a link that can't be made of them is stored, in URL.
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
	// with End: the part of the passage that was shown, in runes of the document's text, such as a row of a table; none
	// where it was all of it
	Start int    `json:"start,omitempty"`
	End   int    `json:"end,omitempty"`
	URL   string `json:"url,omitempty"` // a Link, where it is another than Link makes of the ids
}

// withoutTexts keeps what recovery and memory need of a hit. A run that is taken over must know which passages have
// which numbers, so ids, numbers and ranges stay.
func (h Hit) withoutTexts() Hit {
	return Hit{
		N: h.N, DocumentID: h.DocumentID, ChunkID: h.ChunkID, Page: h.Page, Sub: h.Sub, URL: h.URL, Start: h.Start,
		End: h.End, Section: h.partSection(),
	}
}

// partSection is the section of a part of a passage, which can't be told from the passage.
func (h Hit) partSection() string {
	if h.End == 0 {
		return ""
	}
	return h.Section
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
		return Link{Document: h.DocumentID, Passage: h.ChunkID, Start: h.Start, End: h.End}.String()
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

// Bounded returns the result within the bounds of an event. Hits beyond MaxHits stay in the list without their texts,
// since their numbers are cited. Matches that the cut of the snippet would break are dropped from the end. The receiver
// is a copy and its lists are made anew, so what the caller has is not changed.
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
	r.Hits, r.Table = hits, r.Table.bounded()
	return &r
}

// firstRunes cuts a text that is longer, with an ellipsis for its last rune. The result has at most `most` runes, the
// ellipsis included.
func firstRunes(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
