package search

import (
	_ "embed"
	"math"
	"strings"
	"unicode"
)

// leastApart is how far the means of both kinds of cosine are apart at least. Cosines themselves are exact to 1e-6.
const leastApart = 0.001

// similarityPairs are questions, each with the passage that answers it below: three of each of six documents, so that
// a passage of the same document, which doesn't answer, is told from the one that does.
//
//go:embed similarity_pairs.txt
var similarityPairs string

// SimilarityPairs returns questions and, in the same order, the passage that answers each and no other. Where an
// embedder places them says what its cosines mean. They are embedded in the program, as they belong to it like a
// ruler's marks.
func SimilarityPairs() (queries, passages []string) {
	for pair := range strings.SplitSeq(strings.TrimSpace(similarityPairs), "\n\n") {
		query, passage, _ := strings.Cut(pair, "\n")
		queries, passages = append(queries, query), append(passages, passage)
	}
	return queries, passages
}

// Scale says what the cosines of one embedder mean. The zero value takes the cosine as it is, as far as it is positive.
// Cosines of one model lie between 0.1 and 0.7, of another between 0.7 and 0.95: as numbers they say nothing to people.
type Scale struct {
	far, near float64 // the mean cosine of passages that don't answer, and of those that do
	middle    float64 // the cosine that is as likely of a passage that answers as of one that doesn't
	slope     float64 // of the log of the odds; 0: not measured
}

// likely is the probability from which on a passage is said to answer. It is the default threshold of the tool
// semantic_search.
const likely = 0.7

// Similarity returns how well a passage with such a cosine answers, 0–1. It rises with the cosine. Up to 0.7 it is the
// probability that the passage answers, where one that does was as likely as one that doesn't. All passages on the
// subject of a query have probabilities near 1, so from there on it rises in a straight line, to 1 for the same
// meaning.
func (s Scale) Similarity(cosine float64) float64 {
	if s.slope == 0 {
		return min(1, max(0, cosine))
	}
	from := s.middle + math.Log(likely/(1-likely))/s.slope // the cosine of that probability
	if cosine < from || from >= 1 {
		return s.chance(cosine)
	}
	return likely + (1-likely)*min(1, (cosine-from)/(1-from))
}

// chance is the probability that a passage with such a cosine answers, where one that does was as likely as one that
// doesn't. The scale must have a slope.
func (s Scale) chance(cosine float64) float64 { return 1 / (1 + math.Exp(s.slope*(s.middle-cosine))) }

// Answers reports whether a passage with such a cosine is as likely to answer as not.
func (s Scale) Answers(cosine float64) bool { return s.Similarity(cosine) >= 0.5 }

// Nearness is how far a cosine lies from that of passages that don't answer, 0, to that of those that do, 1; more for
// one that is nearer still. Other than Similarity it tells apart cosines that are all high.
func (s Scale) Nearness(cosine float64) float64 {
	if s.slope == 0 {
		return min(1, max(0, cosine))
	}
	return max(0, (cosine-s.far)/(s.near-s.far))
}

// MeasureScale returns the scale of the embedder that made the vectors of SimilarityPairs: both kinds of cosine, of a
// query with the passage that answers it and with the others, are taken as normally distributed with one variance. Then
// the odds are a logistic function of the cosine. An embedder that does not tell the two apart has no scale of its own.
// The slope is that of linear discriminant analysis with equal variances: the distance of the means by the variance.
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

// meanAndVariance returns the mean of some values and their variance around it. It divides by n-1. Fewer than two
// values have no variance, which comes out as not a number.
func meanAndVariance(values []float64) (mean, variance float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		variance += (v - mean) * (v - mean) / float64(len(values)-1)
	}
	return mean, variance
}

// Cosine is that of two vectors of unit length.
func Cosine(a, b []float32) (sum float64) {
	for i := range min(len(a), len(b)) {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// Nonsense replaces each letter of a text by its neighbour in Unicode of the same case. The result keeps script, length
// and punctuation, and has no meaning. Letters without such a neighbour stay.
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

// Doubt estimates how poorly an embedder represents a query, 0–1, from the cosine of the query and its Nonsense. It is
// the probability that nonsense is taken for an answer. An embedder that knows the language puts the two far apart. One
// that does not know the script sees the same unknown tokens twice. docs/quality.md has the effect in eleven languages.
func (s Scale) Doubt(cosine float64) float64 {
	if s.slope == 0 {
		return min(1, max(0, cosine))
	}
	return s.chance(cosine)
}
