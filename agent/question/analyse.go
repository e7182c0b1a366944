// Package question parses questions by rules, before any model does. It classifies a question, splits it into parts,
// resolves references to the last answer, finds the document or footnote to open, and compares the intent of two
// questions. A run starts with Analyse. The package depends on no tools, documents or models; its functions are pure
// and safe for concurrent use.
//
// analyse.go classifies questions, split.go splits them, and grammar.go holds the closed classes of words for both.
// follow_up.go recognises references to the last answer, and similar.go normalises the intent. open.go, titles.go
// and properties.go parse references to documents. The rules advise: a run's model may override them, and in doubt a
// rule chooses a search.
package question

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/lazy"
)

// Type classifies a question.
type Type string

// The types of questions.
const (
	Factual          Type = "factual"
	Exploratory      Type = "exploratory"
	SpecificDocument Type = "specific_document"
	Metadata         Type = "metadata"
	Comparison       Type = "comparison"
	Calculation      Type = "calculation"
	General          Type = "general" // small talk that no document can answer
	FollowUp         Type = "follow_up"
)

// Analysis is the result of the rules for a question, before a model gets it. It takes well under a millisecond.
type Analysis struct {
	Type       Type     `json:"type"`
	Entities   []string `json:"entities"`
	Keywords   []string `json:"keywords"`
	Complexity string   `json:"complexity"` // simple, moderate, complex
	Tools      []string `json:"suggested_tools"`

	Reference reference `json:"-"` // to the last answer
	Undecided bool      `json:"-"` // rules can't decide whether documents are needed: a model does
}

// MaxAnalysed is the maximum number of bytes of a question that are analysed.
//
// The expressions take linear time, and a question's intent is at its beginning.
const MaxAnalysed = 2000

var (
	quoted     = lazy.Regexp(`["“„«]([^"“”„«»]{2,80})["”“»]`)
	fileName   = lazy.Regexp(`[\p{L}\p{N}_\-.]+\.(?i:pdf|md|markdown|txt|html?|docx?|xlsx?|pptx?|csv)\b`)
	dateOrYear = lazy.Regexp(`\b(?:\d{4}-\d{2}-\d{2}|(?:19|20)\d{2})\b`)
	documentID = lazy.Regexp(`(?i)\b(?:document|doc|file)(?: with)?(?: the)? id[:#]? *["“]?([\w-]*\d[\w-]*)`)
	sum        = lazy.Regexp(
		`^[\s\d.,()+\-*/^%×÷=?]*$|^(?i:what is|what's|calculate|compute|how much is)\s+[\d(.][\s\d.,()+\-*/^%×÷=?]*$`,
	)
	talk = lazy.Regexp(
		`^(?i:(?:hi|hello|hey|hallo|good (?:morning|afternoon|evening)|thanks?(?: you)?(?: very much| a lot)?|thank ` +
			`you|who are you|what can you do|how are you|can you help me|bye|goodbye|ok(?:ay)?|great|danke)` +
			`(?: there)?(?:[\s,!.?]+|$))+$`,
	)
	transform = lazy.Regexp(
		`^(?i:(?:please |can you |could you ` +
			`)*(?:translate|rewrite|rephrase|shorten|simplify|summari[sz]e|expand|reformat|turn)\s+(?:it|this|that|` +
			`your (?:last )?answer|the (?:last |previous )?answer)\b)`,
	)
	refersBack = lazy.Regexp(
		`(?i)\b(?:it|its|they|them|that one|those|these|the (?:first|second|third|last|other|former|latter)(?: ` +
			`one)?|tell me more|more about (?:it|that|this)|what about|and (?:what|how|why|who|when|where))\b`,
	)
	compares = lazy.Regexp(
		`(?i)\b(?:compare|compared|comparison|difference|differences|differ|versus|vs|both|better than|more ` +
			`than|less than|which of)\b`,
	)
	aboutFiles = lazy.Regexp(
		`(?i)\b(?:which|what|how many|list|show)\b.{0,30}\b(?:documents?|files?|pdfs?)\b|\b(?:uploaded|added|written ` +
			`by|author of|tagged)\b`,
	)
	filesOf = lazy.Regexp(
		`(?i)^(?:please |can you |could you )*(?:find|show|list|get|give|search for|look for|which|what|are there|do ` +
			`(?:i|we) have|how many)(?: me| us)?(?: all| any)?(?: of)?(?: the| my| our)?(?: [\p{L}-]+){0,2}? ` +
			`(?:documents?|files?|pdfs?|papers?|articles?|reports?|books?|notes|letters?|contracts?|e-?mails?|` +
			`invoices?|publications?|works?)(?: (?:that|which))?(?: (?:is|are|was|were|have|has|do i have))?(?: ` +
			`(?:written|published|dated|made|created|authored|signed|sent|added))? ` +
			`(?:(?:from|in|of|since|before|after|until|on)(?: the)?(?: year| \p{L}+)? (?:19|20)\d{2}\b|(?-i:by ` +
			`(?:the )?\p{Lu})|tagged\b|with the tags?\b)`,
	)
	commanding = lazy.Regexp(
		`^(?i:hello|hallo|hi|hey|please|compare|translate|rewrite|rephrase|shorten|simplify|find|list|show|give|tell|` +
			`say|search|look|name|calculate|compute|open|read|check|count|answer|thanks?)$`,
	)
	measured = lazy.Regexp(
		`(?i)^how (?:many|much|long|old|often|far|big|large|high|tall|wide|deep|heavy|fast|soon|late|early)\b`,
	)
	exploratory = lazy.Regexp(
		`(?i)^(?:why|how|explain|describe|tell me about|give me an overview|overview|summari[sz]e|what are the ` +
			`(?:main|key)|discuss|outline)\b`,
	)
)

// ofText matches an order about a text in the question.
var ofText = lazy.Regexp(
	`(?is)^\s*(?:please |can you |could you ` +
		`)*(?:translate|rewrite|rephrase|paraphrase|shorten|simplify|summari[sz]e|expand|reformat|proofread|` +
		`correct)\s+(?:this|(?:the ` +
		`)?following)(?:\s+(?:text|sentence|paragraph|passage|message|e-?mail|letter|note))?(?:\s+(?:into|to|in|for|` +
		`as)\s+[\w ]{1,30})?\s*[:\n]\s*\S.{15,}`,
)

// Analyse classifies a question. followsUp reports whether the conversation has earlier questions as context. The
// result is deterministic.
func Analyse(question string, followsUp bool) Analysis {
	q := strings.TrimSpace(question)
	if len(q) > MaxAnalysed {
		q = strings.ToValidUTF8(q[:MaxAnalysed], "")
	}
	a := Analysis{Entities: findEntities(q), Keywords: Keywords(q)}
	if followsUp && !bringsText().MatchString(q) && !talk().MatchString(q) {
		if a.Reference = referenceOf(q); transform().MatchString(q) {
			a.Reference = Rework
		}
	}
	a = a.WithType(typeOf(q, a, followsUp), q)
	a.Undecided = a.NeedsDocuments() && (bringsWords(q) || isAddressed(q))
	return a
}

// WithType returns the analysis of the question q with another type.
func (a Analysis) WithType(kind Type, q string) Analysis {
	a.Type = kind
	a.Complexity = complexityOf(q, a)
	a.Tools = suggestTools(a)
	return a
}

// typeOf classifies a question. The cases are in the order of certainty: small talk and sums match as a whole, a
// comparison by one word. The fallback is factual, the type that searches.
func typeOf(q string, a Analysis, followsUp bool) Type {
	switch {
	case talk().MatchString(q):
		return General
	case followsUp && transform().MatchString(q), a.Reference == Rework, text.OwnText().MatchString(q),
		OrdersOwnText(q):
		return General
	case sum().MatchString(q) && text.AsksSum(q):
		return Calculation
	case fileName().MatchString(q), documentID().MatchString(q):
		return SpecificDocument
	case compares().MatchString(q):
		return Comparison
	case aboutFiles().MatchString(q), filesOf().MatchString(q):
		return Metadata
	case followsUp &&
		(a.Reference != byItself || refersBack().MatchString(q) || text.Further().MatchString(q) ||
			len(a.Keywords) <= 1 && !isWholeQuestion(q)):
		return FollowUp
	case exploratory().MatchString(q) && !measured().MatchString(q):
		return Exploratory
	default:
		return Factual
	}
}

// complexityOf estimates the complexity of a question: simple, moderate or complex, by its parts, its length in
// runes and its keywords. The limits are not measured. The result decides whether rules split the question, and
// whether they may choose its tools.
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

// suggestTools returns tools of the default toolset for a type of question; a run replaces missing ones by its own
// of the same capability.
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

// findEntities returns file names, quoted words, dates, and runs of capitalised words inside sentences. It returns
// at most ten, deduplicated, in the order of certainty. A capitalised word at the start of a sentence counts only if
// it is neither a stop word nor a command.
func findEntities(q string) []string {
	var out []string
	add := func(s string) {
		if s = strings.TrimSpace(s); s != "" && !slices.Contains(out, s) && len(out) < 10 {
			out = append(out, s)
		}
	}
	for _, m := range quoted().FindAllStringSubmatch(q, 5) {
		add(m[1])
	}
	for _, m := range fileName().FindAllString(q, 5) {
		add(m)
	}
	for _, m := range dateOrYear().FindAllString(q, 5) {
		add(m)
	}
	var run []string
	begins := true
	for _, word := range append(strings.Fields(q), "") {
		bare := strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		first, _ := utf8.DecodeRuneInString(bare)
		stem, _, _ := strings.Cut(strings.ReplaceAll(bare, "’", "'"), "'") // of What's, Who's, Don't
		if unicode.IsUpper(first) && !(begins && text.IsStop(strings.ToLower(stem), "en")) &&
			!(begins && (exploratory().MatchString(bare) || commanding().MatchString(bare))) && bare != "I" {
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

// Keywords returns the content words in lower case, deduplicated, at most 12, in the order of the question. English
// stop words are removed in any language, since questions mix them.
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

// WithoutAdvice returns the rest of an analysis if the feature is disabled: the question's words, and whether it
// needs documents, on which the check of an answer depends.
func (a Analysis) WithoutAdvice() Analysis {
	out := Analysis{Type: Factual, Entities: a.Entities, Keywords: a.Keywords, Reference: a.Reference}
	if !a.NeedsDocuments() {
		out.Type = a.Type
	}
	return out
}

// Step returns the analysis as the run's first step.
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

// Hint encodes the analysis as JSON for the model, which may ignore it. It is empty without advice.
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

var calculation = lazy.Regexp(`(?i)^(?:what is|what's|calculate|compute|how much is)\s+`)

// Expression returns the expression in a calculation question. The calculator validates it.
func Expression(question string) string {
	return strings.TrimRight(calculation().ReplaceAllString(strings.TrimSpace(question), ""), " =?")
}

// HasSubject reports whether a message has a subject that a later question may continue. Small talk, sums, another
// format of the last answer, “Why?” and “Tell me more” have none. Nor do requests to open a footnote or a named
// file.
func HasSubject(message string) bool {
	if _, cited := CitationToOpen(message); cited {
		return false
	}
	if _, sure := DocumentToOpen(message); sure {
		return false
	}
	a := Analyse(message, true)
	return a.NeedsDocuments() && a.Reference < AsksWhy && !text.Further().MatchString(message) &&
		(a.Type != FollowUp || len(a.Keywords) > 0)
}

// IsTalk reports whether a message is only small talk: a greeting, thanks.
func IsTalk(message string) bool { return talk().MatchString(message) }

// IsComparison reports whether a question compares things.
func IsComparison(question string) bool { return compares().MatchString(question) }

// FileNames returns up to most file names in a text.
func FileNames(s string, most int) []string { return fileName().FindAllString(s, most) }

// DocumentIDs returns the document id in a question, if it contains one.
func DocumentIDs(q string) []string {
	if m := documentID().FindStringSubmatch(q); m != nil {
		return m[1:2]
	}
	return nil
}
