// Package evidence writes answers with all that they rest on, and checks such files again.
//
// A check needs no trust in the server that wrote the file: by --documents it reads the originals anew in this
// process, tells them by their SHA-256, and looks for each quote in their text.
package evidence

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"

	"github.com/footnote/footnote/cmd/footnote/command"
)

// Export writes what the server has about answers. What they hold is decided by the server; here it is only written
// down.
type Export struct {
	Run      exportRun      `cmd:"" default:"withargs" help:"An answer with all it rests on (footnote export RUN)."`
	Feedback exportFeedback `cmd:"" help:"What readers said of answers."`
}

// exportRun writes one answer with all that it rests on. The server makes the file, so that it is the same as the one
// that the page offers. The id is checked by the server alone.
type exportRun struct {
	ID     string `arg:"" name:"run" help:"The run's id, as in the page's links and in the API."`
	Format string `help:"md, html or json, which can be verified; docx; or the sources as bib, csl or ris." enum:"md,html,json,docx,bib,csl,ris" default:"md"`
	Out    string `short:"o" help:"File to write; without it, standard output." placeholder:"FILE"`
}

// Run writes an answer's evidence.
func (e *exportRun) Run(p *command.Program) error {
	return downloadTo(p, "/agent/runs/"+url.PathEscape(e.ID)+"/export?format="+e.Format, e.Out)
}

// exportFeedback writes what readers said of answers. With a rating, only that.
type exportFeedback struct {
	Rating string `help:"Only up or down." enum:",up,down" default:""`
	Format string `help:"csv or jsonl." enum:"csv,jsonl" default:"csv"`
	Out    string `short:"o" help:"File to write; without it, standard output." placeholder:"FILE"`
}

// Run writes all feedback.
func (e *exportFeedback) Run(p *command.Program) error {
	return downloadTo(p, "/feedback?format="+e.Format+"&rating="+e.Rating, e.Out)
}

// downloadTo writes what the server has at a path to a file, or to standard output. A file is replaced as it comes, so
// that a break leaves a part of it; standard output may be a pipe. An error of the server comes before the file is
// touched.
func downloadTo(p *command.Program, path, out string) (err error) {
	server, err := p.Connect()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	resp, err := server.Send(p.Ctx, "GET", path, "", "*/*", nil)
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
