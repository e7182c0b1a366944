package tools

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract"
	"github.com/footnote/footnote/text"
)

// filtersSchema is the schema of the argument that filters documents. Names that it does not list are metadata
// properties of the documents. Their values may be texts, numbers, booleans or lists of these. The formats of “type”
// come from corpus/extract, so that a new format needs no change here.
//
// The limits of 20 properties and 20 values for each keep the store's query small; they were not measured.
var filtersSchema = fmt.Sprintf(`{
	"type": "object", "maxProperties": 20,
	"additionalProperties": {"type": ["string", "number", "boolean", "array"], "maxItems": 20,
		"items": {"type": ["string", "number", "boolean"]}},
	"description": "Which documents. Further names are the documents' own properties, like author or tags; of a list `+
	`of values one has to fit",
	"properties": {
		"title": {"type": "string", "maxLength": 500, "description": "Part of the title or file name"},
		"type": {"type": "string", "description": "%s, or a MIME type"},
		"year": {"type": ["string", "number"], "description": "The year of the document's own date, like 2024"},
		"date_from": {"type": "string",
			"description": "The document's own date is this or later: 2026-01-31, 2026-01 or 2026"},
		"date_to": {"type": "string",
			"description": "The document's own date is this or earlier: 2026-01-31, 2026-01 or 2026"},
		"added_after": {"type": "string", "description": "When it was uploaded. Date, like 2026-01-31"},
		"added_before": {"type": "string", "description": "When it was uploaded. Date, like 2026-01-31"},
		"sort": {"type": "string", "enum": ["newest", "oldest", "title"]}
	}
}`, strings.ToLower(extract.Formats.Labels("")))

// listPage is the page size of document lists.
const listPage = 50

// documentType returns the MIME type for the name of a format. A MIME type is returned as it is, in lower case.
func documentType(word string) string {
	if f, ok := extract.Formats.ByWord(word); ok {
		return f.MIME
	}
	return strings.ToLower(word)
}

// filterOf parses the filter argument. The text is a refusal, empty if the argument is valid. It accepts aliases of
// the listed names; any other name is a metadata property. A year or date that corpus.IsDate does not accept is
// treated as a property of that name. Days are parsed in UTC.
func filterOf(d *Context, in map[string]any) (corpus.Filter, string) {
	f := corpus.Filter{IDs: d.DocumentIDs}
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
		case "date_from", "date_to":
			from, to := text, ""
			if name == "date_to" {
				from, to = "", text
			}
			if err := f.Dated(name, from, to); err != nil {
				return f, chat.MessageOf(err)
			}
		case "year", "date":
			day := strings.TrimSpace(fmt.Sprint(v))
			if !corpus.IsDate(day) {
				ownProperty(&f, name, v)
			} else if err := f.Dated(name, day, day); err != nil {
				return f, chat.MessageOf(err)
			}
		default:
			ownProperty(&f, name, v)
		}
	}
	return f, ""
}

// ownProperty adds a condition on a metadata property. If there are several values, one has to match.
func ownProperty(f *corpus.Filter, name string, v any) {
	if values, several := v.([]any); several {
		if f.MetaAny == nil {
			f.MetaAny = map[string][]any{}
		}
		f.MetaAny[name] = values
		return
	}
	if f.Meta == nil {
		f.Meta = map[string]any{}
	}
	f.Meta[name] = v
}

// readFilter is filterOf with the names of people resolved. An error is a failure of the store; an invalid filter is
// a refusal.
func (d *Context) readFilter(ctx context.Context, in map[string]any) (f corpus.Filter, refusal string, err error) {
	f, refusal = filterOf(d, in)
	if refusal == "" {
		f, err = d.expandNames(ctx, f)
	}
	f.Limit = listPage
	return f, refusal, err
}

// noteUnknownProperties returns notes for a filter that found nothing: the requested properties that no document in
// reach has, and the properties that exist. It is empty if every property exists. The note helps a model that
// guessed a property to correct its call. It sends one query for each property, and only if nothing was found.
func (d *Context) noteUnknownProperties(
	ctx context.Context, f corpus.Filter, found []corpus.Document,
) ([]string, error) {
	if len(found) > 0 {
		return []string{}, nil
	}
	asked := slices.Sorted(maps.Keys(f.Meta))
	asked = append(asked, slices.Sorted(maps.Keys(f.MetaAny))...)
	var missing []string
	for _, name := range asked {
		docs, _, err := d.Library.List(ctx, d.Scope, corpus.Filter{IDs: d.DocumentIDs, HasMeta: name, Limit: 1})
		if err != nil {
			return nil, fmt.Errorf("look for a property: %w", err)
		}
		if len(docs) == 0 {
			missing = append(missing, "“"+text.Shorten(name, 60)+"”")
		}
	}
	if len(missing) == 0 {
		return []string{}, nil
	}
	note := "No document has the property " + strings.Join(missing, " or ") + "."
	docs, _, err := d.Library.List(ctx, d.Scope, corpus.Filter{IDs: d.DocumentIDs})
	if err != nil {
		return nil, fmt.Errorf("list documents: %w", err)
	}
	there := map[string]bool{}
	for _, doc := range docs {
		for name := range doc.ToldMeta() {
			there[name] = true
		}
	}
	if names := slices.Sorted(maps.Keys(there)); len(names) > 0 {
		note += " There are: " + text.Shorten(strings.Join(names, ", "), 300) + "."
	}
	return []string{note}, nil
}

// describeFilters formats filters for the progress message: "author: Ada, type: pdf".
func describeFilters(in map[string]any) string {
	parts := make([]string, 0, len(in))
	for name, v := range in {
		parts = append(parts, fmt.Sprintf("%s: %v", strings.ReplaceAll(name, "_", " "), v))
	}
	slices.Sort(parts)
	return text.Shorten(strings.Join(parts, ", "), 120)
}

// listed is a document in a list.
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

// listedDocuments converts documents to list entries, in order. The result is never nil.
func listedDocuments(docs []corpus.Document) []listed {
	out := make([]listed, len(docs))
	for i, doc := range docs {
		out[i] = listed{
			DocID: doc.ID, Filename: doc.DisplayName(), Title: doc.DisplayTitle(), Type: doc.MIME, Pages: doc.Pages,
			Added: doc.CreatedAt.Format(time.DateOnly), State: doc.State, Meta: doc.ToldMeta(),
		}
	}
	return out
}
