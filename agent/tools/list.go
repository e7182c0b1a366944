package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/english"
	"github.com/footnote/footnote/text/locale"
)

// listPage is the page size of document lists.
const listPage = 50

// listing returns a row for a tool that lists documents: page by page, or as the result of a search for metadata. It
// shows no passages, so an answer from it needs no footnotes.
func listing(name, sets string, preference int, paged bool, t Tool) *Tool {
	t.Name, t.sets, t.preference, t.Capability = name, sets, preference, chat.CapabilityList
	t.Retrieval, t.Cached, t.withoutPassages = true, true, true
	// words that answers use for the contents of the library
	t.vocabulary = func(args) string { return "library collection hold contain have include available upload" }
	t.describe = func(_ *Context, in args) string {
		doing := english.Choose(paged, "Listing the documents", "Looking for documents")
		if len(in.Filters) > 0 {
			doing += " with " + describeFilters(in.Filters)
		}
		return doing
	}
	t.run = func(ctx context.Context, d *Context, in args) (Result, error) { return d.list(ctx, in, paged) }
	return &t
}

// list lists the library, or filters it by metadata: author, date, type, tags. It searches no text. The store paginates
// by cursor, so page n is reached by reading the pages before it, 200 pages of listPage at most. A page beyond the last
// is refused with the number of pages. A search without results counts as an empty search in the answer's coverage; it
// returns the first page, and a note if there are more.
func (d *Context) list(ctx context.Context, in args, paged bool) (Result, error) {
	f, err := filterOf(d, in.Filters)
	if err == nil {
		f, err = d.expandNames(ctx, f)
	}
	if err != nil {
		return Result{}, err
	}
	f.Limit = listPage
	var docs []corpus.Document
	for page := 1; page <= max(1, in.Page); page++ {
		if docs, f.Cursor, err = d.Library.List(ctx, d.Scope, f); err != nil {
			return Result{}, fmt.Errorf("list documents: %w", err)
		}
		if f.Cursor == "" && page < in.Page {
			return Result{}, refused("Page not found. The list has {1}.", locale.Count(page, "page"))
		}
	}
	notes, err := d.noteUnknownProperties(ctx, f, docs)
	if err != nil {
		return Result{}, err
	}
	found, more := locale.Count(len(docs), "document"), f.Cursor != ""
	r := Result{SourceChanges: SourceChanges{Documents: docs}}
	out := map[string]any{"documents": listedDocuments(docs)}
	result := chat.StepResult{Found: len(docs)}
	for _, doc := range docs {
		result.Hits = append(result.Hits, documentHit(doc))
	}
	if len(in.Filters) > 0 {
		filters, _ := json.Marshal(in.Filters) // they were decoded from JSON
		result.Query = string(filters)
	}
	if paged {
		r.Message = locale.Say("Listed {1}", found)
		r.Summary = locale.Message(fmt.Sprintf("page %d%s", in.Page, english.Choose(more, ", there are more", "")))
		out["page"], out["more"] = in.Page, more
		if len(docs) == 0 {
			result.Facts = []chat.Fact{{Name: "page", Value: strconv.Itoa(in.Page)}}
		}
	} else {
		r.Message, r.Summary = locale.Say("Found {1}", found), locale.Message(describeFilters(in.Filters))
		out["total_found"] = len(docs)
		if more {
			notes = append(notes, fmt.Sprintf("These are the first %d; there are more.", listPage))
		}
		if len(docs) == 0 {
			r.SourceChanges.EmptySearch = r.Summary.String() // empty without filters
		}
	}
	out["notes"], result.Notes = notes, notes
	r.Output = func(Numberer) (any, chat.StepResult) { return out, result }
	return r, nil
}

// listedDocuments converts documents to list entries, in order. The result is never nil.
func listedDocuments(docs []corpus.Document) []object {
	out := []object{}
	for _, doc := range docs {
		values := documentValues(doc)
		values["type"], values["pages"], values["state"] = doc.MIME, given(doc.Pages), doc.State
		values["added"] = doc.CreatedAt.Format(time.DateOnly)
		if meta := doc.ModelMeta(); len(meta) > 0 {
			values["meta"] = meta
		}
		out = append(out, pick("doc_id filename title type pages added state meta", values))
	}
	return out
}

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

// filterOf parses the filter argument, or refuses an invalid one. It accepts aliases of the listed names; any other
// name is a metadata property. A year or date that corpus.IsDate does not accept is treated as a property of that
// name. Days are parsed in UTC.
func filterOf(d *Context, in map[string]any) (corpus.Filter, error) {
	f := corpus.Filter{IDs: d.DocumentIDs, Meta: map[string]any{}, MetaAny: map[string][]any{}}
	for name, v := range in {
		text, _ := v.(string)
		switch name {
		case "title", "text", "filename", "name":
			f.Text = text
		case "type", "mime":
			f.MIME = strings.ToLower(text)
			if known, ok := extract.Formats.ByWord(text); ok {
				f.MIME = known.MIME
			}
		case "sort":
			f.Sort = text
		case "added_after", "added_before":
			day, err := time.Parse(time.DateOnly, text)
			if err != nil {
				return f, refused("{1} must be a date like 2026-01-31, not \"{2}\".", name, text)
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
				return f, refusal(chat.MessageOf(err))
			}
		case "year", "date":
			day := strings.TrimSpace(fmt.Sprint(v))
			if !corpus.IsDate(day) {
				ownProperty(&f, name, v)
			} else if err := f.Dated(name, day, day); err != nil {
				return f, refusal(chat.MessageOf(err))
			}
		default:
			ownProperty(&f, name, v)
		}
	}
	return f, nil
}

// ownProperty adds a condition on a metadata property. If there are several values, one has to match.
func ownProperty(f *corpus.Filter, name string, v any) {
	if values, several := v.([]any); several {
		f.MetaAny[name] = values
	} else {
		f.Meta[name] = v
	}
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
	var missing []string
	for _, name := range append(slices.Sorted(maps.Keys(f.Meta)), slices.Sorted(maps.Keys(f.MetaAny))...) {
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
		for name := range doc.ModelMeta() {
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

// people are the metadata properties with names of people, which match by any of their words: “Doe” and “Doe, John”
// match John Doe.
var people = []string{"author", "authors"}

// expandNames adds to a filter the names as documents write them. It reads the stored names once for each property
// and keeps the requested values. The maps of the filter are changed in place.
func (d *Context) expandNames(ctx context.Context, f corpus.Filter) (corpus.Filter, error) {
	for _, key := range people {
		asked := f.MetaAny[key]
		if one, ok := f.Meta[key]; ok {
			asked = []any{one}
		}
		if asked == nil {
			continue
		}
		written, err := d.Library.MetaTexts(ctx, d.Scope, key)
		if err != nil {
			return f, fmt.Errorf("read the names of people: %w", err)
		}
		wanted := slices.Clone(asked)
		words := make([][]string, len(asked))
		for i, one := range asked {
			words[i] = nameWords(fmt.Sprint(one))
		}
		for _, name := range written {
			has := nameWords(name)
			if slices.ContainsFunc(words, func(asked []string) bool { return isNamed(has, asked) }) {
				wanted = append(wanted, name)
			}
		}
		delete(f.Meta, key)
		f.MetaAny[key] = wanted
	}
	return f, nil
}

// nameWords returns the words of a name, normalised without case and accents.
func nameWords(name string) []string {
	return strings.FieldsFunc(text.Fold(name), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsNumber(r)
	})
}

// isNamed reports whether a name has all requested words.
func isNamed(has, asked []string) bool {
	return len(asked) > 0 && !slices.ContainsFunc(asked, func(word string) bool { return !slices.Contains(has, word) })
}
