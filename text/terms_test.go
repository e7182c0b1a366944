package text_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/text"
)

func TestTerms(t *testing.T) {
	for _, tt := range []struct {
		name, in, lang string
		want           string // separated by spaces
	}{
		{"case and endings go in English", "The Roofs were Leaking", "en", "the roof were leak"},
		{"error codes, names and versions stay whole", "E1234 in foo_bar, v2.1 of 3.14", "en",
			"e1234 in foo_bar v2.1 of 3.14"},
		{"a thousands comma does not split a number", "cost 1,250,000 or 1,000.", "en", "cost 1250000 or 1000"},
		{"a decimal comma is a point", "3,5 kg", "de", "3.5 kg"},
		{"numbers in a list stay apart", "1, 2,3,4", "en", "1 2 3 4"},
		{"elisions and endings beside an apostrophe go", "l'école don’t the dog's O'Brien", "",
			"ecole don the dog brien"},
		{"German umlauts and plurals meet", "Dächer DACH Straße", "de", "dach dach strass"},
		{"French accents are folded after the stem", "réparée réparer", "fr", "repar repar"},
		{"Arabic prefixes and endings meet", "الكتاب كتاب كتابها", "ar", "كتاب كتاب كتاب"},
		{"Portuguese plurals and accents meet", "ligação ligações ligacao", "pt", "ligaca ligaco ligaca"},
		{"Dutch plurals meet", "huizen deuren deur", "nl", "huiz deur deur"},
		{"Russian keeps its short i", "йогурт ёлка", "", "йогурт елка"},
		{"Chinese is cut in bigrams", "首都是北京", "zh", "首都 都是 是北 北京"},
		{"a lone sign stays", "火 fire", "zh", "火 fire"},
		{"Thai is cut in bigrams", "ไทย", "th", "ไท ทย"},
		{"Latin words inside Japanese stay whole", "東京TowerE5です", "ja", "東京 towere5 です"},
		{"Hindi keeps its vowel signs", "हिन्दी", "hi", "हिन्दी"},
		{"a soft hyphen is not there", "co\u00adoperate", "", "cooperate"},
		{"full-width letters are letters", "ＡＢＣ１２", "", "abc12"},
		{"marks of notes are no part of words and numbers", "measured in 1921¹ by surveyors²,³ at 10⁶", "en",
			"measur in 1921 by surveyor at 10"},
		{"exponents of units and variables are", "20 km², 3 m³ and x²", "en", "20 km2 3 m3 and x2"},
		{"invalid UTF-8 separates words", "a1\xffb2", "", "a1 b2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join(text.Terms(tt.in, tt.lang), " "); got != tt.want {
				t.Errorf("Terms(%q, %q) = %q, want %q", tt.in, tt.lang, got, tt.want)
			}
			if got := text.NewAnalyser(tt.lang).Line(tt.in); got != tt.want {
				t.Errorf("Line(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestSpansMatchWords(t *testing.T) {
	in := "Über 首都圏 naïve"
	r := []rune(in)
	var got []string
	for _, s := range text.NewAnalyser("").Spans(in) {
		got = append(got, string(r[s.Start:s.End]))
	}
	if want := []string{"Über", "首都", "都圏", "naïve"}; !slices.Equal(got, want) {
		t.Errorf("Spans(%q) mark %q, want %q", in, got, want)
	}
}

func TestQueryMatchesIndexedTerms(t *testing.T) {
	langs := []string{"en", "de", "fr", "ru", "hu", "sv", "es"}
	for _, tt := range []struct{ name, query, doc, lang string }{
		{"an inflected English word", "leaking roofs", "The roof leaks", "en"},
		{"a German plural", "Dächer", "Das Dach ist neu", "de"},
		{"German umlauts typed as two letters", "Daecher", "Die Dächer", "de"},
		{"French without accents", "ecole", "Les écoles", "fr"},
		{"French accents in an English document", "résumé", "Send a resume", "en"},
		{"English without accents", "resume", "Send a résumé", "en"},
		{"Russian inflection", "крыша", "Состояние крыши", "ru"},
		{"Hungarian without a known language", "ház", "A ház", ""},
		{"two Chinese signs", "首都", "中国的首都是北京", "zh"},
		{"a number with a comma", "1,000", "It cost 1000 dollars", "en"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			query, doc := text.QueryTerms(tt.query, langs), text.Terms(tt.doc, tt.lang)
			if !slices.ContainsFunc(query, func(q string) bool { return slices.Contains(doc, q) }) {
				t.Errorf("QueryTerms(%q) = %q share nothing with Terms(%q) = %q", tt.query, query, tt.doc, doc)
			}
		})
	}
}

func TestQueryWordsAreContentWords(t *testing.T) {
	for _, tt := range []struct {
		name, query string
		langs       []string
		want        string
	}{
		{"English stop words go", "What is the condition of the roof?", []string{"en"}, "condition roof"},
		{"German stop words go with a German question", "Wie ist der Zustand des Daches?", []string{"en", "de"},
			"Zustand Daches"},
		{"a German stop word is content in an English question", "how do batteries die", []string{"en", "de"},
			"batteries die"},
		{"stop words alone stay", "to be or not to be", []string{"en"}, "to be or not"},
		{"Japanese grammar goes", "東京について", []string{"ja"}, "東京 京に"},
		{"Chinese particles go", "中国的首都是什么", []string{"zh"}, "中国 首都"},
		{"nothing gives nothing", " ?! ", []string{"en"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, w := range text.QueryWords(tt.query, tt.langs) {
				got = append(got, w.Text)
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("QueryWords(%q) = %q, want %q", tt.query, s, tt.want)
			}
		})
	}
	if n := len(text.QueryWords(strings.Repeat("东方红", 500)+strings.Repeat(" w1 w2 w3", 500), nil)); n > 64 {
		t.Errorf("a pasted text gives %d words, want at most 64", n)
	}
	polite := "i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her " +
		"hers herself it its itself they them their theirs themselves what which who whom this that these " +
		"those am is are was were be been being have has had having do does did doing a an the and but if or " +
		"because as until while of at by for with about against between into through during before after " +
		"above below weir"
	words := text.QueryWords(polite, []string{"en"})
	if !slices.ContainsFunc(words, func(w text.Word) bool { return w.Text == "weir" }) {
		t.Errorf("the %d words of a long question are %+v; want weir among them", len(words), words)
	}
}

func TestPhrases(t *testing.T) {
	for in, want := range map[string][]string{
		`say "fire door" and “two hours” or „drei“`: {"fire door", "two hours", "drei"},
		`nothing quoted`:     nil,
		`an open "quote`:     nil,
		`"" and " " are not`: nil,
	} {
		if got := text.Phrases(in); !slices.Equal(got, want) {
			t.Errorf("Phrases(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestDetect(t *testing.T) {
	for want, in := range map[string]string{
		"en": "The roof was inspected in March and found to be in good condition, but the gutters are to be replaced.",
		"de": "Das Dach wurde im März geprüft und ist in gutem Zustand, aber die Rinnen müssen ersetzt werden.",
		"fr": "Le toit a été inspecté en mars et il est en bon état, mais les gouttières sont à remplacer.",
		"es": "El tejado fue inspeccionado en marzo y está en buen estado, pero los canalones deben ser reemplazados.",
		"ru": "Крыша была осмотрена в марте и находится в хорошем состоянии, но желоба нужно заменить.",
		"sv": "Taket inspekterades i mars och är i gott skick, men hängrännorna måste bytas ut av den som äger huset.",
		"ja": "屋根は三月に点検され、良好な状態です。",
		"zh": "屋顶在三月检查过，状况良好。",
		"ko": "지붕은 3월에 점검되었으며 상태가 양호합니다.",
		"th": "หลังคาได้รับการตรวจสอบในเดือนมีนาคม",
		"it": "Il tetto è stato ispezionato a marzo ed è in buone condizioni, ma le grondaie devono essere " +
			"sostituite entro l'anno dal proprietario della casa.",
		"": "x = 3; y = 4",
	} {
		if got := text.Detect(in); got != want {
			t.Errorf("Detect(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestFold(t *testing.T) {
	for in, want := range map[string]string{
		"Crème BRÛLÉE": "creme brulee", "Łódź": "lodz", "ﬁne": "fine", "が": "が", "한글": "한글", "Й": "й",
	} {
		if got := text.Fold(in); got != want {
			t.Errorf("Fold(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestTokensCountsLettersWhole(t *testing.T) {
	for in, want := range map[string]int{"": 0, "word": 1, "words": 2, "首都": 2, "éé": 1} {
		if got := text.Tokens(in); got != want {
			t.Errorf("Tokens(%q) = %d, want %d", in, got, want)
		}
	}
}

func FuzzTerms(f *testing.F) {
	for _, s := range []string{
		"", "a'", "l’été 3,5 1,000", "\xff\xfe首都", "co\u00ad", "ไทย1.2.", "ﷺ ㈱ İ", "a\u0301\u0301b",
	} {
		f.Add(s, "fr")
	}
	f.Fuzz(func(t *testing.T, s, lang string) {
		for _, term := range text.Terms(s, lang) {
			if term == "" || len(term) > 600 || !utf8.ValidString(term) || strings.ContainsAny(term, " \t\n\"',") {
				t.Fatalf("Terms(%q, %q) has the term %q; want something and at most 600", s, lang, term)
			}
		}
		n := utf8.RuneCountInString(s)
		for _, span := range text.NewAnalyser(lang).Spans(s) {
			if span.Start < 0 || span.Start >= span.End || span.End > n {
				t.Fatalf("Spans(%q, %q) has %v; want Start at least 0, Start less than %v, End at most %v",
					s, lang, span, span.End, n)
			}
		}
		text.QueryTerms(s, []string{lang, "de"})
		text.Phrases(s)
		text.Detect(s)
		text.Fold(s)
		if text.Tokens(s) < 0 {
			t.Fatal("negative")
		}
	})
}

const prose = `The surveyor's report of 14 March 2021 found that the slates on the north slope are sound, although ` +
	`three of them
have slipped and water enters above the bay window. Replacing the flashing would cost about $1,250. Dr. Smith ` +
	`disagreed: in his view the whole
roof needs to be renewed within five years, and he names section 4.2 of the standard EN 1991-1 as the reason. `

func BenchmarkLine(b *testing.B) {
	a := text.NewAnalyser("en")
	b.SetBytes(int64(len(prose)))
	for b.Loop() {
		a.Line(prose)
	}
}

func BenchmarkTermsOfABook(b *testing.B) {
	book := strings.Repeat(prose, 1000)
	b.SetBytes(int64(len(book)))
	for b.Loop() {
		text.Terms(book, "en")
	}
}

func BenchmarkTermsOfChinese(b *testing.B) {
	book := strings.Repeat("屋顶在三月检查过，状况良好。", 1000)
	b.SetBytes(int64(len(book)))
	for b.Loop() {
		text.Terms(book, "zh")
	}
}

func TestLanguageIsCertainIfWordsAndLettersAgree(t *testing.T) {
	for _, tt := range []struct{ said, want string }{
		{"A autenticação normal de Unix é disponibilizada pelo módulo, e os seus três ficheiros de configuração são " +
			"importantes para que o utilizador não perca o acesso à sua conta no sistema.", ""},
		{"Die monatliche Miete beträgt 980 Euro und ist bis zum dritten Werktag eines jeden Monats zu zahlen.", "de"},
		{"富士山は日本で一番高い山です。", "ja"}, {"这是我的房子，租金是每月的第一天付的吗", "zh"}, {"商品名 在庫数 単価 保管場所 万年筆", ""},
		{"980", ""}, {"", ""},
	} {
		if got := text.DetectForCertain(tt.said); got != tt.want {
			t.Errorf("DetectForCertain(%q) = %q, want %q", tt.said, got, tt.want)
		}
	}
}

func TestSentences(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"plain sentences", "One is here. Two is there! Three?", []string{"One is here.", "Two is there!", "Three?"}},
		{"titles and initials", "Dr. Smith met J. R. Tolkien. They talked.",
			[]string{"Dr. Smith met J. R. Tolkien.", "They talked."}},
		{"Latin abbreviations", "Use salt, e.g. NaCl. Stir.", []string{"Use salt, e.g. NaCl.", "Stir."}},
		{"a figure's number", "See Fig. 3 for it. The answer is no. Go on.",
			[]string{"See Fig. 3 for it.", "The answer is no.", "Go on."}},
		{"a numbered item", "1. Open the door.\n2. Close it.", []string{"1. Open the door.", "2. Close it."}},
		{"numbers in lines of their own", "1.\nOpen the door.\n\n2)\n\nClose it.\n(c)\nLock it.\niv.\nGo. 5.",
			[]string{"1. Open the door.", "2)  Close it.", "(c) Lock it.", "iv. Go.", "5."}},
		{"decimals", "It is 3.5 m. Good.", []string{"It is 3.5 m.", "Good."}},
		{"a German date", "Am 3. Mai begann es. Es endete nie.", []string{"Am 3. Mai begann es.", "Es endete nie."}},
		{"a wrapped line goes on", "The roof is\nsound. It lasts.", []string{"The roof is sound.", "It lasts."}},
		{"rows stay apart", "Item\tPrice\nDoor\t40\nWindow\t90", []string{"Item\tPrice", "Door\t40", "Window\t90"}},
		{"a blank line ends a sentence", "Heading\n\nText follows", []string{"Heading", "Text follows"}},
		{"Chinese full stops", "屋顶良好。窗户破了！", []string{"屋顶良好。", "窗户破了！"}},
		{"a numbered item in a quote of Markdown", `1\. Open the door. 2\. Close it.`,
			[]string{`1\. Open the door.`, `2\. Close it.`}},
		{"long rows with leaders", "A monthly charge for the plan ........ GBP 16.00\nConnection fee ...... GBP 20.00",
			[]string{"A monthly charge for the plan ........ GBP 16.00", "Connection fee ...... GBP 20.00"}},
		{"a row with a leader", "Paper bill ...... GBP 2.25\nReplacement SIM ...... GBP 9.00",
			[]string{"Paper bill ...... GBP 2.25", "Replacement SIM ...... GBP 9.00"}},
		{"white space alone has none", " \n\n ", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := []rune(tt.in)
			var got []string
			for _, s := range text.Sentences(tt.in) {
				got = append(got, strings.ReplaceAll(string(r[s[0]:s[1]]), "\n", " "))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("Sentences(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func FuzzSentences(f *testing.F) {
	for _, s := range []string{
		"", "A. B. C.", "1.\n2.\n\n", "\xff. X", "e.g.\u00a0A", strings.Repeat(" ", 50) + "A. A. A. ",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		last, n := 0, utf8.RuneCountInString(s)
		for _, r := range text.Sentences(s) {
			if r[0] < last || r[0] >= r[1] || r[1] > n {
				t.Fatalf("Sentences(%q): range %v after %d of %d; want at least %v, less than %v, at most %v",
					s, r, last, n, last, r[1], n)
			}
			last = r[1]
		}
	})
}

func BenchmarkSentences(b *testing.B) {
	book := strings.Repeat(prose, 100)
	b.SetBytes(int64(len(book)))
	for b.Loop() {
		text.Sentences(book)
	}
}

func TestStatementsOfIndentedLines(t *testing.T) {
	records := "{\n  \"3166-1\": [\n    {\n      \"alpha_2\": \"KH\",\n      \"name\": \"Cambodia\"\n    },\n" +
		"    {\n      \"alpha_2\": \"TL\",\n      \"name\": \"Timor-Leste\"\n    }\n  ]\n}\n"
	settings := "compression:\n    type: string\n    description: |\n        Type of compression. Defaults to lz4.\n" +
		"archive:\n    type: string\nrest: 1\nmore: 2\n"
	prose := "The roof is dry. The cellar is not.\n\nA list follows:\n\n- one\n- two\n"
	for _, test := range []struct {
		name, text string
		longest    int
		want       []string
	}{
		{"records", records, 100, []string{
			`{ "3166-1": [ { "alpha_2": "KH", "name": "Cambodia" },`, `{ "alpha_2": "TL", "name": "Timor-Leste" } ] }`,
		}},
		{"settings", settings, 120, []string{
			"compression: type: string description: | Type of compression. Defaults to lz4.", "archive: type: string",
			"rest: 1", "more: 2",
		}},
		{"settings taken apart", settings, 50, []string{
			"compression: type: string", "description: | Type of compression.", "Defaults to lz4.",
			"archive: type: string", "rest: 1", "more: 2",
		}},
		{"prose", prose, 400, []string{"The roof is dry.", "The cellar is not.", "A list follows:", "- one", "- two"}},
		{"rows", "Place | Height\nBen | 3\n | 4\n", 400, []string{"Place | Height", "Ben | 3", "| 4"}},
		{"the end of a tree", "    below: 1\nhead:\n    below: 2\n", 400, []string{"below: 1", "head: below: 2"}},
		{"code between prose", "So:\n\nif dry:\n\tgo()\n\nThe end. Über.", 400, []string{
			"So:", "if dry: go()", "The end.", "Über.",
		}},
		{"nothing", " \n\n", 400, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			runes := []rune(test.text)
			var got []string
			for _, r := range text.Statements(test.text, test.longest) {
				got = append(got, strings.Join(strings.Fields(string(runes[r[0]:r[1]])), " "))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The statements of any text cover all of its non-white space, in order.
func FuzzStatements(f *testing.F) {
	for _, seed := range []string{
		"a:\n  b: 1\n}\n", "\t\tx\n y\nz", "1.\n  Über\n\n|a\n b", "  " + strings.Repeat("\u00a0", 40) + "\n}",
		"  \u00a0\r\na\f",
	} {
		f.Add(seed, 20)
	}
	f.Fuzz(func(t *testing.T, s string, longest int) {
		s = strings.ToValidUTF8(s, "")
		runes, end := []rune(s), 0
		for _, r := range text.Statements(s, longest) {
			if r[0] < end || r[1] <= r[0] || r[1] > len(runes) {
				t.Fatalf("statement %v after %d, of %d runes", r, end, len(runes))
			}
			if strings.TrimSpace(string(runes[r[0]:r[1]])) == "" {
				t.Fatalf("statement %v is empty", r)
			}
			if left := strings.TrimSpace(string(runes[end:r[0]])); left != "" {
				t.Fatalf("%q is not in a statement", left)
			}
			end = r[1]
		}
		if left := strings.TrimSpace(string(runes[end:])); left != "" {
			t.Fatalf("%q is not in a statement", left)
		}
	})
}
