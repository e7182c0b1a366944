package ask

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
)

// Content is a message's text: a string, or a list of parts.
type Content struct {
	text  string
	other string // the type of a part that is not text
}

// Text is what its parts say.
func (c Content) Text() string { return c.text }

// Other is the type of a part that is not text; empty if there is none.
func (c Content) Other() string { return c.other }

// part is one of a message's parts. Of other kinds than text only the type is looked at.
type part struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

// UnmarshalJSON reads both forms. null is no text.
func (c *Content) UnmarshalJSON(data []byte) error {
	bad := &chat.Error{
		Code:    chat.CodeInvalid,
		Message: "A message's content must be text, or a list of parts such as {\"type\": \"text\", \"text\": \"…\"}.",
	}
	if len(data) == 0 || data[0] != '[' {
		if json.Unmarshal(data, &c.text) != nil {
			return bad
		}
		return nil
	}
	var parts []part
	if json.Unmarshal(data, &parts) != nil {
		return bad
	}
	// the walk over the whole body does not know this type's fields
	if err := httpio.CheckStrict(data, reflect.TypeFor[[]part]()); err != nil {
		return err
	}
	var texts []string
	for _, part := range parts {
		switch part.Type {
		case "text", "input_text", "output_text":
			texts = append(texts, part.Text)
		case "refusal":
			texts = append(texts, part.Refusal)
		default:
			c.other = part.Type
		}
	}
	c.text = strings.Join(texts, "\n")
	return nil
}
