// Package eval measures the quality of answers and of retrieval with the whole program, in temporary data
// directories.
//
// Package judge defines the correct results; this package adds the documents, asks and searches. The user's own
// library, keys and tool servers are not used (settings.Settings.Evaluation).
//
// It prints tables, or JSON with --json, and exits with 0 regardless of the results.
package eval

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
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

// evalDocuments are the documents of the built-in questions: a small library, and the handbook as of the time when
// they were written.
//
//go:embed testdata/library testdata/handbook
var evalDocuments embed.FS

// Command measures the quality of answers and of retrieval. Both use this build with its default settings, so that
// the figures of two versions can be compared.
//
//	footnote eval agent        asks, and prints how many answers were right, by kind of question
//	footnote eval retrieval    searches, and prints how far up the relevant documents stood
type Command struct {
	Agent     agentCommand     `cmd:"" help:"Ask a set of questions and count what is cited and refused as it should be, by kind."`
	Retrieval retrievalCommand `cmd:"" help:"Search collections with known answers by words, by meaning and by both, and measure nDCG, recall and MRR."`
}

// agentCommand asks questions with known answers. The models are evaluated in the order of With; each has its own
// library.
type agentCommand struct {
	Questions string   `help:"File of questions; its format is explained by the program's own set (--print-questions)." type:"existingfile" placeholder:"FILE"`
	Documents string   `help:"Folder that the questions are about; needs --questions." type:"existingdir" placeholder:"FOLDER"`
	With      []string `help:"Who answers, one after the other: offline, settings (the model of your settings)." enum:"offline,settings" default:"offline"`
	JSON      bool     `help:"Print every verdict as JSON instead of tables."`
	Counts    bool     `help:"Print the table only, and no question: for a set that nobody is to look at."`
	Print     bool     `name:"print-questions" help:"Print the program's own questions, with a description of the format, and exit."`
}

// Run asks each question in a temporary library, and prints the verdicts. Wrong answers are not an error.
// --with=settings sends requests and documents to the configured model, which may cost money.
func (e *agentCommand) Run(p *command.Program) (err error) {
	if e.Print {
		_, err := fmt.Fprint(p.Stdout, judge.Embedded)
		return err
	}
	// The reverse is fine: own questions about the built-in documents.
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
	// Each model has its own library, so that none uses cached results of another.
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
			// Held-out questions are not printed, not even those with a wrong answer.
			report.Questions = nil
		}
		report.Print(p.Stdout)
	}
	return nil
}

// readQuestions parses the questions file, or the built-in one. A question that can't be parsed is an error.
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

// unpackEvalDocuments writes the built-in documents to a new folder. File names in the library and the handbook are
// distinct.
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

// examineModel asks one model all questions, one at a time, in a new data directory. Concurrent questions would
// distort each other's duration. Documents are indexed first, including their embeddings.
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

// addAll adds a folder to the library, and returns the path of each document by its id. A file that can't be parsed
// is an error, since the figures would be those of another library. Duplicate files are an error as well: an answer
// may cite either of them.
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
		// Two documents with the same bytes are one in the library: the cited one is random.
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

// awaitVectors waits until a document's embeddings are computed, if there is an embedder. They are computed after a
// document is ready; earlier questions would use only the text index.
func awaitVectors(ctx context.Context, server *remote.Server, id string) error {
	for {
		var doc corpus.Document
		if err := server.JSON(ctx, http.MethodGet, "/documents/"+id, nil, &doc); err != nil ||
			doc.Semantic != corpus.SemanticPending {
			return err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// examineOne asks a question, after those before it, in its own conversation. An error means that the server is
// unreachable, not that the run failed.
func examineOne(
	p *command.Program, server *remote.Server, q judge.Question, paths map[string]string,
) (v judge.Verdict, err error) {
	session := ""
	for _, before := range q.Before {
		if session, _, _, err = requestVerdict(p, server, before, session); err != nil {
			return v, err
		}
	}
	began := time.Now()
	_, answer, done, err := requestVerdict(p, server, q.Text, session)
	if err != nil {
		return v, err
	}
	if answer == nil || done.Status != chat.RunCompleted {
		why := string(done.Status)
		if done.Error != nil {
			why = done.Error.Message
		}
		// A run without an answer is a wrong answer, listed separately in the report.
		v = judge.Lost(q, why)
	} else {
		v = judge.Judge(q, *answer, paths)
	}
	v.Millis = time.Since(began).Milliseconds()
	return v, nil
}

// requestVerdict asks one question on a server and waits for the end of its run. It returns the run's id, its answer
// if any, and its outcome. Other events are skipped: only the answer and its citations are judged.
func requestVerdict(
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
