package chat

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/english"
)

// Limits of a question, on every route.
const (
	MaxQuestion       = 32_000  // runes of Message
	MaxContext        = 200_000 // runes of ContextText, and of AddedContext
	MaxDocumentIDs    = 1000
	MaxEnabledTools   = 50
	MaxIdempotencyKey = 255 // bytes
)

// Validate checks a request without settings; Engine.CheckRequest in agent/run adds the checks that depend on
// models, toolsets and documents. It fails with CodeInvalid and a user-facing message for the first problem. The
// limits are in runes, as a reader counts; the server limits the body in bytes before this.
func (r RunRequest) Validate() error {
	switch {
	case text.Blank(r.Message):
		return Invalid("The question is empty. Enter a question.")
	case utf8.RuneCountInString(r.Message) > MaxQuestion:
		return Invalid(
			"The question exceeds the limit of {1} characters. Shorten it, or upload the long part as a document.",
			english.Digits(MaxQuestion),
		)
	case utf8.RuneCountInString(r.ContextText) > MaxContext:
		return Invalid(
			"Context exceeds the limit of {1} characters. Add it as a document and ask about that instead.",
			english.Digits(MaxContext),
		)
	case utf8.RuneCountInString(r.AddedContext) > MaxContext:
		return Invalid(
			"The context exceeds the limit of {1} characters. Add it as a document instead.",
			english.Digits(MaxContext),
		)
	case len(r.DocumentIDs) > MaxDocumentIDs:
		return Invalid(
			"document_ids must have at most {1} entries. Omit it to search all documents.",
			english.Digits(MaxDocumentIDs),
		)
	case len(r.IdempotencyKey) > MaxIdempotencyKey:
		return Invalid("Idempotency-Key must have at most {1} bytes.", MaxIdempotencyKey)
	case !utf8.ValidString(r.IdempotencyKey):
		return Invalid("Idempotency-Key must be valid UTF-8. Use letters and digits.")
	}
	if r.SessionID != "" {
		if err := CheckSessionID(r.SessionID); err != nil {
			return err
		}
	}
	if err := CheckNamespace(r.Namespace); err != nil {
		return err
	}
	if err := CheckNames("document_ids", r.DocumentIDs); err != nil {
		return err
	}
	return r.Config.validateConfig()
}

// validateConfig checks the limits that apply to every toolset; toolsets and servers may have lower ones. The
// comparison of the temperature also refuses NaN.
func (c RunConfig) validateConfig() error {
	if t := c.Temperature; t != nil && !(*t >= 0 && *t <= 2) { // also refuses NaN
		return Invalid("config.temperature must be between 0 and 2.")
	}
	for _, field := range []struct {
		name  string
		value *int
	}{{"max_steps", c.MaxSteps}, {"max_retrieval_calls", c.MaxRetrievalCalls}, {"retrieval_top_k", c.RetrievalTopK}} {
		if field.value != nil && (*field.value < 1 || *field.value > MostTurnsOrCalls) {
			return Invalid("config.{1} must be between 1 and {2}.", field.name, MostTurnsOrCalls)
		}
	}
	if len(c.EnabledTools) > MaxEnabledTools {
		return Invalid("config.enabled_tools must have at most {1} entries.", MaxEnabledTools)
	}
	return CheckNames("config.enabled_tools", c.EnabledTools)
}

// CheckNames fails with CodeInvalid if a list has an empty entry; null in JSON is one.
func CheckNames(field string, names []string) error {
	if slices.Contains(names, "") {
		return Invalid("{1} contains an empty entry. Remove it.", field)
	}
	return nil
}

// CheckNamespace fails with CodeInvalid unless name is a valid namespace: 1 to 128 bytes of letters, digits, ".",
// "_" and "-", without a point at the start, which is reserved for the program. Empty is the default namespace.
// Letters and digits are those of Unicode, so 128 bytes may be fewer than 128 letters.
func CheckNamespace(name string) error {
	if len(name) > 128 || IsInternal(name) || strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.' && r != '_' && r != '-'
	}) {
		return Invalid(
			"A namespace can have up to 128 letters, digits, periods, underscores and hyphens. It can't begin with a " +
				"period.",
		)
	}
	return nil
}
