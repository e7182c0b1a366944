package views

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/locale"
)

// activity is a step as verb and object. The verb's tense follows the step's status.
type activity struct {
	Verb   string
	Object string
	Style  string // format of the object: "quote", "code" or plain
}

// activity returns the row's text for a step: a group of calls, a call with its tool's label, or a phase.
//
// A tool's Label is English text. It is translated where the catalogue of the reader's language has it.
func (s *Step) activity(ctx context.Context) activity {
	if s.Grouping || len(s.Children) > 1 && s.Step.Step == "parallel" {
		return groupActivity(ctx, s)
	}
	// Phases, and calls in a log without labels, have only their message.
	if s.Label == nil {
		return s.plainActivity(ctx)
	}
	a := activity{Verb: locale.Message(s.Label.Doing).In(ctx), Object: s.workedOn()}
	if s.Status == chat.StatusComplete {
		a.Verb = locale.Message(s.Label.Done).In(ctx)
	} else if s.Status == chat.StatusError {
		a.Verb = failedDoing.Say(ctx, lowerFirst(a.Verb))
	}
	if s.aboutWords() {
		a.Style = string(s.Label.Form)
	}
	return a
}

// aboutWords reports whether the step's object is a query, a pattern or a formula.
func (s *Step) aboutWords() bool {
	return s.Label != nil && (s.Label.Form == chat.LabelQuote || s.Label.Form == chat.LabelCode)
}

// workedOn returns the object of the step: the text that it works on.
func (s *Step) workedOn() string {
	switch {
	case s.aboutWords():
		return firstOf(plainValue(s.inputFields()[s.Label.Argument]), s.output().Query)
	case s.Label != nil && s.Label.Form == chat.LabelTitle:
		return s.documentName()
	default:
		return ""
	}
}

// plainActivity parses a phase's message into verb and object.
//
// A first word that ends with -ing or -ed, or "Read", is parsed as the verb: phases use only these forms.
func (s *Step) plainActivity(ctx context.Context) activity {
	if words := s.analysed(ctx); words != "" {
		return activity{Object: words}
	}
	words := s.Message
	if s.Title != "" {
		words = s.Title
	}
	if words == "" {
		words = strings.ReplaceAll(s.Step.Step, "_", " ")
	}
	words = s.Forms.Of(words).In(ctx)
	if s.Status == chat.StatusError {
		return activity{Verb: failedDoing.Say(ctx, ""), Object: words}
	}
	verb, rest, _ := strings.Cut(words, " ")
	if verb == "Read" || strings.HasSuffix(verb, "ing") || strings.HasSuffix(verb, "ed") {
		return activity{Verb: verb, Object: rest}
	}
	return activity{Object: words}
}

// documentName returns the title of the document that a step works on, parsed from its output, message or input.
func (s *Step) documentName() string {
	if title := s.output().Title; title != "" {
		return title
	}
	// A message is the label and the title, in one of the two tenses.
	for _, verb := range []string{s.Label.Doing, s.Label.Done} {
		if rest, ok := strings.CutPrefix(s.Message, verb+" "); ok {
			return rest
		}
	}
	return firstOf(plainValue(s.inputFields()[s.Label.Argument]), lowerFirst(s.Message))
}

// result returns the short outcome at the end of the row.
//
// It is empty until the step ends, and for a failed step, which note explains.
func (s *Step) result(ctx context.Context) string {
	if s.Status == chat.StatusRunning || s.Status == chat.StatusPending || s.Status == chat.StatusError {
		return ""
	}
	if s.Status == chat.StatusCancelled {
		return statusWord[s.Status].In(ctx)
	}
	if len(s.Children) > 1 {
		return groupResult(ctx, s)
	}
	text := s.Forms.Of(s.Summary).In(ctx)
	if text == "" && s.aboutWords() {
		text = s.Message
	}
	if value := s.output().Value; value != "" {
		text = "= " + value
	}
	if s.Cached {
		if text != "" {
			text += ", "
		}
		text += txtFromMemory.In(ctx)
	}
	return text
}

// note returns the error message of a failed step, shown under the row.
func (s *Step) note(ctx context.Context) string {
	if s.Status != chat.StatusError {
		return ""
	}
	summary := s.Forms.Of(s.Summary).In(ctx)
	if s.Error != nil && s.Error.Message != "" {
		return strings.TrimSpace(s.Error.Localised().In(ctx) + " " + summary)
	}
	return cmp.Or(s.failure(ctx), summary)
}

// failure returns the error message in a failed call's result, which mostly is that of the step.
func (s *Step) failure(ctx context.Context) string {
	why := s.output().Failure
	if s.Error != nil && s.Error.Message == why {
		return s.Error.Localised().In(ctx)
	}
	return locale.Message(why).In(ctx)
}

// presentTense returns the header's text while the step runs.
func (s *Step) presentTense(ctx context.Context) string {
	if s.Message != "" && (s.Label == nil || locale.Of(ctx) == locale.English) {
		return s.Forms.Of(s.Message).In(ctx)
	}
	a := s.activity(ctx)
	return strings.TrimSpace(a.Verb + " " + a.Object)
}

// inputFields decodes a call's arguments. It returns nil if they are not a JSON object.
func (s *Step) inputFields() map[string]any {
	var in map[string]any
	if json.Unmarshal(s.ToolInput, &in) != nil {
		return nil
	}
	return in
}

// pair is a key and value of a step's input.
type pair struct{ Key, Value string }

// facts returns the details of a phase, which has no input and output.
func (s *Step) facts() []pair {
	if len(s.output().Todo) > 0 {
		return nil
	}
	return sortedPairs(s.Details)
}

// inputs returns the input's fields, the query first, then by name.
func (s *Step) inputs() []pair { return sortedPairs(s.inputFields()) }

// sortedPairs returns fields as text, the query first, then by name. Empty values are left out.
//
// The fields come from a map: without a sort, each render of the page would have another order.
func sortedPairs(fields map[string]any) []pair {
	pairs := make([]pair, 0, len(fields))
	for key, value := range fields {
		if text := plainValue(value); text != "" {
			pairs = append(pairs, pair{key, text})
		}
	}
	first := func(key string) bool {
		return key == "query" || key == "doc_id" || key == "expression" || key == "pattern"
	}
	sort.Slice(pairs, func(i, j int) bool {
		if a, b := first(pairs[i].Key), first(pairs[j].Key); a != b {
			return a
		}
		return pairs[i].Key < pairs[j].Key
	})
	return pairs
}

// plainValue formats a decoded JSON value as text, with commas between list items.
//
// It is empty for null. A nested object is encoded as JSON.
func plainValue(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []any:
		parts := make([]string, 0, len(v))
		for _, item := range v {
			parts = append(parts, plainValue(item))
		}
		return strings.Join(parts, ", ")
	case map[string]any:
		b, err := json.Marshal(v)
		if err != nil {
			return ""
		}
		return string(b)
	default:
		return fmt.Sprint(v)
	}
}

// lowerFirst lower-cases the first letter.
func lowerFirst(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	return string(unicode.ToLower(first)) + s[size:]
}

// groupActivity returns the common activity of a group of parallel or repeated calls.
//
// Calls that open documents are counted as documents, others by the noun of their label. s must have children.
func groupActivity(ctx context.Context, s *Step) activity {
	together := func(words string) string {
		if s.Repeat {
			return words
		}
		return inParallel.Say(ctx, words)
	}
	n, tool, label := len(s.Children), s.Children[0].ToolName, s.Children[0].Label
	named, opening := map[string]bool{}, true
	for _, c := range s.Children {
		if c.ToolName != tool {
			tool, label = "", nil
		}
		opening = opening && (c.ActionType == chat.ActionReading || c.ActionType == chat.ActionSummarising)
		named[c.workedOn()] = true
	}
	switch {
	case opening && label != nil && s.over():
		return activity{Verb: locale.Message(label.Done).In(ctx), Object: together(countReadings(ctx, n, len(named)))}
	case opening && label != nil:
		return activity{Verb: locale.Message(label.Doing).In(ctx), Object: together(countReadings(ctx, n, len(named)))}
	case label != nil && label.Noun != "":
		return activity{Verb: together(locale.Count(n, label.Noun).In(ctx))}
	case s.Repeat:
		return activity{Verb: callsOf.Count(ctx, n, tool)}
	default:
		return activity{Verb: together(steps.Count(ctx, n))}
	}
}

// countReadings formats the number of readings, with the number of different documents if that is lower.
func countReadings(ctx context.Context, readings, different int) string {
	if readings == different {
		return documents.Count(ctx, different)
	}
	return andThen.Say(ctx, documents.Count(ctx, different), timesOver.Count(ctx, readings))
}

// groupResult counts the failed calls of a group, since the group's row shows no error messages.
func groupResult(ctx context.Context, s *Step) string {
	failed := 0
	for _, c := range s.Children {
		if c.Status == chat.StatusError {
			failed++
		}
	}
	if failed == 0 {
		return ""
	}
	return stepsFailed.Count(ctx, failed)
}

// opens returns the URL of the passage that an open_document step shows. It is empty if the step shows no passage.
func (s *Step) opens() string {
	if s.Capability != chat.CapabilityOpen || s.Status != chat.StatusComplete || len(s.output().Places) == 0 {
		return ""
	}
	return s.output().Places[0].URL
}
