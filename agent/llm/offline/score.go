package offline

import (
	"cmp"
	"context"
	"slices"
	"unicode/utf8"
)

// Similarity returns the cosine of a question's embedding with that of each text, in order, on the scale of
// FittedCosine. If it fails, lexical scores are the fallback, unless ctx was cancelled.
type Similarity func(ctx context.Context, question string, texts []string) ([]float64, error)

// The mean cosines of all-MiniLM-L6-v2, with which all weights here were fitted: of questions with passages that
// don't answer them, and with those that do (search.SimilarityPairs).
const fittedFar, fittedNear = 0.071, 0.460

// FittedCosine converts a cosine of any embedding model to the scale of the model with which the weights were
// fitted. nearness is search.Scale.Nearness of the cosine, which normalises it to 0–1, since models distribute
// cosines differently.
func FittedCosine(nearness float64) float64 { return min(1, fittedFar+nearness*(fittedNear-fittedFar)) }

// mostCompared is the maximum number of units whose embeddings are compared. More would be slow if the embedding model
// runs on a few CPUs.
const mostCompared = 64

// The weight of a word that a unit does not have itself.
const (
	inHeading = 0.6 // in its heading or its section
	inTitle   = 0.3 // in its document's name
	beside    = 0.4 // in the unit before or after it
)

// features are the features of a unit for ranking, each 0–1.
type features struct {
	own     float64 // share of the question's weight that the unit has itself
	context float64 // the same with its heading, its neighbours and its document's name
	meaning float64 // the cosine; 0 if unknown
	nearest float64 // the cosine, scaled from 0 for the median to 1 for the highest
}

// scored is a unit with its score.
type scored struct {
	unit
	at       int // index in the pool's units
	features features
	has      []float64 // match of each word, with its heading
	place    int       // topic.placeOf
	score    float64
}

// within returns a unit's score without its place.
func (s scored) within() float64 { return s.score - float64(s.place) }

// rate scores the quotable units, best first. words are those of the topic. compared reports that embeddings were
// compared; without similar, or if it fails, scores are lexical. All units are scored lexically; then the best
// mostCompared are compared by embeddings. The rest is dropped, as scores with and without embeddings are not
// comparable.
func rate(
	ctx context.Context, p pool, q topic, words []word, similar Similarity,
) (units []scored, compared bool, err error) {
	total := total(words)
	var out []scored
	for i, u := range p.units {
		if !u.quotable() {
			continue
		}
		s := scored{unit: u, at: i, has: make([]float64, len(words))}
		for k, w := range words {
			own, near := u.has(w), p.near(i, w)
			s.has[k] = max(own, near)
			if total > 0 {
				s.features.own += w.weight * own / total
				s.features.context += w.weight * max(own, near) / total
			}
		}
		s.place = q.placeOf(s, words, p.sources[u.source].document)
		out = append(out, s)
	}
	sort(out, weightsOfWords)
	if similar == nil || len(out) == 0 {
		return out, false, nil
	}
	few := out[:min(len(out), mostCompared)]
	texts := make([]string, len(few))
	for i, s := range few {
		texts[i] = p.inContext(s.unit)
	}
	cosines, err := similar(ctx, q.asked(), texts)
	if ctx.Err() != nil {
		return nil, false, err
	}
	if err != nil { // lexical scores are the fallback
		return out, false, nil
	}
	for i := range few {
		few[i].features.meaning = max(0, cosines[i])
	}
	distinctness(few)
	sort(few, weightsOfBoth)
	return few, true, nil
}

// distinctness scales each cosine within the question's cosines, since a model's cosine of a fitting sentence differs
// between questions.
func distinctness(compared []scored) {
	var all []float64
	for _, s := range compared {
		all = append(all, s.features.meaning)
	}
	slices.Sort(all)
	middle, highest := all[len(all)/2], all[len(all)-1]
	for i := range compared {
		if f := &compared[i].features; highest > middle {
			f.nearest = max(0, (f.meaning-middle)/(highest-middle))
		}
	}
}

// sort scores units and sorts them, best first. The place is an integer, so it outranks the features, whose sum is
// about 1 at most.
func sort(units []scored, w weights) {
	for i := range units {
		units[i].score = float64(units[i].place) + w.of(units[i].features)
	}
	slices.SortStableFunc(units, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
}

// weights are the weights of the features. They were fitted to questions over real documents: docs/quality.md.
type weights struct{ own, context, meaning, nearest float64 }

var (
	weightsOfWords = weights{own: 0.44, context: 0.46}
	weightsOfBoth  = weights{own: 0.2, context: 0.3, meaning: 0.2, nearest: 0.15}
)

// of returns the weighted sum of the features.
func (w weights) of(f features) float64 {
	return w.own*f.own + w.context*f.context + w.meaning*f.meaning + w.nearest*f.nearest
}

// near returns how well the context of a unit matches a word.
func (p pool) near(i int, w word) float64 {
	u := p.units[i]
	near := inTitle * w.in(p.around[u.source])
	if u.heading >= 0 {
		near = max(near, inHeading*w.in(p.units[u.heading].terms))
	}
	if u.row != nil { // the neighbouring rows have other subjects
		return near
	}
	for _, k := range []int{i - 1, i + 1} {
		if k >= 0 && k < len(p.units) && p.units[k].source == u.source && p.units[k].row == nil {
			near = max(near, beside*w.in(p.units[k].terms))
		}
	}
	return near
}

// inContext returns a unit's text for the comparison, after its heading if it is short prose.
func (p pool) inContext(u unit) string {
	if u.row == nil && u.heading >= 0 && utf8.RuneCountInString(u.text) < 200 {
		return p.units[u.heading].text + ": " + u.text
	}
	return u.text
}
