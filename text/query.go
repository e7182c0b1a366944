package text

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Word is a content word of a query, or a bigram, with its possible index terms. The terms are alternatives: one of
// them is a match.
type Word struct {
	Text  string // as typed
	Terms []string
	Gram  bool // a bigram of a script without spaces
}

// QueryWords returns the content words of a query. It drops stop words of the query's language, unless the query
// has no other words, such as "who is who". langs are the languages (ISO 639-1) in which documents were analysed.
// Each word has its plain form, a term for each of these languages, and those of its identifiers (Identifiers).
// Repeated words are deduplicated.
func QueryWords(q string, langs []string) []Word {
	var all []Word
	var lowers []string
	var places []int // byte offsets
	seen := make(map[string]bool)
	add := func(typed, lower string, gram bool, at int) {
		if lower != "" && !seen[lower] && len(all) < maxReadWords {
			seen[lower] = true
			all, lowers = append(all, Word{Text: typed, Gram: gram}), append(lowers, lower)
			places = append(places, at)
		}
	}
	scanTokens(q, func(t token) bool {
		raw := q[t.start:t.end]
		switch {
		case t.grams:
			eachGram(raw, func(g string, from, to int) { add(raw[from:to], g, true, t.start) })
		case t.beside && isElision(raw):
		default:
			add(raw, cleanToken(cutToken(raw)), false, t.start)
		}
		return len(all) < maxReadWords
	})
	// Each word of an identifier is found by the whole of it, however it is written.
	joined := make(map[int][]string)
	identifiers(q, true, func(term string, start, end int) {
		for i, at := range places {
			if at >= start && at < end {
				joined[i] = append(joined[i], term)
			}
		}
	})
	stop := stopsOf(lowers, langs)
	words := all[:0:0]
	for i, w := range all {
		if len(words) < maxQueryWords && !stop(lowers[i], w.Gram) {
			w.Terms = append(termVariants(lowers[i], w.Gram, langs), joined[i]...)
			words = append(words, w)
		}
	}
	if len(words) > 0 {
		return words
	}
	all = all[:min(len(all), maxQueryWords)]
	for i := range all {
		all[i].Terms = append(termVariants(lowers[i], all[i].Gram, langs), joined[i]...)
	}
	return all
}

// Limits for a pasted text: its distinct words, and those that are not stop words.
const (
	maxReadWords  = 1000
	maxQueryWords = 64
)

// QueryTerms returns the distinct terms of QueryWords.
func QueryTerms(q string, langs []string) []string {
	var out []string
	for _, w := range QueryWords(q, langs) {
		for _, t := range w.Terms {
			if !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	return out
}

// stopsOf returns the stop word test of the language with the most stop words among lowers. Ties go to English,
// then to the order of langs. The query's language may differ from the documents': langs may be many, and the query
// is short.
func stopsOf(lowers, langs []string) func(lower string, gram bool) bool {
	best, most := "en", 0
	for _, lang := range append([]string{"en"}, langs...) {
		l, ok := languageOf(lang)
		if !ok {
			continue
		}
		n := 0
		for _, w := range lowers {
			if l.isStop(w, lang) {
				n++
			}
		}
		if n > most {
			best, most = lang, n
		}
	}
	l, _ := languageOf(best)
	return func(lower string, gram bool) bool {
		if gram {
			return stopGram(lower)
		}
		return l.isStop(lower, best)
	}
}

// termVariants returns the possible index terms of a normalised word. German adds one for words typed with "ae" for
// "ä".
func termVariants(lower string, gram bool, langs []string) []string {
	if gram {
		return []string{lower}
	}
	out := []string{foldLower(lower)}
	add := func(t string) {
		if t != "" && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	for _, lang := range langs {
		l, ok := languageOf(lang)
		if !ok {
			continue
		}
		add(l.termOf(lower))
		if lang == "de" && isStemmable(lower) {
			add(l.termOf(umlauts.Replace(lower)))
		}
	}
	return out
}

// umlauts maps the ASCII spelling of umlauts.
var umlauts = strings.NewReplacer("ae", "ä", "oe", "ö", "ue", "ü")

// Phrases returns the non-empty texts in double quotes ("…", “…”, „…“, «…»). Any two quote characters match, since
// keyboards mix them; an unclosed one is ignored.
func Phrases(q string) []string {
	var out []string
	start := -1
	for i, r := range q {
		switch r {
		case '"', '“', '”', '„', '«', '»':
			if start < 0 {
				start = i + len(string(r))
				continue
			}
			if p := strings.TrimSpace(q[start:i]); p != "" {
				out = append(out, p)
			}
			start = -1
		}
	}
	return out
}

// plainGram normalises a bigram: half-width to full-width katakana, decomposed to composed syllables.
func plainGram(g string) string {
	if norm.NFKC.IsNormalString(g) {
		return g
	}
	return cleanToken(g)
}

// Analyser produces the index terms of texts in one language. It caches stems, since the passages of a document
// repeat their words and stemming is the most expensive step. It is not safe for concurrent use.
type Analyser struct {
	lang  language
	stems map[string]string
}

// maxStems limits an Analyser's cache to a few megabytes. A full cache is cleared: tracking usage would cost more
// than stemming again.
const maxStems = 1 << 15

// NewAnalyser returns an analyser for a language (ISO 639-1). Without a stemmer for it words are only folded.
func NewAnalyser(lang string) *Analyser {
	l, _ := languageOf(lang)
	return &Analyser{lang: l, stems: make(map[string]string)}
}

// Terms returns the terms of s in order: lower-case words, folded and stemmed, and bigrams of scripts without
// spaces. A term has only letters, marks, numbers, "_" and ".", no spaces, and at most about 100 bytes. Stop words
// are included, since phrase queries use positions.
func (a *Analyser) Terms(s string) []string {
	out := make([]string, 0, len(s)/6+1)
	a.eachTerm(s, func(term string, _, _ int) { out = append(out, term) })
	return out
}

// Line returns the terms of s separated by spaces, the format for indexes. Identifiers are added at the end, where they
// do not change the positions of phrases. Indexes of earlier versions lack them.
func (a *Analyser) Line(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	a.eachTerm(s, func(term string, _, _ int) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(term)
	})
	identifiers(s, false, func(term string, _, _ int) {
		b.WriteByte(' ')
		b.WriteString(term)
	})
	return strings.TrimPrefix(b.String(), " ")
}

// Span is a term with its position in the text, in runes.
type Span struct {
	Term       string
	Start, End int
}

// Spans returns the terms of s with their positions, in order, for highlighting. The spans of bigrams overlap.
func (a *Analyser) Spans(s string) []Span {
	out := make([]Span, 0, len(s)/6+1)
	runes, bytes := 0, 0 // runes in s[:bytes]
	a.eachTerm(s, func(term string, start, end int) {
		if start >= bytes {
			runes += utf8.RuneCountInString(s[bytes:start])
		} else {
			runes -= utf8.RuneCountInString(s[start:bytes])
		}
		bytes = start
		out = append(out, Span{term, runes, runes + utf8.RuneCountInString(s[start:end])})
	})
	return out
}

// eachTerm calls add with every term and its byte range.
func (a *Analyser) eachTerm(s string, add func(term string, start, end int)) {
	scanTokens(s, func(t token) bool {
		raw := s[t.start:t.end]
		switch {
		case t.grams:
			eachGram(raw, func(g string, from, to int) {
				if g != "" {
					add(g, t.start+from, t.start+to)
				}
			})
		case t.beside && isElision(raw):
		default:
			if term := a.cachedTerm(cutToken(raw)); term != "" {
				add(term, t.start, t.end)
			}
		}
		return true
	})
}

// cachedTerm returns the term of a word, using the stem cache.
func (a *Analyser) cachedTerm(raw string) string {
	if t, ok := a.stems[raw]; ok {
		return t
	}
	if len(a.stems) >= maxStems {
		clear(a.stems)
	}
	t := a.lang.termOf(cleanToken(raw))
	a.stems[strings.Clone(raw)] = t // a copy, so that the cache does not retain s
	return t
}

// isElision reports whether a piece next to an apostrophe is an elision or an ending: l', qu', 's, 't, 'll.
func isElision(piece string) bool { return len(piece) <= 2 }

// eachGram calls add with each bigram of a run and its byte range, or with a run of one rune unchanged.
func eachGram(run string, add func(g string, from, to int)) {
	_, first := utf8.DecodeRuneInString(run)
	if first >= len(run) {
		add(plainGram(run), 0, len(run))
		return
	}
	for i, size := 0, first; i+size < len(run); {
		_, next := utf8.DecodeRuneInString(run[i+size:])
		add(plainGram(run[i:i+size+next]), i, i+size+next)
		i, size = i+size, next
	}
}

// Terms returns the terms of s in a language, see Analyser.Terms. For several texts an Analyser is faster.
func Terms(s, lang string) []string { return NewAnalyser(lang).Terms(s) }

// idleAnalysers is the number of idle analysers kept per language.
const idleAnalysers = 2

// maxLanguages is the number of languages with idle analysers.
const maxLanguages = 16

// Analysers is a pool of analysers, which keeps their stem caches. The zero value is ready to use. It is safe for
// concurrent use. Returning an analyser is optional.
type Analysers struct {
	mu   sync.Mutex
	idle map[string][]*Analyser
}

// Get returns an analyser for a language, for exclusive use until Put.
func (p *Analysers) Get(lang string) *Analyser {
	p.mu.Lock()
	defer p.mu.Unlock()
	if list := p.idle[lang]; len(list) > 0 {
		a := list[len(list)-1]
		p.idle[lang] = list[:len(list)-1]
		return a
	}
	return NewAnalyser(lang)
}

// Put returns an analyser to the pool, or drops it if the pool is full.
func (p *Analysers) Put(lang string, a *Analyser) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.idle == nil {
		p.idle = make(map[string][]*Analyser)
	}
	if n := len(p.idle[lang]); n < idleAnalysers && (n > 0 || len(p.idle) < maxLanguages) {
		p.idle[lang] = append(p.idle[lang], a)
	}
}

// Fold returns s in lower case, without diacritics on Latin and Greek letters, and with compatibility forms (ﬁ, Ａ,
// ①) normalised. Offsets change. It normalises both terms and comparisons of typed with stored text.
func Fold(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return foldLower(strings.ToLower(norm.NFKC.String(s)))
}

// isASCII reports whether s is ASCII, so that only capitals need folding.
func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// foldLower removes the diacritics of lower-case text. Combining marks of other scripts stay: in Hindi or Thai they
// are vowels.
func foldLower(s string) string {
	if isASCII(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	folding := false // the previous base letter loses its marks
	for _, r := range norm.NFD.String(s) {
		switch {
		case r < utf8.RuneSelf:
			folding = true
			b.WriteByte(byte(r))
		case r >= 0x0300 && r <= 0x036f: // combining diacritical marks
			if !folding && r != 0x0308 { // Cyrillic й keeps its breve, ё loses its dots
				b.WriteRune(r)
			}
		case r >= 0x0591 && r <= 0x05c7 && unicode.IsMark(r), r >= 0x064b && r <= 0x065f, r == 0x0670, r == 0x0640:
			// Hebrew points, Arabic vowels and the tatweel are optional in writing
		default:
			folding = unicode.In(r, unicode.Latin, unicode.Greek)
			if plain, ok := strokes[r]; ok {
				b.WriteString(plain)
			} else {
				b.WriteRune(r)
			}
		}
	}
	return norm.NFC.String(b.String())
}

// strokes are letters that Unicode does not decompose.
var strokes = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ð': "d", 'þ': "th", 'ł': "l", 'ı': "i", 'ħ': "h", 'ŋ': "n",
	'ŧ': "t", 'ς': "σ",
}

// cleanToken normalises a token: lower case, compatibility forms, and only characters of terms.
func cleanToken(t string) string {
	if isASCII(t) {
		t = strings.ToLower(t)
		if strings.IndexByte(t, ',') < 0 {
			return t
		}
		return plainNumber(t)
	}
	t = strings.ToLower(norm.NFKC.String(t))
	for _, r := range t {
		if !inTerm(r) {
			return plainNumber(strings.Map(func(r rune) rune {
				if inTerm(r) || r == ',' {
					return r
				}
				return -1
			}, t))
		}
	}
	return t
}

// inTerm reports whether a rune may occur in a term. Stores rely on it: no term has a space or their syntax
// characters.
func inTerm(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || r == '_' || r == '.'
}

// plainNumber normalises 1,000 to 1000 and 3,5 to 3.5. After the last comma, fewer than three digits are decimals.
func plainNumber(t string) string {
	if i := strings.LastIndexByte(t, ','); i >= 0 && len(t)-i-1 < 3 {
		return strings.ReplaceAll(t[:i], ",", "") + "." + t[i+1:]
	}
	return strings.ReplaceAll(t, ",", "")
}

// cutToken truncates a token to maxToken bytes at a rune boundary.
func cutToken(t string) string {
	if len(t) <= maxToken {
		return t
	}
	n := maxToken
	for n > 0 && !utf8.RuneStart(t[n]) {
		n--
	}
	return t[:n]
}
