package mcpserver

import (
	"context"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/ask"
	"github.com/footnote/footnote/server/runlog"
)

type (
	// Question is the input of the tool ask.
	Question struct {
		Question    string   `json:"question" jsonschema:"a complete question"`
		SessionID   string   `json:"session_id,omitempty" jsonschema:"the conversation to continue"`
		Namespace   string   `json:"namespace,omitempty" jsonschema:"only documents in this namespace"`
		DocumentIDs []string `json:"document_ids,omitempty" jsonschema:"only these documents"`
	}
	// Answer is the output of ask.
	Answer struct {
		RunID     string                  `json:"run_id"`
		SessionID string                  `json:"session_id"`
		Status    string                  `json:"status"`
		Answer    string                  `json:"answer" jsonschema:"Markdown; [N] refers to the citation with that number"`
		Citations []runlog.GroundedSource `json:"citations"`
		runlog.Judged
		URL string `json:"url" jsonschema:"URL of the answer with all steps and sources"`

		passages map[string]string // cited passages by id, for the page that renders them
	}
)

// askQuestion starts a run, reports its steps as progress and waits for its end. A cancelled call ends the run. A
// closed connection ends it only in the revision of the protocol where that means cancellation; before, the answer
// is kept in the conversation.
//
// It fails as POST /chat does before a run starts, with chat.CodeConflict for a cancelled question, and otherwise
// with the run's failure. Progress counts steps, without a total, which is not known. A client that sent no token
// gets no progress.
func (h *Handlers) askQuestion(
	ctx context.Context, who caller, req *sdk.CallToolRequest, in Question,
) (string, Answer, error) {
	run, err := h.Questions.StartFor(ctx, who.scope, who.route, "", ask.Question{
		Message: in.Question, SessionID: in.SessionID, Namespace: in.Namespace, DocumentIDs: in.DocumentIDs,
	})
	if err != nil {
		return "", Answer{}, err
	}
	heard, forget := h.calls.begin(ctx, who.call)
	defer forget()
	t := runlog.NewTrace(run)
	token, told := req.Params.GetProgressToken(), 0.0
	err = h.Logs.Listen(heard, who.scope, run.ID, func(ev chat.Event) error {
		payload, err := ev.Payload()
		if err != nil {
			return err
		}
		if step, ok := payload.(chat.Step); ok && token != nil && step.Message != "" {
			told++
			if err := req.Session.NotifyProgress(
				ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: told, Message: step.Message},
			); err != nil {
				return err
			}
		}
		return t.Add(ev)
	}, nil)
	if heard.Err() != nil && (ctx.Err() == nil || who.closes) {
		if err := h.Cancel(context.WithoutCancel(ctx), who.scope, run.ID); err != nil {
			return "", Answer{}, err
		}
		return "", Answer{}, &chat.Error{Code: chat.CodeConflict, Message: "The question was canceled."}
	}
	if err == nil {
		err = runlog.FailureOf(t)
	}
	if err != nil {
		return "", Answer{}, err
	}
	text, citations := t.Spoken()
	out := Answer{
		RunID: t.RunID, SessionID: t.SessionID, Status: runlog.APIStatus(t.Status), Answer: text,
		Citations: runlog.SourcesOf(citations, who.origin), Judged: t.Judged(),
		URL: runlog.Absolute(who.origin, "/c/"+t.SessionID+"#turn-"+t.RunID),
	}
	if out.passages, err = h.citedPassages(ctx, who.scope, citations); err != nil {
		return "", Answer{}, err
	}
	said := runlog.StyleSource.Apply(text, citations, who.origin)
	for _, note := range out.Notes {
		said += "\n\nNote: " + note
	}
	return said + "\n\nWith all steps and sources: " + out.URL, out, nil
}

// passagesKey is the key of a result's cited passages. They are for the page that renders them: the model has the
// quotes.
const passagesKey = "footnote/passages"

// citedPassages returns the texts of cited passages by id, at most mostLinks.
//
// It is nil for an answer without citations. Passages of deleted documents are left out.
func (h *Handlers) citedPassages(
	ctx context.Context, scope chat.Scope, citations []chat.Citation,
) (map[string]string, error) {
	var ids []string
	for _, c := range citations {
		if c.ChunkID != "" && len(ids) < mostLinks && !slices.Contains(ids, c.ChunkID) {
			ids = append(ids, c.ChunkID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := h.Library.Passages(ctx, scope, ids)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, p := range found {
		out[p.ID] = p.Text
	}
	return out, nil
}
