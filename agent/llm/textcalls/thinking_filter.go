package textcalls

import (
	"strings"

	"github.com/footnote/footnote/agent/llm"
)

// thoughts are the tags of thoughts that servers leave in the reply. They are those of DeepSeek R1 and Qwen 3, of
// models that imitate others' prompts, of Seed, Mistral's Magistral, OpenThinker, Command R7B and Gemma.
var thoughts = []struct{ opening, closing string }{
	{"<think>", "</think>"}, {"<thinking>", "</thinking>"}, {"<thought>", "</thought>"},
	{"<reasoning>", "</reasoning>"},
	{"<seed:think>", "</seed:think>"}, {"[THINK]", "[/THINK]"}, {"<|begin_of_thought|>", "<|end_of_thought|>"},
	{"<|START_THINKING|>", "<|END_THINKING|>"}, {"<|channel>thought", "<channel|>"},
}

// wrappers are tags around a whole reply.
var wrappers = []struct{ opening, closing string }{
	{"<answer>", "</answer>"}, {"<response>", "</response>"}, {"<|begin_of_solution|>", "<|end_of_solution|>"},
	{"<|START_RESPONSE|>", "<|END_RESPONSE|>"}, {"```markdown\n", "```"}, {"```md\n", "```"},
}

// endings are the tokens that end a model's turn. openers start a turn: the model's own at the start of a reply,
// another's later.
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

// callInThought ends a thought: some models, such as Qwen 3, do not close it before a tool call.
const callInThought = "\n<tool_call>"

// thinkingFilter separates text from thoughts in a stream, and drops the tokens that start and end a turn. Tags
// inside code are text, and so are tags in the middle of a line. Text that may become a tag is buffered until the
// next chunk, so that the result does not depend on the chunks. It belongs to one reply and is not safe for
// concurrent use.
type thinkingFilter struct {
	text    string // buffer
	closing string // closing tag of the current thought
	late    string // opening tag of the current thought, if text precedes it
	wrapped string // closing tag of the whole reply's wrapper
	said    bool
	thought bool // a thought has ended
	begun   bool // the token that starts a turn was seen
	over    bool // the model's turn has ended
	code    code

	unopened bool // the reply is expected to begin with a thought without an opening tag, as the previous one did
	learnt   bool // the text so far was such a thought
}

// takePiece adds a chunk and returns the parts that are known by now; final marks the last chunk. Each iteration of
// its loop consumes text, so it terminates.
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
			parts = f.readReplyText(parts, final)
		}
		if len(f.text) == n {
			break // wait for the next chunk
		}
	}
	if f.over && f.text != "" {
		parts = append(parts, llm.Dropped{Text: f.text, Message: "Removed text written as another speaker"})
		f.text = ""
	}
	return parts
}

// passesThrough reports whether a chunk can be yielded unchanged, as nearly all can. It must be in the middle of a
// reply, without the start of a token.
func (f *thinkingFilter) passesThrough(piece string) bool {
	if !f.said || f.text != "" || f.closing != "" || f.over || f.unopened || strings.ContainsAny(piece, "<[`\n") {
		return false
	}
	f.code.noteText(piece)
	return true
}

// readThought reads up to the end of a thought. A thought that never closes is text if it is in the middle of a
// reply; at the start it was truncated and remains a thought.
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

// maybeThinking waits for the end of a thought without an opening tag, which is expected if the previous reply had
// one.
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

// opensThought reports whether a text begins with the opening tag of a thought.
func (f *thinkingFilter) opensThought() bool {
	text := strings.TrimLeft(f.text, " \t\r\n")
	for _, t := range thoughts {
		if strings.HasPrefix(text, t.opening) {
			return true
		}
	}
	return false
}

// readOpening reads everything before the first word: thoughts, wrappers, tokens that start the turn, and a ReAct
// step. White space before these is dropped; before plain text it is part of the answer.
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
	return f.readReplyText(parts, final)
}

// readReplyText reads the reply from one possible tag to the next. Code is passed on unchanged. A code fence around the
// whole reply is dropped where it closes.
func (f *thinkingFilter) readReplyText(parts []llm.Part, final bool) []llm.Part {
	from := 0 // the text before it was yielded
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
			// the end of the block around the whole reply
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

// tagAct is the meaning of a tag in the middle of a reply.
type tagAct int

const (
	tagNone     tagAct = iota
	tagWait            // it may become a tag
	tagDrop            // not part of the reply
	tagOver            // the reply ends before it
	tagThought         // a thought starts
	tagUnopened        // a thought without an opening tag ends
)

// readTag returns the meaning of a tag in the middle of a reply, and its length. It waits if the next characters
// decide. An ending counts only at the end of a line or before another token. If a new turn starts after it, the
// reply is over, since the model continues in the user's name. Tags of thoughts count only at the start of a line.
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

// unopenedEnd returns the start and end of the closing tag of a thought without an opening tag. The tag must be
// alone on its line, since elsewhere it may be a word of the thought. It returns -1, -1 if there is none yet; the
// end of the text ends a line only if it is final.
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

// appendReasoning appends a chunk of a thought, unless it is empty, since hybrid reasoning models write empty
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

// longestToken is an upper bound for the length of a token; Llama's <|start_header_id|>assistant<|end_header_id|> is
// the longest. Unit: bytes.
const longestToken = 48

// mayBecome reports whether a text is a prefix of a tag or a token.
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

// tailOf returns the number of bytes at the end of a text that are a prefix of a tag, and wait for the next chunk.
func tailOf(text, tag string) int {
	for n := min(len(text), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(text, tag[:n]) {
			return n
		}
	}
	return 0
}
