// Package question reads questions by rules, before any model does: what kind of question it is, which parts it has,
// whether it points back to the last answer, which document or footnote it wants opened, and whether two questions ask
// for the same. A run begins with Analyse. The package knows no tools, no documents and no models; its functions are
// pure and safe for concurrent use.
//
// analyse.go says what kind a question is, split.go takes it apart, grammar.go has the closed classes of words that
// both rest on, follow_up.go tells what leans on the last answer, similar.go when two ask for the same, open.go,
// titles.go and properties.go read what documents are meant. The rules advise: a run may be told otherwise by its
// model, and every rule errs on the side of searching.
package question

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
)

// Type says what a question is after.
type Type string

// The types of questions.
const (
	Factual          Type = "factual"
	Exploratory      Type = "exploratory"
	SpecificDocument Type = "specific_document"
	Metadata         Type = "metadata"
	Comparison       Type = "comparison"
	Calculation      Type = "calculation"
	General          Type = "general" // talk that no document can answer
	FollowUp         Type = "follow_up"
)

// Analysis is what rules make of a question before a model sees it. It takes well under a millisecond.
type Analysis struct {
	Type       Type     `json:"type"`
	Entities   []string `json:"entities"`
	Keywords   []string `json:"keywords"`
	Complexity string   `json:"complexity"` // simple, moderate, complex
	Tools      []string `json:"suggested_tools"`

	Reference reference `json:"-"` // to the last answer
	Undecided bool      `json:"-"` // rules can't tell whether documents are needed: a model decides
}

// MaxAnalysed bounds how much of a long question is looked at, in bytes.
//
// Expressions take time in proportion to it, and what a question wants stands at its beginning.
const MaxAnalysed = 2000

var (
	quoted     = regexp.MustCompile(`["“„«]([^"“”„«»]{2,80})["”“»]`)
	fileName   = regexp.MustCompile(`[\p{L}\p{N}_\-.]+\.(?i:pdf|md|markdown|txt|html?|docx?|xlsx?|pptx?|csv)\b`)
	dateOrYear = regexp.MustCompile(`\b(?:\d{4}-\d{2}-\d{2}|(?:19|20)\d{2})\b`)
	documentID = regexp.MustCompile(`(?i)\b(?:document|doc|file)(?: with)?(?: the)? id[:#]? *["“]?([\w-]*\d[\w-]*)`)
	sum        = regexp.MustCompile(
		`^[\s\d.,()+\-*/^%×÷=?]*$|^(?i:what is|what's|calculate|compute|how much is)\s+[\d(.][\s\d.,()+\-*/^%×÷=?]*$`,
	)
	talk = regexp.MustCompile(
		`^(?i:(?:hi|hello|hey|hallo|good (?:morning|afternoon|evening)|thanks?(?: you)?(?: very much| a lot)?|thank ` +
			`you|who are you|what can you do|how are you|can you help me|bye|goodbye|ok(?:ay)?|great|danke)` +
			`(?: there)?(?:[\s,!.?]+|$))+$`,
	)
	transform = regexp.MustCompile(
		`^(?i:(?:please |can you |could you ` +
			`)*(?:translate|rewrite|rephrase|shorten|simplify|summari[sz]e|expand|reformat|turn)\s+(?:it|this|that|` +
			`your (?:last )?answer|the (?:last |previous )?answer)\b)`,
	)
	refersBack = regexp.MustCompile(
		`(?i)\b(?:it|its|they|them|that one|those|these|the (?:first|second|third|last|other|former|latter)(?: ` +
			`one)?|tell me more|more about (?:it|that|this)|what about|and (?:what|how|why|who|when|where))\b`,
	)
	compares = regexp.MustCompile(
		`(?i)\b(?:compare|compared|comparison|difference|differences|differ|versus|vs|both|better than|more ` +
			`than|less than|which of)\b`,
	)
	aboutFiles = regexp.MustCompile(
		`(?i)\b(?:which|what|how many|list|show)\b.{0,30}\b(?:documents?|files?|pdfs?)\b|\b(?:uploaded|added|written ` +
			`by|author of|tagged)\b`,
	)
	filesOf = regexp.MustCompile(
		`(?i)^(?:please |can you |could you )*(?:find|show|list|get|give|search for|look for|which|what|are there|do ` +
			`(?:i|we) have|how many)(?: me| us)?(?: all| any)?(?: of)?(?: the| my| our)?(?: [\p{L}-]+){0,2}? ` +
			`(?:documents?|files?|pdfs?|papers?|articles?|reports?|books?|notes|letters?|contracts?|e-?mails?|` +
			`invoices?|publications?|works?)(?: (?:that|which))?(?: (?:is|are|was|were|have|has|do i have))?(?: ` +
			`(?:written|published|dated|made|created|authored|signed|sent|added))? ` +
			`(?:(?:from|in|of|since|before|after|until|on)(?: the)?(?: year| \p{L}+)? (?:19|20)\d{2}\b|(?-i:by ` +
			`(?:the )?\p{Lu})|tagged\b|with the tags?\b)`,
	)
	commanding = regexp.MustCompile(
		`^(?i:hello|hallo|hi|hey|please|compare|translate|rewrite|rephrase|shorten|simplify|find|list|show|give|tell|` +
			`say|search|look|name|calculate|compute|open|read|check|count|answer|thanks?)$`,
	)
	measured = regexp.MustCompile(
		`(?i)^how (?:many|much|long|old|often|far|big|large|high|tall|wide|deep|heavy|fast|soon|late|early)\b`,
	)
	exploratory = regexp.MustCompile(
		`(?i)^(?:why|how|explain|describe|tell me about|give me an overview|overview|summari[sz]e|what are the ` +
			`(?:main|key)|discuss|outline)\b`,
	)
)

// ofText is an order about a text that stands in the question.
var ofText = regexp.MustCompile(
	`(?is)^\s*(?:please |can you |could you ` +
		`)*(?:translate|rewrite|rephrase|paraphrase|shorten|simplify|summari[sz]e|expand|reformat|proofread|` +
		`correct)\s+(?:this|(?:the ` +
		`)?following)(?:\s+(?:text|sentence|paragraph|passage|message|e-?mail|letter|note))?(?:\s+(?:into|to|in|for|` +
		`as)\s+[\w ]{1,30})?\s*[:\n]\s*\S.{15,}`,
)

// Analyse reads a question. followsUp says that there were questions before it in its conversation. The same question
// always has the same analysis.
func Analyse(question string, followsUp bool) Analysis {
	q := strings.TrimSpace(question)
	if len(q) > MaxAnalysed {
		q = strings.ToValidUTF8(q[:MaxAnalysed], "")
	}
	a := Analysis{Entities: findEntities(q), Keywords: Keywords(q)}
	if followsUp && !bringsText.MatchString(q) && !talk.MatchString(q) {
		if a.Reference = referenceOf(q); transform.MatchString(q) {
			a.Reference = Rework
		}
	}
	a = a.WithType(typeOf(q, a, followsUp), q)
	a.Undecided = a.NeedsDocuments() && (bringsWords(q) || isAddressed(q))
	return a
}

// WithType is the analysis of a question that is of a type.
func (a Analysis) WithType(kind Type, q string) Analysis {
	a.Type = kind
	a.Complexity = complexityOf(q, a)
	a.Tools = suggestTools(a)
	return a
}

// typeOf finds what a question is after. The order of the cases is their order of certainty: talk and sums are told by
// their whole form, a comparison by one word. What is none of these is factual, which is the type that searches.
func typeOf(q string, a Analysis, followsUp bool) Type {
	switch {
	case talk.MatchString(q):
		return General
	case followsUp && transform.MatchString(q), a.Reference == Rework, text.OwnText.MatchString(q), OrdersOwnText(q):
		return General
	case sum.MatchString(q) && strings.ContainsAny(q, "0123456789"):
		return Calculation
	case fileName.MatchString(q), documentID.MatchString(q):
		return SpecificDocument
	case compares.MatchString(q):
		return Comparison
	case aboutFiles.MatchString(q), filesOf.MatchString(q):
		return Metadata
	case followsUp &&
		(a.Reference != byItself || refersBack.MatchString(q) || text.Further.MatchString(q) ||
			len(a.Keywords) <= 1 && !isWholeQuestion(q)):
		return FollowUp
	case exploratory.MatchString(q) && !measured.MatchString(q):
		return Exploratory
	default:
		return Factual
	}
}

// complexityOf says how much work a question seems to be: simple, moderate or complex, by its parts, its length in
// runes and its content words. The bounds are choices; what hangs on them is whether rules divide the question and how
// much is offered.
func complexityOf(q string, a Analysis) string {
	parts := strings.Count(q, "?") + strings.Count(strings.ToLower(q), " and ") + strings.Count(q, ";")
	switch {
	case a.Type == Comparison || parts >= 3 || utf8.RuneCountInString(q) > 300:
		return "complex"
	case a.Type == Exploratory || parts == 2 || len(a.Keywords) > 8:
		return "moderate"
	default:
		return "simple"
	}
}

// suggestTools names tools of the default toolset for a kind of question; a run offers those of its own that stand in
// for them.
func suggestTools(a Analysis) []string {
	switch a.Type {
	case General:
		return []string{}
	case Calculation:
		return []string{"calculate"}
	case Metadata:
		return []string{"list_documents", "metadata_search"}
	case SpecificDocument:
		return []string{"read_document"}
	case Comparison:
		return []string{"search_documents", "read_multiple_documents"}
	case Exploratory:
		return []string{"search_documents", "get_document_summary", "read_document"}
	default:
		return []string{"search_documents", "read_document"}
	}
}

// findEntities are file names, quoted words, dates, and runs of capitalised words that do not begin a sentence. At most
// ten, in the order of certainty. A capital at the beginning of a sentence counts only if the word is neither a stop
// word nor an order.
func findEntities(q string) []string {
	var out []string
	add := func(s string) {
		if s = strings.TrimSpace(s); s != "" && !slices.Contains(out, s) && len(out) < 10 {
			out = append(out, s)
		}
	}
	for _, m := range quoted.FindAllStringSubmatch(q, 5) {
		add(m[1])
	}
	for _, m := range fileName.FindAllString(q, 5) {
		add(m)
	}
	for _, m := range dateOrYear.FindAllString(q, 5) {
		add(m)
	}
	var run []string
	begins := true
	for _, word := range append(strings.Fields(q), "") {
		bare := strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		first, _ := utf8.DecodeRuneInString(bare)
		stem, _, _ := strings.Cut(strings.ReplaceAll(bare, "’", "'"), "'") // of What's, Who's, Don't
		if unicode.IsUpper(first) && !(begins && text.IsStop(strings.ToLower(stem), "en")) &&
			!(begins && (exploratory.MatchString(bare) || commanding.MatchString(bare))) && bare != "I" {
			run = append(run, bare)
		} else {
			add(strings.Join(run, " "))
			run = nil
		}
		if begins = word != "" && strings.ContainsRune(".?!:", rune(word[len(word)-1])); begins {
			add(strings.Join(run, " "))
			run = nil
		}
	}
	if out == nil {
		return []string{}
	}
	return out
}

// Keywords are the content words, as they are typed, each once. At most 12, in the order of the question. Stop words of
// English are left out in any language, since questions mix them.
func Keywords(q string) []string {
	language := text.Detect(q)
	if language == "" {
		language = "en"
	}
	out := []string{}
	for _, word := range strings.FieldsFunc(strings.ToLower(q), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.M, r) && r != '-' && r != '_' &&
			r != '.'
	}) {
		word = strings.Trim(word, "-_.")
		if word == "" || text.IsStop(word, language) || text.IsStop(word, "en") || slices.Contains(out, word) {
			continue
		}
		if out = append(out, word); len(out) == 12 {
			break
		}
	}
	return out
}

// NeedsDocuments reports whether only the documents can answer.
func (a Analysis) NeedsDocuments() bool { return a.Type != General && a.Type != Calculation }

// WithoutAdvice is what is left of an analysis that is switched off: whether the documents are needed, which the
// check of an answer rests on, and the question's words.
func (a Analysis) WithoutAdvice() Analysis {
	out := Analysis{Type: Factual, Entities: a.Entities, Keywords: a.Keywords, Reference: a.Reference}
	if !a.NeedsDocuments() {
		out.Type = a.Type
	}
	return out
}

// Step is the analysis as the run's first step.
func (a Analysis) Step(callID string, at float64) chat.Step {
	kind := strings.ReplaceAll(string(a.Type), "_", " ")
	article := "A "
	if strings.ContainsRune("aeiou", rune(kind[0])) {
		article = "An "
	}
	message := article + kind + " question"
	if len(a.Keywords) > 0 {
		message += " about: " + text.Shorten(strings.Join(a.Keywords[:min(6, len(a.Keywords))], ", "), 100)
	}
	return chat.Step{
		CallID: callID, Step: "analyse", ActionType: chat.ActionPlanning, Message: message, Timestamp: at,
		Status: chat.StatusComplete, ToolStatus: chat.StatusComplete, Summary: a.Complexity,
		Details: map[string]any{
			"type": a.Type, "entities": a.Entities, "keywords": a.Keywords, "complexity": a.Complexity,
			"suggested_tools": a.Tools,
		},
	}
}

// Hint tells the model what the rules think; it may know better. It is empty when they were not asked.
func (a Analysis) Hint() string {
	if a.Complexity == "" {
		return ""
	}
	b, err := json.Marshal(a)
	if err != nil {
		return ""
	}
	return string(b)
}

var calculation = regexp.MustCompile(`(?i)^(?:what is|what's|calculate|compute|how much is)\s+`)

// Expression is what a question of the type calculation wants calculated. What is left is for the calculator to
// understand or refuse.
func Expression(question string) string {
	return strings.TrimRight(calculation.ReplaceAllString(strings.TrimSpace(question), ""), " =?")
}

// HasSubject reports whether a message of a conversation is about something that a later question may go on from: not
// so for talk, a sum, another form of the answer before it, “Why?”, “Tell me more”, and for a footnote or a named
// file to
// be opened.
func HasSubject(message string) bool {
	if _, cited := CitationToOpen(message); cited {
		return false
	}
	if _, sure := DocumentToOpen(message); sure {
		return false
	}
	a := Analyse(message, true)
	return a.NeedsDocuments() && a.Reference < AsksWhy && !text.Further.MatchString(message) &&
		(a.Type != FollowUp || len(a.Keywords) > 0)
}

// IsTalk reports whether a message is only talk: a greeting, thanks.
func IsTalk(message string) bool { return talk.MatchString(message) }

// IsComparison reports whether a question compares things.
func IsComparison(question string) bool { return compares.MatchString(question) }

// FileNames returns up to most file names that a text mentions.
func FileNames(s string, most int) []string { return fileName.FindAllString(s, most) }

// DocumentIDs returns the id that a question names a document by, if it does.
func DocumentIDs(q string) []string {
	if m := documentID.FindStringSubmatch(q); m != nil {
		return m[1:2]
	}
	return nil
}
