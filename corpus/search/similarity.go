package search

import (
	_ "embed"
	"math"
	"strings"
	"unicode"
)

// leastApart is the minimum difference of the mean cosines. Cosines themselves are exact to 1e-6.
const leastApart = 0.001

// similarityPairs are questions and answering passages: three from each of six documents, so that a passage of the
// same document that does not answer is distinguished from the one that does.
//
//go:embed similarity_pairs.txt
var similarityPairs string

// SimilarityPairs returns calibration questions and, in the same order, the only passage that answers each. Their
// vectors calibrate an embedder's cosines.
func SimilarityPairs() (queries, passages []string) {
	for pair := range strings.SplitSeq(strings.TrimSpace(similarityPairs), "\n\n") {
		query, passage, _ := strings.Cut(pair, "\n")
		queries, passages = append(queries, query), append(passages, passage)
	}
	return queries, passages
}

// Scale is the calibration of an embedder's cosines. The zero value is the positive cosine itself. Raw cosines are
// not comparable: those of one model are between 0.1 and 0.7, of another between 0.7 and 0.95.
type Scale struct {
	far, near float64 // mean cosine of passages that don't answer, and of those that do
	middle    float64 // cosine at which both are equally likely
	slope     float64 // of the log odds; 0: not measured
}

// likely is the probability from which on a passage counts as an answer. It is the default threshold of the tool
// semantic_search.
const likely = 0.7

// Similarity maps a cosine to 0–1, monotonically. Up to 0.7 it is the probability that the passage answers, with
// equal prior odds. Passages on the subject of a query all have probabilities near 1, so above it rises linearly,
// to 1 for cosine 1.
func (s Scale) Similarity(cosine float64) float64 {
	if s.slope == 0 {
		return min(1, max(0, cosine))
	}
	from := s.middle + math.Log(likely/(1-likely))/s.slope // cosine with that probability
	if cosine < from || from >= 1 {
		return s.chance(cosine)
	}
	return likely + (1-likely)*min(1, (cosine-from)/(1-from))
}

// chance returns the probability that a passage with this cosine answers, with equal prior odds. The slope must not
// be 0.
func (s Scale) chance(cosine float64) float64 { return 1 / (1 + math.Exp(s.slope*(s.middle-cosine))) }

// Answers reports whether a passage with this cosine probably answers.
func (s Scale) Answers(cosine float64) bool { return s.Similarity(cosine) >= 0.5 }

// Nearness maps a cosine linearly from the mean of non-answers, 0, to the mean of answers, 1; higher values are
// possible. Unlike Similarity it distinguishes high cosines.
func (s Scale) Nearness(cosine float64) float64 {
	if s.slope == 0 {
		return min(1, max(0, cosine))
	}
	return max(0, (cosine-s.far)/(s.near-s.far))
}

// MeasureScale calibrates an embedder with its vectors of SimilarityPairs. It models the cosines of answers and
// non-answers as normal distributions of equal variance, so that the odds are a logistic function of the cosine.
// The slope is that of linear discriminant analysis: the difference of the means divided by the variance. It
// returns the zero Scale for an embedder that does not separate the two.
func MeasureScale(queries, passages [][]float32) Scale {
	var answers, others []float64
	for i, query := range queries {
		for k, passage := range passages {
			if i == k {
				answers = append(answers, Cosine(query, passage))
			} else {
				others = append(others, Cosine(query, passage))
			}
		}
	}
	near, nearSpread := meanAndVariance(answers)
	far, farSpread := meanAndVariance(others)
	variance := (nearSpread + farSpread) / 2
	if !(near-far > leastApart && variance > 0) { // NaN too
		return Scale{}
	}
	return Scale{far: far, near: near, middle: (near + far) / 2, slope: (near - far) / variance}
}

// meanAndVariance returns the mean and the sample variance (n-1). With fewer than two values the variance is NaN.
func meanAndVariance(values []float64) (mean, variance float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		variance += (v - mean) * (v - mean) / float64(len(values)-1)
	}
	return mean, variance
}

// Cosine returns the cosine of two unit vectors.
func Cosine(a, b []float32) (sum float64) {
	for i := range min(len(a), len(b)) {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// Nonsense replaces each letter of a text with its Unicode neighbour of the same case. The result keeps script,
// length and punctuation, but has no meaning. Letters without such a neighbour stay.
func Nonsense(text string) string {
	return strings.Map(func(r rune) rune {
		for _, neighbour := range []rune{r + 1, r - 1} {
			if unicode.IsLetter(r) && unicode.IsLetter(neighbour) && unicode.IsUpper(r) == unicode.IsUpper(neighbour) {
				return neighbour
			}
		}
		return r
	}, text)
}

// Doubt estimates how poorly an embedder represents a query, 0–1, from the cosine of the query and its Nonsense. It
// is the probability that nonsense passes for an answer. An embedder that knows the language separates the two; one
// that does not know the script gets the same unknown tokens for both. docs/quality.md has the effect in eleven
// languages.
func (s Scale) Doubt(cosine float64) float64 {
	if s.slope == 0 {
		return min(1, max(0, cosine))
	}
	return s.chance(cosine)
}
