package textcalls

import (
	"strings"

	"github.com/footnote/footnote/agent/llm"
)

// thoughts are the tags between which models think when their server does not part that from the reply: of DeepSeek R1
// and Qwen 3, of models that imitate others' prompts, of Seed, Mistral's Magistral, OpenThinker, Command R7B and Gemma.
var thoughts = []struct{ opening, closing string }{
	{"<think>", "</think>"}, {"<thinking>", "</thinking>"}, {"<thought>", "</thought>"},
	{"<reasoning>", "</reasoning>"},
	{"<seed:think>", "</seed:think>"}, {"[THINK]", "[/THINK]"}, {"<|begin_of_thought|>", "<|end_of_thought|>"},
	{"<|START_THINKING|>", "<|END_THINKING|>"}, {"<|channel>thought", "<channel|>"},
}

// wrappers stand around a whole reply.
var wrappers = []struct{ opening, closing string }{
	{"<answer>", "</answer>"}, {"<response>", "</response>"}, {"<|begin_of_solution|>", "<|end_of_solution|>"},
	{"<|START_RESPONSE|>", "<|END_RESPONSE|>"}, {"```markdown\n", "```"}, {"```md\n", "```"},
}

// endings are the tokens with which a model ends its turn; openers begin a turn, its own at the start of a reply and
// another's behind one.
var (
	endings = []string{
		"<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|endoftext|>", "<|end_of_text|>", "<|end|>", "<|return|>",
		"<|END_OF_TURN_TOKEN|>",
		"<end_of_turn>", "<｜end▁of▁sentence｜>", "</s>", "<eos>",
	}
	openers = []string{
		"<|start_header_id|>assistant<|end_header_id|>", "<|im_start|>assistant", "<start_of_turn>model",
		"<|assistant|>", "<s>", "[/INST]",
		"<|start_header_id|>", "<|im_start|>", "<start_of_turn>", "<|user|>", "<|system|>", "[INST]", "<｜User｜>",
		"<｜Assistant｜>",
	}
)

// callInThought ends a thought: some models, such as Qwen 3, forget to close it before they call a tool.
const callInThought = "\n<tool_call>"

// thinkingFilter tells what a model says from what it thinks, as the text comes, and drops the tokens that its format
// ends and begins with. What stands in code is never one of them, nor what stands in the middle of a line. Text that
// may become a tag waits for the next piece, so that the same is said and thought however a reply is cut. It belongs to
// one reply and is not safe for concurrent use.
type thinkingFilter struct {
	text    string // not told apart yet
	closing string // of the thought that is under way
	late    string // how that thought opened, if text was said before it
	wrapped string // what closes the whole reply
	said    bool
	thought bool // one has ended
	begun   bool // the token that begins a turn was there
	over    bool // what comes now is not the model's turn any more
	code    code

	unopened bool // the reply begins with a thought whose opening tag is not written, as the one before did
	learnt   bool // what was said so far was such a thought
}

// takePiece takes a piece, and final says that it is the last one. It returns what is known by now. Each round of its
// loop takes something from the text, so it ends.
func (f *thinkingFilter) takePiece(piece string, final bool) (parts []llm.Part) {
	f.text += piece
	for f.text != "" && !f.over {
		n := len(f.text)
		switch {
		case f.unopened:
			parts = f.maybeThinking(parts, final)
		case f.closing != "":
			parts = f.readThought(parts, final)
		case !f.said:
			parts = f.readOpening(parts, final)
		default:
			parts = f.readSaid(parts, final)
		}
		if len(f.text) == n {
			break // more has to come
		}
	}
	if f.over && f.text != "" {
		parts = append(parts, llm.Dropped{Text: f.text, Message: "Removed what the model wrote in another's name"})
		f.text = ""
	}
	return parts
}

// passesThrough reports whether a piece is said as it is, as nearly every one is: in the middle of a reply, with
// nothing that begins a token.
func (f *thinkingFilter) passesThrough(piece string) bool {
	if !f.said || f.text != "" || f.closing != "" || f.over || f.unopened || strings.ContainsAny(piece, "<[`\n") {
		return false
	}
	f.code.noteText(piece)
	return true
}

// readThought reads a thought to its end. One in the middle of a reply that never closes was none: it is said after
// all. One at the beginning that never closes was cut off, and stays a thought.
func (f *thinkingFilter) readThought(parts []llm.Part, final bool) []llm.Part {
	at := strings.Index(f.text, f.closing)
	call := strings.Index(f.text, callInThought)
	switch {
	case call >= 0 && (at < 0 || call < at) && f.late == "":
		parts = appendReasoning(parts, f.text[:call+1])
		f.text, f.closing, f.thought = f.text[call+1:], "", true
	case at >= 0:
		parts = appendReasoning(parts, f.text[:at])
		f.text, f.closing, f.late, f.thought = f.text[at+len(f.closing):], "", "", true
	case f.late != "" && final:
		parts = append(parts, llm.Text(f.late+f.text))
		f.text, f.closing, f.late = "", "", ""
	case f.late != "":
	case final:
		parts = appendReasoning(parts, f.text)
		f.text = ""
	default:
		whole := len(f.text) - max(tailOf(f.text, f.closing), tailOf(f.text, callInThought))
		parts = appendReasoning(parts, f.text[:whole])
		f.text = f.text[whole:]
	}
	return parts
}

// maybeThinking waits for the end of a thought that did not open, which is expected of a model that did so before.
func (f *thinkingFilter) maybeThinking(parts []llm.Part, final bool) []llm.Part {
	at, end := unopenedEnd(f.text, final)
	switch {
	case at >= 0:
		f.unopened, f.learnt, f.thought = false, true, true
		parts = appendReasoning(parts, f.text[:at])
		f.text = f.text[end:]
	case final, f.opensThought():
		f.unopened = false
		return f.readOpening(parts, final)
	}
	return parts
}

// opensThought reports whether a text begins with the tag that opens a thought.
func (f *thinkingFilter) opensThought() bool {
	text := strings.TrimLeft(f.text, " \t\r\n")
	for _, t := range thoughts {
		if strings.HasPrefix(text, t.opening) {
			return true
		}
	}
	return false
}

// readOpening reads what comes before the first word: thoughts, what wraps the reply, tokens that begin the turn, and a
// step of ReAct. White space before these is dropped; before plain text it belongs to the answer.
func (f *thinkingFilter) readOpening(parts []llm.Part, final bool) []llm.Part {
	text := strings.TrimLeft(f.text, " \t\r\n")
	if text == "" && !final {
		return parts
	}
	for _, t := range thoughts {
		if rest, ok := strings.CutPrefix(text, t.opening); ok {
			f.text, f.closing = rest, t.closing
			return parts
		}
		if rest, ok := strings.CutPrefix(text, t.closing); ok && f.thought { // closed twice
			f.text = rest
			return parts
		}
	}
	for _, w := range wrappers {
		if rest, ok := strings.CutPrefix(text, w.opening); ok {
			f.text, f.wrapped = rest, w.closing
			return parts
		}
	}
	for _, token := range openers {
		if rest, ok := strings.CutPrefix(text, token); ok {
			if !final && mayBecome(text) { // a longer one
				return parts
			}
			f.text, f.begun = rest, true
			return parts
		}
	}
	if thought, rest, ok := stepOf(text); ok {
		parts = appendReasoning(parts, thought)
		f.text, f.begun = rest, true
		return parts
	} else if !final && (mayBecome(text) || mayBeStep(text)) {
		return parts
	}
	if f.thought || f.begun || f.wrapped != "" {
		f.text = text
	}
	f.said = true
	return f.readSaid(parts, final)
}

// readSaid reads on in the reply, from one byte that may begin a tag to the next. Code passes as it is. A fence that
// the whole reply stands in is dropped where it closes.
func (f *thinkingFilter) readSaid(parts []llm.Part, final bool) []llm.Part {
	from := 0 // what is before is said
	say := func(to int) {
		if to > from {
			parts = append(parts, llm.Text(f.text[from:to]))
		}
		from = to
	}
	for i := 0; i < len(f.text); {
		step := strings.IndexAny(f.text[i:], "<[`\n")
		if step < 0 {
			f.code.noteText(f.text[i:])
			break
		}
		f.code.noteText(f.text[i : i+step])
		i += step
		rest := f.text[i:]
		switch rest[0] {
		case '\n':
			f.code.endLine()
			i++
			continue
		case '`':
			n := len(rest) - len(strings.TrimLeft(rest, "`"))
			// of the block that the whole reply is
			last := f.wrapped == "```" && n == 3 && !f.code.line && strings.TrimSpace(rest[n:]) == ""
			if (n == len(rest) || last) && !final {
				say(i)
				f.text = f.text[i:]
				return parts
			}
			if last {
				say(i)
				i, from = len(f.text), len(f.text)
				continue
			}
			f.code.noteTicks(n)
			i += n
			continue
		}
		if f.code.isOpen() {
			f.code.noteText(rest[:1])
			i++
			continue
		}
		act, size := f.readTag(rest, final)
		switch act {
		case tagWait:
			say(i)
			f.text = f.text[i:]
			return parts
		case tagDrop:
			say(i)
			i += size
			from = i
		case tagOver:
			say(i)
			f.text, f.over = rest, true
			return parts
		case tagThought:
			say(i)
			f.late = rest[:size]
			f.text = rest[size:]
			return parts
		case tagUnopened:
			say(i)
			f.text, f.said, f.thought, f.learnt, f.code = rest[size:], false, true, true, code{}
			return append(parts, llm.Rethought{})
		default:
			f.code.noteText(rest[:1])
			i++
		}
	}
	say(len(f.text))
	f.text = ""
	return parts
}

// tagAct is what a tag in the middle of a reply is.
type tagAct int

const (
	tagNone     tagAct = iota
	tagWait            // it may become one
	tagDrop            // no part of the reply
	tagOver            // the reply ends before it
	tagThought         // a thought begins
	tagUnopened        // a thought ends that did not open
)

// readTag says what a tag in the middle of a reply is, and how long. It waits where the next characters decide: a token
// that ends a turn is one only at the end of a line, or before another token, and the reply is over if a new turn
// begins behind it, since the model then goes on in the user's name. Tags of thoughts count only at the start of a
// line.
func (f *thinkingFilter) readTag(rest string, final bool) (act tagAct, size int) {
	if f.wrapped != "" && strings.HasPrefix(rest, f.wrapped) {
		return tagDrop, len(f.wrapped)
	}
	for _, token := range endings {
		if !strings.HasPrefix(rest, token) {
			continue
		}
		after := strings.TrimLeft(rest[len(token):], " ")
		switch {
		case after == "" && !final:
			return tagWait, 0
		case after == "", after[0] == '\n', after[0] == '\r':
		case !final && mayBecome(after) && !hasToken(after, openers) && !hasToken(after, endings):
			return tagWait, 0
		case !hasToken(after, openers) && !hasToken(after, endings):
			return tagNone, 0
		}
		if next := strings.TrimLeft(after, " \r\n"); next == "" && !final ||
			!final && mayBecome(next) && !hasToken(next, openers) && !hasToken(next, endings) {
			return tagWait, 0
		} else if hasToken(next, openers) {
			return tagOver, 0
		}
		return tagDrop, len(token)
	}
	if !f.code.line {
		for _, t := range thoughts {
			if strings.HasPrefix(rest, t.opening) {
				f.closing = t.closing
				return tagThought, len(t.opening)
			}
			if !strings.HasPrefix(rest, t.closing) {
				continue
			}
			after := strings.TrimLeft(rest[len(t.closing):], " \t\r")
			switch {
			case after == "" && !final:
				return tagWait, 0
			case after != "" && after[0] != '\n':
				return tagNone, 0
			case f.thought:
				return tagDrop, len(t.closing)
			}
			return tagUnopened, len(t.closing)
		}
	}
	if !final && mayBecome(rest) {
		return tagWait, 0
	}
	return tagNone, 0
}

// unopenedEnd finds where a thought without an opening tag ends: a closing tag alone on its line, since in a line it
// may be a word of the thought. It returns -1, -1 if there is none yet; the end of the text ends a line only if it is
// final.
func unopenedEnd(text string, final bool) (at, end int) {
	for _, t := range thoughts {
		for from := 0; ; {
			i := strings.Index(text[from:], t.closing)
			if i < 0 {
				break
			}
			at, end = from+i, from+i+len(t.closing)
			after := strings.TrimLeft(text[end:], " \t\r")
			before := strings.TrimRight(text[:at], " \t")
			if (before == "" || before[len(before)-1] == '\n') &&
				(after == "" && final || after != "" && after[0] == '\n') {
				return at, end
			}
			from = end
		}
	}
	return -1, -1
}

// appendReasoning adds a piece of a thought. Empty ones are left out: models that may think or not write empty
// thoughts.
func appendReasoning(parts []llm.Part, text string) []llm.Part {
	if text == "" {
		return parts
	}
	return append(parts, llm.Reasoning(text))
}

// hasToken reports whether a text begins with one of some tokens.
func hasToken(text string, tokens []string) bool {
	for _, token := range tokens {
		if strings.HasPrefix(text, token) {
			return true
		}
	}
	return false
}

// longestToken is more than the bytes of the longest token, which is Llama's
// <|start_header_id|>assistant<|end_header_id|>: nothing longer can become one.
const longestToken = 48

// mayBecome reports whether a text is the begin of a tag or a token.
func mayBecome(text string) bool {
	if text == "" || len(text) > longestToken {
		return false
	}
	for _, t := range thoughts {
		if strings.HasPrefix(t.opening, text) || strings.HasPrefix(t.closing, text) {
			return true
		}
	}
	for _, w := range wrappers {
		if strings.HasPrefix(w.opening, text) || strings.HasPrefix(w.closing, text) {
			return true
		}
	}
	for _, tokens := range [][]string{endings, openers} {
		for _, token := range tokens {
			if strings.HasPrefix(token, text) {
				return true
			}
		}
	}
	return false
}

// tailOf is how many bytes at the end of a text begin a tag: they wait for the next piece.
func tailOf(text, tag string) int {
	for n := min(len(text), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(text, tag[:n]) {
			return n
		}
	}
	return 0
}
