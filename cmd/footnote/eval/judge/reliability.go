package judge

import (
	"fmt"
	"io"
)

// reliabilityBins is the number of bins of equal width for confidences from 0 to 1.
const reliabilityBins = 5

// Reliability is one bin of a reliability diagram: the mean stated confidence of its answers, and the number of
// correct ones (Niculescu-Mizil and Caruana, “Predicting good probabilities with supervised learning”, 2005).
// Refusals have no confidence and are in no bin.
type Reliability struct {
	From    float64 `json:"from"` // lower bound of the bin; the last bin includes 1
	Answers int     `json:"answers"`
	Stated  float64 `json:"stated"` // mean confidence of the answers, 0–1; 0 without answers
	Held    int     `json:"held"`   // correct answers; answers to unanswerable questions are never correct
}

// reliabilityOf bins verdicts by the stated confidence of their answers. For a calibrated confidence, Held/Answers
// is near Stated in each bin.
func reliabilityOf(verdicts []Verdict) []Reliability {
	bins := make([]Reliability, reliabilityBins)
	for i := range bins {
		bins[i].From = float64(i) / reliabilityBins
	}
	for _, v := range verdicts {
		if v.Refused || v.Failed != "" {
			continue
		}
		// A confidence of 1 belongs to the last bin, and one outside 0–1 to the nearest.
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
