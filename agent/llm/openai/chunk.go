package openai

import (
	"bytes"
	"encoding/json"
)

// chunk is a parsed event of a stream. Its slices are valid until the parser's next call. The last fields come from
// few servers: prompt_progress is llama.cpp's, and an error inside a stream reports a failure after the status 200
// was sent.
type chunk struct {
	content   []byte
	reasoning []byte
	refusal   []byte
	finish    []byte // empty: not set
	calls     []callDelta
	logprobs  []byte // JSON; empty: not set
	choices   int    // number of choices in the event
	usage     usage
	read      int // processed tokens of the prompt, out of toRead; 0: not set
	toRead    int
	fault     []byte // the value of a non-null "error", or the whole event if it is an error itself
}

// callDelta is a chunk of a tool call. hasIndex distinguishes a missing index from 0. callBuilder assigns the chunk
// to a call.
type callDelta struct {
	index     int
	hasIndex  bool
	id        []byte
	name      []byte
	arguments []byte
	extra     []byte // JSON
}

// usage is a count of tokens; said is false without one.
type usage struct {
	in, out int
	said    bool
}

// chunkParser parses chunks and reuses their memory. One parser serves one stream: encoding/json would allocate for
// each event, and there is one for about each token.
type chunkParser struct {
	s     scanner
	chunk chunk
}

// parseEvent parses an event. It tolerates missing and null fields and values of other types; ok is false only if
// the data is not a JSON object. Unknown fields are skipped, so that servers may add some, and skipped values are
// not validated. But an event that ends the reply must be valid JSON, since it proves that the reply is complete. An
// object with "object": "error" is an error itself (vLLM's format); the whole object becomes the fault.
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
	// The event is an error object: all of it is the fault.
	if isError && p.chunk.fault == nil {
		p.chunk.fault = data
	}
	// A broken chunk of text costs a few words; a broken end would make a truncated reply look complete.
	tellsEnd := len(p.chunk.finish) > 0 || p.chunk.usage.said
	return &p.chunk, s.end() && (!tellsEnd || json.Valid(data))
}

// readChoices parses the list of choices.
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

// readChoice parses one choice, as a chunk (delta) or complete (message). Only the choice with index 0 is used, as
// one is requested. Without an index it is the first of the event.
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

// readDelta parses a chunk of the reply: text, reasoning under either of its two names, a refusal, chunks of calls.
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
			// An empty value under the second name must not overwrite the first.
			if text := p.readText(); len(text) > 0 {
				p.chunk.reasoning = text // servers that send both names send the same value
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

// readText parses a string, or the texts of an array of content parts.
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

// readCalls parses the chunks of tool calls; callBuilder joins them.
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

// readFunction parses a call's name and arguments. Arguments should be a string with encoded JSON; some servers send
// the object.
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
				d.arguments = raw // an object instead of a string
			}
		default:
			s.skip()
		}
	}
}

// readProgress parses llama.cpp's progress of reading the prompt. It comes before the reply, and only if the request
// asked for it (serverFeatures.tellsReading).
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

// readUsage parses the counts of tokens. Only numbers are accepted, since servers send null in every chunk but the
// last.
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
