package offline

import (
	"slices"
	"strings"
	"sync"

	"footnote/corpus/text"
)

// alike are groups of words with nearly one meaning. They are few on purpose: each group lets a sentence answer a
// question that it does not name, so a group belongs here only if its words may stand for each other in most
// documents.
var alike = [][]string{
	{"cost", "price", "fee", "charge", "amount"}, {"buy", "purchase", "acquire"}, {"car", "vehicle", "automobile"},
	{"begin", "start", "commence"},
	{"end", "finish", "terminate", "expire"}, {"boss", "manager", "head", "director", "leader"},
	{"employee", "staff", "worker", "personnel"},
	{"holiday", "vacation", "leave"}, {"salary", "pay", "wage", "compensation"}, {"fix", "repair", "mend"},
	{"broken", "damaged", "defective", "faulty"},
	{"guarantee", "warranty"}, {"contract", "agreement"}, {"cancel", "terminate", "withdraw"},
	{"cancel", "stop", "abort"}, {"delete", "remove", "erase"},
	{"install", "setup"}, {"allow", "permit"}, {"forbid", "prohibit", "ban"}, {"size", "dimension", "area"},
	{"flat", "apartment"},
	{"house", "home"}, {"remote", "home", "telework"}, {"ill", "sick", "sickness", "illness", "disease"},
	{"help", "support", "assistance"},
	{"big", "large"}, {"customer", "client"}, {"supplier", "vendor", "provider"}, {"phone", "telephone"},
	{"mail", "email"}, {"address", "location"},
	{"owner", "landlord", "proprietor"}, {"reason", "cause", "because"}, {"advantage", "benefit"},
	{"founded", "established"},
	{"refund", "reimbursement", "repayment"}, {"duration", "length", "period"}, {"deadline", "due"},
	{"due", "payable"}, {"author", "written"},
	{"rent", "lease"}, {"limit", "maximum"}, {"minimum", "least"}, {"delay", "late"}, {"invoice", "bill"},
	{"create", "produce"}, {"build", "construct"},
	{"last", "life", "lifetime", "lifespan"}, {"password", "passphrase"}, {"backup", "copy"}, {"speed", "fast"},
	{"agree", "consent", "approve"},
	{"claim", "report", "apply"}, {"report", "notify", "inform", "tell"}, {"upload", "add", "adding", "import"},
	{"damp", "moist", "moisture", "wet"},
	{"replace", "renew", "exchange"}, {"choose", "select", "pick"}, {"exclude", "except"}, {"show", "display"},
	{"shop", "store"}, {"doctor", "physician"},
	{"twice", "duplicate"}, {"earn", "salary", "wage"}, {"send", "submit", "hand"},
	{"fail", "crash", "unreachable", "unavailable", "outage"},
}

// irregular are forms of one word that their stems do not join.
var irregular = strings.Fields(`pay,paid keep,kept leave,left hold,held build,built begin,began,begun ` +
	`write,wrote,written find,found send,sent buy,bought
	bring,brought sell,sold tell,told lose,lost break,broke,broken choose,chose,chosen grow,grew,grown catch,caught ` +
	`drive,drove,driven speak,spoke,spoken
	steal,stole,stolen wear,wore,worn win,won die,dead,death sink,sank,sunk freeze,froze,frozen teach,taught ` +
	`feed,fed fall,fell,fallen
	forget,forgot,forgotten spend,spent lend,lent know,knew,known draw,drew,drawn fly,flew,flown eat,ate,eaten ` +
	`rise,rose,risen
	lead,led stand,stood run,ran meet,met strike,struck shoot,shot swim,swam,swum sing,sang,sung sew,sewn ` +
	`ride,rode,ridden hide,hid,hidden
	leader,led builder,built maker,made seller,sold buyer,bought writer,wrote,written driver,drove,driven winner,won ` +
	`teacher,taught holder,held
	keeper,kept add,added,adding man,men woman,women child,children foot,feet tooth,teeth`)

// light are words that a question needs more than its answer does: it says "get" where the answer says "is entitled
// to". They add to a sentence's worth, but hardly count where they are missing.
var light = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for _, word := range strings.Fields(`get give take make do go come need use put let have become look like thing ` +
		`people person everyone everybody someone
		anyone kind type sort way manner company firm place part possible permit permitted allow allowed require ` +
		`required necessary able must current
		currently exist missing lack new big large other whole total made done taken given used exactly usually ` +
		`normally same file files document documents
		human several certain
		haben machen geben nehmen brauchen benutzen können müssen dürfen
		avoir donner prendre faut peut hacer tomar`) {
		for _, term := range text.QueryTerms(word, []string{"en", "de", "fr", "es"}) {
			m[term] = true
		}
	}
	return m
})

// table finds words by a stem of any of a group.
func table(groups [][]string) map[string][]string {
	m := map[string][]string{}
	for _, group := range groups {
		for _, word := range group {
			for _, stem := range text.Terms(word, "en") {
				for _, other := range group {
					if other != word && !slices.Contains(m[stem], other) {
						m[stem] = append(m[stem], other)
					}
				}
			}
		}
	}
	return m
}

var (
	alikeByStem = sync.OnceValue(func() map[string][]string { return table(alike) })
	formsByStem = sync.OnceValue(func() map[string][]string {
		var groups [][]string
		for _, group := range irregular {
			groups = append(groups, strings.Split(group, ","))
		}
		return table(groups)
	})
)

// compound finds the German words that are joined by an s after a common ending.
var compound = lazily(`(?i)^(\p{L}+(?:ung|heit|keit|schaft|tät|ion|tum))s(\p{L}{3,})$`)

// synonyms returns words that mean nearly the same as a word, and the parts of a compound.
func synonyms(w text.Word) []string {
	out := lookUp(alikeByStem(), w.Terms)
	if m := compound().FindStringSubmatch(w.Text); m != nil {
		out = append(out, m[1], m[2])
	}
	return out
}

// otherForms returns the irregular forms of a word.
func otherForms(w text.Word) []string { return lookUp(formsByStem(), w.Terms) }

func lookUp(m map[string][]string, terms []string) []string {
	var out []string
	for _, term := range terms {
		for _, word := range m[term] {
			if !slices.Contains(out, word) {
				out = append(out, word)
			}
		}
	}
	return out
}

// stems returns the terms under which the words may have been found.
func stems(words []string, langs []string) []string {
	var out []string
	for _, word := range words {
		out = append(out, text.QueryTerms(word, langs)...)
	}
	return out
}

// endings make a word of another one: report, reporter; rent, rental; pay, payable. As they are left by the stemmer.
var endings = func() map[string]bool {
	m := map[string]bool{}
	for _, e := range strings.Fields(
		`er or abl ibl ment ation ion al anc enc ing ag age ist ant ent ness ship ful ung`,
	) {
		m[e] = true
	}
	return m
}()

// kin reports whether one stem is made of the other by an ending.
func kin(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) < 3 || len(a) == len(b) || !strings.HasPrefix(b, a) {
		return false
	}
	rest := b[len(a):]
	return len(a) >= 4 && endings[rest] || rest == "abl" || rest == "ment" ||
		len(a) >= 6 && (rest == "i" || rest == "y")
}

// joined reports whether a stem is a part of a German compound, or of the participle of its verb.
func joined(stem, term string) bool {
	if term == "ge"+stem { // prüft, geprüft
		return true
	}
	return len(stem) >= 5 && len(term) >= len(stem)+3 &&
		(strings.HasPrefix(term, stem) || strings.HasSuffix(term, stem))
}
