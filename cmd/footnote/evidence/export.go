// Package evidence exports answers with their evidence, and verifies such files.
//
// A verification does not trust the server that wrote the file. With --documents it parses the originals again in
// this process, identifies them by their SHA-256, and searches each quote in their text.
package evidence

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"github.com/footnote/footnote/cmd/footnote/command"
)

// Export downloads the server's record of answers. The server decides the content; this command only writes it.
type Export struct {
	Run      exportRun      `cmd:"" default:"withargs" help:"An answer with its sources (footnote export RUN)."`
	Feedback exportFeedback `cmd:"" help:"Feedback on answers."`
}

// exportRun exports one answer with its evidence. The server encodes the file, so that it is the same as the page's
// download. Only the server validates the id.
type exportRun struct {
	ID     string `arg:"" name:"run" help:"The run ID, as in URLs of the page and in the API."`
	Format string `help:"md, html or json, which can be verified; docx; or the sources as bib, csl or ris." enum:"md,html,json,docx,bib,csl,ris" default:"md"`
	Out    string `short:"o" help:"File to write; without it, standard output." placeholder:"FILE"`
}

// Run exports an answer with its evidence.
func (e *exportRun) Run(p *command.Program) error {
	return downloadTo(p, "/agent/runs/"+url.PathEscape(e.ID)+"/export?format="+e.Format, e.Out)
}

// exportFeedback exports readers' feedback on answers, optionally filtered by rating.
type exportFeedback struct {
	Rating string `help:"Only feedback with this rating: up or down." enum:",up,down" default:""`
	Format string `help:"csv or jsonl." enum:"csv,jsonl" default:"csv"`
	Out    string `short:"o" help:"File to write; without it, standard output." placeholder:"FILE"`
}

// Run exports all feedback.
func (e *exportFeedback) Run(p *command.Program) error {
	return downloadTo(p, "/feedback?format="+e.Format+"&rating="+e.Rating, e.Out)
}

// downloadTo downloads a path of the server to a file, or to standard output. A file is written while it is
// streamed, so an interruption leaves a partial file; standard output may be a pipe. A server's error is returned
// before the file is opened.
func downloadTo(p *command.Program, path, out string) (err error) {
	server, err := p.Connect()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	resp, err := server.Do(p.Ctx, http.MethodGet, path, map[string]string{"Accept": "*/*"}, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	to := p.Stdout
	if out != "" {
		file, openErr := os.OpenFile(out, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if openErr != nil {
			return fmt.Errorf("write %s: %w", out, openErr)
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		to = file
	}
	_, err = io.Copy(to, resp.Body)
	return err
}
