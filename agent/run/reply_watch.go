package run

import (
	"strings"
	"unicode"

	"footnote/agent/ground"
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
	before string         // the sentence before it
	times  map[string]int // how often each was said
	fenced bool           // within a code block, where lines may repeat
}

// takePiece adds a piece and returns what of the reply is to be passed on now. over means that the rest is not wanted;
// repeated says that this is because of a repetition, of which nothing is passed on. Text that may still become the
// refusal sentence is held until it can't; everything else passes at once. Why the rest of a refusal is dropped:
// docs/decisions.md, “A model's refusal is the sentence alone”.
func (w *replyWatch) takePiece(piece string) (pass string, over, repeated bool) {
	w.said.WriteString(piece)
	all := w.said.String()
	lead := len(all) - len(strings.TrimLeft(all, " \n"))
	if plain := strings.ReplaceAll(all[lead:], "’", "'"); strings.HasPrefix(plain, ground.RefusalSentence) {
		return ground.RefusalSentence, true, false
	} else if len(plain) < len(ground.RefusalSentence) && strings.HasPrefix(ground.RefusalSentence, plain) {
		return "", false, false
	}
	for {
		end := sentenceEnd(all[w.begun:])
		if end < 0 {
			break
		}
		whole := all[w.begun : w.begun+end]
		if w.noteSentence(whole) {
			return all[w.passed:max(w.passed, w.begun)], true, true
		}
		w.begun += end
	}
	w.passed, pass = len(all), all[w.passed:]
	return pass, false, false
}

// heldRest is what waited for more when the reply ended.
func (w *replyWatch) heldRest() string {
	all := w.said.String()
	rest := all[w.passed:]
	w.passed = len(all)
	return rest
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
	again := key == w.before
	w.before = key
	if letters < repeatedLeast {
		return false
	}
	if w.times == nil {
		w.times = map[string]int{}
	}
	w.times[key]++
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
