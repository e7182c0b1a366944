package tools

import (
	"encoding/json"
	"unicode/utf8"
)

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
func cutPassages(ps []ShownPassage, limit int) []ShownPassage {
	if len(ps) == 0 {
		return ps
	}
	each := max(60, limit/len(ps)-overhead)
	// Some text of each passage is kept, or its footnote would open at nothing.
	out := make([]ShownPassage, len(ps))
	for i, p := range ps {
		p.Text = CutText(p.Text, each)
		out[i] = p
	}
	return out
}

// clipTo keeps a fifth of the limit for the text and three fifths for the passages, which the page shows.
func (o ReadDocumentOutput) clipTo(limit int) any {
	o.Content = CutText(o.Content, limit/5)
	o.Passages = cutPassages(o.Passages, limit*6/10)
	return o
}

// clipTo divides the limit equally among the documents.
func (o ReadMultipleDocumentsOutput) clipTo(limit int) any {
	docs := make([]ReadDocumentOutput, len(o.Documents))
	for i, doc := range o.Documents {
		docs[i] = doc.clipTo(limit*8/10/len(docs) - overhead).(ReadDocumentOutput)
	}
	o.Documents = docs
	return o
}

// clipTo divides the limit by the number of passages in each document. Each document keeps its name and a snippet.
func (o searchDocumentsOutput) clipTo(limit int) any {
	docs := make([]foundDocument, len(o.Documents))
	all := 0
	for _, doc := range o.Documents {
		all += len(doc.Passages)
	}
	for i, doc := range o.Documents {
		doc.Snippet = CutText(doc.Snippet, 300)
		doc.Passages = cutPassages(doc.Passages, (limit*8/10-len(docs)*400)*len(doc.Passages)/max(1, all))
		docs[i] = doc
	}
	o.Documents = docs
	return o
}

// clipTo truncates the passages, which are for footnotes, and keeps the key sentences.
func (o documentSummaryOutput) clipTo(limit int) any {
	o.Passages = cutPassages(o.Passages, limit/2)
	return o
}
