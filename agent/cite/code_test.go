package cite

import (
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text/english"
)

// evaluated returns the result of Evaluate for an answer from one passage, which is footnote 1.
func evaluated(t *testing.T, passage, answer string) (confidence float64, explained string, unsupported []string) {
	t.Helper()
	s := NewSources()
	s.Number(corpus.Passage{ID: "p", DocumentID: "d", Text: passage}, corpus.Document{ID: "d", Title: "Handbook"})
	cite := NewCiter(s, NewTexts(noPages{}, chat.Scope{}), "r")
	w := NewWriter(nil, cite, false)
	if err := w.Quote(t.Context(), 1, passage, nil); err != nil {
		t.Fatal(err)
	}
	return NewEvidence(s, cite, chat.RunRequest{Message: "How do I install a package?"}).Evaluate(answer)
}

const (
	aptText = "Run apt-get install hello to install the package.\n\nThe package needs 40 kB of disk space."
	aptSaid = "The package needs 40 kB of disk space [1]."
	dragons = "The king keeps dragons in the cellar."
)

func TestEveryRenderedClaimIsChecked(t *testing.T) {
	t.Parallel()
	for name, drawn := range map[string]string{
		"fenced code":         "```\n" + dragons + "\n```",
		"fenced by tildes":    "~~~text\n" + dragons + "\n~~~",
		"indented code":       "    " + dragons,
		"a comment":           "```sh\n# " + dragons + "\napt-get update\n```",
		"another comment":     "```go\nx := 1 // " + dragons + "\n```",
		"a code span":         "`" + dragons + "`",
		"a quotation":         "> " + dragons,
		"code in a quotation": "> ```\n> " + dragons + "\n> ```",
		"a list":              "- " + dragons,
		"code in a list":      "- a:\n\n  ```\n  " + dragons + "\n  ```",
		"a row":               "| What | Where |\n|---|---|\n| " + dragons + " | - |",
		"the head of a table": "| " + strings.TrimSuffix(dragons, ".") +
			" | Size |\n|---|---|\n| package | 40 kB [1] |",
		"a head without bars":   strings.TrimSuffix(dragons, ".") + " | Size\n--- | ---\npackage | 40 kB [1]",
		"the text of a picture": "![" + dragons + "](x.png)",
		"the text of a link":    "[" + dragons + "](https://x.org/a)",
		"emphasis":              "***" + dragons + "***",
		"a struck text":         "~~" + dragons + "~~",
		"an element":            "<div>" + dragons + "</div>",
		"a comment of HTML":     "<!-- " + dragons + " -->",
		"German code":           "```\nDer König hält die Drachen im Keller.\n```",
	} {
		confidence, _, unsupported := evaluated(t, aptText, aptSaid+"\n\n"+drawn+"\n")
		if len(unsupported) != 1 || !strings.Contains(unsupported[0], "dragons in") &&
			!strings.Contains(unsupported[0], "Drachen") || confidence > 0.7 {
			t.Errorf("%s: unsupported = %q, confidence %v; want the sentence, at most 0.7", name, unsupported,
				confidence)
		}
	}
}

func TestCodeIsNotCheckedByItsWords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		code      string
		unchecked string // note on unchecked lines
	}{
		{"apt-get install hello", ""}, // is in the passage
		{"The package needs 40 kB of disk space.", ""},
		{"sudo apt install dragons", "1 line of code was not checked"},
		{"git commit -m 'x'\ngit push", "2 lines of code were not checked"},
		{"SELECT name FROM users WHERE id IN (1, 2);", "1 line of code was not checked"},
		{"for x in range(3):\n    print(x)\n\nreturn x", "3 lines of code were not checked"},
		{"from datetime import date", "1 line of code was not checked"},
		{"Name: hello\nVersion: 2.10", "2 lines of code were not checked"},
		{"if (a && b) { return c; }", "1 line of code was not checked"},
		{"}", ""},
		{"# Update the package", "1 line of code was not checked"},
	} {
		confidence, explained, unsupported := evaluated(t, aptText, aptSaid+"\n\n```\n"+tt.code+"\n```\n")
		if len(unsupported) > 0 || confidence != 1 ||
			strings.Contains(explained, "not checked") != (tt.unchecked != "") ||
			!strings.Contains(explained, tt.unchecked) {
			t.Errorf("%q: unsupported = %q, confidence %v, %q; want none, 1, %q in it",
				tt.code, unsupported, confidence, explained, tt.unchecked)
		}
	}
}

func TestMarkerInCodeIsNotFootnote(t *testing.T) {
	t.Parallel()
	all := splitClaims("It leaks [1].\n\n```\nThe king keeps dragons in the cellar [1].\n```\n", nil, nil)
	if len(all) != 2 || len(all[1].Numbers) > 0 || !slices.Equal(all[0].Numbers, []int{1}) {
		t.Errorf("claims = %+v, want a second one without footnotes", all)
	}
}

func TestProseBesideInlineCode(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"国王在地下室里养了很多龙。":                         "国王在地下室里养了很多龙。",
		"// The mill was built in 1904":         "The mill was built in 1904",
		"x = 1  # Le toit est en mauvais état.": "Le toit est en mauvais état.",
		"Dragons rule Wales.":                   "Dragons rule Wales.",
		"RUN apt install the-package":           "",
		"print(\"hello\")":                      "",
		"const a = b.c[d];":                     "",
		"docker run -it ubuntu bash":            "",
		"Host: example.org":                     "",
	} {
		if got := proseIn(line); got != want {
			t.Errorf("proseIn(%q) = %q, want %q", line, got, want)
		}
	}
}

const optimum = "The optimal price is the ratio of the two costs. Demand falls when the price rises."

// A formula is a claim only together with its sentence, which is checked by its words.
func TestFormulaAloneIsNotClaim(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{
		"The optimal price is the ratio of the two costs [1].\n\n\\[ p^* = \\frac{a}{b} \\]",
		"The optimal price is the ratio of the two costs:\n\n\\[\np^*\n= \\frac{a}{b}\n\\] [1]",
		`The optimal price \( p^* = \frac{a}{b} \) is the ratio of the two costs [1].`,
		"$$p^* = \\frac{a}{b}$$\n\nThe optimal price $p^*$ is the ratio of the two costs $a$ and $b$ [1].",
		"## $p^*$\n\nThe optimal price is the ratio of the two costs [1].\n\n- $a = 1$\n- \\(b = 2\\)",
		"The optimal price is the ratio of the two costs [1].\n\n| $a$ | $b$ |\n|---|---|\n| $y_1$ | $x_2$ |",
	} {
		if confidence, _, unsupported := evaluated(t, optimum, answer); len(unsupported) > 0 || confidence != 1 {
			t.Errorf("%q: unsupported %q, confidence %v; want none and 1", answer, unsupported, confidence)
		}
	}
}

func TestSentenceWithFormulaIsCheckedByItsWords(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		`The king $k_1$ keeps dragons in the cellar.`, `The price rises to \(5\) euros.`,
	} {
		if _, _, unsupported := evaluated(
			t,
			optimum,
			optimum+" [1] "+said+" [1]",
		); !slices.Contains(
			unsupported,
			said,
		) {
			t.Errorf("%q: unsupported %q, want it among them", said, unsupported)
		}
	}
}

func TestFormulaGetsNoFootnote(t *testing.T) {
	t.Parallel()
	s := NewSources()
	s.Number(corpus.Passage{ID: "p", DocumentID: "d", Text: optimum}, corpus.Document{ID: "d", Title: "Handbook"})
	e := NewEvidence(s, NewCiter(s, NewTexts(noPages{}, chat.Scope{}), "r"), chat.RunRequest{})
	for in, want := range map[string]string{
		"The optimal price is the ratio of the two costs.\n\n\\[ p^* = \\frac{a}{b} \\]": "The optimal price is " +
			"the ratio of the two costs [1].\n\n\\[ p^* = \\frac{a}{b} \\]",
		`The optimal price \(p = 1. 5\) is the ratio of the two costs. $x$`: `The optimal price \(p = 1. 5\) is ` +
			`the ratio of the two costs [1]. $x$`,
	} {
		if got, _, _ := e.WithPlacedFootnotes(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestFootnoteBelongsToItsSentence(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		markdown string
		want     []string
		numbers  [][]int
	}{
		{"The roof leaks [1]. It is old. [2] Pigs fly.", []string{"The roof leaks.", "It is old.", "Pigs fly."},
			[][]int{{1}, {2}, nil}},
		{"The roof leaks.[1] It was replaced in 1850.[2]", []string{"The roof leaks.", "It was replaced in 1850."},
			[][]int{{1}, {2}}},
		{"The roof leaks.[1][2]It is old.[3]", []string{"The roof leaks.", "It is old."}, [][]int{{1, 2}, {3}}},
		{"[1] The roof leaks.", []string{"The roof leaks."}, [][]int{{1}}},
		{"The roof leaks.\n\n[1]", []string{"The roof leaks."}, [][]int{{1}}},
		{"- The roof leaks [1].\n- **It is old [2].**\n1. It is cold.",
			[]string{"The roof leaks.", "It is old.", "1. It is cold."}, [][]int{{1}, {2}, nil}},
		{"# Roof [1]\n\n**Roof**\n\nIt leaks [1].\n\n```\nx[1]\n```", []string{"Roof", "Roof", "It leaks.", "x[1]"},
			[][]int{{1}, nil, {1}, nil}},
		{"Roof\n====\nIt leaks [1].", []string{"Roof", "It leaks."}, [][]int{nil, {1}}},
		{"| Item | Cost |\n|---|---|\n| Roof | £5 [1] |", []string{"Item", "Cost", "Roof | £5 |"},
			[][]int{nil, nil, {1}}},
		{"Use `a[1]` for this [2], see [3](http://x).", []string{"Use `a[1]` for this, see(http://x)."}, [][]int{{2}}},
		{"The roof, which was renewed by Harper & Sons,\nis in poor condition [1].",
			[]string{"The roof, which was renewed by Harper & Sons, is in poor condition."}, [][]int{{1}}},
		{`The optimum is \(p^* = 1. 5\) today [1]. It is $x! = y$ [2]. $a$ is old.`,
			[]string{`The optimum is \(p^* = 1. 5\) today.`, `It is $x! = y$.`, `$a$ is old.`}, [][]int{{1}, {2}, nil}},
		{"The optimum is\n\n\\[ p^* = \\frac{a}{b} \\] [1]\n\nIt is old [2].", []string{"The optimum is", "It is old."},
			[][]int{{1}, {2}}},
		{"The optimum is\n\\[\np\n= 1\n- 2\n\\]\nwhere p is the price [1].",
			[]string{"The optimum is \\[ p = 1 - 2 \\] where p is the price."}, [][]int{{1}}},
		{"$$\na\n=\nb\n$$\n\nIt is old [1].", []string{"It is old."}, [][]int{{1}}},
		{`The roof leaks for \( a [1] \) days, as $x [2]$ says [3].`,
			[]string{`The roof leaks for \( a [1] \) days, as $x [2]$ says.`}, [][]int{{3}}},
		{"It costs $5 [1] or $10 [2].", []string{"It costs $5 or $10."}, [][]int{{1, 2}}},
	} {
		var said []string
		var numbers [][]int
		for _, c := range splitClaims(tt.markdown, nil, nil) {
			said, numbers = append(said, c.Text), append(numbers, c.Numbers)
		}
		if !slices.Equal(said, tt.want) || !slices.EqualFunc(numbers, tt.numbers, slices.Equal) {
			t.Errorf("%q has %q %v, want %q %v", tt.markdown, said, numbers, tt.want, tt.numbers)
		}
	}
}

func TestNonFactualSentencesNeedNoFootnote(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"The survey says:", "**What it costs:**", "Do you want more?", "Hello!", "Yes, of course.",
		"Let me know if you need more.", "I hope this helps!",
		"Here is a short summary of what I found.", english.Refusal, "I searched for: roof condition.",
		"I could not find who paid for it.", "I couldn’t find the price.",
		"The documents do not say who paid.", "The lease doesn't mention pets.", "The price is not stated.",
		"There is no information about the price.",
		"Nothing that I found is about “the windows”, so there is nothing to compare with.",
		"Die Dokumente enthalten keine Angaben zum Preis.",
		"Les documents ne mentionnent pas le prix.", "El precio no se menciona.", "価格についての記載はありません。", "文档中没有提到价格。",
		"---", "It is so.",
	} {
		if IsFactualClaim(s) {
			t.Errorf("IsFactualClaim(%q) = true, want false", s)
		}
	}
	for _, s := range []string{
		"Pigs fly over the moon.", "Cows sing.", "It leaks.", "Yes, the roof leaks.", "Flood damage is not covered.",
		"Dogs are not allowed.", "No guarantee is available.",
		"I could not find the price, but the king keeps dragons.", "Nothing was replaced in 1850.",
		"Here is a dragon, and it breathes fire.", "Das Dach ist undicht.", "水車の直径は四メートルである。",
		"There is no smoke detector in the hall.",
	} {
		if !IsFactualClaim(s) {
			t.Errorf("IsFactualClaim(%q) = false, want true", s)
		}
	}
}

func TestWithoutSentencesRemovesThemAnywhere(t *testing.T) {
	t.Parallel()
	const answer = "# The house\n\nIt was built in 1904 [1]. Seven dragons live in it [2].\n\n" +
		"| What | Year |\n|---|---|\n| Dragons | 1066 |\n\n```\nSeven dragons live in it.\nprint(1)\n```\n"
	got := WithoutSentences(answer, []string{"Seven dragons live in it.", "Dragons | 1066 |"})
	if want := "It was built in 1904.\n\nprint(1)"; got != want {
		t.Errorf("WithoutSentences = %q, want %q", got, want)
	}
}

func TestAbsenceClaimsRequireSearch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		question, query, said string
		denied                bool
	}{
		{"How much does parking cost?", "parking price", "The documents do not state what parking costs.", false},
		{"How much does parking cost?", "parking price", "The documents do not mention a swimming pool.", true},
		{"How much does parking cost?", "parking price", "I could not find anything about the parking price.", false},
		{"How much does parking cost?", "parking price", "There is no information about who owns the garden.", true},
		{"How much does parking cost?", "parking price", "I couldn't find more details.", false},
		{"How much does parking cost?", "parking price", "I searched for: parking price.", false},
		{"How much does parking cost?", "parking price", "I searched for treasure maps.", true},
		// asked, and searched for in other words
		{"Are pets allowed?", "animals in the flat", "The lease does not mention pets.", false},
		// a passage states it
		{"How much does parking cost?", "parking price", "The lease does not describe the garden fence.", false},
		{"Was kostet das Parken im Hof?", "Parken Preis", "Die Dokumente enthalten keine Angaben zum Preis.", false},
		{"Was kostet das Parken im Hof?", "Parken Preis", "Die Dokumente erwähnen keine Drachen.", true},
		{"Combien coûte le parking de la cour ?", "prix parking", "Les documents ne mentionnent pas le prix.", false},
		{"Combien coûte le parking de la cour ?", "prix parking",
			"Les documents ne mentionnent pas les dragons.", true},
		{"¿Cuánto cuesta el aparcamiento del patio?", "precio aparcamiento", "El precio no se menciona.", false},
		{"¿Cuánto cuesta el aparcamiento del patio?", "precio aparcamiento",
			"Los dragones no se mencionan en los documentos.", true},
		{"停车费是多少钱？", "停车费", "文档中没有提到停车费。", false},
		{"停车费是多少钱？", "停车费", "文档中没有提到恐龙博物馆。", true},
		{"How much does parking cost?", "parking price", "文档中没有提到恐龙博物馆。", false}, // can't be compared
	} {
		s := NewSources()
		s.Number(corpus.Passage{ID: "p", Text: "The lease does not describe the garden fence. Cars park in the yard."},
			corpus.Document{ID: "d", Title: "Contract"})
		s.NoteSearch(tt.query, 3)
		e := NewEvidence(s, NewCiter(s, NewTexts(noPages{}, chat.Scope{}), "r"), chat.RunRequest{Message: tt.question})
		if got := e.isDenied(tt.said); got != tt.denied {
			t.Errorf("%q after a search for %q: denied = %v, want %v", tt.said, tt.query, got, tt.denied)
		}
		c, _ := e.CompareGiven(tt.said)
		if got := slices.Contains(c.Unsupported, tt.said); got != tt.denied && !IsFactualClaim(tt.said) {
			t.Errorf("%q after a search for %q: unsupported = %v, want %v", tt.said, tt.query, got, tt.denied)
		}
	}
}

func TestResultsAndListsSupportOnlyTheirSentences(t *testing.T) {
	t.Parallel()
	const (
		list = `{"documents":[{"doc_id":"d1","title":"Robot house","filename":"robots.pdf","pages":3,` +
			`"created":"2004-05-01"}],"total":1}`
		sum = `{"result":2004}`
	)
	for _, tt := range []struct {
		tool, output, said string
		want               bool
	}{
		{"list_documents", list, "The house is a robot.", false},
		{"list_documents", list, "The robot house is made of gold.", false},
		{"list_documents", list, "He died in 2004.", false},
		{"list_documents", list, "Robot house", true},
		{"list_documents", list, "There is a document with the title Robot house.", true},
		{"list_documents", list, "Robot house has 3 pages.", true},
		{"list_documents", list, "Robot house has 3 dragons.", false},
		{"list_documents", list, "The library holds Robot house.", true},
		{"list_documents", list, "The library does not hold Robot house.", false},
		{"list_documents", list, "The library burns Robot house.", false},
		{"calculate", sum, "He died in 2004.", false},
		{"calculate", sum, "The result is 2004.", true},
		{"calculate", sum, "The rent comes to 2004 pounds.", true},
		{"calculate", sum, "The fee comes to 2004 pounds.", false},
		{"calculate", sum, "The rent comes to 2005 pounds.", false},
	} {
		e := NewEvidence(NewSources(), NewCiter(nil, nil, ""), chat.RunRequest{
			Message: "How many pounds of rent is it?",
		})
		e.Results.Keep(Returned{
			Tool: tt.tool, Output: []byte(tt.output), Vocabulary: "library hold", Computed: tt.tool == "calculate",
		})
		if got := e.isReturned(tt.said, e.matcherFor(tt.said)); got != tt.want {
			t.Errorf("after %s, %q is stated: got %v, want %v", tt.tool, tt.said, got, tt.want)
		}
	}
}

func TestResultsAreComparedAsValues(t *testing.T) {
	t.Parallel()
	s := NewSources()
	doc := corpus.Document{ID: "d", Title: "Accounts"}
	s.Number(corpus.Passage{
		ID: "p", DocumentID: "d", Text: "Revenue was 2,300,000 in 2024 and 2,100,000 in 2023.",
	}, doc)
	s.Number(corpus.Passage{ID: "q", DocumentID: "d", Text: "The Berlin office closed; people were sad."}, doc)
	const english = "How did revenue develop?"
	e := NewEvidence(s, NewCiter(s, nil, ""), chat.RunRequest{})
	e.Results.Keep(Returned{
		Tool: "calculate", Input: []byte(`{"expression":"2300000-2100000"}`), Output: []byte(`{"result":"200000"}`),
		Vocabulary: "minus subtract difference increase rise remain Anstieg augmentation aumento", Computed: true,
	})
	questions := map[string]string{
		"Der Anstieg beträgt 200.000 €.":   "Wie hat sich der Umsatz in den beiden Jahren entwickelt?",
		"Der Anstieg beträgt 200,000 €.":   "Wie hat sich der Umsatz in den beiden Jahren entwickelt?",
		"L'augmentation est de 200 000 €.": "De combien le chiffre d'affaires a-t-il augmenté dans la société ?",
		"El aumento es de 200.000 €.":      "¿Cómo han evolucionado los ingresos entre los dos años?",
		"El valor aumentó 200.000 £.":      "¿Cuánto aumentó el valor de Highlands?",
	}
	for said, want := range map[string]bool{
		"Der Anstieg beträgt 200,000 €.":                 false,
		"The increase is £200,000.":                      true,
		"Revenue increased by £200,000.":                 true,
		"The rise is 200,000.":                           true,
		"The remaining amount is £200,000.":              true,
		"The difference is £200,000.":                    true,
		"Revenue in 2024 was 200,000 more than in 2023.": true,
		"Der Anstieg beträgt 200.000 €.":                 true,
		"L'augmentation est de 200 000 €.":               true,
		"El aumento es de 200.000 €.":                    true,
		"El valor aumentó 200.000 £.":                    true,
		"The increase is £200.000.":                      false,
		"The increase is £20,000.":                       false,
		"The increase is £200,001.":                      false,
		"Revenue increased by £200,000 in 2025.":         false,
		"Revenue did not increase by £200,000.":          false,
		"The Berlin office closed with 200,000 people.":  false,
		"The king has 200,000 dragons.":                  false,
		"The increase at Harper is £200,000.":            false,
	} {
		e.question = english
		if question := questions[said]; question != "" {
			e.question = question
		}
		if got := e.isReturned(said, e.matcherFor(said)); got != want {
			t.Errorf("%q is stated: got %v, want %v", said, got, want)
		}
	}
}

// underHeading returns the unsupported sentences and the confidence for a section that quotes its only passage.
func underHeading(t *testing.T, question, heading, passage string) (unsupported []string, confidence float64) {
	t.Helper()
	s := NewSources()
	s.Number(corpus.Passage{ID: "p", DocumentID: "d", Text: passage}, corpus.Document{ID: "d", Title: "Handbook"})
	cite := NewCiter(s, NewTexts(noPages{}, chat.Scope{}), "r")
	w := NewWriter(nil, cite, false)
	if err := w.Quote(t.Context(), 1, passage, nil); err != nil {
		t.Fatal(err)
	}
	e := NewEvidence(s, cite, chat.RunRequest{Message: question})
	confidence, _, unsupported = e.Evaluate(heading + "\n\n" + strings.TrimSuffix(passage, ".") + " [1].\n")
	return unsupported, confidence
}

const (
	roofText    = "The roof covering is in poor condition, and several slates are missing"
	roofAsked   = "What does the survey say about the roof?"
	refundText  = "Refunds are paid within 14 days of the return."
	refundAsked = "How do refunds work?"
)

// ordinaryHeadings are typical headings of answers.
var ordinaryHeadings = []struct{ question, heading, passage string }{
	{roofAsked, "## Overview", roofText},
	{roofAsked, "## Roof", roofText},
	{roofAsked, "**Key findings**", roofText},
	{roofAsked, "### Condition of the roof", roofText},
	{roofAsked, "# Key findings and next steps", roofText},
	{roofAsked, "## 1. What the survey says about the roof", roofText},
	{roofAsked, "## 1.2 Missing slates", roofText},
	{roofAsked, "## Things that are missing", roofText},
	{roofAsked, "## Step 1: Inspection", roofText},
	{roofAsked, "## Roof: pros and cons", roofText},
	{roofAsked, "## What is damaged?", roofText},
	{roofAsked, "Overview\n========", roofText},
	{roofAsked, "Roof repairs\n---", roofText},
	{refundAsked, "## How refunds are paid", refundText},
	{refundAsked, "## Opening hours", "The desk is open from 9 to 5 on weekdays."},
	{refundAsked, "## Frequently asked questions", refundText},
	{refundAsked, "## Summary:", refundText},
	{"Wie ist der Zustand des Daches?", "## Zustand des Daches", "Das Dach ist undicht, und mehrere Ziegel fehlen."},
	{"Wie ist der Zustand des Daches?", "## Vor- und Nachteile", "Das Dach ist undicht, und mehrere Ziegel fehlen."},
	{"Wie ist der Zustand des Daches?", "## Was undicht ist", "Das Dach ist undicht, und mehrere Ziegel fehlen."},
	{"Quel est l'état du toit ?", "## Avantages et inconvénients",
		"Le toit est en mauvais état et des ardoises manquent."},
	{"Quel est l'état du toit ?", "## Ce qui est en mauvais état",
		"Le toit est en mauvais état et des ardoises manquent."},
	{"¿Cuál es el horario?", "## Horario de apertura", "La oficina abre de 9 a 17 horas."},
	{"水車の直径は？", "## 概要", "水車の直径は四メートルである。"},
	{"水车的直径是多少？", "## 主要内容", "水车的直径是四米。"},
}

// statingHeadings make claims that their sections do not contain.
var statingHeadings = []struct{ question, heading, passage string }{
	{roofAsked, "## The roof is in perfect condition", roofText},
	{roofAsked, "## Seven dragons live in the cellar", roofText},
	{roofAsked, "**The king keeps dragons in the cellar**", roofText},
	{roofAsked, "# The roof needs urgent replacement", roofText},
	{roofAsked, "## The roof leaks badly.", roofText},
	{roofAsked, "## Roof covering renewed in 1998", roofText},
	{roofAsked, "The king was crowned here\n===", roofText},
	{refundAsked, "## Refunds take 90 days", refundText},
	{refundAsked, "## Refunds Are Unlimited", refundText},
	{refundAsked, "## No refunds", refundText},
	{refundAsked, "## There is a fee", refundText},
	{"Wie ist der Zustand des Daches?", "## Der König hält Drachen im Keller",
		"Das Dach ist undicht, und mehrere Ziegel fehlen."},
	{"Quel est l'état du toit ?", "## Le toit est en parfait état",
		"Le toit est en mauvais état et des ardoises manquent."},
	{"¿Cuál es el horario?", "## El rey guarda dragones en el sótano", "La oficina abre de 9 a 17 horas."},
	{"水车的直径是多少？", "## 国王不在家里养龙", "水车的直径是四米。"},
}

// undecidedHeadings resemble their sections, or have many words of their own, so words can't decide whether they are
// true.
var undecidedHeadings = []struct{ question, heading, passage string }{
	{roofAsked, "## Slates must be replaced", roofText},
	{"Wie ist der Zustand des Daches?", "## Das Dach ist in gutem Zustand",
		"Das Dach ist undicht, und mehrere Ziegel fehlen."},
	{"¿Cuál es el horario?", "## La oficina está cerrada", "La oficina abre de 9 a 17 horas."},
	{roofAsked, "## Dragons live under the mill house", roofText},
	{"Quel est l'état du toit ?", "## Le roi garde des dragons dans la cave",
		"Le toit est en mauvais état et des ardoises manquent."},
	{"水车的直径是多少？", "## 国王在地下室里养了很多龙", "水车的直径是四米。"},
}

func TestHeadingIsCheckedAgainstItsSection(t *testing.T) {
	t.Parallel()
	for _, tt := range ordinaryHeadings {
		if unsupported, _ := underHeading(t, tt.question, tt.heading, tt.passage); len(unsupported) > 0 {
			t.Errorf("%q over %q: unsupported = %q, want none", tt.heading, tt.passage, unsupported)
		}
	}
	for _, tt := range statingHeadings {
		want := []string{headingText(strings.Split(tt.heading, "\n")[0])}
		unsupported, confidence := underHeading(t, tt.question, tt.heading, tt.passage)
		if !slices.Equal(unsupported, want) || confidence > 0.5 {
			t.Errorf("%q over %q: unsupported = %q, confidence %v; want %q, at most 0.5",
				tt.heading, tt.passage, unsupported, confidence, want)
		}
	}
	for _, tt := range undecidedHeadings {
		unsupported, confidence := underHeading(t, tt.question, tt.heading, tt.passage)
		if len(unsupported) > 0 || confidence != 0.75 {
			t.Errorf("%q over %q: unsupported = %q, confidence %v; want none, 0.75",
				tt.heading, tt.passage, unsupported, confidence)
		}
	}
}

func TestHeadingRepeatingItsSectionIsSupported(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ question, heading, passage string }{
		{roofAsked, "## The roof covering is in poor condition", roofText},
		{refundAsked, "## Refunds are paid within 14 days", refundText},
		{"Wie ist das Dach?", "## Das Dach ist undicht", "Das Dach ist undicht, und mehrere Ziegel fehlen."},
	} {
		unsupported, confidence := underHeading(t, tt.question, tt.heading, tt.passage)
		if len(unsupported) > 0 || confidence != 1 {
			t.Errorf("%q over %q: unsupported = %q, confidence %v; want none, 1",
				tt.heading, tt.passage, unsupported, confidence)
		}
	}
}
