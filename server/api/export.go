package api

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/server/export"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
	"github.com/footnote/footnote/views"
)

// exportKinds are the media types of the verifiable evidence formats.
var exportKinds = map[string]string{
	"md": "text/markdown; charset=utf-8", "html": "text/html; charset=utf-8", "json": "application/json",
}

// Exports sends answers as files, and verifies such files.
type Exports struct {
	Library *corpus.Library
	Logs    *runlog.Reader
	Bodies  httpio.Bodies
	Log     *slog.Logger
}

// Run exports an answer with its sources as a file.
//
// It handles GET /agent/runs/{id}/export for the run's user, always as an attachment: 400 for an unknown format, 409
// while the run is under way. json, md and html are sealed with a digest and can be verified; the other formats
// can't.
func (a *Exports) Run(c httpio.Context) error {
	format := c.QueryParam("format")
	if format == "" {
		format = "json"
	}
	kind := exportKinds[format]
	if kind == "" && fileKinds[format] == "" {
		return httpio.Invalid("format must be json, md, html, docx, bib, csl or ris.")
	}
	t, err := a.Logs.Trace(c.Request().Context(), httpio.Scope(c), c.Param("id"))
	if err != nil {
		return err
	}
	if t.Status == chat.RunRunning {
		return &chat.Error{
			Code: chat.CodeConflict, Message: "This answer is still in progress. Export it when it is done.",
		}
	}
	if kind == "" {
		return a.sendFile(c, format, t.Question, []chat.Evidence{evidenceOf(t)})
	}
	e, err := evidenceOf(t).Sealed()
	if err != nil {
		return err
	}
	file, err := views.EvidenceFile(e, format)
	if err != nil {
		return err
	}
	download(c, fileName(t.Question)+"."+format)
	return c.Blob(http.StatusOK, kind, file)
}

// evidenceOf converts a run to evidence.
//
// Step times are fractional seconds since 1970 in the log and exact to a microsecond here. Lists are never null.
func evidenceOf(t *runlog.Trace) chat.Evidence {
	e := chat.Evidence{
		RunID: t.RunID, Question: t.Question, Answer: t.Text, Model: t.Model, Status: t.Status, AskedAt: t.CreatedAt,
		Citations: []chat.EvidenceCitation{}, Unsupported: []string{}, Steps: []chat.EvidenceStep{},
	}
	if t.EndedAt != nil {
		e.AnsweredAt = *t.EndedAt
	}
	if t.Answer != nil {
		e.StopReason, e.Unsupported = t.Answer.StopReason, httpio.NotNil(t.Answer.Unsupported)
	}
	for _, c := range t.Citations {
		e.Citations = append(e.Citations, chat.EvidenceCitation{
			Number: c.Number, DocumentID: c.DocumentID, Title: c.Title, Filename: c.Filename, SHA256: c.SHA256,
			Page: c.Page, Place: c.Place, Section: c.Section,
			Start: c.Start, End: c.End, Quote: c.Quote, Claimed: c.Claimed, Check: c.Check,
			SourceURL: chat.WebLink(c.SourceURL), Added: c.Added,
		})
	}
	for _, s := range t.Steps {
		step := chat.EvidenceStep{
			Step: s.Step, Tool: s.ToolName, Message: s.Message, Input: s.ToolInput, Summary: s.Summary,
			Status: s.Status,
			At:     time.UnixMicro(int64(math.Round(s.Timestamp * 1e6))).UTC(), DurationMS: s.DurationMS,
		}
		if s.Error != nil {
			step.Error = s.Error.Message
		}
		e.Steps = append(e.Steps, step)
	}
	return e
}

// fileName returns a portable file name from a question's words.
//
// It keeps letters and digits of all scripts, in lower case, at most 60 characters.
func fileName(question string) string {
	words := strings.FieldsFunc(
		strings.ToLower(question), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) },
	)
	name := []rune(strings.Join(words, "-"))
	if len(name) > 60 {
		name = name[:60]
	}
	return "footnote-" + strings.Trim(string(name), "-")
}

// EvidenceFile is the body of POST /evidence/verify.
type EvidenceFile struct {
	File string `json:"file" api:"need"` // The complete text of an exported file.
}

// Verify checks an exported answer against the current documents.
//
// It handles POST /evidence/verify: 200 with the result for each quote, even if none is verified; 400 for a body
// that is no exported file. Each document is read once, regardless of its number of citations. Documents that the
// caller does not have count as missing.
func (a *Exports) Verify(c httpio.Context) (r chat.EvidenceReport, err error) {
	file, err := a.readEvidence(c)
	if err != nil {
		return r, err
	}
	e, problems, err := views.ReadEvidence(file)
	if err != nil {
		return r, err
	}
	var results []chat.EvidenceResult
	versions := map[string]*presentDocument{}
	for _, citation := range e.Citations {
		v := versions[citation.DocumentID]
		if v == nil {
			if v, err = a.findDocument(c.Request().Context(), httpio.Scope(c), citation.DocumentID); err != nil {
				return r, err
			}
			versions[citation.DocumentID] = v
		}
		results = append(results, corpus.CheckEvidence(citation, v.found, v.sha256, v.text, v.blocks))
	}
	return e.Report(problems, results), nil
}

// readEvidence returns an exported file: the body itself if it is the JSON one, or the text in an EvidenceFile.
//
// A body with a field format is the exported JSON file itself; EvidenceFile has no such field.
func (a *Exports) readEvidence(c httpio.Context) ([]byte, error) {
	body, err := a.Bodies.ReadRaw(c)
	if err != nil {
		return nil, err
	}
	var itself struct {
		Format *string `json:"format"`
	}
	if json.Unmarshal(body, &itself) == nil && itself.Format != nil {
		return body, httpio.CheckJSON(body)
	}
	var wrapped EvidenceFile
	err = httpio.DecodeJSON(body, &wrapped)
	return []byte(wrapped.File), err
}

// presentDocument is the current version of a document.
type presentDocument struct {
	found  bool
	sha256 string
	text   string
	blocks []corpus.Block
}

// findDocument reads the current version of a document, for comparison with quotes; a missing one is no error.
func (a *Exports) findDocument(ctx context.Context, scope chat.Scope, id string) (*presentDocument, error) {
	d, err := a.Library.Document(ctx, scope, id)
	if err != nil {
		if chat.CodeOf(err) == chat.CodeNotFound {
			return &presentDocument{}, nil
		}
		return nil, err
	}
	v := &presentDocument{found: true, sha256: d.SHA256}
	if v.text, err = a.Library.Text(ctx, scope, id); err != nil {
		return nil, err
	}
	v.blocks, err = a.Library.Blocks(ctx, scope, id)
	return v, err
}

// maxExported is the maximum number of a conversation's answers in an export, the newest ones. It limits the memory
// for the file.
const maxExported = 200

// fileKinds are the media types of the export formats without evidence for verification.
var fileKinds = map[string]string{
	"docx": export.MediaTypes["docx"], "bib": export.MediaTypes["bib"], "csl": export.MediaTypes["csl"],
	"ris": export.MediaTypes["ris"], "md": exportKinds["md"], "html": exportKinds["html"],
}

// Session handles GET /agent/session/{id}/export: the shown branch as one file.
//
// Damaged turns are left out and logged.
func (a *Exports) Session(c httpio.Context) error {
	format := c.QueryParam("format")
	if format == "" {
		format = "md"
	}
	if fileKinds[format] == "" {
		return httpio.Invalid("format must be md, html, docx, bib, csl or ris.")
	}
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	session, err := a.Logs.Branch(ctx, scope, c.Param("id"))
	if err != nil {
		return err
	}
	var answers []chat.Evidence
	for _, run := range session.Shown[max(0, len(session.Shown)-maxExported):] {
		t, err := a.Logs.Trace(ctx, scope, run.ID)
		if errors.Is(err, chat.ErrDamaged) {
			a.Log.ErrorContext(ctx, "could not load a turn", "run", run.ID, "error", err)
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
		return &chat.Error{Code: chat.CodeConflict, Message: "This conversation has no finished answer yet."}
	}
	return a.sendFile(c, format, session.Title, answers)
}

// sendFile sends answers as a file of one of fileKinds.
//
// The file is complete before anything is sent, so an error can still be reported.
func (a *Exports) sendFile(c httpio.Context, format, title string, answers []chat.Evidence) error {
	file, err := a.exportFile(c.Request().Context(), httpio.Scope(c), format, title, answers)
	if err != nil {
		return err
	}
	download(c, fileName(title)+"."+export.Extension(format))
	return c.Blob(http.StatusOK, fileKinds[format], file)
}

// docx, md and html need only the answers; the other formats need the sources' data.
func (a *Exports) exportFile(
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

// citedSources returns the documents that answers cite, each once, in the order of their first footnotes. For a
// deleted document only the citation's data is available.
func (a *Exports) citedSources(
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
