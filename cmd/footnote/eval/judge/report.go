package judge

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/footnote/footnote/text/english"
)

// Report is a model's result on a set of questions. `footnote eval` prints it, or encodes it as JSON.
type Report struct {
	Model     string    `json:"model"`
	Documents int       `json:"documents"`
	Total     Score     `json:"total"`
	Kinds     []Score   `json:"kinds"` // in the order of their first question
	Questions []Verdict `json:"questions"`

	Reliability []Reliability `json:"reliability"` // five bins, by lower bound
}

// Score counts the verdicts of a kind. A part that is never expected is 0 of 0. Times are those of whole runs, in
// milliseconds.
type Score struct {
	Kind      string  `json:"kind"`
	Questions int     `json:"questions"`
	Right     int     `json:"right"`
	Document  Part    `json:"document"`
	Passage   Part    `json:"passage"`
	First     Part    `json:"first"`
	Found     Part    `json:"found"`
	Words     Part    `json:"words"`
	Refusal   Part    `json:"refusal"`
	Withheld  int     `json:"withheld"` // refused although answerable
	Steps     float64 `json:"steps"`    // mean of the answers; 0 without answers
	Median    int64   `json:"ms_p50"`
	P95       int64   `json:"ms_p95"`
}

// Part is the number of times that an expected part was present, of all times.
type Part struct {
	Hit int `json:"hit"`
	Due int `json:"due"`
}

// addMark counts a mark; NotDue is not counted.
func (p *Part) addMark(m Mark) {
	if m != NotDue {
		p.Due++
	}
	if m == Hit {
		p.Hit++
	}
}

// String returns "7/8", or "–" if it was never expected.
func (p Part) String() string {
	if p.Due == 0 {
		return "–"
	}
	return fmt.Sprintf("%d/%d", p.Hit, p.Due)
}

// NewReport counts a model's verdicts. Kinds are in the order of the file, so two reports can be compared side by
// side.
func NewReport(model string, documents int, verdicts []Verdict) Report {
	r := Report{Model: model, Documents: documents, Total: scoreKind("all", verdicts), Questions: verdicts}
	r.Reliability = reliabilityOf(verdicts)
	byKind := map[string][]Verdict{}
	var kinds []string
	for _, v := range verdicts {
		if byKind[v.Kind] == nil {
			kinds = append(kinds, v.Kind)
		}
		byKind[v.Kind] = append(byKind[v.Kind], v)
	}
	for _, kind := range kinds {
		r.Kinds = append(r.Kinds, scoreKind(kind, byKind[kind]))
	}
	return r
}

// scoreKind counts verdicts. Percentiles use the nearest rank: the median is the lower of the two middle values.
func scoreKind(kind string, verdicts []Verdict) Score {
	s := Score{Kind: kind, Questions: len(verdicts)}
	var millis []int64
	steps, answers := 0, 0
	for _, v := range verdicts {
		if v.Right {
			s.Right++
		}
		if v.Refused && v.Refusal == NotDue {
			s.Withheld++
		}
		s.Document.addMark(v.Document)
		s.Passage.addMark(v.Passage)
		s.First.addMark(v.First)
		s.Found.addMark(v.Found)
		s.Words.addMark(v.Words)
		s.Refusal.addMark(v.Refusal)
		if v.Failed == "" {
			answers++
			steps += v.Steps
		}
		millis = append(millis, v.Millis)
	}
	if len(verdicts) == 0 {
		return s
	}
	slices.Sort(millis)
	s.Steps = float64(steps) / float64(max(answers, 1))
	// Nearest rank: the smallest time that is not exceeded by the given share.
	s.Median, s.P95 = millis[(len(millis)-1)/2], millis[(len(millis)*95+99)/100-1]
	return s
}

// Print writes the table by kind as Markdown, then the missing part of each wrong answer.
func (r Report) Print(w io.Writer) {
	fmt.Fprintf(w, "Model %s: %s, %s\n\n", r.Model, english.Count(r.Total.Questions, "question"), english.Count(
		r.Documents, "document",
	))
	rows := [][]string{{
		"kind", "questions", "right", "document", "passage", "first", "found", "words", "refusal", "withheld",
		"steps", "ms p50",
		"ms p95",
	}}
	for _, s := range append(slices.Clone(r.Kinds), r.Total) {
		rows = append(rows, []string{
			s.Kind, fmt.Sprint(s.Questions), fmt.Sprint(s.Right), s.Document.String(), s.Passage.String(),
			s.First.String(), s.Found.String(), s.Words.String(), s.Refusal.String(),
			fmt.Sprint(s.Withheld), fmt.Sprintf("%.1f", s.Steps), fmt.Sprint(s.Median), fmt.Sprint(s.P95),
		})
	}
	printRows(w, rows)
	r.printReliability(w)
	fmt.Fprintln(w)
	for _, v := range r.Questions {
		if !v.Right {
			fmt.Fprintf(w, "✕ %s: %s (%s)\n", v.Kind, v.Question, v.whyWrong())
		}
	}
}

// whyWrong returns the first missing part, in the order of an answer's stages.
func (v Verdict) whyWrong() string {
	switch {
	case v.Failed != "":
		return "no answer: " + v.Failed
	case v.Refusal == Miss:
		return "answered, though no document does"
	case v.Refused:
		return "refused, though a document answers"
	case v.Document == Miss:
		return "an expected document is not cited"
	case v.Passage == Miss:
		return "cited, but not at the expected words"
	}
	return "the answer lacks the expected words"
}

// printRows writes a Markdown table whose columns are aligned in a terminal too. Widths are in runes.
func printRows(w io.Writer, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	for n, row := range rows {
		for i, cell := range row {
			fmt.Fprintf(w, "| %-*s ", widths[i], cell)
		}
		fmt.Fprintln(w, "|")
		if n == 0 {
			for _, width := range widths {
				fmt.Fprintf(w, "|%s", strings.Repeat("-", width+2))
			}
			fmt.Fprintln(w, "|")
		}
	}
}
