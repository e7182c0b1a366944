package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/export"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
)

// maxExported is how many answers of a conversation are exported at most, the newest.
// It is a choice, so that a file is made in memory within bounds.
const maxExported = 200

// fileKinds are the media types of the formats that answers are exported in without what is needed to verify them.
var fileKinds = map[string]string{
	"docx": export.MediaTypes["docx"], "bib": export.MediaTypes["bib"], "csl": export.MediaTypes["csl"],
	"ris": export.MediaTypes["ris"], "md": exportKinds["md"], "html": exportKinds["html"],
}

// ExportSession answers GET /agent/session/{id}/export: the branch that is shown, as one file.
//
// 400 for a format that is none, 404 for a conversation that the user does not have, 409 when none of its answers is
// finished. Turns that are damaged are left out and logged.
func (a *Handlers) ExportSession(c httpio.Context) error {
	id, err := httpio.SessionID(c)
	if err != nil {
		return err
	}
	format := c.QueryParam("format")
	if format == "" {
		format = "md"
	}
	if fileKinds[format] == "" {
		return httpio.Invalid("format must be md, html, docx, bib, csl or ris.")
	}
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	session, err := a.Store.Session(ctx, scope, id)
	if err != nil {
		return err
	}
	runs, _, err := a.Logs.ReadableRuns(ctx, scope, session)
	if err != nil {
		return err
	}
	branch, _ := runlog.Readable(runlog.BranchTo(runs, session.HeadID))
	var answers []chat.Evidence
	for _, run := range branch[max(0, len(branch)-maxExported):] {
		t, err := a.Logs.Trace(ctx, scope, run.ID)
		if errors.Is(err, chat.ErrDamaged) {
			a.Log.ErrorContext(ctx, "turn can't be read", "run", run.ID, "error", err)
			continue
		}
		if err != nil {
			return err
		}
		if t.Status != chat.RunRunning && t.Text != "" {
			answers = append(answers, evidenceOf(t))
		}
	}
	if len(answers) == 0 {
		return &chat.Error{Code: chat.CodeConflict, Message: "There is no finished answer in this conversation yet."}
	}
	return a.sendFile(c, format, session.Title, answers)
}

// sendFile answers with answers as a file of one of fileKinds.
//
// The file is made before anything is sent, so a failure can still be told.
func (a *Handlers) sendFile(c httpio.Context, format, title string, answers []chat.Evidence) error {
	file, err := a.exportFile(c.Request().Context(), httpio.Scope(c), format, title, answers)
	if err != nil {
		return err
	}
	h := c.Response().Header()
	h.Set("Content-Security-Policy", Inert)
	h.Set("Content-Disposition", attachmentHeader(fileName(title)+"."+export.Extension(format)))
	h.Set("Cache-Control", "no-store")
	return c.Blob(http.StatusOK, fileKinds[format], file)
}

// docx, md and html need only the answers; the other formats list their sources, which are looked up.
func (a *Handlers) exportFile(
	ctx context.Context, scope chat.Scope, format, title string, answers []chat.Evidence,
) ([]byte, error) {
	switch format {
	case "docx":
		return export.Word(title, answers)
	case "md":
		return export.Markdown(answers), nil
	case "html":
		return export.HTML(title, answers)
	}
	sources, err := a.citedSources(ctx, scope, answers)
	switch {
	case err != nil:
		return nil, err
	case format == "bib":
		return export.BibTeX(sources), nil
	case format == "ris":
		return export.RIS(sources), nil
	default:
		return export.CSL(sources)
	}
}

// citedSources are the documents that answers cite, each once, in the order of their first footnotes. Of one that is
// gone only what the answer says is known.
func (a *Handlers) citedSources(
	ctx context.Context, scope chat.Scope, answers []chat.Evidence,
) (sources []export.Source, err error) {
	seen := map[string]bool{}
	for _, e := range answers {
		for _, cited := range e.Citations {
			if seen[cited.DocumentID] {
				continue
			}
			seen[cited.DocumentID] = true
			meta := map[string]any{"source_url": cited.SourceURL}
			d, err := a.Library.Document(ctx, scope, cited.DocumentID)
			switch {
			case err == nil:
				meta = d.Meta
			case chat.CodeOf(err) != chat.CodeNotFound:
				return nil, err
			}
			sources = append(sources, export.NewSource(cited.Title, cited.Filename, meta))
		}
	}
	return sources, nil
}
