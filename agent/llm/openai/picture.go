package openai

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/httpllm"
)

// maxPictureReply is the token limit of a reply about a picture: that of a very full page.
const maxPictureReply = 8192

// pictureAnswer is the used part of a response that is not streamed.
type pictureAnswer struct {
	Choices []struct {
		Message struct {
			Content string `json:"content"`
		} `json:"message"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
}

// ReadPicture sends a PNG picture with an instruction to the model and returns its reply. Its timeout is that of the
// first chunk of a stream. Errors are *llm.Error. The reply is not streamed, since it is not shown while it arrives,
// and a truncated one is an error.
func (m *Model) ReadPicture(ctx context.Context, instruction string, png []byte) (string, error) {
	type part map[string]any
	shown := "data:image/png;base64," + base64.StdEncoding.EncodeToString(png)
	limit := "max_tokens"
	if m.learnt.load().newTokenLimit {
		limit = "max_completion_tokens"
	}
	body, err := json.Marshal(map[string]any{"model": m.name, limit: maxPictureReply, "messages": []part{{
		"role": "user", "content": []part{
			{"type": "text", "text": instruction},
			{"type": "image_url", "image_url": part{"url": shown}},
		},
	}}})
	if err != nil {
		return "", &llm.Error{Kind: llm.KindInvalid, Message: "The request to the model could not be " +
			"created.", Err: err}
	}
	var answer pictureAnswer
	failed := m.server.Retry(ctx, false, func() (bool, *llm.Error) {
		ctx, cancel := context.WithTimeoutCause(ctx, m.patience.FirstToken, httpllm.ErrNoFirstToken)
		defer cancel()
		if err := m.post(ctx, "chat/completions", json.RawMessage(body), &answer); err != nil {
			return false, m.server.Transport(ctx, err)
		}
		return false, nil
	})
	if failed != nil {
		return "", failed
	}
	if len(answer.Choices) == 0 || answer.Choices[0].FinishReason == "length" {
		return "", &llm.Error{
			Kind: llm.KindProtocol, Message: "The model's reply about an image is empty or incomplete.",
			Err: errors.New("the response has no choice, or a truncated one"),
		}
	}
	return answer.Choices[0].Message.Content, nil
}
