package run

import (
	"slices"
	"strings"
	"unicode"

	"github.com/footnote/footnote/agent/ground"
	"github.com/footnote/footnote/agent/llm"
)

// repeatedLeast is how many letters and digits a sentence or line needs for its repetition to say that a model turns in
// circles: shorter ones stand in tables and lists rightly. No measurement of it is recorded. Small models turned in
// circles for 800 tokens before there was a watch.
const repeatedLeast = 20

// replyWatch ends a reply of which nothing more is wanted: after the refusal sentence, and when the model says the same
// sentence or line again. The zero value is ready; it belongs to one reply.
type replyWatch struct {
	said   strings.Builder
	passed int            // bytes of said that were passed on
	begun  int            // where the sentence that is not whole begins in said
	before string         // the sentence before it, empty for a short one
	times  map[string]int // how often each was said
	twice  []string       // sentences in the reply twice
	fenced bool           // within a code block, where lines may repeat
}

// takePiece adds a piece and returns the text to pass on now. over reports that the reply ends here, and dropped is the
// received text after that end. It holds text that may still become the refusal sentence or a repetition. A refusal is
// reduced to that sentence: docs/decisions/support.md.
func (w *replyWatch) takePiece(piece string) (pass string, dropped llm.Dropped, over bool) {
	w.said.WriteString(piece)
	all := w.said.String()
	lead := len(all) - len(strings.TrimLeft(all, " \n"))
	plain := strings.ReplaceAll(all[lead:], "’", "'")
	if rest, ok := strings.CutPrefix(plain, ground.RefusalSentence); ok {
		return ground.RefusalSentence, llm.Dropped{Text: rest, Message: "Removed what followed the refusal"}, true
	} else if strings.HasPrefix(ground.RefusalSentence, plain) {
		return "", dropped, false
	}
	for {
		end := sentenceEnd(all[w.begun:])
		if end < 0 {
			break
		}
		if w.noteSentence(all[w.begun : w.begun+end]) {
			return w.passUntil(w.begun), repetition(all[w.begun:]), true
		}
		w.begun += end
	}
	if w.mayRepeat(all[w.begun:]) {
		return w.passUntil(w.begun), dropped, false
	}
	return w.passUntil(len(all)), dropped, false
}

// endReply returns the held text at the end of the reply: text to pass on, or a repetition to drop.
func (w *replyWatch) endReply() (pass string, dropped llm.Dropped) {
	all := w.said.String()
	if w.passed <= w.begun && w.noteSentence(all[w.begun:]) {
		return w.passUntil(w.begun), repetition(all[w.begun:])
	}
	return w.passUntil(len(all)), dropped
}

// passUntil marks the reply as passed on up to an offset, and returns the part that was new.
func (w *replyWatch) passUntil(end int) string {
	pass := w.said.String()[w.passed:max(w.passed, end)]
	w.passed += len(pass)
	return pass
}

// repetition returns the Dropped for text that repeats a sentence.
func repetition(text string) llm.Dropped {
	return llm.Dropped{Text: text, Message: "Removed a repetition: the reply ends before it"}
}

// mayRepeat reports whether an incomplete sentence is the beginning of one whose repetition ends the reply.
func (w *replyWatch) mayRepeat(begun string) bool {
	key := strings.Join(strings.Fields(begun), " ")
	return key != "" && !w.fenced && (strings.HasPrefix(w.before, key) ||
		slices.ContainsFunc(w.twice, func(said string) bool { return strings.HasPrefix(said, key) }))
}

// noteSentence notes a sentence or line, and reports whether it is said twice in a row, or the third time. Twice is
// enough in a row; apart, a refrain may be meant.
func (w *replyWatch) noteSentence(whole string) bool {
	if strings.HasPrefix(strings.TrimSpace(whole), "```") {
		w.fenced = !w.fenced
	}
	key, letters := strings.Join(strings.Fields(whole), " "), 0
	for _, r := range key {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			letters++
		}
	}
	if letters == 0 || w.fenced {
		return false
	}
	if letters < repeatedLeast {
		w.before = ""
		return false
	}
	again := key == w.before
	w.before = key
	if w.times == nil {
		w.times = map[string]int{}
	}
	if w.times[key]++; w.times[key] == 2 {
		w.twice = append(w.twice, key)
	}
	return again || w.times[key] > 2
}

// sentenceEnd is where the first whole sentence or line of a text ends; -1 while there is none. A stop in Chinese or
// Japanese needs no space behind it; “3.5” and “e.g.x” end nothing.
func sentenceEnd(s string) int {
	for i, r := range s {
		switch {
		case r == '\n', r == '。', r == '！', r == '？':
			return i + len(string(r))
		case (r == '.' || r == '!' || r == '?') && i+1 < len(s) && (s[i+1] == ' ' || s[i+1] == '\n'):
			return i + 1
		}
	}
	return -1
}
