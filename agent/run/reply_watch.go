package run

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"

	"footnote/agent/ground"
	"footnote/chat"
)

// repeatedLeast is how many letters and digits a sentence or line needs for its repetition to say that a model turns in
// circles: shorter ones stand in tables and lists rightly.
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
// refusal sentence is held until it can't; everything else passes at once.
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

// noteSentence notes a sentence or line, and reports whether it is said twice in a row, or the third time.
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

// sentenceEnd is where the first whole sentence or line of a text ends; -1 while there is none.
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

// saysNothing reports whether a reply is no answer: numbers of passages alone, or besides only the question again. It
// compares words, in any language that separates them. A reply with any word of its own is an answer.
func saysNothing(reply, asked string) bool {
	said, question := map[string]bool{}, map[string]bool{}
	for _, words := range []struct {
		of   string
		into map[string]bool
	}{{ground.WithoutMarkers(reply), said}, {asked, question}} {
		for _, word := range strings.FieldsFunc(strings.ToLower(words.of), func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r)
		}) {
			words.into[word] = true
		}
	}
	for word := range said {
		if !question[word] {
			return false
		}
	}
	return 2*len(said) > len(question) || len(said) == 0 // else it chooses one of what the question names
}

// A model that reads for longer than this is worth a step that shows how far it is.
const slowReading = 2 * time.Second

// readingStep shows how much of a request a slow model has read. Only servers that report their progress (llama.cpp)
// send anything to show.
type readingStep struct {
	log   *eventLog
	begun time.Time
	step  chat.Step // empty until it is shown
}

// showProgress brings the step up to date; share is 0–1.
func (r *readingStep) showProgress(ctx context.Context, share float64) error {
	if share <= 0 || share >= 1 || r.step.CallID == "" && time.Since(r.begun) < slowReading {
		return nil
	}
	if r.step.CallID == "" {
		r.step = r.log.newStep("reading", chat.ActionThinking, chat.StatusRunning, "")
	}
	r.step.Message = fmt.Sprintf("The model is reading: %.0f %%", share*100)
	return r.log.emitEvents(ctx, r.log.trackStep(r.step))
}

// endStep ends the step, if it is shown.
func (r *readingStep) endStep(ctx context.Context) error {
	if r.step.CallID == "" {
		return nil
	}
	r.step.Status, r.step.ToolStatus = chat.StatusComplete, chat.StatusComplete
	r.step.Message, r.step.DurationMS, r.step.Timestamp = "The model read", sinceMS(r.begun), nowSeconds()
	ended := r.log.trackStep(r.step)
	r.step = chat.Step{}
	return r.log.emitEvents(ctx, ended)
}
