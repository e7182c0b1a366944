package mcpserver

import (
	"context"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
	"github.com/footnote/footnote/text/locale"
)

type (
	// Source is the input of the tool fetch.
	Source struct {
		ID string `json:"id" jsonschema:"the id of a search result or document, or metadata.next of a fetch"`
	}
	// Fetched is the output of fetch.
	Fetched struct {
		ID       string            `json:"id"`
		Title    string            `json:"title"`
		Text     string            `json:"text"`
		URL      string            `json:"url" jsonschema:"URL of the document at the passage"`
		Metadata map[string]string `json:"metadata" jsonschema:"document_id, filename, part, parts; next, section, page, source_url if available"`
	}
)

// maxSourceID is the maximum length of a source id in bytes; longer ones are not looked up.
const maxSourceID = 200

// partMark separates a document's id from the number of its part.
const partMark = ":"

// fetchSource is the tool fetch: it returns the part of a document that contains a passage, or a part by number.
//
// Its field names are those that connectors of chat programs read.
func (h *Handlers) fetchSource(
	ctx context.Context, who caller, _ *sdk.CallToolRequest, in Source,
) (string, Fetched, error) {
	out, err := h.sourceOf(ctx, who, in.ID)
	return "", out, err
}

// sourceOf returns the text of an id. It fails with chat.CodeNotFound for a missing source or another user's.
//
// An id is looked up as that of a passage first, then, with a partMark in it, as a part of a document, and else as a
// document, whose first part it returns. The URL opens the document at the passage, or at the part's first one.
func (h *Handlers) sourceOf(ctx context.Context, who caller, id string) (Fetched, error) {
	if corpus.Blank(id) || len(id) > maxSourceID {
		return Fetched{}, httpio.Invalid("id must be the id of a search result or document.")
	}
	named, err := h.Library.Passages(ctx, who.scope, []string{id})
	if err != nil && chat.CodeOf(err) != chat.CodeNotFound {
		return Fetched{}, err
	}
	ask, link := corpus.ReadRequest{Document: id}, chat.Link{Document: id}
	metadata := map[string]string{}
	if len(named) > 0 {
		p := named[0]
		ask = corpus.ReadRequest{Document: p.DocumentID, Holding: p.ID}
		link = chat.Link{Document: p.DocumentID, Passage: p.ID}
		if p.Section != "" {
			metadata["section"] = runlog.OneLine(p.Section)
		}
		if p.Page > 0 {
			metadata["page"] = strconv.Itoa(p.Page)
		}
	} else if document, number, ok := strings.Cut(id, partMark); ok {
		part, err := strconv.Atoi(number)
		if err != nil || part < 1 {
			return Fetched{}, noSource(id)
		}
		ask = corpus.ReadRequest{Document: document, Part: part}
		link.Document = document
	}
	// only exact ids: Read would also accept a document's name
	if _, err := h.Library.Document(ctx, who.scope, ask.Document); err != nil {
		if chat.CodeOf(err) == chat.CodeNotFound {
			err = noSource(id)
		}
		return Fetched{}, err
	}
	got, err := h.Library.Read(ctx, who.scope, ask)
	if err != nil {
		return Fetched{}, err
	}
	if link.Passage == "" && got.Part > 1 && len(got.Passages) > 0 {
		link.Passage = got.Passages[0].ID
	}
	metadata["document_id"], metadata["filename"] = got.Document.ID, runlog.OneLine(got.Document.Filename)
	metadata["part"], metadata["parts"] = strconv.Itoa(got.Part), strconv.Itoa(got.Parts)
	if got.Part < got.Parts {
		metadata["next"] = got.Document.ID + partMark + strconv.Itoa(got.Part+1)
	}
	if published := got.Document.SourceURL(); published != "" {
		metadata["source_url"] = published
	}
	return Fetched{
		ID: id, Title: runlog.OneLine(got.Document.Title), Text: textOf(got.Passages),
		URL: runlog.Absolute(who.origin, link.String()), Metadata: metadata,
	}, nil
}

// noSource returns the error for an unknown id.
func noSource(id string) error {
	return &chat.Error{
		Code: chat.CodeNotFound,
		Message: locale.Say(
			"Source “{1}” not found. Its document may have been deleted. Search again.", runlog.OneLine(id),
		),
	}
}

// textOf returns the text of passages.
func textOf(passages []corpus.Passage) string {
	texts := make([]string, len(passages))
	for i, p := range passages {
		texts[i] = p.Text
	}
	return strings.Join(texts, "\n\n")
}
