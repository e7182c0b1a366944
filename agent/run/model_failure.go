package run

import (
	"fmt"

	"footnote/chat"
	"footnote/corpus/text"
	"footnote/llm"
)

// failureOf is what the user of a run is told of a model that failed. Whoever uses Footnote alone runs the server
// too, and reads the model's own words.
func (w *Runner) failureOf(e *llm.Error) string {
	if w.run.User == chat.LocalUser && e.Message != "" {
		return fmt.Sprintf("The model %s can't answer: %s", w.model.Name(), text.Shorten(e.Message, 200))
	}
	reason, advice := explainFailure(e)
	return fmt.Sprintf("The model %s can't answer, because %s: %s.", w.model.Name(), reason, advice)
}

// explainFailure says why a model failed and what to do, both to be set into a sentence, for those who ask. The
// model's own words, which name settings, are for those who run the server: they are in the log, in footnote doctor
// and, as long as no key is needed, in /health.
func explainFailure(e *llm.Error) (reason, advice string) {
	const soon, tell = "ask again in a moment", "tell whoever runs this server"
	switch e.Kind {
	case llm.KindUnreachable:
		return "its server can't be reached", soon
	case llm.KindTimeout:
		return "its server took too long", soon
	case llm.KindIncomplete:
		return "its reply broke off", soon
	case llm.KindEmpty:
		return "its reply was empty", soon
	case llm.KindRateLimited:
		return "its server is too busy", soon
	case llm.KindQuota:
		return "what was paid for it is used up", tell
	case llm.KindAuth:
		return "its server refused this server's key", tell
	case llm.KindInvalid:
		return "its server refused the request", tell
	case llm.KindProtocol, llm.KindBadCall:
		return "its reply could not be read", "ask again, or tell whoever runs this server"
	case llm.KindTooLong:
		return "the conversation is too long for it", "start a new one, or ask for less at once"
	case llm.KindServer, llm.KindCancelled:
		return "its server failed", soon
	}
	return "its server failed", soon
}
