// Package eval measures how well questions are answered and how well documents are found, with the whole program: in
// data directories that are made for it and removed afterwards.
//
// What counts as right is the package judge's; this one puts documents in, asks and searches. The user's own
// library, keys and servers of tools stay out of it (settings.Settings.Evaluation).
//
// It prints tables, or JSON with --json, and exits with 0 whatever the answers were.
package eval

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/cmd/footnote/command"
	"github.com/footnote/footnote/cmd/footnote/documents"
	"github.com/footnote/footnote/cmd/footnote/eval/judge"
	"github.com/footnote/footnote/cmd/footnote/remote"
	"github.com/footnote/footnote/corpus"
)

// evalDocuments are what the program's own questions are about: a small library, and the handbook as it was when they
// were written.
//
//go:embed testdata/library testdata/handbook
var evalDocuments embed.FS

// Command measures answers and searches.
// Both measure this program as it is built, with its usual settings, so that figures of two versions can be compared.
//
//	footnote eval agent        asks, and prints how many answers were right, by kind of question
//	footnote eval retrieval    searches, and prints how far up the relevant documents stood
type Command struct {
	Agent     agentCommand     `cmd:"" help:"Ask a set of questions and count what is cited and refused as it should be, by kind."`
	Retrieval retrievalCommand `cmd:"" help:"Search collections with known answers by words, by meaning and by both, and measure nDCG, recall and MRR."`
}

// agentCommand asks questions whose answers are known. Who answers is asked in the order of With; each gets a library
// of its own.
type agentCommand struct {
	Questions string   `help:"File of questions; its format is explained by the program's own set (--print-questions)." type:"existingfile" placeholder:"FILE"`
	Documents string   `help:"Folder that the questions are about; needs --questions." type:"existingdir" placeholder:"FOLDER"`
	With      []string `help:"Who answers, one after the other: offline, settings (the model of your settings)." enum:"offline,settings" default:"offline"`
	JSON      bool     `help:"Print every verdict as JSON instead of tables."`
	Counts    bool     `help:"Print the table only, and no question: for a set that nobody is to look at."`
	Print     bool     `name:"print-questions" help:"Print the program's own questions, with a description of the format, and exit."`
}

// Run asks each question in a library made for it, and prints what became of them. Wrong answers are no error.
// With --with=settings the model of the settings is asked, which may cost money; documents are sent to it.
func (e *agentCommand) Run(p *command.Program) (err error) {
	if e.Print {
		_, err := fmt.Fprint(p.Stdout, judge.Embedded)
		return err
	}
	// the other way round is fine: questions of one's own about the program's documents
	if e.Documents != "" && e.Questions == "" {
		return errors.New("--documents needs --questions: the program's own questions are about its own documents")
	}
	questions, err := e.readQuestions()
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "footnote-eval-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	folder := e.Documents
	if folder == "" {
		folder = filepath.Join(work, "documents")
		if err := unpackEvalDocuments(folder); err != nil {
			return err
		}
	}
	// each of those who answer has a library of its own, so that none finds what another one left
	var reports []judge.Report
	for _, who := range e.With {
		report, err := examineModel(p, who, filepath.Join(work, who), folder, questions)
		if err != nil {
			return fmt.Errorf("ask %s: %w", who, err)
		}
		reports = append(reports, report)
	}
	if e.JSON {
		return json.NewEncoder(p.Stdout).Encode(map[string]any{"reports": reports})
	}
	for i, report := range reports {
		if i > 0 {
			fmt.Fprintln(p.Stdout)
		}
		if e.Counts {
			// a set that is held out stays unseen, also when an answer was wrong
			report.Questions = nil
		}
		report.Print(p.Stdout)
	}
	return nil
}

// readQuestions reads the file of questions, or the program's own. A file in which a question can't be understood is
// an error.
func (e *agentCommand) readQuestions() ([]judge.Question, error) {
	if e.Questions == "" {
		return judge.Parse(strings.NewReader(judge.Embedded))
	}
	file, err := os.Open(e.Questions)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return judge.Parse(file)
}

// unpackEvalDocuments writes the program's own documents to a new folder.
// Their names tell them apart: those of the library and of the handbook differ.
func unpackEvalDocuments(folder string) error {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	names, err := fs.Glob(evalDocuments, "testdata/*/*")
	if err != nil {
		return err
	}
	for _, name := range names {
		raw, err := evalDocuments.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, filepath.Base(name)), raw, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// examineModel asks one model all questions, one at a time, in a new data directory. One at a time, since the times of
// questions side by side would say nothing about one of them. Documents are read in first, and their vectors are
// waited for.
func examineModel(
	p *command.Program, who, data, folder string, questions []judge.Question,
) (report judge.Report, err error) {
	own := *p
	own.Settings = p.Settings.Evaluation(who, data)
	server, err := own.Connect()
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	paths, err := addAll(p, server, folder)
	if err != nil {
		return report, err
	}
	show := command.NewBar(p.Stderr, len(questions))
	verdicts := make([]judge.Verdict, 0, len(questions))
	right := 0
	for i, q := range questions {
		show.Draw("asking "+who, i, q.Text)
		v, err := examineOne(p, server, q, paths)
		if err != nil {
			return report, err
		}
		if v.Right {
			right++
		}
		verdicts = append(verdicts, v)
	}
	show.End(fmt.Sprintf("%s: %d of %d right", who, right, len(questions)))
	return judge.NewReport(who, len(paths), verdicts), nil
}

// addAll puts a folder into the library, and returns the path of each document by its id. A file that can't be read
// ends it. Without it the figures would be of another library than the questions are about. Files that are equal are
// an error as well: an answer may cite either of them.
func addAll(p *command.Program, server *remote.Server, folder string) (map[string]string, error) {
	files, _, err := documents.Collect([]string{folder}, nil)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, errors.New("there is no Markdown, text, HTML or PDF file in " + folder)
	}
	paths := map[string]string{}
	for _, file := range files {
		doc, refused, err := documents.Add(p.Ctx, server, "default", file)
		if err == nil && refused != nil {
			err = refused
		}
		if err != nil {
			return nil, fmt.Errorf("add %s: %w", file.Path, err)
		}
		// two documents with the same bytes are one in the library: which of them an answer cites is chance
		if doc.Of != "" {
			return nil, fmt.Errorf("%s is the same as %s: take one of them out", file.Path, paths[doc.Of])
		}
		if doc, err = server.Settled(p.Ctx, doc, func(remote.Document) {}); err != nil {
			return nil, err
		}
		if doc.State != "ready" {
			reason := ""
			if doc.Error != nil {
				reason = doc.Error.Detail
			}
			return nil, fmt.Errorf("%s could not be added: it is %s %s", file.Path, doc.State, reason)
		}
		paths[doc.ID] = filepath.ToSlash(file.Path)
	}
	for id := range paths {
		if err := awaitVectors(p.Ctx, server, id); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// awaitVectors waits until a document's vectors are made, where there is an embedder.
// Vectors are made after a document is ready; questions before that would be answered by words alone.
func awaitVectors(ctx context.Context, server *remote.Server, id string) error {
	for {
		var doc corpus.Document
		if err := server.ReadJSON(ctx, "/documents/"+id, &doc); err != nil || doc.Semantic != corpus.SemanticPending {
			return err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// examineOne asks a question, after those before it, in a conversation of its own. Its error says that the server is
// gone, not that the run failed.
func examineOne(
	p *command.Program, server *remote.Server, q judge.Question, paths map[string]string,
) (v judge.Verdict, err error) {
	session := ""
	for _, before := range q.Before {
		if session, _, _, err = askForVerdict(p, server, before, session); err != nil {
			return v, err
		}
	}
	began := time.Now()
	_, answer, done, err := askForVerdict(p, server, q.Text, session)
	if err != nil {
		return v, err
	}
	if answer == nil || done.Status != chat.RunCompleted {
		why := string(done.Status)
		if done.Error != nil {
			why = done.Error.Message
		}
		// a run without an answer is a wrong one, and told apart in the report
		v = judge.Lost(q, why)
	} else {
		v = judge.Judge(q, *answer, paths)
	}
	v.Millis = time.Since(began).Milliseconds()
	return v, nil
}

// askForVerdict asks one question on a server and waits for the end of its run. It returns the run's id, its answer if
// there is one, and how it ended.
// Events between are left out: what was searched does not count, only what is answered and cited.
func askForVerdict(
	p *command.Program, server *remote.Server, question, session string,
) (string, *chat.Answer, chat.RunDone, error) {
	var answer *chat.Answer
	body, err := json.Marshal(map[string]string{"message": question, "session_id": session})
	if err != nil {
		return "", nil, chat.RunDone{}, err
	}
	for raw, err := range server.Ask(body, func(bool) {}).Events(p.Ctx) {
		if err != nil {
			return "", nil, chat.RunDone{}, err
		}
		event, err := remote.Decode(raw)
		if err != nil {
			return "", nil, chat.RunDone{}, err
		}
		switch e := event.(type) {
		case chat.RunStarted:
			session = e.SessionID
		case chat.Answer:
			answer = &e
		case chat.RunDone:
			return session, answer, e, nil
		}
	}
	return "", nil, chat.RunDone{}, remote.ErrBroken
}
