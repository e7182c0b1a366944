package main_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/docs/docstest"
	"github.com/footnote/footnote/e2e/scripted"
)

const root = "../.."

// The requests in the documents work: curl commands are sent as written, and for each named route the server has
// the path and the method.
func TestDocumentedRequestsWork(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	s.add(books...)
	run := s.begin("What is the condition of the roof?").RunID
	s.follow(run)
	export := s.send("GET", "/agent/runs/"+run+"/export?format=json", nil)
	dir := docstest.Workplace(t, root)
	if err := os.WriteFile(filepath.Join(dir, "answer.json"), []byte(export.body), 0o600); err != nil {
		t.Fatal(err)
	}
	route := regexp.MustCompile(`^(GET|POST|PUT|PATCH|DELETE) (/(?:\{[^}]*\}|[^\s?…])*)`)
	names := regexp.MustCompile(`\{[^}]*\}|<[^>]*>`)
	sent, named := 0, map[string]bool{}
	for _, doc := range docstest.Read(t, root) {
		for _, call := range doc.Calls(t, dir) {
			if call.Program == "curl" && sendAsCurl(t, s, dir, doc.Name, call) {
				sent++
			}
		}
		for _, span := range doc.Spans {
			found := route.FindStringSubmatch(span)
			if found == nil || named[found[0]] {
				continue
			}
			named[found[0]] = true
			got := s.send("OPTIONS", names.ReplaceAllString(found[2], "x"), nil)
			if got.status != 204 || !strings.Contains(got.header.Get("Allow"), found[1]) {
				t.Errorf("%s: route %s is missing: got %d, Allow %q",
					doc.Name, found[0], got.status, got.header.Get("Allow"))
			}
		}
	}
	if sent < 2 || len(named) < 20 {
		t.Errorf("%d requests and %d routes were found, want 2 and 20 or more", sent, len(named))
	}
}

// sendAsCurl sends the request of a curl call, and reports whether the call had a URL.
func sendAsCurl(t *testing.T, s *server, dir, doc string, call docstest.Call) bool {
	t.Helper()
	method, path, body := "GET", "", any(nil)
	headers := []header{{"Accept", "*/*"}}
	for i := 0; i < len(call.Args); i++ {
		arg, value := call.Args[i], ""
		if i+1 < len(call.Args) {
			value = call.Args[i+1]
		}
		switch arg {
		case "-N", "-s":
			continue
		case "-H":
			name, text, _ := strings.Cut(value, ": ")
			headers = append(headers, header{name, text})
		case "-X":
			method = value
		case "-d", "--data-binary":
			if name, ok := strings.CutPrefix(value, "@"); ok {
				raw, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil {
					t.Errorf("%s: %s: %v", doc, call, err)
				}
				value = string(raw)
			}
			method, body = "POST", value // as a form, unless a header is set
			headers = append([]header{{"Content-Type", "application/x-www-form-urlencoded"}}, headers...)
		default:
			address := strings.TrimPrefix(arg, "http://")
			rest, ok := strings.CutPrefix(address, "localhost:8080")
			if !ok {
				t.Errorf("%s: %s: unknown argument %q; add it to the test", doc, call, arg)
			}
			path = rest
			continue
		}
		i++
	}
	if path == "" {
		return false
	}
	if got := s.send(method, path, body, headers...); got.status >= 300 {
		t.Errorf("%s: %s: %d %s, want less than 300", doc, call, got.status, got.body)
	}
	return true
}

// shortDocuments have one sentence each, with an answerable and an unanswerable question.
var shortDocuments = []struct{ language, file, says, asked, unanswered string }{
	{"Arabic", "مكتبة.txt",
		"تفتح المكتبة العامة أبوابها يوم الأحد في الساعة التاسعة صباحا.",
		"متى تفتح المكتبة العامة؟", "من هو مدير المستشفى؟"},
	{"German", "garage.txt",
		"Der Stellplatz 14 in der Tiefgarage kostet 65 Euro im Monat.",
		"Was kostet der Stellplatz 14?", "Wann wird der Müll abgeholt?"},
	{"English", "boiler.txt",
		"The boiler in the cellar was replaced in April 2021 by Hargreaves & Co.",
		"When was the boiler replaced?", "Who repaired the lift?"},
	{"Spanish", "llaves.txt",
		"Las llaves del trastero están en el cajón de la cocina.",
		"¿Dónde están las llaves del trastero?", "¿Cuándo abre la piscina?"},
	{"French", "bal.txt",
		"Le bal des pompiers aura lieu le 13 juillet sur la place du marché.",
		"Où aura lieu le bal des pompiers ?", "Qui est le maire de la commune ?"},
	{"Hindi", "चाबी.txt",
		"गोदाम की चाबी रमेश के पास रहती है।",
		"गोदाम की चाबी किसके पास है?", "बस कब आती है?"},
	{"Italian", "gita.txt",
		"La gita al lago di Garda parte sabato alle sette dalla stazione.",
		"A che ora parte la gita al lago di Garda?", "Chi ha vinto la gara di ballo?"},
	{"Japanese", "会議.txt",
		"次の会議は来週の水曜日に第二会議室で行われます。",
		"次の会議はどこで行われますか。", "社長の誕生日はいつですか。"},
	{"Korean", "냉장고.txt",
		"사무실 냉장고는 매주 금요일 오후에 청소합니다.",
		"사무실 냉장고는 언제 청소합니까?", "주차장은 어디에 있습니까?"},
	{"Dutch", "fiets.txt",
		"De blauwe fiets van Joris staat in de schuur achter het huis.",
		"Waar staat de fiets van Joris?", "Hoe duur is de nieuwe keuken?"},
	{"Portuguese", "padaria.txt",
		"A padaria da esquina abre às seis da manhã e fecha às oito da noite.",
		"A que horas abre a padaria?", "Quem é o dono do cinema?"},
	{"Russian", "пароль.txt",
		"Запасной ключ от гаража лежит под синим цветочным горшком.",
		"Где лежит ключ от гаража?", "Когда привезут новую мебель?"},
	{"Swedish", "stuga.txt",
		"Stugan vid sjön hyrs ut för 900 kronor per natt.",
		"Vad kostar stugan per natt?", "När går bussen till flygplatsen?"},
	{"Thai", "รถ.txt",
		"รถตู้ของบริษัทจอดอยู่ที่ชั้นใต้ดินช่องหมายเลข 12",
		"รถตู้ของบริษัทจอดอยู่ที่ไหน", "ประธานบริษัทชื่ออะไร"},
	{"Chinese", "钥匙.txt",
		"备用钥匙放在办公室的蓝色抽屉里。",
		"备用钥匙放在哪里？", "食堂几点关门？"},
}

// A library of one sentence is enough: the sentence is quoted, and an unanswerable question is not marked as found.
func TestOneSentenceAnswersInEachLanguage(t *testing.T) {
	t.Parallel()
	for _, d := range shortDocuments {
		t.Run(d.language, func(t *testing.T) {
			t.Parallel()
			s := serve(t, newDir(t))
			s.add(file{d.file, d.says + "\n"})
			got := s.runIn("", d.asked).answer
			if got == nil || len(got.Citations) != 1 || got.Citations[0].Quote != d.says {
				t.Errorf("%s: got %+v, want %q quoted", d.asked, got, d.says)
			}
			got = s.runIn("", d.unanswered).answer
			if got == nil || got.Finding == chat.FindingFound || strings.TrimSpace(got.Markdown) == "" {
				t.Errorf("%s: got %+v, want no answer that is called found", d.unanswered, got)
			}
		})
	}
}

// tableScript answers the questions of docs/requests.md, and requests for plans, judgements and summaries.
func tableScript(r scripted.Request) scripted.Reply {
	const good = "The roof of Highlands is in good condition"
	system, last := r.Messages[0].Text, r.Messages[len(r.Messages)-1].Text
	switch {
	case strings.Contains(system, "Summarize these passages concisely"):
		return saying("In short, the notice is three months [1].")
	case len(r.Tools) == 0 && strings.Contains(last, "The passages that were found:"),
		len(r.Tools) == 0 && strings.Contains(last, "Answer:"):
		return saying(`{"evaluation":"It is all there.","confidence":0.9}`)
	case len(r.Tools) == 0 && last == "Compare the roof and the value":
		return saying(`[{"query":"roof of Highlands","reasoning":"the first half"},` +
			`{"query":"value of Highlands","reasoning":"the second half"}]`)
	case len(r.Tools) == 0:
		return saying(`[{"query":"` + last + `","reasoning":"one part"}]`)
	}
	switch r.Question() {
	case "Why are both there?":
		both := together(calling("retrieve", `{"query":"roof"}`), calling("retrieve", `{"query":"value"}`))
		both.Text = "Both may be there."
		return inTurn(both, saying(good+" [1]."))(r)
	case "Why is the notice so long?":
		return inTurn(calling("retrieve", `{"query":"notice period"}`), calling("summarize", `{"texts":["[1]"]}`),
			saying("The notice period is three months [1]."))(r)
	case "Why is the roof of Highlands good?":
		search := calling("search_documents", `{"query":"roof of Highlands"}`)
		search.Text = "The survey should say it."
		return inTurn(search, saying(good+" [1]."))(r)
	case "How was Highlands valued in 2024?":
		return inTurn(calling("search_documents", `{"query":"roof of Highlands, market value 2024"}`),
			saying(good+" [2].\n\nThe market value of Highlands was £2,300,000 in February."))(r)
	case "How does a robot keep its balance?":
		return inTurn(calling("search_documents", `{"query":"robot balance"}`), saying("A robot keeps its balance by "+
			"moving its ankles and its hips (from Humanoid robots: Balance control) [1]."))(r)
	case "Make this friendlier: Send me the report by Friday.":
		return saying("Could you kindly send me the report by Friday?")
	case "Does the model fail?":
		return scripted.Reply{Fault: scripted.Fault{Status: http.StatusUnauthorized}}
	case "Compare the roof and the value", "Why and how is quantum entanglement?", "Find documents from 2024":
		return saying("DONE")
	}
	return inTurn(calling(r.Tools[0].Name, `{"query":"roof of Highlands"}`), saying(good+" [1]."))(r)
}

// bodies returns the chat requests so far.
func (m *modelServer) bodies() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

func TestDocumentedRequestTable(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(root, "docs", "requests.md"))
	if err != nil {
		t.Fatal(err)
	}
	m := newModel(t, scripted.Config{Record: 1000, Script: tableScript})
	s := serve(t, newDir(t), append(m.env(), "OPENAI_EMBEDDING_MODEL=hash", "FOOTNOTE_PRICES=scripted=1/1",
		"FOOTNOTE_ALLOWED_ORIGINS=https://app.example.org")...)
	s.add(scriptedLibrary...)
	s.semantic()
	code := regexp.MustCompile("`([^`]+)`")
	rows := 0
	for line := range strings.Lines(string(raw)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 4 || !strings.HasPrefix(line, "| S") {
			continue
		}
		rows++
		spans := code.FindAllStringSubmatch(cells[2], -1)
		var headers []header
		for _, span := range spans[:len(spans)-1] {
			name, value, _ := strings.Cut(span[1], ": ")
			headers = append(headers, header{name, value})
		}
		request := spans[len(spans)-1]
		method, rest, _ := strings.Cut(request[1], " ")
		path, body, _ := strings.Cut(rest, " ")
		asked := len(m.bodies())
		r := s.send(method, path, body, headers...)
		expected := code.FindAllStringSubmatch(cells[3], -1)
		if _, told := strings.CutPrefix(expected[0][1], "status: "); !told {
			expected = append(expected, []string{"", "status: 200"})
		}
		for _, want := range expected {
			in, text := r.body, want[1]
			if status, ok := strings.CutPrefix(text, "status: "); ok {
				in, text = strconv.Itoa(r.status)+" "+r.body, status+" "
			} else if line, ok := strings.CutPrefix(text, "header: "); ok {
				name, _, _ := strings.Cut(line, ": ")
				in, text = name+": "+r.header.Get(name), line
			}
			if logged, ok := strings.CutPrefix(text, "log: "); ok {
				in, text = s.log.String(), logged
			} else if told, ok := strings.CutPrefix(text, "model: "); ok {
				in, text = strings.Join(m.bodies()[asked:], "\n"), told
			}
			if !strings.Contains(in, text) {
				t.Errorf("%s: %s: got %.3000s, want %s", cells[0], request[1], in, want[1])
			}
		}
	}
	if rows < 10 {
		t.Errorf("the table has %d rows, want 10 or more", rows)
	}
}
