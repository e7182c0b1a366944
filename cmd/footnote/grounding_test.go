package main_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"footnote/chat"
)

// questions have an answer in one document of testdata/library: words that it must hold.
var questions = []struct{ ask, file, says string }{
	{"What is the condition of the roof at Mill Lane?", "survey-mill-lane.md", "poor condition"},
	{"How much will it cost to replace the lead flashing?", "survey-mill-lane.md", "£3,400"},
	{"Who made the building survey?", "survey-mill-lane.md", "Ada Brown"},
	{"When was the roof last renewed?", "survey-mill-lane.md", "1987"},
	{"What causes the damp in the kitchen wall?", "survey-mill-lane.md", "blocked gutter"},
	{"When was the gas boiler last serviced?", "survey-mill-lane.md", "October 2022"},
	{"Which safety device is missing from the fuse board?", "survey-mill-lane.md", "residual current device"},
	{"How high is the monthly rent?", "lease.md", "£1,150"},
	{"Is the tenant allowed to keep dogs?", "lease.md", "Dogs are not allowed"},
	{"How much notice is needed to end the lease?", "lease.md", "three months"},
	{"How many days of paid holiday do employees get?", "staff-handbook.html", "28 days"},
	{"From which day is a doctor's certificate needed?", "staff-handbook.html", "fourth day"},
	{"On how many days a week may employees work from home?", "staff-handbook.html", "two days"},
	{"What is the limit for a hotel night?", "staff-handbook.html", "£120"},
	{"When did the Fulmar leave Tromsø?", "expedition.md", "9 June 1931"},
	{"Who was the doctor of the ship Fulmar?", "expedition.md", "Peder Aas"},
	{"How long did the Fulmar drift in the ice?", "expedition.md", "nineteen days"},
	{"What depth did the expedition measure in the Nansen Basin?", "expedition.md", "3,412"},
	{"Was bedeutet der Fehlercode E17?", "heizung.md", "Durchfluss"},
	{"Wie oft wird der Filter der Wärmepumpe gereinigt?", "heizung.md", "sechs Monate"},
	{"Combien de temps cuit la tarte aux mirabelles ?", "recettes.txt", "quarante minutes"},
	{"Combien d'œufs faut-il pour le gâteau au yaourt ?", "recettes.txt", "trois œufs"},
	{"¿Cuánto cuesta el ascensor nuevo?", "acta.md", "48.000"},
	{"¿Quién fue elegida presidenta?", "acta.md", "Carmen Ibáñez"},
	{"水車小屋の設計者は誰ですか", "水車小屋.txt", "佐藤一郎"},
	{"水車の直径は何メートルですか", "水車小屋.txt", "四メートル"},
	{"春茶什么时候开始采摘？", "茶园.md", "三月二十日"},
	{"干茶应该怎样储存？", "茶园.md", "零下五度"},
	{"Сколько книг может взять читатель?", "учебник.txt", "семи книг"},
	{"Когда библиотека закрыта?", "учебник.txt", "понедельникам"},
	{"How is the drawbridge of the plan painted?", "plan.pdf", "dark green"},
}

// unanswerable questions have no answer in any of the documents. The last ones come close to what a document says, and the
// offline model, which can't reason, may quote that instead of refusing.
var unanswerable = []string{
	"What is the capital of Mongolia?",
	"How do I bake sourdough bread?",
	"Who won the football world cup in 1998?",
	"What is the boiling point of mercury?",
	"How many moons does Jupiter have?",
	"Wie hoch ist der Eiffelturm?",
	"What is the phone number of the dentist?",
	"富士山の高さは何メートルですか",
	"北京有多少人口？",
	"What is the name of the tenant's cat?",
	"Who was the captain of the Titanic?",
	"Was kostet die Wärmepumpe?",
	"What does the survey say about the swimming pool?",
	"¿Cuántas plazas tiene el garaje?",
	"When was the Fulmar built?",
	"How much does the lift in Mill Lane cost?",
}

// The offline model answers from the right document, word for word, and refuses what no document answers.
func TestAnswersRestOnTheDocuments(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	var files []file
	paths, err := filepath.Glob(filepath.Join("testdata", "library", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file{filepath.Base(path), string(raw)})
	}
	files = append(files, file{"plan.pdf", pdfOf("The first sheet shows the river and the weir.", "The drawbridge is painted dark green and has two oak beams.")})
	names := map[string]string{} // by document id
	for i, id := range s.add(files...) {
		names[id] = files[i].name
	}

	right, quoted := 0, 0
	for _, q := range questions {
		log := s.run(q.ask)
		checkCitations(t, s, log)
		if log.answer == nil {
			t.Errorf("%q: %+v", q.ask, log.done)
			continue
		}
		cited := slices.ContainsFunc(log.answer.Citations, func(c chat.Citation) bool { return names[c.DocumentID] == q.file })
		says := strings.Contains(log.answer.Markdown, q.says) ||
			slices.ContainsFunc(log.answer.Citations, func(c chat.Citation) bool { return strings.Contains(c.Quote, q.says) })
		if cited {
			right++
		}
		if cited && says {
			quoted++
		} else {
			t.Logf("missed: %q (%s cited: %v)\n\t%s", q.ask, q.file, cited, log.answer.Markdown)
		}
	}
	refused := 0
	for _, question := range unanswerable {
		log := s.run(question)
		if log.answer == nil {
			t.Errorf("%q: %+v", question, log.done)
			continue
		}
		if log.answer.StopReason != chat.StopRefused {
			t.Logf("not refused: %q\n\t%s", question, log.answer.Markdown)
			continue
		}
		refused++
		checkRefusal(t, question, log)
	}
	t.Logf("score: right document %d of %d, with the words %d, refused %d of %d", right, len(questions), quoted, refused, len(unanswerable))
	if right < len(questions)-1 || quoted < len(questions)-1 || refused < len(unanswerable)*3/4 {
		t.Errorf("the score fell: right document %d of %d, with the words %d, refused %d of %d", right, len(questions), quoted, refused, len(unanswerable))
	}
}

// checkCitations fails unless each footnote's words stand where it says, and each number in the text has its footnote.
func checkCitations(t *testing.T, s *server, log transcript) {
	t.Helper()
	if log.answer == nil {
		return
	}
	for i, c := range log.answer.Citations {
		text := s.send("GET", "/documents/"+c.DocumentID+"/text", nil)
		runes := []rune(text.body)
		if c.Check == chat.CheckNotFound {
			t.Errorf("%q: footnote %d quotes nothing", log.start.Question, c.Number)
			continue
		}
		if text.status != http.StatusOK || c.Start < 0 || c.End > len(runes) || c.Start >= c.End || string(runes[c.Start:c.End]) != c.Quote {
			t.Errorf("%q: footnote %d is not at %d–%d: %q", log.start.Question, c.Number, c.Start, c.End, c.Quote)
		}
		if c.Number != i+1 || !strings.Contains(log.answer.Markdown, "["+string(rune('0'+c.Number))+"]") {
			t.Errorf("%q: footnote %d of %q", log.start.Question, c.Number, log.answer.Markdown)
		}
		if page := s.send("GET", c.URL, nil, header{"Accept", "text/html"}); page.status != http.StatusOK {
			t.Errorf("%q: the link %s = %d", log.start.Question, c.URL, page.status)
		}
	}
}

func checkRefusal(t *testing.T, question string, log transcript) {
	t.Helper()
	const sentence = "I couldn't find relevant information about that in your documents."
	if !strings.HasPrefix(log.answer.Markdown, sentence) || len(log.answer.Citations) > 0 || len(log.citations) > 0 || strings.Contains(log.answer.Markdown, "[1]") {
		t.Errorf("%q: the refusal is %+v", question, log.answer)
	}
	if log.done.Status != chat.RunCompleted || log.answer.Coverage.Searched == 0 {
		t.Errorf("%q: done %+v, coverage %+v", question, log.done, log.answer.Coverage)
	}
	searched := slices.ContainsFunc(log.steps, func(s chat.Step) bool { return s.ActionType == chat.ActionSearching && s.ToolName != "" })
	if !searched || !strings.Contains(log.answer.Markdown, "searched for") {
		t.Errorf("%q: it does not say what was searched: %q", question, log.answer.Markdown)
	}
}
