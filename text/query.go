package text

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Word is a content word of a question, or a bigram of one, with the terms it may have been indexed under. Terms are
// alternatives: a passage has the word if it has one of them.
type Word struct {
	Text  string // as typed
	Terms []string
	Gram  bool // a bigram of a script without spaces
}

// QueryWords returns the content words of a question. Stop words of the question's language are dropped unless nothing
// else is left. langs are the languages (ISO 639-1) that documents were analysed in: each word has a term for each of
// them and its plain form. A word that is typed twice counts once. A question of stop words alone, such as "who is
// who", keeps them.
func QueryWords(q string, langs []string) []Word {
	var all []Word
	var lowers []string
	seen := make(map[string]bool)
	add := func(typed, lower string, gram bool) {
		if lower != "" && !seen[lower] && len(all) < maxReadWords {
			seen[lower] = true
			all, lowers = append(all, Word{Text: typed, Gram: gram}), append(lowers, lower)
		}
	}
	scanTokens(q, func(t token) bool {
		raw := q[t.start:t.end]
		switch {
		case t.grams:
			eachGram(raw, func(g string, from, to int) { add(raw[from:to], g, true) })
		case t.beside && isElision(raw):
		default:
			add(raw, cleanToken(cutToken(raw)), false)
		}
		return len(all) < maxReadWords
	})
	stop := stopsOf(lowers, langs)
	words := all[:0:0]
	for i, w := range all {
		if len(words) < maxQueryWords && !stop(lowers[i], w.Gram) {
			w.Terms = termVariants(lowers[i], w.Gram, langs)
			words = append(words, w)
		}
	}
	if len(words) > 0 {
		return words
	}
	all = all[:min(len(all), maxQueryWords)]
	for i := range all {
		all[i].Terms = termVariants(lowers[i], all[i].Gram, langs)
	}
	return all
}

// Bounds of what is searched for of a pasted text: of its different words, and of those that are no stop words.
const (
	maxReadWords  = 1000
	maxQueryWords = 64
)

// QueryTerms returns the terms of QueryWords, each once.
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

// stopsOf picks the language that most of the words are stop words of and returns its test. English wins a draw, then
// the order of langs. The question's language need not be that of the documents: langs may be many, and the question is
// short.
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

// termVariants returns every term that a cleaned word may have been indexed under. German has one more for words that
// were typed with "ae" for "ä".
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

// umlauts reads the spelling of keyboards without umlauts.
var umlauts = strings.NewReplacer("ae", "ä", "oe", "ö", "ue", "ü")

// Phrases returns the texts in double quotes ("…", “…”, „…“, «…»), without empty ones. Any two of these signs belong
// together, since keyboards mix them; one that is left open is passed over.
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

// plainGram brings a bigram to its plain form: full-width katakana for half-width, composed syllables for parts.
func plainGram(g string) string {
	if norm.NFKC.IsNormalString(g) {
		return g
	}
	return cleanToken(g)
}

// Analyser makes terms of texts in one language. It remembers the stems of the words it met, which makes it fast on the
// passages of one document. It is not safe for concurrent use. Texts of a document repeat their words, and stemming is
// the most expensive step.
type Analyser struct {
	lang  language
	stems map[string]string
}

// maxStems bounds an Analyser's memory to a few megabytes. When they are full, all are forgotten: counting which were
// used would cost more than stemming again.
const maxStems = 1 << 15

// NewAnalyser returns an analyser for a language (ISO 639-1). Words of a language without a stemmer are only folded.
func NewAnalyser(lang string) *Analyser {
	l, _ := languageOf(lang)
	return &Analyser{lang: l, stems: make(map[string]string)}
}

// Terms returns the terms of s in order: words in lower case, folded and stemmed, and the bigrams of runs of scripts
// that are written without spaces. A term has letters, marks, numbers, "_" and "." only, never a space, and at most
// about 100 bytes. Positions in the result are what phrases are searched by, for which reason stop words stay.
func (a *Analyser) Terms(s string) []string {
	out := make([]string, 0, len(s)/6+1)
	a.eachTerm(s, func(term string, _, _ int) { out = append(out, term) })
	return out
}

// Line returns the terms of s separated by spaces. That is the form in which indexes take it, and in which terms can't
// be mistaken for each other.
func (a *Analyser) Line(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	a.eachTerm(s, func(term string, _, _ int) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(term)
	})
	return b.String()
}

// Span is a term with its place in the text, in runes.
type Span struct {
	Term       string
	Start, End int
}

// Spans returns the terms of s with their places, in order. The spans of bigrams overlap. A snippet's marks are drawn
// there.
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

// cachedTerm is the term of a word, from memory if it was met before.
func (a *Analyser) cachedTerm(raw string) string {
	if t, ok := a.stems[raw]; ok {
		return t
	}
	if len(a.stems) >= maxStems {
		clear(a.stems)
	}
	t := a.lang.termOf(cleanToken(raw))
	a.stems[strings.Clone(raw)] = t // not a part of s, which may be large
	return t
}

// isElision reports whether a piece beside an apostrophe is an elision or an ending: l', qu', 's, 't, 'll.
func isElision(piece string) bool { return len(piece) <= 2 }

// eachGram calls add with each pair of neighbouring runes of a run and its byte range, or with a run of one rune as it
// is.
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

// Terms returns the terms of s in the language, as Analyser.Terms does. For more than one text an Analyser is faster.
func Terms(s, lang string) []string { return NewAnalyser(lang).Terms(s) }

// idleAnalysers is how many analysers of a language wait to be used again.
const idleAnalysers = 2

// maxLanguages bounds how many languages they wait for.
const maxLanguages = 16

// Analysers lends analysers out, so that the same words are not stemmed again. The zero value is ready, and it is safe
// for concurrent use. A server has one for all its requests. Nobody has to put an analyser back.
type Analysers struct {
	mu   sync.Mutex
	idle map[string][]*Analyser
}

// Get returns an analyser of a language that nobody else uses until it is put back.
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

// Put gives an analyser back to be lent again, or leaves it to the collector when enough of them wait.
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

// Fold returns s in lower case, without diacritics on Latin and Greek letters, with compatibility forms (ﬁ, Ａ, ①)
// replaced by their plain ones. Offsets do not carry over. It compares what people type with what is written, and is
// also what terms end in.
func Fold(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return foldLower(strings.ToLower(norm.NFKC.String(s)))
}

// isASCII reports whether nothing has to be folded but capitals.
func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// foldLower removes the diacritics of a text in lower case. Marks of other scripts stay: in Hindi or Thai they are
// vowels.
func foldLower(s string) string {
	if isASCII(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	folding := false // the base letter before is one whose marks go
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

// strokes are letters whose marks Unicode does not take apart.
var strokes = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ð': "d", 'þ': "th", 'ł': "l", 'ı': "i", 'ħ': "h", 'ŋ': "n",
	'ŧ': "t", 'ς': "σ",
}

// cleanToken brings a token to lower case and its plain form, without what may not stand in a term.
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

// inTerm reports whether a rune may stand in a term. Stores rely on it: no term has a space or a sign of their own.
func inTerm(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || r == '_' || r == '.'
}

// plainNumber writes 1,000 as 1000 and 3,5 as 3.5. What follows the last comma are decimals if it is shorter than three
// digits.
func plainNumber(t string) string {
	if i := strings.LastIndexByte(t, ','); i >= 0 && len(t)-i-1 < 3 {
		return strings.ReplaceAll(t[:i], ",", "") + "." + t[i+1:]
	}
	return strings.ReplaceAll(t, ",", "")
}

// cutToken shortens a token to maxToken bytes at a rune's edge.
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
