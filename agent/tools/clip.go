package tools

import (
	"encoding/json"
	"unicode/utf8"
)

// MaxOutput is how many characters of a tool's output an event carries. The whole output is kept beside the log
// (chat.Step.Full). The model gets the output whole; this bounds what is stored with a step and sent to pages.
//
// It is a choice: about three pages of text. It counts characters of the JSON, with all that stands around the words.
const MaxOutput = 10_000

// clipper is an output that knows best what of it to show when it is too long for an event.
type clipper interface{ clipTo(limit int) any }

// Clip returns a shorter form of an output of at most MaxOutput characters. It stays an object of the same shape. It
// tries smaller and smaller bounds for texts and lists. whole is the output as JSON; an output with a clipTo of its own
// is asked first. The bounds fall in five steps, each of which decodes the output anew: cutting is done in place. The
// bounds go from 400 characters and 50 entries down to 20 and 2. Each try begins with the whole output again, as
// cutting changes it in place.
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
	// Not even the smallest bounds were enough, for instance with many thousand fields.
	return json.RawMessage(`{"note":"The output is too large to be shown here."}`), nil
}

// cutValues bounds the length of all strings and lists inside v. Numbers, truth values and null stay. Keys are never
// left out, so that readers of the output find what they look for.
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

// CutText keeps the first characters of a text, as they are, and ends a text that was longer with an ellipsis.
// text.Shorten is for one line.
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

// overhead is about how many characters a passage takes beside its text. It stands for the JSON around it: numbers,
// ids, section and field names.
const overhead = 260

// cutPassages shares limit characters among passages. Each passage keeps at least 60 characters, so the bound may be
// missed where there are very many; Clip then goes on with its own bounds.
func cutPassages(ps []ShownPassage, limit int) []ShownPassage {
	if len(ps) == 0 {
		return ps
	}
	each := max(60, limit/len(ps)-overhead)
	// At least something of each passage is shown, or its footnote would open at nothing.
	out := make([]ShownPassage, len(ps))
	for i, p := range ps {
		p.Text = CutText(p.Text, each)
		out[i] = p
	}
	return out
}

// clipTo keeps a fifth for the text as a whole and most of the rest for passages: the page shows those.
func (o ReadDocumentOutput) clipTo(limit int) any {
	o.Content = CutText(o.Content, limit/5)
	o.Passages = cutPassages(o.Passages, limit*6/10)
	return o
}

// clipTo shares the room equally among the documents.
func (o ReadMultipleDocumentsOutput) clipTo(limit int) any {
	docs := make([]ReadDocumentOutput, len(o.Documents))
	for i, doc := range o.Documents {
		docs[i] = doc.clipTo(limit*8/10/len(docs) - overhead).(ReadDocumentOutput)
	}
	o.Documents = docs
	return o
}

// clipTo shares the room by how many passages each document has; each document keeps its name and a snippet.
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

// clipTo shortens the passages, which are for footnotes, and keeps the key sentences.
func (o documentSummaryOutput) clipTo(limit int) any {
	o.Passages = cutPassages(o.Passages, limit/2)
	return o
}
