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

// requestsText holds an example on each line, below the name of what it asks for. The document or the thing that is
// meant stands at “…”.
//
//go:embed requests.txt
var requestsText string

// requestForm is an example that requests are recognised by.
type requestForm struct {
	kind kind
	form *regexp.Regexp
}

// mostBefore is how many words stand before an example at most, as in “please give me the gist of …”.
const mostBefore = `^(?:\S+\s+){0,4}?`

// courtesy may stand behind a request.
const courtesy = `(?:,? (?:please|bitte|por favor|s[’']il (?:te|vous) plaît))?`

// requestKinds are the names in requests.txt of what a request asks for.
var requestKinds = map[string]kind{
	"summary": kindSummary, "list": kindItems, "compare": kindComparison, "changes": kindChanges,
}

// examples are the forms of requests, and the words for kinds of values. They are read once, at the first question; an
// example that makes no valid pattern panics there, which every test of a request would show.
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

// formOf is an example as a regular expression, with a group for each “…”. Words are whole, but in scripts without
// spaces, where a polite ending may follow. In scripts with spaces up to four words may stand before the example and a
// courtesy behind it.
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

// readRequest says which of the kinds of requests a text is one of, the first in requests.txt that has a form for it,
// and of what: of its forms that fit the one that leaves least is meant. A question asks for no list and no table.
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

// orders reports whether a kind of request is an order, and no question: of “What is the difference between …?” the
// sentences that answer say more than two documents side by side.
func (k kind) orders() bool { return k == kindItems || k == kindComparison }

// valueAsked is the kind of value that a list is asked of, and the topic without the word for it. rest is what is left
// of the topic, by which the document is meant.
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

// contentWords are the words of a topic that say something.
func contentWords(about string) []text.Word {
	return slices.DeleteFunc(text.QueryWords(about, languages(about)), func(w text.Word) bool {
		return slices.ContainsFunc(languages(about), func(lang string) bool { return text.IsStop(w.Text, lang) })
	})
}
