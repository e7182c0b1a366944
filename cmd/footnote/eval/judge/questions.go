// Package judge judges answers and searches with known correct results. Parse parses a questions file, Judge
// compares an answer with its question's expectations, and Report counts by kind. Measure computes nDCG, recall@k
// and MRR like trec_eval. It sends no requests itself: footnote eval does. The answer's own sentences are not
// judged, only its citations and whether it refuses.
package judge

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The limits of a questions file.
const (
	maxFile      = 1 << 20
	maxQuestions = 2000
)

// Embedded is the built-in questions file. Its first lines document the format.
//
//go:embed questions.tsv
var Embedded string

// Question is a question with its expected answer. A question without expectations must be refused.
type Question struct {
	Kind     string
	Before   []string  // asked first in the same session, in this order
	Text     string    // the answer to this one is judged
	Passages []Passage // each must be cited
	Words    []string  // each must be in the answer, in one of the alternatives separated by " | "
}

// Passage is a document, by its path in the folder, and words that one of its cited quotes must contain.
type Passage struct{ Document, Words string }

// Refuse reports whether the question is unanswerable from the documents.
func (q Question) Refuse() bool { return len(q.Passages) == 0 && len(q.Words) == 0 }

// Parse parses a questions file, at most 1 MiB and 2,000 questions. Errors include the line number.
func Parse(r io.Reader) ([]Question, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read the questions: %w", err)
	}
	if len(raw) > maxFile {
		return nil, errors.New("the questions are larger than 1 MiB")
	}
	var out []Question
	number := 0
	for line := range strings.Lines(string(raw)) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		q, err := parseLine(line)
		if err != nil {
			return nil, fmt.Errorf("line %d of the questions: %w", number, err)
		}
		if len(out) == maxQuestions {
			return nil, fmt.Errorf("there are more than %d questions", maxQuestions)
		}
		out = append(out, q)
	}
	if len(out) == 0 {
		return nil, errors.New("there are no questions in the file")
	}
	return out, nil
}

// parseLine parses one line of five fields: kind, documents, quotes, answer, question. Documents and quotes
// correspond by their index in the lists.
func parseLine(line string) (Question, error) {
	fields := strings.Split(line, "\t")
	if len(fields) != 5 {
		return Question{}, fmt.Errorf(
			"it has %d fields parted by tabs, not 5: kind, documents, quotes, answer, question", len(fields),
		)
	}
	// Earlier turns precede the question, in one field.
	turns := splitList(fields[4], " → ")
	if fields[0] == "" || len(turns) == 0 {
		return Question{}, errors.New("it has no kind or no question")
	}
	last := len(turns) - 1
	q := Question{Kind: fields[0], Before: turns[:last], Text: turns[last], Words: splitList(fields[3], " + ")}
	documents, quotes := splitList(fields[1], " + "), splitList(fields[2], " + ")
	if len(documents) != len(quotes) {
		return Question{}, fmt.Errorf(
			"it names %d documents and %d quotes; each document needs one", len(documents), len(quotes),
		)
	}
	for i, document := range documents {
		q.Passages = append(q.Passages, Passage{document, quotes[i]})
	}
	return q, nil
}

// splitList splits a field; "-" and an empty field are an empty list.
func splitList(field, between string) []string {
	if field = strings.TrimSpace(field); field == "" || field == "-" {
		return nil
	}
	parts := strings.Split(field, between)
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}
