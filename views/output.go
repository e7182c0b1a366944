package views

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"footnote/chat"
)

// maxShown is how many runes of a step's text are drawn, maxInline how many bytes of its JSON come with the page; the rest
// is one click away.
const (
	maxShown  = 10_000
	maxInline = 2_000
)

// output is a tool's output as it is drawn. Tools name alike what is alike, so it is read by its fields, not by the tool.
type output struct {
	Title    string
	Filename string
	Pages    int
	Hits     []hit  // search hits, read passages, matches, documents
	Rows     []pair // what has no drawing of its own
	Text     string // running text
	Result   string // of a calculation
	Formula  string // of a calculation
	Error    string // why it failed
	Notes    []string
	Todo     []todo // a plan
	Outline  []string
}

// hit is one place in a document.
type hit struct {
	URL     string // empty: there is nothing to open
	Score   string
	Title   string
	Kind    string
	Loc     string
	Snippet []span
	Sub     bool // a passage of the document above it
}

// span is a piece of a snippet; Match pieces answer the query.
type span struct {
	Text  string
	Match bool
}

// todo is one part of a plan.
type todo struct{ Text, Status string }

// rawHit has every name a tool's output gives to the parts of a hit.
type rawHit struct {
	DocID      string          `json:"doc_id"`
	DocumentID string          `json:"document_id"`
	ChunkID    string          `json:"chunk_id"`
	PassageID  string          `json:"passage_id"`
	BlockID    string          `json:"block_id"`
	ID         string          `json:"id"`
	URL        string          `json:"url"`
	SourceURL  string          `json:"source_url"`
	Title      string          `json:"title"`
	PageTitle  string          `json:"page_title"`
	Filename   string          `json:"filename"`
	MIME       string          `json:"mime"`
	Section    string          `json:"section"`
	Heading    string          `json:"section_heading"`
	Page       json.Number     `json:"page"`
	PageCount  int             `json:"page_count"`
	Score      *float64        `json:"score"`
	Relevance  *float64        `json:"relevance"`
	Similarity *float64        `json:"similarity_score"`
	Snippet    string          `json:"snippet"`
	Text       string          `json:"text"`
	ChunkText  string          `json:"chunk_text"`
	Line       string          `json:"line"`
	Quote      string          `json:"quote"`
	Summary    string          `json:"summary"`
	Error      json.RawMessage `json:"error"`
	Matches    json.RawMessage `json:"matches"` // rune ranges in the snippet
	Highlights [][2]int        `json:"highlights"`
	Passages   []rawHit        `json:"passages"`
	Blocks     []rawHit        `json:"blocks"`
	Content    json.RawMessage `json:"content"`
}

// output decodes what the tool gave back. Fields that are not what they are taken for are left out, never an error.
func (s *Step) output() *output {
	if s.drawn == nil {
		s.drawn = drawOutput(s.ToolOutput)
		if s.drawn.Todo == nil {
			s.drawn.Todo = todos(s.Details)
		}
	}
	return s.drawn
}

func drawOutput(raw json.RawMessage) *output {
	out := &output{}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return out
	}
	var self rawHit
	decodeInto(raw, &self)
	out.Title, out.Filename, out.Pages = self.Title, self.Filename, self.PageCount
	var numbers []pair
	for _, key := range sortedKeys(fields) {
		value := fields[key]
		switch key {
		case "documents", "results", "hits", "chunks", "matches", "passages", "blocks":
			var list []rawHit
			if decodeInto(value, &list) {
				for _, h := range list {
					out.add(h, self)
				}
			}
		case "content", "text", "summary", "answer":
			out.content(value, self)
		case "expression":
			out.Formula = rawText(value)
		case "result":
			out.Result = rawText(value)
		case "error":
			out.Error = errorText(value)
		case "notes", "note":
			out.Notes = append(out.Notes, rawList(value)...)
		case "outline":
			out.Outline = rawList(value)
		case "parts", "plan", "sub_queries", "todo":
			var list []map[string]any
			if decodeInto(value, &list) {
				out.Todo = todoList(list)
			}
		case "key_sentences":
			out.Text = strings.Join(rawList(value), "\n\n")
		case "title", "filename", "page_count", "doc_id", "document_id", "mime", "url":
		case "opened":
			out.add(self, self)
		default:
			if text := rawText(value); text != "" && text != "0" && text != "false" {
				numbers = append(numbers, pair{key, text})
			}
		}
	}
	if len(out.Hits) == 0 {
		out.Rows = numbers
	}
	return out
}

func (o *output) add(h, parent rawHit) {
	doc := firstOf(h.DocID, h.DocumentID, parent.DocID, parent.DocumentID)
	parts := append(h.Passages, h.Blocks...)
	text := firstOf(h.Snippet, h.Text, h.ChunkText, h.Line, h.Quote, h.Summary)
	if len(parts) > 0 { // a document's row stands for its first passage too
		first := parts[0]
		parts = parts[1:]
		text = firstOf(text, first.Text)
		h.ChunkID, h.PassageID, h.Section, h.Page = firstOf(h.ChunkID, first.ChunkID), firstOf(h.PassageID, first.PassageID), firstOf(h.Section, first.Section), first.Page
		h.BlockID = firstOf(h.BlockID, first.BlockID)
	} else if text == "" {
		text = rawText(h.Content)
	}
	if why := errorText(h.Error); why != "" {
		text = why
	}
	page, _ := strconv.Atoi(h.Page.String())
	named := firstOf(h.Title, h.PageTitle, h.Filename)
	shown := hit{
		URL: hitURL(firstOf(h.URL, h.SourceURL), doc, firstOf(h.ChunkID, h.PassageID), h.BlockID), Title: named,
		Kind: fileKind(h.Filename, h.MIME), Loc: sourcePlace(firstOf(named, parent.Title), page, firstOf(h.Section, h.Heading)), Snippet: spans(text, h.Highlights, h.Matches),
	}
	if score := firstScore(h.Score, h.Relevance, h.Similarity); score != nil {
		shown.Score = strconv.FormatFloat(*score, 'f', 2, 64)
	}
	o.Hits = append(o.Hits, shown)
	for _, part := range parts {
		part.DocID = firstOf(part.DocID, doc)
		o.add(part, h)
		o.Hits[len(o.Hits)-1].Sub = true
	}
}

// content is a read document: passages, or text with block ids, or plain text.
func (o *output) content(value json.RawMessage, self rawHit) {
	var list []rawHit
	if decodeInto(value, &list) {
		for _, h := range list {
			o.add(h, self)
		}
		return
	}
	text := rawText(value)
	if utf8.RuneCountInString(text) > maxShown {
		text = string([]rune(text)[:maxShown]) + " …"
	}
	if len(self.Passages) == 0 { // else it says the same again
		o.Text = text
	}
}

func hitURL(given, doc, passage, block string) string {
	switch {
	case chat.IsLink(given):
		return given
	case doc == "":
		return ""
	case passage != "":
		return chat.Link{Document: doc, Passage: passage}.String()
	default:
		return chat.Link{Document: doc, Block: block}.String()
	}
}

// spans cuts a snippet at its matches: rune ranges, in order.
func spans(text string, ranges [][2]int, raw json.RawMessage) []span {
	if text == "" {
		return nil
	}
	if ranges == nil && len(raw) > 0 && json.Unmarshal(raw, &ranges) != nil {
		ranges = nil
	}
	runes, at := []rune(text), 0
	var out []span
	for _, r := range ranges {
		if r[0] < at || r[1] <= r[0] || r[1] > len(runes) {
			continue
		}
		if r[0] > at {
			out = append(out, span{Text: string(runes[at:r[0]])})
		}
		out = append(out, span{Text: string(runes[r[0]:r[1]]), Match: true})
		at = r[1]
	}
	if at < len(runes) {
		out = append(out, span{Text: string(runes[at:])})
	}
	return out
}

func todos(details map[string]any) []todo {
	for _, key := range []string{"plan", "parts", "sub_queries", "todo"} {
		list, ok := details[key].([]any)
		if !ok {
			continue
		}
		var items []map[string]any
		for _, item := range list {
			switch item := item.(type) {
			case map[string]any:
				items = append(items, item)
			case string:
				items = append(items, map[string]any{"text": item})
			}
		}
		return todoList(items)
	}
	return nil
}

func todoList(items []map[string]any) []todo {
	var out []todo
	for _, item := range items {
		text := firstOf(plainValue(item["text"]), plainValue(item["question"]), plainValue(item["query"]), plainValue(item["title"]))
		status := plainValue(item["status"])
		if item["done"] == true {
			status = "complete"
		}
		if text != "" {
			out = append(out, todo{text, firstOf(status, "pending")})
		}
	}
	return out
}

// documents names the documents a step opened.
func (s *Step) documents() []string {
	var self struct {
		DocID     string `json:"doc_id"`
		Filename  string `json:"filename"`
		Documents []struct {
			DocID string          `json:"doc_id"`
			Error json.RawMessage `json:"error"`
		} `json:"documents"`
	}
	if json.Unmarshal(s.ToolOutput, &self) != nil {
		return nil
	}
	var ids []string
	if id := firstOf(self.DocID, self.Filename); id != "" {
		ids = append(ids, id)
	}
	for _, d := range self.Documents {
		if d.DocID != "" && len(d.Error) == 0 {
			ids = append(ids, d.DocID)
		}
	}
	return ids
}

// indented returns JSON for people if it is small enough to travel with the page.
func indented(raw json.RawMessage) (string, bool) {
	var b bytes.Buffer
	if len(raw) > maxInline || json.Indent(&b, raw, "", "  ") != nil {
		return "", false
	}
	return b.String(), true
}

func decodeInto(raw json.RawMessage, v any) bool {
	dec := json.NewDecoder(bytes.NewReader(raw))
	return dec.Decode(v) == nil
}

func rawText(raw json.RawMessage) string {
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return ""
	}
	return plainValue(v)
}

func rawList(raw json.RawMessage) []string {
	var list []any
	if json.Unmarshal(raw, &list) != nil {
		if text := rawText(raw); text != "" {
			return []string{text}
		}
		return nil
	}
	var out []string
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			out = append(out, firstOf(plainValue(m["title"]), plainValue(m["text"])))
			continue
		}
		out = append(out, plainValue(item))
	}
	return out
}

func errorText(raw json.RawMessage) string {
	var e struct {
		Message string `json:"message"`
		Detail  string `json:"detail"`
	}
	if len(raw) > 0 && raw[0] == '{' && json.Unmarshal(raw, &e) == nil {
		return firstOf(e.Message, e.Detail)
	}
	return rawText(raw)
}

func sortedKeys(m map[string]json.RawMessage) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

func firstScore(scores ...*float64) *float64 {
	for _, s := range scores {
		if s != nil {
			return s
		}
	}
	return nil
}
