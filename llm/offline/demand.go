package offline

import (
	"slices"
	"strings"

	"footnote/corpus/text"
)

// demand is what a sentence must have to answer a question at all: an amount of money, a number, a time, a colour, a
// name.
type demand struct {
	form    pattern // nil: nothing
	stands  pattern // words of the question that the form stands for, so that the answer need not have them
	counted string  // "how many X": X, which must be counted in the sentence
	name    bool    // a name that is not in the question
	person  bool    // somebody: a name or what people are called by what they do
	figure  bool    // how many, how much or how large
	reason  bool    // why something is so: what says that it is not so needs to give the reason
}

const (
	numberWords = `one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|` +
		`seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|` +
		`dozen|half|` +
		`eine?[nmrs]?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|zwanzig|dreißig|hundert|tausend|` +
		`une?|deux|trois|quatre|cinq|sept|huit|neuf|dix|onze|douze|quinze|vingt|trente|quarante|cinquante|soixante|` +
		`cent|mille|demi|` +
		`un[oa]?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|doce|quince|veinte|treinta|cien|mil`
	numberSign = `\d|[一二三四五六七八九十百千万零]`
	timeUnits  = `seconds?|minutes?|hours?|days?|weeks?|months?|years?|decades?|nights?|sekunden?|minuten?|` +
		`stunden?|tagen?|tage?s?|wochen?|monate?n?|jahre?n?|secondes?|heures?|jours?|semaines?|mois|ans?|années?|` +
		`segundos?|minutos?|horas?|días?|meses|mes|años?`
	measures = `bytes?|[kmgt]i?b|(?:kilo|mega|giga)bytes?|(?:kilo|centi|milli)?met(?:re|er)s?|km|cm|mm|m²|feet|` +
		`foot|ft|inch(?:es)?|yards?|miles?|acres?|hectares?|square|cubic|(?:kilo)?gram(?:me)?s?|kg|tons?|tonnes?|` +
		`pounds?|lit(?:re|er)s?|degrees?|knots?|percent|per|times|stor(?:ey|ie)s?|floors?|rooms?|pages?|people|` +
		`persons?|members?|employees?|grad|meter\w*|kilo\w*|tonnen|liter|prozent|personen|etagen`
	calendar = `(?i)\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may \d+|\d+ may|may ` +
		`(?:1\d|20)\d\d|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|januar|` +
		`februar|märz|mai|juni|juli|oktober|dezember|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|` +
		`novembre|décembre|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|` +
		`diciembre)\b|\b(?:1\d|20)\d\d-\d\d|\b\d{1,2}[./]\d{1,2}[./]|[月日]|(?:января|февраля|марта|апреля|мая|июня|` +
		`июля|августа|сентября|октября|ноября|декабря)`
	measureAsked = `\bhow (?:far|tall|high|wide|large|big|deep|heavy|fast|hot|cold)\b|\bwie ` +
		`?(?:hoch|groß|weit|tief|schwer|schnell|breit)\b|何(?:メートル|キロ)`
	numberAsked = `\bhow (?:many|much)\b|\bwie ?viele?\b|\bcombien\b|\bcuánt[oa]s?\b|何(?:人|個|年|回)|多少`
	begins      = `(?i)^(?:and |but |so |und |et |y |,)*`
)

// demands are tried in order; the first whose question fits is taken.
var demands = []struct{ question, stands, form pattern }{
	{ // money
		lazily(
			`(?i)\bhow (?:much|expensive)\b.*\b(?:costs?|charged?|pays?|paid|price|fee|spend|expensive)\b|^(?:and ` +
				`)?(?:what|which)\b[^,]*\b(?:price|costs?|fee|charge)\b|\bwie ?viel kostet|\bwas kostet|\bwie ` +
				`teuer|\bcombien coûte|\bprix d|\bcuánto cuesta|\bprecio d|\bсколько стоит|いくら|費|多少钱`,
		),
		lazily(`(?i)^(?:costs?|price|fee|charge|expensive|spend|kostet|teuer|coûtent?|prix|cuestan?|precio|стоит)$`),
		lazily(
			`(?i)[$€£¥]|\b(?:eur|usd|gbp|euros?|dollars?|pounds?|pence|cents?|francs?|yen)\b|\d\s?(?:円|元|руб)|рубл|` +
				`[万千百十]円|\bfree\b|\bno charge\b|\bkostenlos|\bgratuit|\bgratis|\bcost`,
		)},
	{ // how long a ship is: a name has a length, not a duration
		lazily(begins + `how long (?:is|was|are|were) (?-i:(?:the )?\p{Lu}[\p{L}'-]+)\s*\?*$`), nil,
		lazily(`(?i)\d\s?-?(?:metres?|meters?|feet|foot|ft|km|kilomet\w+|miles?|inch\w*|yards?|m|cm)\b`)},
	{ // duration
		lazily(`(?i)\bhow long\b|\bwie lange\b|\bcombien de temps\b|\bcuánto tiempo\b`),
		lazily(`(?i)^(?:temps|tiempo|lange?)$`),
		lazily(`(?i)(?:\d|\b(?:` + numberWords + `|an?|several|few|some|mehrere))[\s-]+(?:[\p{L}-]+\s)?(?:` +
			timeUnits +
			`)\b|\bdemi-heure|\buntil\b|\bforever\b|\bpermanent|\bindefinite|\bunlimited\b|\bbis\b|\bjusqu|\bhasta\b|` +
			`\bfor (?:good|life|ever)\b|\b(?:1\d|20)\d\d\b.*\b(?:1\d|20)\d\d\b`)},
	{ // frequency
		lazily(`(?i)\bhow often\b|\bhow frequently\b|\bwie oft\b|\bcombien de fois\b|\bcuántas veces\b`),
		lazily(`(?i)^(?:often|frequently|fois|veces)$`),
		lazily(`(?i)` + numberSign + `|\b(?:` + numberWords +
			`|once|twice|daily|weekly|monthly|yearly|annual\w*|each|every|always|never|regular\w*|times?|alle|` +
			`jede\w*|einmal|zweimal|täglich|wöchentlich|monatlich|jährlich|nie|immer|chaque|tous|toutes|fois|jamais|` +
			`cada|vez|veces|nunca)\b`)},
	{ // a measure: a number alone may count something else
		lazily(`(?i)` + measureAsked),
		lazily(
			`(?i)^(?:far|tall|high|wide|large|big|deep|heavy|fast|hot|cold|hoch|groß|weit|tief|schwer|schnell|breit)$`,
		),
		lazily(`(?i)\d[\d.,]*\s?-?[\p{L}%°²€$£¥]|[一二三四五六七八九十百千万]|\b(?:` + numberWords + `)[\s-]+(?:[\p{L}-]+\s)?(?:` +
			measures + `)\b|\bunlimited\b|\bno limit\b`)},
	{ // a number
		lazily(`(?i)` + numberAsked), nil,
		lazily(`(?i)` + numberSign + `|\b(?:` + numberWords +
			`|once|twice|an?|no|none|nobody|all|every|each|unlimited|any|kein\w*|alle|aucune?|ningun\w*)\b`)},
	{ // a version
		lazily(`(?i)\b(?:what|which)\b[^,]*\bversions?\b|\bwelche version\b|\bquelle version\b`),
		lazily(`(?i)^versions?$`),
		lazily(`(?i)` + numberSign + `|\bversions?\b`)},
	{ // age
		lazily(`(?i)\bhow old\b|\bwie alt\b|\bquel âge\b`), lazily(`(?i)^(?:old|alt|âge)$`),
		lazily(
			`(?i)\b(?:1\d|20)\d\d\b|\b(?:years?|months?|weeks?|days?|ans|jahre?) ?(?:old|alt)?\b|\baged?\b|\bborn\b`,
		)},
	{ // a year
		lazily(`(?i)\b(?:what|which) years?\b|\bwelche[mns]? jahr|\bquelle année|\b(?:qué|cuál) año|何年[にのか]|哪一?年|哪年`),
		lazily(`(?i)^(?:years?|jahre?|année|año|年)$`),
		lazily(`\b(?:1\d|20)\d\d\b|年`)},
	{ // a month or a day of the calendar
		lazily(
			`(?i)\b(?:what|which) (?:date|month)s?\b|\bwelche[mnsr]? (?:monat|datum)|\b(?:quel mois|quelle ` +
				`date)\b|\bqué (?:mes|fecha)\b`,
		),
		lazily(`(?i)^(?:dates?|months?|datum|monat|mois|mes|fecha)$`),
		lazily(calendar)},
	{ // when something was, not when it is
		lazily(begins + `(?:(?:since|until|till|by|from) )?when (?:was|were|did|had)\b`), nil,
		lazily(calendar +
			`|(?i)\b(?:1\d|20)\d\d\b|\d:\d\d|\b(?:ago|yesterday|before|after|during|while|as soon ` +
			`as|spring|summer|autumn|winter|century|noon|midnight|morning|evening|\p{L}+day|(?:the|same|next|` +
			`following|previous|last|first|that|this) (?:day|week|month|year))\b`)},
	{ // a time
		lazily(begins +
			`(?:(?:since|until|till|by|from) )?when\b|\b(?:what|which) ` +
			`(?:year|date|day|month|time)\b|\b(?:seit|bis|ab)? ?wann\b|\bquand\b|\bcuándo\b|いつ|什么时候|何時`),
		lazily(`(?i)^(?:year|date|time)$`),
		lazily(`(?i)` + numberSign +
			`|[年月日時时]|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b|day\b|\b(?:weeks?|months?|years?|` +
			`spring|summer|autumn|winter|morning|evening|noon|night|daily|before|after|as soon ` +
			`as|once|until|till|from|when|whenever|while|during|if|immediately|at ` +
			`once|now|today|first|last|never|always|later|then)\b|tags?\b|\b(?:montag|dienstag|mittwoch|donnerstag|` +
			`freitag|samstag|sonntag|januar|februar|märz|april|mai|juni|juli|august|oktober|dezember|woche|jahr|` +
			`monat|vor|nach|bis|ab|sobald|wenn|sofort|janvier|février|mars|avril|juin|juillet|août|avant|après|dès|` +
			`jusqu|pendant|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|enero|febrero|marzo|abril|mayo|junio|` +
			`julio|agosto|septiembre|octubre|noviembre|diciembre|antes|después|hasta|lunes|martes|miércoles|jueves|` +
			`viernes|sábado|domingo)\b`)},
	{ // a place
		lazily(begins + `(?:in|from|to|at|near) (?:which|what) (?:city|town|village|country|harbour|port|street)\b`),
		lazily(`(?i)^(?:city|town|village|country|harbour|port|street)$`),
		lazily(`(?i:\b(?:in|at|from|near|to|of|off|reach\w*|le(?:ft|aves?)|visit\w*))\s+(?:the )?\p{Lu}`)},
	{ // a colour
		lazily(`(?i)\b(?:what|which) colou?rs?\b|\bcolou?r of\b|\bwelche farbe|\bquelle couleur|\bqué color|何色|什么颜色`),
		lazily(`(?i)^(?:colou?rs?|farbe|couleur|何?色)$`),
		lazily(
			`(?i)\b(?:red|green|blue|yellow|white|black|grey|gray|brown|orange|purple|pink|beige|cream|gold|silver|` +
				`rot|grün|blau|gelb|weiß|schwarz|grau|braun|rouge|verte?|bleue?|jaune|blanc|blanche|noire?|grise?|` +
				`brune?|rojo|verde|azul|amarillo|blanco|negro|gris)\b|[赤青緑绿黄白黒黑灰茶红]色?`,
		)},
}

var (
	asksFigure  = lazily(`(?i)` + measureAsked + `|` + numberAsked)
	countedNoun = lazily(
		`(?i)\b(?:how (?:many|much)|number of|combien d(?:e |['’])|cuánt[oa]s|wie ?viele) ?(\p{L}[\p{L}'-]*)`,
	)
	// after "how much"
	noCount = lazily(
		`(?i)^(?:is|are|was|were|do|does|did|has|have|had|can|could|may|might|must|shall|should|will|would|of|the|` +
			`an?|it|in|at|for|to|per|time|money|more|less|longer|later|earlier|higher|lower)$`,
	)
	wantsName = lazily(
		`(?i)\bnames? of\b|\b(?:what|how) (?:is|are|was|were)\b.*\bcalled\b|\bwie ` +
			`(?:heißt|hieß)\b|\bs'appelle|\bcómo se llama|名前|叫什么`,
	)
	nameWord    = lazily(`(?i)^(?:names?|called|heißt|hieß|appelle|llama)$`)
	properName  = lazily("[\\p{L},;:)(]\\s+[(\"“„«`]?(\\p{Lu}[\\p{L}\\d'’.-]+)|[\"“„«`](\\p{L}[^\"”“»`]+)[\"”“»`]")
	wantsPerson = lazily(begins +
		`(?:(?:from |to |by |for |with )?who(?:m|se)?|(?:von |an |bei |mit |für )?we(?:r|n|m|ssen)|(?:à |de |par ` +
		`|pour )?qui|¿? ?(?:a |de |por |para )?quién(?:es)?)\b`)
	people = lazily(
		`(?i)\b(?:i|you|we|he|she|they|them|one ` +
			`(?:may|can|must|should|has)|anyone|anybody|everyone|everybody|nobody|somebody|someone|people|persons?|` +
			`users?|readers?|members?|staff|crew|team|department|company|firm|office|employees?|employers?|workers?|` +
			`managers?|directors?|owners?|tenants?|landlords?|customers?|clients?|suppliers?|contractors?|makers?|` +
			`manufacturers?|engineers?|inspectors?|surveyors?|doctors?|captain|president|chair\w*|head|authors?|` +
			`founders?|teachers?|students?|children|parents?|lawyers?|agents?|administrators?|officers?|guests?|` +
			`neighbou?rs?|partners?|board|court|police|bank|council|ministry|authority|insurer|ltd|inc|gmbh)\b`,
	)
	leute = lazily(
		`(?i)\b(?:sie|wir|ich|man|jede[rm]?|niemand|herrn?|frau|familie|\p{L}*(?:person(?:en)?|leute|mitarbeiter\p{L}` +
			`*|betriebe?s?|firma|hersteller\p{L}*|händler\p{L}*|kunden?|käufer\p{L}*|mieter\p{L}*|eigentümer\p{L}*|` +
			`besitzer\p{L}*|verwalt(?:er|ung)\p{L}*|meister\p{L}*|handwerker\p{L}*|monteur\p{L}*|installateur\p{L}*|` +
			`techniker\p{L}*|ingenieur\p{L}*|arzt|ärzt\p{L}*|leiter\p{L}*|chef\p{L}*|vorstand|behörde|gericht|` +
			`versicherung|polizei|präsident\p{L}*|autor\p{L}*))\b`,
	)
	gens = lazily(
		`(?i)\b(?:personne|locataires?|propriétaires?|employée?s?|directeur|directrice|médecin|maire|auteur|` +
			`sociét[ée]|entreprise|client\w*|vecin\w*|empresa|inquilin\w*|propietari\w*|emplead\w*|directora?s?|` +
			`presidenta|médic\w*|autora?s?|alcalde\w*)\b`,
	)
	german   = lazily(begins + `(?:(?:von |an |bei |mit |für )?we(?:r|n|m|ssen)|wie (?:heißt|hieß))\b`)
	fullName = lazily(`(\p{Lu}\p{Ll}+) \p{Lu}\p{Ll}+`)
	opener   = lazily(
		`^(?:De[rnms]|Die|Das|Eine?[nmrs]?|Keine?[nmrs]?|Im|In|Am|An|Auf|Bei|Mit|Nach|Vor|Zu[mr]?|Für|Von|Vom|Aus|Ab|` +
			`Bis|Jede[rnms]?|Diese[rnms]?|Alle|Ihre?|Seine?|Wenn|Als|Ist|Sind)$`,
	)
	wholeName   = lazily(`^\p{Lu}[\p{Ll}'-]+ \p{Lu}\p{Ll}+`)
	wantsReason = lazily(begins + `why\b`)
	negation    = lazily(`(?i)\b(?:not|never|no|cannot|without)\b|n['’]t\b`)
	givesReason = lazily(
		`(?i)\b(?:because|since|caus\w+|due to|so that|in order to|reasons?|therefore|as a result|owing to|to ` +
			`(?:avoid|prevent|protect|keep|ensure))\b`,
	)
	number = lazily(`\d[\d.,]*`)
)

func demanded(question string) demand {
	var d demand
	for _, known := range demands {
		if known.question().MatchString(question) {
			d.form, d.stands = known.form, known.stands
			break
		}
	}
	if m := countedNoun().FindStringSubmatch(question); m != nil && !noCount().MatchString(m[1]) {
		d.counted = m[1]
	}
	if wantsName().MatchString(question) && d.form == nil {
		d.name, d.stands = true, nameWord
	}
	d.figure = asksFigure().MatchString(question)
	d.person, d.reason = wantsPerson().MatchString(question), wantsReason().MatchString(question)
	return d
}

// met reports whether a sentence has what is demanded; numbers and names that the question itself has say nothing.
func (d demand) met(sentence, question string) bool {
	if d.form != nil && !d.form().MatchString(withoutNumbersOf(question, sentence)) {
		return false
	}
	if d.reason && negation().MatchString(sentence) != negation().MatchString(question) &&
		!givesReason().MatchString(sentence) {
		return false
	}
	switch {
	case !d.person && !d.name, d.person && people().MatchString(sentence):
		return true
	case german().MatchString(question): // every noun looks like a name
		return d.person && leute().MatchString(sentence) ||
			slices.ContainsFunc(fullName().FindAllStringSubmatch(sentence, -1), func(m []string) bool {
				return !opener().MatchString(m[1])
			})
	case d.person && (wholeName().MatchString(sentence) || gens().MatchString(sentence)):
		return true
	}
	return slices.ContainsFunc(properName().FindAllStringSubmatch(sentence, -1), func(m []string) bool {
		return !strings.Contains(question, strings.Trim(m[1]+m[2], "."))
	})
}

// fact reports whether a figure, a date, a person or a name is asked for.
func (d demand) fact() bool { return d.form != nil || d.person || d.name }

// anchored reports whether a sentence that has the fact asked for is about the subject: a word of the question that
// is neither counted nor stands for the fact is in the sentence, its headings or the sentence before. Its passage
// alone is not enough.
func anchored(c candidate, words []word, want demand) bool {
	if !want.fact() {
		return true
	}
	asked := false
	for k, w := range words {
		if w.light || w.need == 0 || w.gram != "" || want.counted != "" && w.typed == want.counted {
			continue
		}
		if max(c.has[k], c.near[k], c.before[k]) > 0 {
			return true
		}
		asked = true
	}
	return !asked
}

func withoutNumbersOf(question, sentence string) string {
	for _, n := range number().FindAllString(question, -1) {
		sentence = strings.ReplaceAll(sentence, n, "")
	}
	return sentence
}

// counts reports whether a number stands beside a word of a sentence.
func counts(sentence string, w word, analyser *text.Analyser) bool {
	fields := strings.Fields(sentence)
	for i, field := range fields {
		if w.in(termSet(analyser, field)) == 0 {
			continue
		}
		from, to := i, i+1
		for from > max(0, i-4) && !endsClause(fields[from-1]) {
			from--
		}
		for to < min(len(fields), i+4) && !endsClause(fields[to-1]) {
			to++
		}
		if countWord().MatchString(strings.Join(fields[from:to], " ")) {
			return true
		}
	}
	return false
}

// endsClause reports whether what comes after a word is about something else, such as the next cell of a table.
func endsClause(field string) bool { return strings.HasSuffix(field, ";") || field == "|" }

var countWord = lazily(`(?i)` + numberSign + `|(?:^|[^\p{L}])(?:` + numberWords +
	`|once|twice|an?|no|none|unlimited|kein\w*)(?:$|[^\p{L}])`)
