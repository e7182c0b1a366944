package chat

import "unicode/utf8"

// Capability is the purpose of a tool. Tools with the same capability are interchangeable. The step carries it, so
// code that shows or counts steps needs no list of tool names.
//
//api:open
type Capability string

// The capabilities of tools. A tool may have none.
const (
	CapabilitySearch    Capability = "search"
	CapabilityRead      Capability = "read"
	CapabilityList      Capability = "list"
	CapabilitySummarise Capability = "summarise"
	CapabilityCalculate Capability = "calculate"
	CapabilityQuery     Capability = "query" // queries tables
	CapabilityCite      Capability = "cite"
	CapabilityCheck     Capability = "check" // checks whether passages answer
	CapabilityOpen      Capability = "open"
	CapabilityAnswer    Capability = "answer" // its argument is the answer
)

// Retrieves reports whether tools of this kind search, read, list or query documents. Such calls are charged to the
// budget of retrieval calls.
func (c Capability) Retrieves() bool {
	return c == CapabilitySearch || c == CapabilityRead || c == CapabilityList || c == CapabilityQuery
}

// Label describes a tool's work for people, in the tense of the step's status, and its object. It is stored with the
// step, so a log is shown in the words of the version that wrote it.
type Label struct {
	Doing    string `json:"doing"`              // The verb while the call runs, as in "Searching for".
	Done     string `json:"done"`               // The verb once the call is over, as in "Searched for".
	Noun     string `json:"noun,omitempty"`     // The noun for one call, for counts.
	Argument string `json:"argument,omitempty"` // The tool's argument that names the object.
	// The kind of object: words in quotes, a pattern or formula, or the title of a document.
	Form LabelForm `json:"form,omitempty"` // empty: no object
}

// LabelForm is the kind of a label's object and so its typography.
//
//api:open
type LabelForm string

// The forms of objects.
const (
	LabelQuote LabelForm = "quote" // words in quotes
	LabelCode  LabelForm = "code"  // a pattern or a formula
	// a document: its title from the result, else the message after the verb, else the argument
	LabelTitle LabelForm = "title"
)

// Limits of a result, so that an event stays small.
const (
	MaxSnippet = 240    // runes of a hit's snippet
	MaxHits    = 50     // hits with full details; further ones keep only the fields of Hit.withoutTexts
	maxText    = 10_000 // runes of running text
)

// StepResult is a tool call's result. It is stored with the step. Code that shows, counts or restores steps reads it
// instead of the tool's own output, whose format only the tool knows. A phase has one if it shows parts of a plan.
type StepResult struct {
	// The query.
	//
	// Words, a pattern, the name of a document, or filters as JSON.
	Query string `json:"query,omitempty" api:"shared"`
	Found int    `json:"found,omitempty"` // The number of results, including those not listed.
	Title string `json:"title,omitempty"` // of the call's one document
	// The passages or documents found or read: the first 50 in full, further ones with their ids only.
	Hits []Hit `json:"hits,omitempty"` // in the order of the output
	// Documents opened.
	Opened []OpenedPart `json:"opened,omitempty"`
	Quote  *QuotedWords `json:"quote,omitempty"` // words that were checked and found
	// The calculated formula.
	Formula string `json:"formula,omitempty"`
	// The value.
	Value string `json:"value,omitempty"` // likewise
	// The rows that a table query returned, or values computed over groups of rows; the first 20 rows and 12
	// columns.
	Table   *Table     `json:"table,omitempty"`
	Parts   []PlanPart `json:"parts,omitempty"`   // The parts of a plan.
	Outline []string   `json:"outline,omitempty"` // The document's headings, indented by their levels.
	// The text.
	Text  string `json:"text,omitempty" api:"shared"`
	Facts []Fact `json:"facts,omitempty"` // Values without a field of their own, by name.
	// Notes on the search.
	Notes   []string `json:"notes,omitempty" api:"shared"` // for people, in sentences
	Failure string   `json:"failure,omitempty"`            // The reason why the call failed.
}

// Limits of a Table.
const (
	maxTableRows    = 20
	maxTableColumns = 12
	maxTableCell    = 80 // runes
)

// Table is the result of a table query: rows, or values computed over groups of rows.
type Table struct {
	// The name.
	Name    string     `json:"name" api:"shared"` // of the sheet or table
	Columns []string   `json:"columns"`           // The names of the columns.
	Rows    [][]string `json:"rows"`              // The cells of each row, in the order of the columns.
	// The URL of each row in its document, in the order of the rows.
	Links []string `json:"links,omitempty"` // one per row; empty for groups
	// The number of further entries, which are not listed.
	More   int    `json:"more,omitempty" api:"shared"` // rows that are not shown
	Totals []Fact `json:"totals,omitempty"`            // The computed values, as the table formats them.
	// The number of the document's rows it was computed from; url opens the document at them.
	Used int    `json:"used,omitempty"`
	URL  string `json:"url,omitempty"` // opens the document at them
}

// bounded returns a copy of the table within the size limits of an event. The tool's own output may still need all
// rows.
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

// Hit is a document, or a passage of one, that a call found or read. Of several passages in one document, the first
// hit describes the document and its first passage; the others are Sub. The link is built from the ids when it is
// shown. URL stores only a link that can't be built from them.
type Hit struct {
	N          int    `json:"n,omitempty"` // The passage's number in the run.
	DocumentID string `json:"document_id,omitempty"`
	ChunkID    string `json:"chunk_id,omitempty"` // of the passage
	BlockID    string `json:"block_id,omitempty"`
	Title      string `json:"title,omitempty"`    // empty for that of StepResult.Title, and for a Sub
	Filename   string `json:"filename,omitempty"` // if it differs from the title
	// The file's media type.
	MIME      string   `json:"mime,omitempty"`       // if not implied by the file name
	SourceURL string   `json:"source_url,omitempty"` // its web address
	Page      int      `json:"page,omitempty"`       // from 1
	Section   string   `json:"section,omitempty"`    // heading path
	Score     *float64 `json:"score,omitempty"`      // of the search
	// Similarity in meaning, 0 to 1, where it is known. It is calibrated, so it is not the cosine: up to 0.7 it is
	// the probability that the passage answers. Above that it rises with the cosine, to 1 for the same meaning.
	Similarity *float64 `json:"similarity,omitempty"`
	// The start of the text, or the part of it that answers the query.
	Snippet string `json:"snippet,omitempty"` // at most MaxSnippet runes
	// The matches of the query, in characters of the snippet.
	Matches [][2]int `json:"matches,omitempty"`
	Note    string   `json:"note,omitempty"` // The reason why it can't be opened.
	// A language model judged that the passage answers the question; set by a check of passages.
	Answers bool `json:"answers,omitempty"`
	Sub     bool `json:"sub,omitempty"` // Whether it belongs to the document of the preceding hit.
	// with End: the shown part of the passage, such as a row of a table, in runes of the document's text; absent
	// when all of it was shown
	Start int `json:"start,omitempty"`
	End   int `json:"end,omitempty"`
	// The URL to open. Default: /d/{document_id}?p={chunk_id}.
	URL string `json:"url,omitempty"` // a Link, where it differs from the one that Link builds from the ids
}

// withoutTexts returns the fields of a hit that recovery and memory need. A run that is taken over must know each
// passage's number, so ids, numbers and ranges stay.
func (h Hit) withoutTexts() Hit {
	return Hit{
		N: h.N, DocumentID: h.DocumentID, ChunkID: h.ChunkID, Page: h.Page, Sub: h.Sub, URL: h.URL, Start: h.Start,
		End: h.End, Section: h.partSection(), Answers: h.Answers,
	}
}

// partSection returns the section of a part of a passage, which can't be derived from the passage id.
func (h Hit) partSection() string {
	if h.End == 0 {
		return ""
	}
	return h.Section
}

// Link returns the viewer address of the hit's document, at its passage, else at its block; empty when there is
// nothing to open. It is not stored: it would take a fifth of a hit.
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

// OpenedPart identifies a part of a document that was read: the number of a reading page from 1, or the id of the
// first passage for a reading by topic.
type OpenedPart struct {
	DocumentID string `json:"document_id"`
	// The part: the number of a reading page from 1, or the id of the first passage for a reading by topic.
	Part string `json:"part"`
}

// QuotedWords is a model's quote from a passage, in the model's wording.
type QuotedWords struct {
	N     int    `json:"n"`     // The passage's number in the run.
	Words string `json:"words"` // The words, as the model wrote them.
}

// PlanPart is one part of a question.
type PlanPart struct {
	Query     string `json:"query"`
	Reasoning string `json:"reasoning"` // Why the question has this part.
	// Indexes of the parts to search first, from 0.
	DependsOn []int  `json:"depends_on"`
	Status    Status `json:"status"`
}

// Fact is a named value.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"` // The value.
}

// Bounded returns a copy of the result within the size limits of an event. Hits beyond MaxHits keep their numbers,
// which are cited, but lose their texts. Matches outside the truncated snippet are dropped. The receiver's lists are
// not modified.
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

// firstRunes truncates text to at most `most` runes, including the final ellipsis.
func firstRunes(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
