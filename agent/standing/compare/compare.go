package compare

import (
	"hash/fnv"
	"slices"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/quote"
	"github.com/footnote/footnote/text"
)

// These thresholds were not measured. Half separates sentences that share little but function words. If the new
// sentences are unknown, any old sentence could match, so the threshold is higher.
const (
	// leastAlike is the minimum similarity of two sentences for one to replace the other.
	leastAlike = 0.5
	// leastAlikeUnknown is the threshold if the earlier sentences of the document are unknown.
	leastAlikeUnknown = 0.75
	// MaxLines is the maximum number of stored sentences of a document; a document with more has none.
	MaxLines = 4000
)

// Document is the current version of a document.
type Document struct {
	SHA256 string
	Text   string
	// Fresh reports whether the text is newer than the previous answer.
	Fresh bool
}

// Library returns the current version of a document; ok is false if it was deleted.
type Library func(id string) (d Document, ok bool)

// Lines returns the hashes of a text's sentences, none for a text with more than MaxLines. They are sorted and
// deduplicated for a binary search. A hash covers the normalised words (forms), so line breaks, case and punctuation
// do not matter. A collision of 32-bit hashes among a few thousand sentences is rare, and only hides a change.
func Lines(s string) []uint32 {
	list := text.Sentences(s)
	if len(list) > MaxLines {
		return nil
	}
	runes := []rune(s)
	lines := make([]uint32, 0, len(list))
	for _, at := range list {
		lines = append(lines, lineHash(string(runes[at[0]:at[1]])))
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

func lineHash(sentence string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(forms(sentence))) // a hash does not fail
	return h.Sum32()
}

// sentence is a sentence of a citation.
type sentence struct {
	chat.Citation
	text string
}

// Differences returns the differences between the quotes of two answers: changed, added and gone. A quote that is
// still in its document is unchanged. A new citation of a sentence that was already in its document is not an
// addition.
//
// The order of the steps matters. Earlier sentences are first matched with new sentences of their document. The
// remaining new citations are additions. At last, sentences gone from one document are matched with additions in
// another. It is deterministic.
func Differences(before, after chat.Basis, library Library) []chat.Difference {
	c := comparison{before: before, library: library, texts: map[string]*current{}}
	for _, s := range sentencesOf(before.Citations) {
		c.compareOld(s, after.Citations)
	}
	for _, s := range sentencesOf(after.Citations) {
		c.compareNew(s)
	}
	c.pairMoved()
	return slices.Concat(c.changed, c.added, c.gone)
}

// UnchangedCitations returns the citations of an answer that are still in their documents.
func UnchangedCitations(before chat.Basis, library Library) (list []chat.Citation) {
	c := comparison{before: before, library: library, texts: map[string]*current{}}
	for _, cite := range before.Citations {
		if !slices.ContainsFunc(sentencesOf([]chat.Citation{cite}), func(s sentence) bool {
			return !c.current(s.DocumentID).contains(s.text)
		}) {
			list = append(list, cite)
		}
	}
	return list
}

// sentencesOf splits quotes into sentences, deduplicated by document.
func sentencesOf(citations []chat.Citation) (list []sentence) {
	seen := map[[2]string]bool{}
	for _, cite := range citations {
		runes := []rune(cite.Quote)
		for _, at := range text.Sentences(cite.Quote) {
			s := string(runes[at[0]:at[1]])
			key := [2]string{cite.DocumentID, forms(s)}
			if key[1] != "" && !seen[key] {
				seen[key] = true
				list = append(list, sentence{cite, s})
			}
		}
	}
	return list
}

// current caches the text of a document and its sentences.
type current struct {
	Document
	runes []rune
	there bool
	fresh [][2]int // sentences that are new since the basis, as far as known
	known bool     // fresh is complete
	lines []uint32 // hashes of its sentences, unless the document is unchanged
	had   []uint32 // hashes of the sentences in the basis
}

// contains reports whether a document still contains a sentence. A sentence that was whole must still be whole: a
// “not” before it would reverse its meaning. A fragment of a sentence may be anywhere.
func (d *current) contains(sentence string) bool {
	if !d.there {
		return false
	}
	hash := lineHash(sentence)
	if _, whole := slices.BinarySearch(d.lines, hash); whole {
		return true
	}
	start, end, check := quote.Find(d.runes, sentence, 0, 0)
	if check != chat.CheckVerified {
		return false
	}
	if _, whole := slices.BinarySearch(d.had, hash); whole {
		return d.isWhole(start, end)
	}
	return true
}

// isWhole reports whether a range starts at the start of a sentence and ends at the end of one.
func (d *current) isWhole(start, end int) bool {
	for _, at := range text.Sentences(d.Text) {
		if at[0] < start && start < at[1] && len(words(d.runes[at[0]:start])) > 0 ||
			at[0] < end && end < at[1] && len(words(d.runes[end:at[1]])) > 0 {
			return false
		}
	}
	return true
}

// comparison is the state of one call of Differences. It is not safe for concurrent use.
type comparison struct {
	before               chat.Basis
	library              Library
	texts                map[string]*current
	changed, added, gone []chat.Difference
	taken                map[string]bool // current sentences that are already part of a difference
}

// current returns the cached document. d.known reports that fresh is reliable: the version is unchanged, the old
// sentences are stored, or the whole document is newer than the answer.
func (c *comparison) current(id string) *current {
	if d := c.texts[id]; d != nil {
		return d
	}
	d := &current{}
	c.texts[id] = d
	if d.Document, d.there = c.library(id); !d.there {
		return d
	}
	d.runes = []rune(d.Text)
	known, ok := c.before.Knows(id)
	if ok && known.SHA256 == d.SHA256 {
		d.known = true
		return d
	}
	d.known = len(known.Lines) > 0 || !ok && d.Fresh
	if !ok && !d.Fresh {
		return d
	}
	d.lines, d.had = Lines(d.Text), known.Lines
	for _, at := range text.Sentences(d.Text) {
		if _, had := slices.BinarySearch(known.Lines, lineHash(string(d.runes[at[0]:at[1]]))); !had {
			d.fresh = append(d.fresh, at)
		}
	}
	return d
}

// compareOld finds the current version of an earlier sentence.
func (c *comparison) compareOld(s sentence, after []chat.Citation) {
	d := c.current(s.DocumentID)
	if d.contains(s.text) {
		return
	}
	for _, cite := range after { // the same text in another document
		if _, _, check := quote.Find([]rune(cite.Quote), s.text, 0, 0); check == chat.CheckVerified {
			return
		}
	}
	least := leastAlike
	if !d.known {
		least = leastAlikeUnknown
	}
	var best aligned
	var place [2]int
	for _, at := range d.fresh {
		if a := align([]rune(s.text), d.runes[at[0]:at[1]]); a.alike() > best.alike() {
			best, place = a, at
		}
	}
	switch {
	case best.alike() < least:
		c.gone = append(c.gone, chat.Difference{
			Kind: chat.DifferenceGone, DocumentID: s.DocumentID, Title: s.Title, Removed: !d.there,
			Before: &chat.MarkedQuote{Quote: s.text, Place: s.PlaceWords(), URL: s.URL},
		})
	case !best.same():
		now := s.Citation
		now.URL = chat.Link{
			Document: s.DocumentID, Start: place[0], End: place[1], Fragment: chat.FragmentCited,
		}.String()
		c.addChanged(best, s, sentence{now, string(d.runes[place[0]:place[1]])})
	}
}

// addChanged adds a pair of sentences as a change.
func (c *comparison) addChanged(a aligned, before, after sentence) {
	was, now, _ := a.value([]rune(before.text), []rune(after.text))
	c.take(after)
	c.changed = append(c.changed, chat.Difference{
		Kind: chat.DifferenceChanged, DocumentID: after.DocumentID, Title: after.Title, Was: was, Now: now,
		Before: &chat.MarkedQuote{
			Quote: before.text, Marks: marks(a.before, stretches(a.keptB)), Place: before.PlaceWords(), URL: before.URL,
		},
		After: &chat.MarkedQuote{
			Quote: after.text, Marks: marks(a.after, stretches(a.keptA)), Place: after.PlaceWords(), URL: after.URL,
		},
	})
}

// take marks a current sentence as used, so that it is not reported as new as well.
func (c *comparison) take(s sentence) {
	if c.taken == nil {
		c.taken = map[string]bool{}
	}
	c.taken[s.DocumentID+" "+forms(s.text)] = true
}

// compareNew adds a cited sentence that is new in its document. A sentence that was already there is not an
// addition, since it could have been cited before.
func (c *comparison) compareNew(s sentence) {
	d := c.current(s.DocumentID)
	if !d.there || c.taken[s.DocumentID+" "+forms(s.text)] {
		if d.there {
			c.citeAfter(s)
		}
		return
	}
	if !d.known || !slices.ContainsFunc(d.fresh, func(at [2]int) bool {
		return forms(string(d.runes[at[0]:at[1]])) == forms(s.text)
	}) {
		return
	}
	for _, old := range c.before.Citations { // the same text in a document of the previous answer
		if _, _, check := quote.Find([]rune(old.Quote), s.text, 0, 0); check == chat.CheckVerified {
			return
		}
	}
	c.take(s)
	c.added = append(c.added, chat.Difference{
		Kind: chat.DifferenceAdded, DocumentID: s.DocumentID, Title: s.Title,
		After: &chat.MarkedQuote{Quote: s.text, Place: s.PlaceWords(), URL: s.URL},
	})
}

// citeAfter replaces the link of a change with that of the citation, which opens the source at the cited words.
func (c *comparison) citeAfter(s sentence) {
	for _, d := range c.changed {
		if d.DocumentID == s.DocumentID && forms(d.After.Quote) == forms(s.text) {
			d.After.URL, d.After.Place = s.URL, s.PlaceWords()
		}
	}
}

// pairMoved matches sentences that are gone from one document with additions in another. Each addition is used once.
// A pair with the same words is dropped, since the sentence only moved.
func (c *comparison) pairMoved() {
	c.gone = slices.DeleteFunc(c.gone, func(old chat.Difference) bool {
		best, which := aligned{}, -1
		for i, now := range c.added {
			a := align([]rune(old.Before.Quote), []rune(now.After.Quote))
			if a.alike() >= leastAlike && a.alike() > best.alike() {
				best, which = a, i
			}
		}
		if which < 0 {
			return false
		}
		now := c.added[which]
		c.added = slices.Delete(c.added, which, which+1)
		if best.same() {
			return true
		}
		d := chat.Difference{
			Kind: chat.DifferenceChanged, DocumentID: now.DocumentID, Title: now.Title, Before: old.Before,
			After: now.After,
		}
		d.Was, d.Now, _ = best.value([]rune(old.Before.Quote), []rune(now.After.Quote))
		d.Before.Marks = marks(best.before, stretches(best.keptB))
		d.After.Marks = marks(best.after, stretches(best.keptA))
		c.changed = append(c.changed, d)
		return true
	})
}
