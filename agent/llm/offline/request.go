package offline

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/footnote/footnote/text"
)

// requestsText has one example on each line, below the name of its kind. “…” is the placeholder of the document or
// object.
//
//go:embed requests.txt
var requestsText string

// requestForm is a pattern for a kind of request.
type requestForm struct {
	kind kind
	form *regexp.Regexp
}

// mostBefore matches up to four words before an example, as in “please give me the gist of …”.
const mostBefore = `^(?:\S+\s+){0,4}?`

// courtesy matches a polite phrase after a request.
const courtesy = `(?:,? (?:please|bitte|por favor|s[’']il (?:te|vous) plaît))?`

// requestKinds maps the names in requests.txt to kinds.
var requestKinds = map[string]kind{
	"summary": kindSummary, "list": kindItems, "compare": kindComparison, "changes": kindChanges,
}

// examples returns the patterns of requests, and the words for kinds of values. They are parsed once, at the first
// question. An invalid example panics, which every test of a request would show.
var examples = sync.OnceValues(func() (forms []requestForm, values map[string]valueKind) {
	values = map[string]valueKind{}
	for block := range strings.SplitSeq(strings.TrimSpace(requestsText), "\n\n") {
		name, lines, _ := strings.Cut(block, "\n")
		for line := range strings.Lines(lines) {
			if line = strings.TrimSpace(line); requestKinds[name] == 0 {
				values[name] = valueKind(name)
				values[text.Fold(line)] = valueKind(name)
			} else {
				forms = append(forms, requestForm{requestKinds[name], regexp.MustCompile(formOf(line))})
			}
		}
	}
	return forms, values
})

// formOf compiles an example to a regular expression, with a group for each “…”. It matches whole words, except in
// scripts without spaces, where a polite ending may follow. In scripts with spaces up to four words may precede the
// example and a courtesy may follow.
func formOf(example string) string {
	spaced := !strings.ContainsFunc(example, text.Unspaced)
	said := strings.ReplaceAll(regexp.QuoteMeta(example), "…", "(.*)")
	if !spaced {
		return `^(?:请|請)?` + said + `\p{Hiragana}*(?:下さい)?(?:[\s?？。!！].*)?$`
	}
	said = strings.ReplaceAll(said, " (.*)", `(?:\s+(.*?))?`)
	said = strings.ReplaceAll(said, "(.*) ", `(.*?)\s+`)
	return `(?i)` + mostBefore + said + courtesy + `[\s?.!]*$`
}

// readRequest classifies a request: the first kind in requests.txt with a matching pattern, and its object. Of the
// patterns that match, the one with the shortest object is used. A question is never a list or a comparison.
func readRequest(q string) (k kind, about string) {
	forms, _ := examples()
	least := -1
	for _, form := range forms {
		m := form.form.FindStringSubmatch(q)
		switch {
		case k != kindFind && form.kind != k:
			return k, about
		case m == nil || form.kind.orders() && strings.ContainsAny(q, "?？"):
			continue
		}
		topic := strings.Trim(strings.Join(m[1:], " "), " ,:?!.？。！")
		if n := utf8.RuneCountInString(topic); least < 0 || n < least {
			k, about, least = form.kind, topic, n
		}
	}
	return k, about
}

// orders reports whether a kind of request must be an order, not a question. “What is the difference between …?” is
// better answered by sentences than by two documents side by side.
func (k kind) orders() bool { return k == kindItems || k == kindComparison }

// valueAsked returns the kind of value that a list asks for, its word, and the rest of the topic, which identifies
// the document.
func valueAsked(about string) (k valueKind, word, rest string) {
	_, values := examples()
	for _, w := range text.QueryWords(about, languages(about)) {
		if k, known := values[text.Fold(w.Text)]; known {
			return k, w.Terms[len(w.Terms)-1], strings.TrimSpace(strings.Replace(about, w.Text, " ", 1))
		}
	}
	for named, k := range values {
		if strings.ContainsFunc(named, text.Unspaced) && strings.Contains(about, named) {
			return k, named, strings.TrimSpace(strings.Replace(about, named, "", 1))
		}
	}
	return noValue, "", about
}

// contentWords returns the words of a topic without stop words.
func contentWords(about string) []text.Word {
	return slices.DeleteFunc(text.QueryWords(about, languages(about)), func(w text.Word) bool {
		return slices.ContainsFunc(languages(about), func(lang string) bool { return text.IsStop(w.Text, lang) })
	})
}
