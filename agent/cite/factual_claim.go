package cite

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/lazy"
)

// politeness matches sentences that only address the reader.
//
// This list and those below contain phrases of answers in English, German, French, Spanish, Japanese, Chinese and
// Russian. A sentence that they miss is treated as a claim and needs a source.
var politeness = lazy.Regexp(`(?i)^(?:(?:hello|hi|hey|sure|certainly|of ` +
	`course|yes|no|maybe|ok|okay|thanks?|thank you|(?:great|good) question|you['’]re welcome|sorry|i['’]m sorry|` +
	`hallo|guten tag|gern|gerne|natürlich|ja|nein|danke|bitte|bonjour|bien ` +
	`sûr|oui|non|merci|hola|claro|sí|gracias)(?: (?:there|you))?[\s,.!–-]*)+$|` +
	`^(?:(?:i )?hope (?:this|that|it) helps|let me know\b|feel free to\b|if you ` +
	`(?:want|like|need|wish|have|would|['’]d)\b.*\b(?:i can|let me know|ask)\b|(?:i['’]m |i am )?happy to\b)|` +
	`^here(?: is|['’]s| are) (?:what|the|a|an|my|your) (?:i found|(?:short |brief |quick ` +
	`)?(?:summary|overview|answer|comparison|list|findings|result|results))\b[^,;]*$`)

// unfound matches sentences about the search, or about what the documents do not mention.
var unfound = lazy.Regexp(`(?i)\b(?:i|we)(?:\s+(?:could|can|did|do|have|had|was|were|am|are)\s*(?:n['’]t|not)|` +
	`\s+cannot|['’]m not)\s+(?:been able|able|find|found|see|seen|locate|located|know|have|tell|say|answer|determine|` +
	`confirm)\b|` +
	`\b(?:i|we)(?:\s+have|['’]ve)?\s+(?:searched|looked)\b|^(?:searched|looked) for\b|` +
	`\b(?:do|does|did)\s*(?:n['’]t|not)\s+(?:\w+ly\s+)?(?:say|state|mention|hold|contain|specify|provide|tell|` +
	`indicate|address|describe|explain|answer|discuss|give|name)\b|` +
	`\b(?:is|are|was|were)\s*(?:n['’]t|not)\s+(?:\w+ly\s+)?(?:stated|mentioned|specified|indicated|found ` +
	`in|described in|given in|named in|part of (?:the|your|these) documents|in (?:the|your|these) ` +
	`(?:documents?|passages?|sources?|library))\b|` +
	`^(?:there (?:is|are|was|were)\s+)?no\s+(?:other |further |more |specific |relevant ` +
	`)*(?:information|mention|details?|passages?|indication)\b|` +
	`^(?:there (?:is|was)\s+)?nothing\s+(?:that i found|else was found|was found|in (?:the|your|these)|about\b|on\b)|` +
	`\b(?:missing|absent) (?:from|in) (?:the|your|these) (?:documents?|passages?|sources?|library)\b|^what is ` +
	`missing\b|` +
	`\b(?:dokumente?n?|unterlagen|quellen|passagen|textstellen?)\b.*\b(?:nicht|nichts|keine?[nrms]?)\b|\bkeine? ` +
	`(?:angaben?|informationen?|hinweise?)\b|\bnichts? (?:gefunden|erwähnt|genannt)\b|\bnicht finden\b|` +
	`\b(?:documents?|sources?|passages?|extraits?)\b.*\b(?:ne|n['’]).*\b(?:pas|aucune?|rien)\b|\baucune? ` +
	`(?:information|mention|précision)\b|\bje n['’]ai (?:pas|rien) trouvé|` +
	`\bno se (?:menciona|indica|especifica|dice|encontr)|\bno (?:he encontrado|encontré|hay ` +
	`información|mencionan?|indican?|especifican?)\b|` +
	`(?:記載|記述|情報|言及|説明).*(?:ありません|見つかりません|ない)|見つかりません|(?:没有|沒有|未)(?:找到|提到|提及|说明|记载|相关)|не ` +
	`(?:наш|найд|указ|упомин|сказано|говорится)`)

// turnsOn matches the word at which a statement that something was not found turns to another statement.
var turnsOn = lazy.Regexp(
	`(?i)\b(?:but|however|though|although|yet|aber|jedoch|doch|mais|cependant|pero|aunque)\b|;`,
)

// IsFactualClaim reports whether a sentence makes a claim that a document must support. Leads of lists, questions,
// greetings and statements about an unsuccessful search make none. In doubt it returns true: an unnecessary check
// costs less than an unchecked claim. Formulas are removed first, since they can't be compared by words.
func IsFactualClaim(sentence string) bool {
	s := strings.TrimRightFunc(text.WithoutFormulas(sentence), func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("*_`\"'”’»)", r)
	})
	if !strings.ContainsFunc(s, isWordRune) || strings.HasSuffix(s, ":") || strings.HasSuffix(s, "?") ||
		strings.HasSuffix(s, "：") || strings.HasSuffix(s, "？") {
		return false
	}
	s = strings.TrimLeft(s, "*_`\"'“«( ")
	if CountContentWords(s) == 0 || IsRefusal(s) || beginsPolitely(s) && politeness().MatchString(s) {
		return false
	}
	return !reportsNotFound(s) || turnsOn().MatchString(s)
}

// reportsNotFound reports whether a sentence is about the search, or about what the documents do not mention. It looks
// for the substrings in denials first, which is much faster than the expression.
func reportsNotFound(s string) bool {
	lower := strings.ToLower(s)
	return slices.ContainsFunc(denials, func(d string) bool { return strings.Contains(lower, d) }) &&
		unfound().MatchString(s)
}

// denials are substrings. Every match of unfound contains one, so they filter before that slow expression.
var denials = []string{
	"not", "n't", "n’t", "no ", "nothing", "search", "looked", "missing", "absent", "nicht", "kein", "ne ", "n'", "n’",
	"aucun", "不", "没", "沒", "未", "ない", "ません", "не ",
}

// beginsPolitely reports whether a sentence starts with one of the first words that politeness matches.
func beginsPolitely(s string) bool {
	end := strings.IndexFunc(s, func(r rune) bool { return !isWordRune(r) })
	if end < 0 {
		end = len(s)
	}
	return slices.Contains(polite, strings.ToLower(s[:end]))
}

var polite = strings.Fields("hello hi hey sure certainly of yes no maybe ok okay thank thanks great good you sorry i " +
	"hallo guten gern gerne natürlich ja nein danke bitte bonjour bien " +
	"oui non merci hola claro sí gracias hope let feel if happy here")

// plainStop reports whether a word is a stop word in several languages, since a few words don't reveal theirs.
var plainStop = text.Stops("en", "de", "fr", "es")

// CountContentWords returns the number of content words in a text. Two letters of a script without spaces count as
// one word, the usual length there. Formulas are not counted.
func CountContentWords(s string) int {
	s = text.WithoutFormulas(s)
	n, unspaced := 0, 0
	for field := range strings.FieldsFuncSeq(s, func(r rune) bool { return !isWordRune(r) && r != '\'' && r != '’' }) {
		if r, _ := utf8.DecodeRuneInString(field); text.Unspaced(r) {
			unspaced += utf8.RuneCountInString(field)
			continue
		}
		if !plainStop(field) {
			n++
		}
	}
	return n + unspaced/2
}
