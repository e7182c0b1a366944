package tools

import (
	"encoding/json"
	"testing"

	"github.com/footnote/footnote/agent/llm"
)

func TestAnInputThatDoesNotFitIsToldInPlainWords(t *testing.T) {
	t.Parallel()
	const foreign = `{"type":"object","required":["item"],"additionalProperties":false,"properties":{
		"item":{"type":"string","minLength":2},"count":{"type":"integer","exclusiveMinimum":0},` +
		`"share":{"type":"number","maximum":1},"gift":{"type":["boolean","null"]},
		"size":{"enum":["small","large",3]},"tags":{"type":"array","maxItems":2,"items":{"type":"string",` +
		`"maxLength":3}},"code":{"type":"string","pattern":"^[A-Z]+$"},
		"to":{"type":"object","required":["street"],"properties":{"street":{"type":"string"},` +
		`"number":{"type":"integer","minimum":1,"maximum":999}}},
		"step":{"type":"integer","multipleOf":5},"link":{"$ref":"#/$defs/link"}},"$defs":{"link":{"type":"string",` +
		`"maxLength":1}}}`
	tool := &Tool{
		Name: "shop__order", Verbatim: true, Schema: resolveSchema(json.RawMessage(foreign)),
		Spec: llm.ToolSpec{Schema: json.RawMessage(foreign)},
	}
	for _, tt := range []struct{ input, want string }{
		{`{}`, `“item” is missing; it must be a text of at least 2 characters`},
		{`{"item":7}`, `“item” must be a text of at least 2 characters`},
		{`{"item":"slates","count":0}`, `“count” must be a whole number above 0`},
		{`{"item":"slates","count":1.5}`, `“count” must be a whole number above 0`},
		{`{"item":"slates","share":2}`, `“share” must be a number of at most 1`},
		{`{"item":"slates","gift":"yes"}`, `“gift” must be true or false, or null`},
		{`{"item":"slates","size":"huge"}`, `“size” must be one of “small”, “large”, 3`},
		{`{"item":"slates","tags":["a","b","c"]}`, `“tags” must be a list of at most 2 items`},
		{`{"item":"slates","tags":["a","long"]}`, `“tags[1]” must be a text of at most 3 characters`},
		{`{"item":"slates","code":"abc"}`, `“code” must be a text of the form ^[A-Z]+$`},
		{`{"item":"slates","to":{}}`, `“to.street” is missing; it must be a text`},
		{`{"item":"slates","to":{"street":"Mill","number":0}}`, `“to.number” must be a whole number from 1 to 999`},
		{`{"item":"slates","to":"Mill"}`, `“to” must be an object with the fields “number”, “street”`},
		{`{"item":"slates","step":7}`, `“step” must be a whole number divisible by 5`},
		{`{"item":"slates","colour":"red"}`,
			`there is no field “colour”; there are “code”, “count”, “gift”, “item”, “link”, “share”, “size”, “step”, ` +
				`“tags”, “to”`},
		{`{"item":"slates","link":"far"}`,
			`it does not fit the fields “code”, “count”, “gift”, “item”, “link”, “share”, “size”, “step”, “tags”, ` +
				`“to”`},
		{`[1]`, `it must be a JSON object`},
	} {
		if args, err := tool.Normalise(json.RawMessage(tt.input), nil); err == nil || err.Error() != tt.want {
			t.Errorf("%s is told\n %v, want\n %s (passed as %s)", tt.input, err, tt.want, args)
		}
	}
}

func TestAToolWithoutFieldsSaysThatItHasNone(t *testing.T) {
	t.Parallel()
	tool, err := generateAnswer()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tool.Normalise(json.RawMessage(`{"context":"x"}`), nil); err == nil ||
		err.Error() != "there is no field “context”; there are none" {
		t.Errorf("got %v, want %q", err, "there is no field “context”; there are none")
	}
}
