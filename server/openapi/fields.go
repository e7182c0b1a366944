package openapi

import "github.com/google/jsonschema-go/jsonschema"

// Patterns of texts. They are read alike by all engines of regular expressions.
// JSON Schema leaves the dialect of its patterns to ECMA-262, but clients check them with what their language has; so
// they use only what all of these know.
const (
	notBlank    = `[^\s\x00]`
	sessionForm = `^[A-Za-z0-9_-]{1,128}$`
	maybeForm   = `^[A-Za-z0-9_-]{0,128}$` // empty: none
	// namespaceForm leaves out letters and digits of other scripts, which are taken as well: not all engines know them.
	namespaceForm = `^([^\s\x00-\x2c/:-@\[-^\x60{-\x7f.][^\s\x00-\x2c/:-@\[-^\x60{-\x7f]*)?$`
	dateForm      = `^([0-9]{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?)?)?$` // empty: none
	runForm       = `^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`
)

// forms are the patterns that the tag api names, with the most characters that fit them; nil: no bound of their own.
//
// A form that is missing here makes Describe fail for the field that names it.
var forms = map[string]struct {
	pattern string
	most    *float64
}{
	"session":   {pattern: sessionForm},
	"maybe":     {pattern: maybeForm},
	"namespace": {namespaceForm, to(128)},
	"date":      {pattern: dateForm},
	"run":       {pattern: runForm},
	"web":       {pattern: `^[Hh][Tt][Tt][Pp][Ss]?://`},
}

// DescribedFields says of the fields what their tags and comments do, by "Component.field".
//
// It is for tests, which compare what is described with what the server refuses. It walks through all types each time.
func DescribedFields() map[string]field {
	_, types := describe(nil, "")
	return types.fields
}

// Optional numbers of a schema are pointers.
func to(n float64) *float64 { return &n }

// What has no bound of its own is bounded by its request: see httpio.Limits.
func textSchema() *jsonschema.Schema { return &jsonschema.Schema{Type: "string"} }

// A length counts characters, not bytes, as JSON Schema does.
func textOf(most int) *jsonschema.Schema { return &jsonschema.Schema{Type: "string", MaxLength: &most} }

// The pattern may match anywhere in the text unless it is anchored, as JSON Schema has it.
func patterned(pattern string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: pattern}
}

// Both bounds are part of the range. initial is what an absent value means, in JSON; empty: nothing is said of it.
func wholeSchema(low, high float64, initial string) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "integer", Minimum: &low, Maximum: &high}
	if initial != "" {
		s.Default = []byte(initial)
	}
	return s
}

// oneOrNone is one of the values, or empty, which is the same as none.
func oneOrNone(values ...string) *jsonschema.Schema { return oneOf(append(values, "")...) }

func oneOf(values ...string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Enum: listValues(values...)}
}
