package mcpserver

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
)

// URIs of resources are built and parsed only here; clients treat them as opaque.
const (
	documentScheme = "footnote://documents/"
	passageScheme  = "footnote://passages/"
	// resourcePage is the page size of the document list.
	resourcePage = 100
	// resourceRunes is the maximum length of a document's resource; the tool fetch returns the rest.
	resourceRunes = 50_000
	plainText     = "text/plain"
	// mostLinks is the maximum number of resource links in a tool's result.
	mostLinks = 20
)

// sourceApp is a self-contained page that renders tool results inside a client, without any network access.
//
//go:embed source.html
var sourceApp string

const (
	appURI  = "ui://footnote/source"
	appKind = "text/html;profile=mcp-app"
	// appExtension is the protocol extension for hosts that show such pages.
	appExtension = "io.modelcontextprotocol/ui"
)

// appMeta tells a host which page renders a tool's result, in the two forms that hosts read.
var appMeta = sdk.Meta{"ui": map[string]any{"resourceUri": appURI}, "ui/resourceUri": appURI}

// addResources registers documents and passages as resources.
//
// A middleware handles the list of resources: the library lists only registered ones, and there are too many
// documents to register for each request.
func (h *Handlers) addResources(server *sdk.Server, who caller) {
	server.AddResource(&sdk.Resource{
		URI: appURI, Name: "source", Title: "Source viewer", MIMEType: appKind,
		Description: "Shows the results with highlighted matches.",
	}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{
			URI: appURI, MIMEType: appKind, Text: sourceApp,
			// no network access
			Meta: sdk.Meta{"ui": map[string]any{
				"csp": map[string]any{
					"connectDomains":  []string{},
					"resourceDomains": []string{},
				}, "prefersBorder": true,
			}},
		}}}, nil
	})
	server.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: documentScheme + "{id}", Name: "document", Title: "Document", MIMEType: plainText,
		Description: "The first 50,000 characters of a document.",
	}, h.reader(who, documentScheme, h.readDocumentResource))
	server.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: passageScheme + "{id}", Name: "passage", Title: "Passage", MIMEType: plainText,
		Description: "A passage of a search result or citation.",
	}, h.reader(who, passageScheme, h.readPassageResource))
	server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if list, ok := req.(*sdk.ListResourcesRequest); ok {
				return h.listResources(ctx, who, list)
			}
			return next(ctx, method, req)
		}
	})
}

// listResources lists the documents, newest first, a page at a time.
func (h *Handlers) listResources(
	ctx context.Context, who caller, req *sdk.ListResourcesRequest,
) (*sdk.ListResourcesResult, error) {
	filter := corpus.Filter{Limit: resourcePage, States: []corpus.State{corpus.StateReady}}
	if req.Params != nil {
		filter.Cursor = req.Params.Cursor
	}
	docs, next, err := h.Library.List(ctx, who.scope, filter)
	if err != nil {
		return nil, h.failed(ctx, "list resources", err)
	}
	out := &sdk.ListResourcesResult{Resources: []*sdk.Resource{}, NextCursor: next}
	out.CacheScope = "private"
	for _, d := range docs {
		out.Resources = append(out.Resources, &sdk.Resource{
			URI: documentScheme + url.PathEscape(d.ID), Name: runlog.OneLine(d.Filename),
			Title: runlog.OneLine(d.Title), MIMEType: plainText,
		})
	}
	return out, nil
}

// reader returns the handler for resources whose URI is a scheme followed by an id.
//
// A missing resource and another user's get the same response, not found. Responses are private: shared caches must
// not store them.
func (h *Handlers) reader(
	who caller, scheme string, read func(ctx context.Context, who caller, id string) (string, string, error),
) sdk.ResourceHandler {
	return func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		id, err := url.PathUnescape(strings.TrimPrefix(req.Params.URI, scheme))
		if err != nil || corpus.Blank(id) || len(id) > maxSourceID {
			return nil, sdk.ResourceNotFoundError(req.Params.URI)
		}
		text, link, err := read(ctx, who, id)
		if err != nil && chat.CodeOf(err) == chat.CodeNotFound {
			return nil, sdk.ResourceNotFoundError(req.Params.URI)
		}
		if err != nil {
			return nil, h.failed(ctx, "read resource", err)
		}
		out := &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{
			URI: req.Params.URI, MIMEType: plainText, Text: text,
			Meta: sdk.Meta{"footnote/url": link},
		}}}
		out.CacheScope = "private"
		return out, nil
	}
}

// failed returns the user-facing error for err. Internal errors are logged.
func (h *Handlers) failed(ctx context.Context, what string, err error) error {
	if chat.CodeOf(err) == chat.CodeInternal && ctx.Err() == nil {
		h.Log.ErrorContext(ctx, what+" failed", "error", err)
	}
	return errors.New(chat.MessageOf(err).String())
}

// readDocumentResource returns the text of a document and its address.
func (h *Handlers) readDocumentResource(ctx context.Context, who caller, id string) (text, link string, err error) {
	if _, err := h.Library.Document(ctx, who.scope, id); err != nil {
		return "", "", err
	}
	got, err := h.Library.Read(ctx, who.scope, corpus.ReadRequest{Document: id, MaxRunes: resourceRunes})
	if err != nil {
		return "", "", err
	}
	link = runlog.Absolute(who.origin, chat.Link{Document: id}.String())
	text = fmt.Sprintf("%s (%s)\n\n%s", runlog.OneLine(got.Document.Title), link, textOf(got.Passages))
	if got.Parts > 1 {
		text += "\n\nThe document continues: read further parts with the tool fetch."
	}
	return text, link, nil
}

// readPassageResource returns the text of a passage and the address of its document there.
func (h *Handlers) readPassageResource(ctx context.Context, who caller, id string) (text, link string, err error) {
	found, err := h.Library.Passages(ctx, who.scope, []string{id})
	if err != nil {
		return "", "", err
	}
	if len(found) == 0 {
		return "", "", httpio.NotFound("Passage not found.")
	}
	p := found[0]
	d, err := h.Library.Document(ctx, who.scope, p.DocumentID)
	if err != nil {
		return "", "", err
	}
	link = runlog.Absolute(who.origin, chat.Link{Document: d.ID, Passage: p.ID}.String())
	title := runlog.OneLine(d.Title)
	if p.Section != "" {
		title += ", " + runlog.OneLine(p.Section)
	}
	return fmt.Sprintf("%s (%s)\n\n%s", title, link, p.Text), link, nil
}

// complete suggests document ids while the user types: by prefix, or by words of a title.
//
// It has no suggestions for other arguments, and fails only if the library does.
func (h *Handlers) complete(who caller) func(context.Context, *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	return func(ctx context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
		out := &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}
		ref := req.Params.Ref
		if ref == nil || ref.URI != documentScheme+"{id}" || req.Params.Argument.Name != "id" {
			return out, nil
		}
		filter := corpus.Filter{Text: req.Params.Argument.Value, Limit: mostLinks}
		docs, next, err := h.Library.List(ctx, who.scope, filter)
		if err != nil {
			return nil, h.failed(ctx, "complete", err)
		}
		for _, d := range docs {
			out.Completion.Values = append(out.Completion.Values, d.ID)
		}
		out.Completion.HasMore = next != ""
		return out, nil
	}
}

// documentLink returns a link to a document's resource.
func documentLink(id, title string) sdk.Content {
	return &sdk.ResourceLink{
		URI: documentScheme + url.PathEscape(id), Name: runlog.OneLine(title), MIMEType: plainText,
	}
}

// moreContent returns links to the listed documents.
func (d Documents) moreContent() []sdk.Content {
	var links []sdk.Content
	for _, doc := range d.Documents[:min(len(d.Documents), mostLinks)] {
		links = append(links, documentLink(doc.ID, doc.Title))
	}
	return links
}

// moreContent returns a link to the whole document.
func (p Part) moreContent() []sdk.Content { return []sdk.Content{documentLink(p.DocumentID, p.Title)} }

// moreContent returns links to the cited passages.
func (a Answer) moreContent() []sdk.Content {
	var links []sdk.Content
	seen := map[string]bool{}
	for _, c := range a.Citations {
		if c.ChunkID == "" || seen[c.ChunkID] || len(links) == mostLinks {
			continue
		}
		seen[c.ChunkID] = true
		links = append(links, &sdk.ResourceLink{
			URI: passageScheme + url.PathEscape(c.ChunkID), MIMEType: plainText,
			Name: fmt.Sprintf("[%d] %s", c.Number, runlog.OneLine(c.Title)),
		})
	}
	return links
}
