package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/text/english"
	"github.com/footnote/footnote/views"
)

// Docs converts the description to prose. base is the address for the examples; keys adds a key to them.
//
// Groups and operations are in the order of the source, schemas sorted by name. It fails only if an example can't be
// encoded.
func (doc *Document) Docs(base string, keys bool) (views.Docs, error) {
	// The page shows the same description that programs get.
	d := views.Docs{About: doc.Info.Description, Version: doc.Info.Version}
	for _, tag := range doc.Tags {
		g := views.DocsGroup{Name: tag.Name, About: tag.Description}
		for _, op := range Operations() { // in their order, which a map of paths loses
			made := doc.Paths[TemplatePath(op.Path)][strings.ToLower(op.Method)]
			// Each group has few operations, so a linear search suffices.
			if op.group != tag.Name {
				continue
			}
			shown, err := docsOperation(op, made, doc, base, keys)
			if err != nil {
				return d, err
			}
			g.Operations = append(g.Operations, shown)
		}
		d.Groups = append(d.Groups, g)
	}
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		d.Schemas = append(
			d.Schemas, views.DocsSchema{Name: name, Fields: docsFields(doc.Components.Schemas[name], doc.asked[name])},
		)
	}
	return d, nil
}

// A route with a form and no JSON has no example and no form to try. base and keys are those of Docs.
func docsOperation(
	op Operation, made apiOperation, doc *Document, base string, keys bool,
) (views.DocsOperation, error) {
	out := views.DocsOperation{
		ID: made.OperationID, Method: op.Method, Path: TemplatePath(op.Path), Summary: op.summary, About: op.about,
		FormKind: op.formKind,
	}
	for _, p := range op.params {
		out.Params = append(out.Params, views.DocsField{
			Name: p.name, Where: p.in, Type: docsType(p.schema), Required: p.need, Bounds: valueBounds(p.schema),
			About: p.about,
		})
	}
	if op.form != nil {
		out.Form = docsFields(made.RequestBody.Content[op.formKind].Schema, true)
	}
	if op.body != nil {
		out.Body = docsType(made.RequestBody.Content[httpio.TypeJSON].Schema)
		out.Fields = docsFields(doc.Components.Schemas[out.Body.Schema], true)
	}
	if op.body != nil || op.form == nil {
		var err error
		if out.Example, err = curlCommand(op, base, keys); err != nil {
			return out, err
		}
		if out.Try, err = tryForm(op, keys); err != nil {
			return out, err
		}
	}
	// Statuses have three digits, so they sort as text.
	for _, status := range slices.Sorted(maps.Keys(made.Responses)) {
		res := made.Responses[status]
		o := views.DocsOutcome{Status: status, About: res.Description}
		for _, kind := range slices.Sorted(maps.Keys(res.Content)) {
			o.Kinds = append(o.Kinds, views.DocsKind{Media: kind, Type: docsType(res.Content[kind].Schema)})
		}
		out.Outcomes = append(out.Outcomes, o)
	}
	return out, nil
}

// curlCommand returns an operation's request as a shell command.
//
// Path parameters stay in braces, which readers replace. The key is a placeholder.
func curlCommand(op Operation, base string, keys bool) (string, error) {
	lines := []string{"curl " + base + TemplatePath(op.Path)}
	if op.Method != http.MethodGet {
		lines[0] = "curl -X " + op.Method + " " + base + TemplatePath(op.Path)
	}
	// The keys of this server begin with fn_; the reader fills in the rest.
	if keys {
		lines = append(lines, "-H 'X-API-Key: fn_…'")
	}
	if op.body != nil {
		body, err := json.Marshal(op.example)
		if err != nil {
			return "", fmt.Errorf("encode an example: %w", err)
		}
		lines = append(lines, "-H 'Content-Type: application/json'", "-d '"+string(body)+"'")
	}
	return strings.Join(lines, " \\\n  "), nil
}

// tryForm returns the form that sends an operation's request.
//
// Its options for Accept are the media types of the operation's responses, in their order.
func tryForm(op Operation, keys bool) (*views.DocsTry, error) {
	t := &views.DocsTry{Keys: keys}
	if op.body != nil {
		body, err := json.MarshalIndent(op.example, "", "  ")
		if err != nil {
			return nil, fmt.Errorf("encode an example: %w", err)
		}
		t.Body = string(body)
	}
	for _, o := range op.outcomes {
		kind := o.kind
		if o.body != nil {
			kind = httpio.TypeJSON
		}
		if kind != "" && !slices.Contains(t.Accepts, kind) {
			t.Accepts = append(t.Accepts, kind)
		}
	}
	return t, nil
}

// docsFields lists an object's fields; asked marks a request's, some of which are required.
//
// They are in source order, which a map of properties loses.
func docsFields(s *jsonschema.Schema, asked bool) []views.DocsField {
	var fields []views.DocsField
	for _, name := range s.PropertyOrder {
		p := s.Properties[name]
		fields = append(fields, views.DocsField{
			Name: name, Type: docsType(p), Required: asked && slices.Contains(s.Required, name), Bounds: valueBounds(p),
			About: p.Description,
		})
	}
	return fields
}

// docsType describes a value's type: "text", "list of Citation".
//
// The words are for readers who don't know JSON Schema. null is omitted: an optional field of a request may always
// be null.
func docsType(s *jsonschema.Schema) views.DocsType {
	if s == nil { // events: the text describes them
		return views.DocsType{Words: "text"}
	}
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		return views.DocsType{Words: name, Schema: name}
	}
	// The alternatives to the first form are null or another encoding of the same.
	if len(s.AnyOf) > 0 {
		return docsType(s.AnyOf[0])
	}
	if len(s.OneOf) > 0 {
		return views.DocsType{Words: docsType(s.OneOf[0]).Words + " or " + docsType(s.OneOf[1]).Words}
	}
	// A schema has one type, or a list of them when it includes null.
	kinds := append(slices.Clone(s.Types), s.Type)
	switch {
	case slices.Contains(kinds, "array"):
		of := docsType(s.Items)
		return views.DocsType{Words: "list of " + of.Words, Schema: of.Schema}
	case slices.Contains(kinds, "object"):
		// An object without named fields has values of one type, such as the schemas of a map.
		if more := s.AdditionalProperties; more != nil && more.Ref != "" {
			of := docsType(more)
			return views.DocsType{Words: "object of " + of.Words, Schema: of.Schema}
		}
		return views.DocsType{Words: "object"}
	case slices.Contains(kinds, "string"):
		return views.DocsType{Words: cmp.Or(map[string]string{"date-time": "time", "binary": "file"}[s.Format], "text")}
	case slices.Contains(kinds, "integer"):
		return views.DocsType{Words: "whole number"}
	case slices.Contains(kinds, "number"):
		return views.DocsType{Words: "number"}
	case slices.Contains(kinds, "boolean"):
		return views.DocsType{Words: "true or false"}
	case s.Const != nil:
		return views.DocsType{Words: fmt.Sprint(*s.Const)}
	}
	return views.DocsType{Words: "any value"}
}

// valueBounds describes a value's limits: "1 to 50; default 5".
//
// Minimum and maximum have no unit; lengths are in characters or list entries. The empty value of an enumeration and
// the pattern for text that is not blank are omitted as irrelevant to readers.
func valueBounds(s *jsonschema.Schema) string {
	var parts []string
	for _, r := range []struct {
		low, high *float64
		unit      string
	}{{s.Minimum, s.Maximum, ""}, {toFloat(s.MinLength), toFloat(s.MaxLength), " characters"}, {
		toFloat(s.MinItems), toFloat(s.MaxItems), " entries",
	}} {
		switch low, high := formatNumber(r.low), formatNumber(r.high); {
		case r.low != nil && r.high != nil && low == high:
			parts = append(parts, low+r.unit)
		case r.low != nil && r.high != nil:
			parts = append(parts, low+" to "+high+r.unit)
		case r.low != nil:
			parts = append(parts, "at least "+low+r.unit)
		case r.high != nil:
			parts = append(parts, "at most "+high+r.unit)
		}
	}
	var values []string
	for _, value := range s.Enum {
		if text, ok := value.(string); ok && text != "" {
			values = append(values, text)
		}
	}
	if len(values) > 0 {
		parts = append(parts, strings.Join(values, ", "))
	}
	if s.Pattern != "" && s.Pattern != notBlank {
		parts = append(parts, "form "+s.Pattern)
	}
	if len(s.Default) > 0 {
		parts = append(parts, "default "+strings.Trim(string(s.Default), `"`))
	}
	return strings.Join(parts, "; ")
}

// Lengths are integers in a schema, other limits are floats; both are formatted alike.
func toFloat(n *int) *float64 {
	if n == nil {
		return nil
	}
	return to(float64(*n))
}

func formatNumber(f *float64) string {
	if f == nil {
		return ""
	}
	// Whole numbers are formatted with separators.
	if n := int(*f); float64(n) == *f {
		return english.Digits(n)
	}
	return strconv.FormatFloat(*f, 'g', -1, 64)
}
