package compare

import (
	"hash/fnv"
	"slices"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/quote"
	"github.com/footnote/footnote/text"
)

// The shares were chosen and not measured: half keeps sentences apart that have little but small words in common, and
// where it is not known what is new, any old sentence could match, so more is asked for.
const (
	// leastAlike is how much of two sentences must be in both for one to be in the other's place.
	leastAlike = 0.5
	// leastAlikeUnknown is that where it is not known which sentences the document had before.
	leastAlikeUnknown = 0.75
	// MaxLines is how many sentences of a document are remembered; of one with more none are.
	MaxLines = 4000
)

// Document is a document as it is now.
type Document struct {
	SHA256 string
	Text   string
	// Fresh: its text is newer than the answer before.
	Fresh bool
}

// Library returns a document as it is now; ok is false for one that is there no more.
type Library func(id string) (d Document, ok bool)

// Lines are the hashes of a text's sentences, none of a text with more than MaxLines. They are sorted and each is there
// once, for a binary search. A hash stands for the words alone (forms), so line breaks, case and punctuation do not
// make another sentence. With 32 bits two of a few thousand sentences are seldom alike, and then a change is missed at
// worst.
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

// sentence is one of a citation's.
type sentence struct {
	chat.Citation
	text string
}

// Differences returns what the quotes after say differently than those before, what changed first. A quote whose words
// still stand in its document is no difference, and neither is one that could have been cited before. The order of the
// steps counts: what was cited before takes its partners among new sentences first; what is then left of the citations
// of now is new; at the end what is gone from one document is paired with what is new in another. Equal input gives
// equal output.
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

// Standing returns the citations of an answer whose words still stand in their documents.
func Standing(before chat.Basis, library Library) (list []chat.Citation) {
	c := comparison{before: before, library: library, texts: map[string]*current{}}
	for _, cite := range before.Citations {
		if !slices.ContainsFunc(sentencesOf([]chat.Citation{cite}), func(s sentence) bool {
			return !c.current(s.DocumentID).stands(s.text)
		}) {
			list = append(list, cite)
		}
	}
	return list
}

// sentencesOf takes quotes apart, each sentence of a document once.
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

// current is a document's text, with what is to be asked of it more than once.
type current struct {
	Document
	runes []rune
	there bool
	fresh [][2]int // its sentences that it did not have before, as far as that is known
	known bool     // that is known
	lines []uint32 // the hashes of its sentences, unless it is the version from before
	had   []uint32 // those of the version from before
}

// stands reports whether a sentence's words are in the document as they were before: as a whole sentence, if they were
// one. Words that were a whole sentence must be one now: “not” before them would turn them around. Those that never
// were one may stand anywhere.
func (d *current) stands(sentence string) bool {
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

// isWhole reports whether a range begins where a sentence does and ends where one does.
func (d *current) isWhole(start, end int) bool {
	for _, at := range text.Sentences(d.Text) {
		if at[0] < start && start < at[1] && len(words(d.runes[at[0]:start])) > 0 ||
			at[0] < end && end < at[1] && len(words(d.runes[end:at[1]])) > 0 {
			return false
		}
	}
	return true
}

// comparison is one call of Differences. It is used by one goroutine.
type comparison struct {
	before               chat.Basis
	library              Library
	texts                map[string]*current
	changed, added, gone []chat.Difference
	taken                map[string]bool // sentences of now that are one side of a difference
}

// current reads a document once. d.known tells whether fresh can be trusted: the version is the same, the old sentences
// are remembered, or the whole document is newer than the answer.
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

// compareOld looks for what became of a sentence.
func (c *comparison) compareOld(s sentence, after []chat.Citation) {
	d := c.current(s.DocumentID)
	if d.stands(s.text) {
		return
	}
	for _, cite := range after { // the same words in another document
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

// addChanged adds a pair of sentences.
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

// take notes a sentence of now as used, so that it is not new as well.
func (c *comparison) take(s sentence) {
	if c.taken == nil {
		c.taken = map[string]bool{}
	}
	c.taken[s.DocumentID+" "+forms(s.text)] = true
}

// compareNew adds a sentence that is cited now and was not there before. A sentence that stood in its document before
// could have been cited before: it is no news.
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
	for _, old := range c.before.Citations { // the same words, in a document that was there
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

// citeAfter has the side of a difference that is now open its source at the words: the answer cites them.
func (c *comparison) citeAfter(s sentence) {
	for _, d := range c.changed {
		if d.DocumentID == s.DocumentID && forms(d.After.Quote) == forms(s.text) {
			d.After.URL, d.After.Place = s.URL, s.PlaceWords()
		}
	}
}

// pairMoved makes pairs of what is gone from one document and new in another. Each new sentence is used once. A pair
// with the same words is no difference: the sentence moved.
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
