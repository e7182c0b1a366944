package agent

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"footnote/corpus"
)

// filtersSchema is the schema of the argument that selects documents. Unknown names are properties of the document.
const filtersSchema = `{
	"type": "object", "maxProperties": 20, "additionalProperties": {"type": ["string", "number", "boolean"]},
	"description": "Which documents. Further names are the documents' own properties, like author",
	"properties": {
		"title": {"type": "string", "maxLength": 500, "description": "Part of the title or file name"},
		"type": {"type": "string", "description": "pdf, markdown, html, text, or a MIME type"},
		"added_after": {"type": "string", "description": "Date, like 2026-01-31"},
		"added_before": {"type": "string", "description": "Date, like 2026-01-31"},
		"sort": {"type": "string", "enum": ["newest", "oldest", "title"]}
	}
}`

// documentTypes are the words people use for MIME types.
func documentType(word string) string {
	switch w := strings.ToLower(strings.TrimPrefix(word, ".")); w {
	case "pdf":
		return "application/pdf"
	case "markdown", "md":
		return "text/markdown"
	case "html", "htm", "web page":
		return "text/html"
	case "text", "txt", "plain text":
		return "text/plain"
	default:
		return w
	}
}

// filterOf reads the argument. The text is a refusal, empty if it was understood.
func filterOf(d *desk, in map[string]any) (corpus.Filter, string) {
	f := corpus.Filter{IDs: d.only}
	for name, v := range in {
		text, _ := v.(string)
		switch name {
		case "title", "text", "filename", "name":
			f.Text = text
		case "type", "mime":
			f.MIME = documentType(text)
		case "sort":
			f.Sort = text
		case "added_after", "added_before":
			day, err := time.Parse(time.DateOnly, text)
			if err != nil {
				return f, fmt.Sprintf("%s must be a date like 2026-01-31, not %q.", name, text)
			}
			if name == "added_after" {
				f.AddedAfter = day
			} else {
				f.AddedBefore = day
			}
		default:
			if f.Meta == nil {
				f.Meta = map[string]any{}
			}
			f.Meta[name] = v
		}
	}
	return f, ""
}

// describe writes filters for people: "author: Ada, type: pdf".
func describe(in map[string]any) string {
	parts := make([]string, 0, len(in))
	for name, v := range in {
		parts = append(parts, fmt.Sprintf("%s: %v", strings.ReplaceAll(name, "_", " "), v))
	}
	slices.Sort(parts)
	return shorten(strings.Join(parts, ", "), 120)
}

// listed is a document as lists show it.
type listed struct {
	DocID    string         `json:"doc_id"`
	Filename string         `json:"filename"`
	Title    string         `json:"title"`
	Type     string         `json:"type"`
	Pages    int            `json:"pages,omitempty"`
	Added    string         `json:"added"`
	State    corpus.State   `json:"state"`
	Meta     map[string]any `json:"meta,omitempty"`
}

func list(docs []corpus.Document) []listed {
	out := make([]listed, len(docs))
	for i, doc := range docs {
		out[i] = listed{
			DocID: doc.ID, Filename: filename(doc), Title: title(doc), Type: doc.MIME, Pages: doc.Pages,
			Added: doc.CreatedAt.Format(time.DateOnly), State: doc.State, Meta: doc.Meta,
		}
	}
	return out
}
