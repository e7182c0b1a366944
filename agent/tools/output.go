package tools

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// Encode encodes a value as JSON without HTML escapes, which cost tokens. It trims the line feed of json.Encoder.
func Encode(v any) (json.RawMessage, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return json.RawMessage(strings.TrimSuffix(b.String(), "\n")), nil
}

// object is a JSON object that keeps the order of its fields.
type object []field

type field struct {
	name  string
	value any
}

// pick returns the named fields in their order. A name "a=b" is the value of b under the name a. Fields with the
// value nil are omitted.
func pick(names string, values map[string]any) object {
	out := object{}
	for name := range strings.FieldsSeq(names) {
		name, key, renamed := strings.Cut(name, "=")
		if !renamed {
			key = name
		}
		if v := values[key]; v != nil {
			out = append(out, field{name, v})
		}
	}
	return out
}

// documentValues returns the fields of a document that most outputs have.
func documentValues(doc corpus.Document) map[string]any {
	return map[string]any{"doc_id": doc.ID, "filename": doc.DisplayName(), "title": doc.DisplayTitle()}
}

// given returns a value, or nil for the zero value.
func given[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

// without drops the named fields.
func (o object) without(names ...string) object {
	return slices.DeleteFunc(o, func(f field) bool { return slices.Contains(names, f.name) })
}

// MarshalJSON encodes the fields in their order.
func (o object) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, f := range o {
		name, err := Encode(f.name)
		value, err2 := Encode(f.value)
		if err = errors.Join(err, err2); err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = slices.Concat(out, name, []byte{':'}, value)
	}
	return append(out, '}'), nil
}

// UnmarshalJSON decodes the fields; their values stay encoded.
func (o *object) UnmarshalJSON(raw []byte) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	_, err := dec.Token()
	for err == nil && dec.More() {
		var name json.Token
		var value json.RawMessage
		if name, err = dec.Token(); err == nil {
			err = dec.Decode(&value)
			*o = append(*o, field{name.(string), value})
		}
	}
	return err
}

// MaxOutput is the maximum size of a tool's output in an event, in characters of its JSON. It bounds the step that
// is stored and sent to pages. The full output is kept beside the log (chat.Step.Full), and the model gets the full
// output.
//
// The value is about three pages of text and was not measured.
const MaxOutput = 10_000

// clipper is an output with its own truncation for the limit of an event.
type clipper interface{ clipTo(limit int) any }

// Clip truncates an output to at most MaxOutput characters. The result stays an object of the same shape. whole is
// the output encoded as JSON. An output that implements clipper is tried first. Then five steps truncate texts and
// lists, from 400 characters and 50 entries down to 20 and 2. Each step decodes whole again, since cutValues
// truncates in place.
func Clip(output any, whole json.RawMessage) (json.RawMessage, error) {
	if c, ok := output.(clipper); ok {
		short, err := Encode(c.clipTo(MaxOutput))
		if err != nil || utf8.RuneCount(short) <= MaxOutput {
			return short, err
		}
	}
	for _, limit := range []struct{ text, items int }{{400, 50}, {150, 30}, {60, 12}, {30, 5}, {20, 2}} {
		var v any
		if err := json.Unmarshal(whole, &v); err != nil {
			return nil, err
		}
		short, err := Encode(cutValues(v, limit.text, limit.items))
		if err != nil || utf8.RuneCount(short) <= MaxOutput {
			return short, err
		}
	}
	// Even the smallest limits were not enough, for instance with many thousand fields.
	return json.RawMessage(`{"note":"The output is too large to be shown here."}`), nil
}

// cutValues truncates all strings and lists in v to the limits. Numbers, booleans, null and keys are kept, so that
// readers of the output find every field.
func cutValues(v any, text, items int) any {
	switch v := v.(type) {
	case string:
		return CutText(v, text)
	case []any:
		v = v[:min(len(v), items)]
		for i := range v {
			v[i] = cutValues(v[i], text, items)
		}
		return v
	case map[string]any:
		for k := range v {
			v[k] = cutValues(v[k], text, items)
		}
		return v
	default:
		return v
	}
}

// CutText truncates a text to limit characters and appends an ellipsis if it was longer. text.Shorten does this for
// one line.
func CutText(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	n := 0
	for i := range s {
		if n == limit {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// overhead is the approximate size of a passage's JSON without its text: numbers, ids, section and field names.
// Unit: characters.
const overhead = 260

// cutPassages divides limit characters among passages. Each passage keeps at least 60 characters, so the limit may
// be exceeded with very many passages; Clip then applies its own limits.
func cutPassages(ps []shownPassage, limit int) []shownPassage {
	each := max(60, limit/max(1, len(ps))-overhead) // without any text, a passage's footnote would open at nothing
	return changed(ps, func(p *shownPassage) { p.Text = CutText(p.Text, each) })
}

// changed returns a copy of a list with its items changed. It copies, since outputs are shared.
func changed[T any](list []T, change func(*T)) []T {
	list = slices.Clone(list)
	for i := range list {
		change(&list[i])
	}
	return list
}

// shownPassage is a passage in a tool's output. ChunkID is for the page and API clients and omitted for models.
//
// N is its citation number, 1 or more. Page counts from 1; 0 means a document without pages.
type shownPassage struct {
	N         int    `json:"n"`
	BlockID   string `json:"block_id"`                // first block of its text
	LastBlock string `json:"last_block_id,omitempty"` // last block, if different
	Page      int    `json:"page,omitempty"`
	LastPage  int    `json:"last_page,omitempty"` // last page, if different
	Section   string `json:"section,omitempty"`
	Text      string `json:"text"`
	ChunkID   string `json:"chunk_id,omitempty"`
}

// showPassage assigns a number to a passage and converts it. It is called when the output is made, in the order of
// the calls, so that a resumed run gets the same numbers.
func showPassage(number Numberer, p corpus.Passage, doc corpus.Document) shownPassage {
	s := shownPassage{
		N: number(p, doc), BlockID: p.FirstBlock, Page: p.Page, Section: p.Section, Text: p.Text, ChunkID: p.ID,
	}
	if p.LastBlock != p.FirstBlock {
		s.LastBlock = p.LastBlock
	}
	if p.LastPage > p.Page {
		s.LastPage = p.LastPage
	}
	return s
}

// joinPassages joins passages to one text, each under its number, blocks, pages and section: "[1] (b3–b5, p. 2–3)".
// Models use block ids as locations. The last block or page is omitted if it equals the first.
func joinPassages(ps []shownPassage) string {
	blocks := make([]string, len(ps))
	for i, p := range ps {
		at := p.BlockID
		if p.LastBlock != "" {
			at += "–" + p.LastBlock
		}
		if p.Page > 0 {
			at += ", p. " + strconv.Itoa(p.Page)
		}
		if p.LastPage > 0 {
			at += "–" + strconv.Itoa(p.LastPage)
		}
		if p.Section != "" {
			at += ", " + p.Section
		}
		blocks[i] = fmt.Sprintf("[%d] (%s)\n%s", p.N, at, p.Text)
	}
	return strings.Join(blocks, "\n\n")
}

// documentHit returns the hit of a document for a chat.StepResult. The file name is set if it differs from the
// title, the MIME type if the name has no extension.
func documentHit(doc corpus.Document) chat.Hit {
	hit := chat.Hit{DocumentID: doc.ID, Title: doc.DisplayTitle()}
	if name := doc.DisplayName(); name != hit.Title {
		hit.Filename = name
	}
	if path.Ext(doc.DisplayName()) == "" {
		hit.MIME = doc.MIME
	}
	return hit
}

// passageHits returns the hits of passages of one document, without its title.
func passageHits(doc corpus.Document, passages []shownPassage) []chat.Hit {
	out := make([]chat.Hit, len(passages))
	for i, p := range passages {
		out[i] = chat.Hit{
			N: p.N, DocumentID: doc.ID, ChunkID: p.ChunkID, BlockID: p.BlockID, Page: p.Page, Section: p.Section,
			Snippet: p.Text,
		}
	}
	return out
}

// withPassages merges the hit of a document with its first passage and appends the other passages. The latter are
// marked as parts of the first hit (Sub), so that the page shows one document with several passages.
func withPassages(document chat.Hit, doc corpus.Document, passages []shownPassage) []chat.Hit {
	hits := passageHits(doc, passages)
	if len(hits) == 0 {
		return []chat.Hit{document}
	}
	first := hits[0]
	document.N, document.ChunkID, document.Page, document.Section = first.N, first.ChunkID, first.Page, first.Section
	document.BlockID = cmp.Or(document.BlockID, first.BlockID)
	document.Snippet = cmp.Or(document.Snippet, first.Snippet)
	hits[0] = document
	for i := range hits[1:] {
		hits[i+1].Sub = true
	}
	return hits
}
