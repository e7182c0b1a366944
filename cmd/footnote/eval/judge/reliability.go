package judge

import (
	"fmt"
	"io"
)

// reliabilityBins is how many bins of equal width the confidences from 0 to 1 are put in.
const reliabilityBins = 5

// Reliability is one bin of a reliability diagram: what answers with such confidences said of themselves, and how many
// of them held what was asked (Niculescu-Mizil and Caruana, “Predicting good probabilities with supervised learning”,
// 2005). Refusals state no confidence and are in none.
type Reliability struct {
	From    float64 `json:"from"` // the least confidence of the bin; the last bin holds 1 too
	Answers int     `json:"answers"`
	Stated  float64 `json:"stated"` // the mean of the answers' confidences, 0–1; 0 without answers
	Held    int     `json:"held"`   // answers with everything that was due; none of those to a question that nothing answers
}

// reliabilityOf puts verdicts in bins by the confidence that their answers state. A confidence that means what it says
// has bins in which Held/Answers is near Stated.
func reliabilityOf(verdicts []Verdict) []Reliability {
	bins := make([]Reliability, reliabilityBins)
	for i := range bins {
		bins[i].From = float64(i) / reliabilityBins
	}
	for _, v := range verdicts {
		if v.Refused || v.Failed != "" {
			continue
		}
		// A confidence of 1 belongs to the last bin, and one that is out of 0–1 to the nearest.
		b := &bins[max(0, min(reliabilityBins-1, int(v.Confidence*reliabilityBins)))]
		b.Answers++
		b.Stated += v.Confidence
		if v.Right && v.Refusal == NotDue {
			b.Held++
		}
	}
	for i := range bins {
		bins[i].Stated /= float64(max(1, bins[i].Answers))
	}
	return bins
}

// printReliability writes the bins that have answers as Markdown.
func (r Report) printReliability(w io.Writer) {
	rows := [][]string{{"confidence", "answers", "stated", "held"}}
	for _, b := range r.Reliability {
		if b.Answers > 0 {
			rows = append(rows, []string{
				fmt.Sprintf("%.1f–%.1f", b.From, b.From+1./reliabilityBins), fmt.Sprint(b.Answers),
				fmt.Sprintf("%.0f %%", 100*b.Stated), fmt.Sprintf("%.0f %%", 100*float64(b.Held)/float64(b.Answers)),
			})
		}
	}
	if len(rows) > 1 {
		fmt.Fprintln(w)
		printRows(w, rows)
	}
}
