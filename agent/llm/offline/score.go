package offline

import (
	"cmp"
	"context"
	"slices"
	"unicode/utf8"
)

// Similarity returns the cosine of a question's meaning with that of each text, in order, as FittedCosine has it. It
// may fail or be stopped: then words decide, but for a ctx that ended.
type Similarity func(ctx context.Context, question string, texts []string) ([]float64, error)

// The mean cosines of all-MiniLM-L6-v2, with which all weights here were fitted: of questions with passages that don't
// answer them, and with those that do (search.SimilarityPairs).
const fittedFar, fittedNear = 0.071, 0.460

// FittedCosine is the cosine of the model that the weights were fitted with which means as much as one of another
// model: nearness is search.Scale.Nearness of that. Other models spread their cosines otherwise: nearness maps them to
// 0–1, and this maps that to the scale of the model that the weights know.
func FittedCosine(nearness float64) float64 { return min(1, fittedFar+nearness*(fittedNear-fittedFar)) }

// mostCompared is how many units are compared by meaning, half of them the best by words, half those of the passages
// that were found first: more would keep a reader waiting where the model of meanings runs on a few processors.
const mostCompared = 64

// What a word counts that a unit does not have itself.
const (
	inHeading = 0.6 // its heading or its section has it; all of it if the heading has all words of the question
	inTitle   = 0.3 // its document's name
	beside    = 0.4 // the unit before or after it
)

// features are what tells a unit that answers from one that does not, each 0–1.
type features struct {
	own     float64 // the share of the question's weight that the unit has itself
	context float64 // the same with its heading, its neighbours and its document's name
	pairs   float64 // the share of the question's neighbouring words that stand next to each other in the unit, too
	meaning float64 // the cosine; 0 while it is unknown
	nearest float64 // the same from 0 for the median of those compared to 1 for the highest
	rank    float64 // how early its passage was found: 1 for the first, 1/2 for the second
	untold  float64 // the share of the question's weight that the unit's language can't have: see pile.untold
}

// scored is a unit with what it is worth.
type scored struct {
	unit
	at       int // of the pile's units
	features features
	has      []float64 // of each word, with its heading
	place    int       // topic.placeOf
	score    float64
}

// within is a unit's score among those of its place.
func (s scored) within() float64 { return s.score - float64(s.place) }

// rate scores the units that may be quoted, best first. words are those of the topic. compared says that meanings were
// compared, too: without similar, or when it fails, words alone decide. The steps: words score all units; of these
// mostCompared are compared by meaning, half chosen by words, half by rank; the rest are dropped then, as scores with
// and without meaning can't be compared.
func rate(
	ctx context.Context, p pile, q topic, words []word, similar Similarity,
) (units []scored, compared bool, err error) {
	total := total(words)
	ranks, named, untold := p.ranks(), p.named(words), p.untold(words)
	var out []scored
	for i, u := range p.units {
		if !u.quotable() {
			continue
		}
		s := scored{unit: u, at: i, has: make([]float64, len(words))}
		// Found first is worth 1, second a half, third a third.
		s.features.rank = 1 / float64(1+ranks[u.source])
		s.features.untold = untold[p.languageOf(u.source)]
		for k, w := range words {
			own, near := u.has(w), p.near(i, w)
			if named[u.heading] {
				near = max(near, w.in(p.units[u.heading].terms))
			}
			s.has[k] = max(own, near)
			if total > 0 {
				s.features.own += w.weight * own / total
				s.features.context += w.weight * max(own, near) / total
			}
		}
		s.features.pairs = pairs(u.sequence, words)
		s.place = q.placeOf(s, words, p.sources[u.source].document)
		out = append(out, s)
	}
	sort(out, weightsOfWords)
	if similar == nil || len(out) == 0 {
		return out, false, nil
	}
	// The first half is the best by words; the rest of those that are compared are of the passages that were found
	// first.
	slices.SortStableFunc(out[min(len(out), mostCompared/2):], func(a, b scored) int {
		return cmp.Compare(b.features.rank, a.features.rank)
	})
	few := out[:min(len(out), mostCompared)]
	texts := make([]string, len(few))
	for i, s := range few {
		texts[i] = p.inContext(s.unit)
	}
	cosines, err := similar(ctx, q.asked(), texts)
	if ctx.Err() != nil {
		return nil, false, err
	}
	if err != nil { // the words are there
		sort(out, weightsOfWords)
		return out, false, nil
	}
	for i := range few {
		few[i].features.meaning = max(0, cosines[i])
	}
	standOut(few)
	sort(few, weightsOfBoth)
	return few, true, nil
}

// standOut tells of each cosine how far it stands out among those of the question: what a model gives a fitting
// sentence differs from question to question.
func standOut(compared []scored) {
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

// sort scores units and puts the best first. The place is a whole number that is added, so that it decides before the
// features, whose sum is about 1 at most.
func sort(units []scored, w weights) {
	for i := range units {
		units[i].score = float64(units[i].place) + w.of(units[i].features)
	}
	slices.SortStableFunc(units, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
}

// weights say what the features count. They were fitted to questions over real documents: docs/quality.md.
type weights struct{ own, context, pairs, meaning, nearest, rank float64 }

var (
	weightsOfWords = weights{own: 0.44, context: 0.46, pairs: 0.1, rank: 0.1}
	weightsOfBoth  = weights{own: 0.2, context: 0.3, pairs: 0.1, meaning: 0.2, nearest: 0.15, rank: 0.04}
)

// of is the weighted sum of the features.
func (w weights) of(f features) float64 {
	return w.own*f.own + w.context*f.context + w.pairs*f.pairs + w.meaning*f.meaning + w.nearest*f.nearest +
		w.rank*f.rank + w.inPlaceOfWords(f)
}

// pairs returns which share of the weight of the pairs of neighbouring words of a question stand next to each other in
// a text: “rule 3” is not “Rule 6 … 3 pm”. (The ordered window of Metzler and Croft's sequential dependence model.)
func pairs(sequence []string, words []word) float64 {
	held, all := 0.0, 0.0
	for k := range words[:max(0, len(words)-1)] {
		a, b := words[k], words[k+1]
		if a.borrowed || b.borrowed {
			continue
		}
		weight := min(a.weight, b.weight)
		all += weight
		best := 0.0
		for i := range sequence[:max(0, len(sequence)-1)] {
			best = max(best, a.terms[sequence[i]]*b.terms[sequence[i+1]])
		}
		held += weight * best
	}
	if all == 0 {
		return 0
	}
	return held / all
}

// named returns the headings that have all words of a question: it asks for what stands under them.
func (p pile) named(words []word) map[int]bool {
	named := map[int]bool{}
	for i, u := range p.units {
		named[i] = u.names && len(words) > 0 && !slices.ContainsFunc(words, func(w word) bool {
			return !w.borrowed && w.in(u.terms) < 1
		})
	}
	return named
}

// near returns how well what stands around a unit has a word.
func (p pile) near(i int, w word) float64 {
	u := p.units[i]
	near := inTitle * w.in(p.around[u.source])
	if u.heading >= 0 {
		near = max(near, inHeading*w.in(p.units[u.heading].terms))
	}
	if u.row != nil { // the rows beside it are about something else
		return near
	}
	for _, k := range []int{i - 1, i + 1} {
		if k >= 0 && k < len(p.units) && p.units[k].source == u.source && p.units[k].row == nil {
			near = max(near, beside*w.in(p.units[k].terms))
		}
	}
	return near
}

// ranks returns for each source how many documents and passages were found before it.
func (p pile) ranks() []int {
	ranks, documents := make([]int, len(p.sources)), map[string]int{}
	inside := map[string]int{}
	for i, src := range p.sources {
		id := src.document.DocID
		if _, known := documents[id]; !known {
			documents[id] = len(documents)
		}
		ranks[i] = documents[id] + inside[id]
		inside[id]++
	}
	return ranks
}

// inContext is a unit as it is compared: behind its heading, when it is short; a row with the heads of its columns.
func (p pile) inContext(u unit) string {
	if u.row != nil {
		return u.labelled()
	}
	if u.heading >= 0 && utf8.RuneCountInString(u.text) < 200 {
		return p.units[u.heading].text + ": " + u.text
	}
	return u.text
}
