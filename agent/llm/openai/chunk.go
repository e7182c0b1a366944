package openai

import (
	"bytes"
	"encoding/json"
)

// chunk is what one event of a stream says. Its slices are valid until the parser's next call. The three last fields
// come from few servers: prompt_progress is llama.cpp's, an error inside a stream is how servers report what goes wrong
// after the status 200 was sent.
type chunk struct {
	content   []byte
	reasoning []byte
	refusal   []byte
	finish    []byte // empty: not said
	calls     []callDelta
	logprobs  []byte // JSON; empty: not said
	choices   int    // how many the event has
	usage     usage
	read      int // tokens of the prompt, of toRead; 0: not said
	toRead    int
	fault     []byte // the value of a non-null "error", or the whole event if it is an error itself
}

// callDelta is a piece of a tool call. hasIndex tells a missing index from 0. Which call the piece belongs to is
// callBuilder's to find out.
type callDelta struct {
	index     int
	hasIndex  bool
	id        []byte
	name      []byte
	arguments []byte
	extra     []byte // JSON
}

// usage is a count of tokens; said is false when there was none.
type usage struct {
	in, out int
	said    bool
}

// chunkParser reads chunks and reuses their memory. One parser serves one stream: encoding/json would allocate for each
// of its events, of which there is one for each token or so.
type chunkParser struct {
	s     scanner
	chunk chunk
}

// parseEvent reads an event. It is tolerant of missing and null fields and of values of other types; ok is false only
// if the data is not a JSON object. What is stepped over is not looked at closely, but an event that tells the reply's
// end has to be JSON through and through: on it rests that the reply is whole. Fields that are not known are stepped
// over, so that servers may add some. An object with "object": "error" is an error itself (vLLM writes them so); it
// becomes the fault as a whole.
func (p *chunkParser) parseEvent(data []byte) (c *chunk, ok bool) {
	s := &p.s
	s.reset(data)
	p.chunk = chunk{calls: p.chunk.calls[:0]}
	if !s.open('{') {
		return nil, false
	}
	isError := false
	for first := true; ; {
		key, more := s.key(&first)
		if !more {
			break
		}
		switch string(key) {
		case "choices":
			p.readChoices()
		case "usage":
			p.readUsage()
		case "prompt_progress":
			p.readProgress()
		case "error":
			if raw := s.raw(); !bytes.Equal(raw, []byte("null")) {
				p.chunk.fault = raw
			}
		case "object":
			isError = string(s.str()) == "error"
		default:
			s.skip()
		}
	}
	// The event says of itself that it is an error: all of it is the fault.
	if isError && p.chunk.fault == nil {
		p.chunk.fault = data
	}
	// A broken piece of text costs a few words; a broken end would make a cut reply look whole.
	tellsEnd := len(p.chunk.finish) > 0 || p.chunk.usage.said
	return &p.chunk, s.end() && (!tellsEnd || json.Valid(data))
}

// readChoices reads the list of choices.
func (p *chunkParser) readChoices() {
	s := &p.s
	if !s.open('[') {
		s.skip()
		return
	}
	for first := true; s.more(&first, ']'); p.chunk.choices++ {
		if !s.open('{') {
			s.skip()
			continue
		}
		p.readChoice(p.chunk.choices == 0)
	}
}

// readChoice reads one choice, as a piece (delta) or whole (message). Only the choice with the index 0 counts, as one
// is asked for. Without an index it is the first of the event.
func (p *chunkParser) readChoice(isFirst bool) {
	s, before := &p.s, p.chunk
	for first := true; ; {
		key, more := s.key(&first)
		if !more {
			break
		}
		switch string(key) {
		case "index":
			if n, ok := s.number(); ok {
				isFirst = n == 0
			}
		case "delta", "message":
			if s.open('{') {
				p.readDelta()
			} else {
				s.skip()
			}
		case "finish_reason":
			p.chunk.finish = s.str()
		case "logprobs":
			p.chunk.logprobs = s.raw()
		default:
			s.skip()
		}
	}
	if !isFirst {
		p.chunk = before
	}
}

// readDelta reads a piece of the reply: text, reasoning under either of its two names, a refusal, pieces of calls.
func (p *chunkParser) readDelta() {
	s := &p.s
	for first := true; ; {
		key, more := s.key(&first)
		if !more {
			return
		}
		switch string(key) {
		case "content":
			p.chunk.content = p.readText()
		case "reasoning_content", "reasoning":
			// An empty one under the second name must not take the first away.
			if text := p.readText(); len(text) > 0 {
				p.chunk.reasoning = text // servers that send both names send the same under both
			}
		case "refusal":
			p.chunk.refusal = s.str()
		case "tool_calls":
			p.readCalls()
		default:
			s.skip()
		}
	}
}

// readText reads a string, or the texts of an array of content parts.
func (p *chunkParser) readText() []byte {
	s := &p.s
	if !s.open('[') {
		return s.str()
	}
	var all []byte
	for first := true; s.more(&first, ']'); {
		if !s.open('{') {
			s.skip()
			continue
		}
		for first := true; ; {
			key, more := s.key(&first)
			if !more {
				break
			}
			if string(key) == "text" {
				all = append(all, s.str()...)
			} else {
				s.skip()
			}
		}
	}
	return all
}

// readCalls reads the pieces of tool calls; callBuilder puts them together.
func (p *chunkParser) readCalls() {
	s := &p.s
	if !s.open('[') {
		s.skip()
		return
	}
	for first := true; s.more(&first, ']'); {
		if !s.open('{') {
			s.skip()
			continue
		}
		var d callDelta
		for first := true; ; {
			key, more := s.key(&first)
			if !more {
				break
			}
			switch {
			case string(key) == "index":
				d.index, d.hasIndex = s.number()
			case string(key) == "id":
				d.id = s.str()
			case string(key) == "extra_content" && s.peek() == '{':
				d.extra = s.raw()
			case string(key) == "function" && s.open('{'):
				p.readFunction(&d)
			default:
				s.skip()
			}
		}
		p.chunk.calls = append(p.chunk.calls, d)
	}
}

// readFunction reads a call's name and arguments. Arguments should be a string that holds JSON; some servers send the
// object.
func (p *chunkParser) readFunction(d *callDelta) {
	s := &p.s
	for first := true; ; {
		key, more := s.key(&first)
		if !more {
			return
		}
		switch string(key) {
		case "name":
			d.name = s.str()
		case "arguments":
			if s.peek() == '"' {
				d.arguments = s.str()
			} else if raw := s.raw(); !bytes.Equal(raw, []byte("null")) {
				d.arguments = raw // an object where a string belongs
			}
		default:
			s.skip()
		}
	}
}

// readProgress reads how much of the prompt llama.cpp has read. It comes before the reply, and only if the request
// asked for it (habits.tellsReading).
func (p *chunkParser) readProgress() {
	s := &p.s
	if !s.open('{') {
		s.skip()
		return
	}
	for first := true; ; {
		key, more := s.key(&first)
		if !more {
			return
		}
		switch string(key) {
		case "total":
			p.chunk.toRead, _ = s.number()
		case "processed":
			p.chunk.read, _ = s.number()
		default:
			s.skip()
		}
	}
}

// readUsage reads the counts of tokens. Only numbers count as said: servers send null in every chunk but the last.
func (p *chunkParser) readUsage() {
	s := &p.s
	if !s.open('{') {
		s.skip()
		return
	}
	for first := true; ; {
		key, more := s.key(&first)
		if !more {
			return
		}
		var into *int
		switch string(key) {
		case "prompt_tokens":
			into = &p.chunk.usage.in
		case "completion_tokens":
			into = &p.chunk.usage.out
		default:
			s.skip()
			continue
		}
		if n, ok := s.number(); ok {
			*into, p.chunk.usage.said = n, true
		}
	}
}
