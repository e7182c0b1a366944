package run

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/footnote/footnote/agent/cite"
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/question"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/english"
	"github.com/footnote/footnote/text/locale"
)

// A small model reads slowly, has a small context and gets confused by tools. It gets this profile: rules search,
// and the model gets one short prompt without tools that ends with the question.

//go:embed small.md
var smallPrompt string

// Three passages in 600 tokens contain the answer to 54 of 78 questions of e2e/eval/real/open.tsv, four in 750 to
// 56, and five in 850 to 57. Three are nearly as good and take three quarters of the time to read
// (docs/decisions/small-models.md). The other limits divide these tokens; no measurement of each is recorded.
const (
	smallPassages   = 3
	smallRoom       = 600 // tokens of all passages: with the question, 900 tokens outside the prefix cache
	smallWork       = 850 // tokens of a question, or of an answer to work on
	smallMost       = 320 // maximum tokens of one passage
	smallLeast      = 110 // tokens reserved for each passage after it
	smallRemembered = 150 // tokens of an earlier question or answer
	smallReply      = 800 // token limit of a reply, unless a setting overrides it
)

// findProfile decides whether the run's model is a small one. Config.Small measures a model once per process; the
// step is shown only during a measurement. That takes some 15 s on two cores and is not part of the run's budget of
// turns. The criteria are in docs/decisions/small-models.md.
func (w *Runner) findProfile(ctx context.Context) (err error) {
	if w.cfg.Small == nil || w.model.isRuleBased() || w.givenText() {
		return nil
	}
	name := w.model.model.Name()
	step := w.log.newStep("measure", chat.ActionPlanning, chat.StatusRunning, locale.Message(
		"Measuring what "+name+" can do",
	))
	measured := false
	w.small = w.cfg.Small(ctx, name, func() {
		measured = true
		err = w.log.emitEvents(ctx, w.log.trackStep(step))
	})
	if cause := w.stopCause(ctx); cause != nil {
		return cause
	}
	if w.small != "" {
		w.model.offerCheck()
		w.answerNext()
	}
	if !measured || err != nil {
		return err
	}
	step.Status, step.ToolStatus, step.Timestamp = chat.StatusComplete, chat.StatusComplete, nowSeconds()
	step.Message = step.Forms.Say(locale.Say("{1} can run its own searches", name))
	if w.small != "" {
		step.Message = step.Forms.Say(locale.Say("Short prompts and rule-based search for {1}: {2}", name, w.small))
	}
	return w.log.emitEvents(ctx, w.log.trackStep(step))
}

// isSmall reports whether the answering model has the profile for small models.
func (m *modelCaller) isSmall() bool { return m.small != "" && !m.isRuleBased() }

// smallRequest builds the prompt of a small model's only turn. The rules come first and the question's content last,
// so that a prefix cache serves the rules. The limits are constants because they depend on the speed of such models,
// not on their context size.
func (m *modelCaller) smallRequest(ctx context.Context) []llm.Message {
	rules := strings.NewReplacer("{{refusal}}", english.Refusal, "{{role}}",
		roleOf(m.cfg.SystemPrompt)+instructionsOf(text.Visible(m.run.Request.Instructions))).Replace(smallPrompt)
	asked := text.Visible(m.run.Request.Message)
	out := []llm.Message{{Role: llm.RoleSystem, Text: strings.TrimSpace(rules)}}
	// other questions get no history, which would only take tokens
	if m.asked.Type == question.FollowUp || m.asked.Reference == question.Rework ||
		m.asked.Reference == question.AsksWhy || !m.asked.NeedsDocuments() {
		out = append(out, m.lastExchange()...)
	}
	body := "Question: " + clipTokens(asked, smallWork)
	if shown := m.smallSources(ctx); shown != "" {
		body += "\n\n" + fenceData(m.nonce, shown) + "\n\n" + body + "\n" + markedAnswer(text.Detect(asked))
	}
	out = append(out, llm.Message{Role: llm.RoleUser, Text: body})
	return append(out, m.messages.ephemeral...)
}

// lastExchange returns the last question with its answer, shortened. A longer history would displace the passages.
func (k *knowledge) lastExchange() []llm.Message {
	past := k.conversation.messages
	out := slices.Clone(past[max(0, len(past)-2):])
	for i := range out {
		limit := smallRemembered
		if k.asked.Reference == question.Rework && i == len(out)-1 {
			limit = smallWork // the answer is the text to work on
		}
		out[i].Text = clipTokens(text.Visible(out[i].Text), limit)
	}
	return out
}

// smallSources returns the best passages, each as "[n] title: text", and the results of tools that return no
// passages. The first passages get up to smallMost tokens; each later one has at least smallLeast reserved.
func (m *modelCaller) smallSources(ctx context.Context) string {
	quotes := m.rulesQuotes(ctx)
	all := m.alternatePassages(quotes)
	all = all[:min(len(all), smallPassages)]
	var shown []string
	room := smallRoom
	if m.run.Request.AddedContext != "" {
		given := "The text that came with the question: " + clipTokens(m.run.Request.AddedContext, smallRoom/2)
		shown, room = append(shown, given), room-smallRoom/2
	}
	if others := m.resultsBesides(); others != "" {
		limit := room
		if len(all) > 0 {
			limit = smallLeast
		}
		shown = append(shown, clipTokens(others, limit))
		room -= limit
	}
	for i, src := range all {
		limit := min(smallMost, room-(len(all)-1-i)*smallLeast)
		said := m.excerptPassage(src, quotes, limit)
		room -= roughTokens(said)
		shown = append(shown, said)
	}
	return strings.Join(shown, "\n\n")
}

// alternatePassages returns the retrieved passages, alternating between the order of the search scores and that of the
// rules' quotes. A search rates whole passages, the rules single sentences; each finds some that the other misses.
func (m *modelCaller) alternatePassages(quotes []llm.Quoted) []cite.Source {
	sources := m.toolContext.Sources
	found := sources.All()
	slices.SortStableFunc(found, func(a, b cite.Source) int {
		return cmp.Compare(sources.ScoreOf(b.Passage.ID), sources.ScoreOf(a.Passage.ID))
	})
	quoted := slices.DeleteFunc(slices.Clone(found), func(s cite.Source) bool { return quoteOf(quotes, s.N) < 0 })
	slices.SortStableFunc(quoted, func(a, b cite.Source) int {
		return cmp.Compare(quoteOf(quotes, a.N), quoteOf(quotes, b.N))
	})
	var out []cite.Source
	for lists := [2][]cite.Source{found, quoted}; len(out) < len(found); lists[0], lists[1] = lists[1], lists[0] {
		next := slices.IndexFunc(lists[0], func(s cite.Source) bool {
			return !slices.ContainsFunc(out, func(o cite.Source) bool { return o.N == s.N })
		})
		if next >= 0 {
			out, lists[0] = append(out, lists[0][next]), lists[0][next+1:]
		}
	}
	return out
}

// rulesQuotes returns the quotes that the fallback would take from the history, best first: it rates every sentence,
// while a search rates whole passages. It returns none without a fallback. It costs no tokens, and 1.2 ms in the
// median (docs/performance.md, “Deciding”). Errors are ignored: then only the search's order counts.
func (m *modelCaller) rulesQuotes(ctx context.Context) (quotes []llm.Quoted) {
	if m.cfg.Fallback == nil {
		return nil
	}
	for part, err := range m.cfg.Fallback.Stream(ctx, llm.Request{Messages: m.messages.list, NoTools: true}) {
		if q, ok := part.(llm.Quoted); ok && err == nil {
			quotes = append(quotes, q)
		}
	}
	return quotes
}

// quoteOf returns the index of the first quote from passage n, or -1.
func quoteOf(quotes []llm.Quoted, n int) int {
	return slices.IndexFunc(quotes, func(q llm.Quoted) bool { return q.Passage == n })
}

// resultsBesides returns the results of tools that return no passages: lists, sums.
func (m *modelCaller) resultsBesides() string {
	retrieves := map[string]bool{} // by call id
	var out []string
	for _, msg := range m.messages.list {
		for _, call := range msg.Calls {
			t := m.set.Find(call.Name)
			retrieves[call.ID] = t == nil || t.Capability == chat.CapabilitySearch ||
				t.Capability == chat.CapabilityRead || t.Capability == chat.CapabilityCheck
		}
		if msg.Role == llm.RoleTool && !retrieves[msg.CallID] {
			_, body, _ := strings.Cut(msg.Text, "\n") // without the fence
			out = append(out, body[:max(0, strings.LastIndexByte(body, '\n'))])
		}
	}
	return strings.Join(out, "\n")
}

// excerptPassage returns a passage with its number. From a long one it takes the sentence that the rules would
// quote, or else the one that fits the question best. It extends that by whole sentences, alternately after and
// before, while they fit. limit is in tokens and includes the head.
func (m *modelCaller) excerptPassage(src cite.Source, quotes []llm.Quoted, limit int) string {
	head := fmt.Sprintf("[%d] %s: ", src.N, text.Shorten(src.Document.DisplayTitle(), 60))
	if at := src.Passage.Section; at != "" {
		head = fmt.Sprintf("[%d] %s, %s: ", src.N, text.Shorten(src.Document.DisplayTitle(), 60), text.Shorten(at, 60))
	}
	body := src.Passage.Text
	limit -= roughTokens(head)
	if roughTokens(body) <= limit {
		return head + body
	}
	start, _, _ := m.cite.Judge.Quote(body, m.run.Request.Message)
	if i := quoteOf(quotes, src.N); i >= 0 {
		if before, _, ok := strings.Cut(body, quotes[i].Words); ok {
			start = utf8.RuneCountInString(before)
		}
	}
	runes := []rune(body)
	spans := text.Sentences(body)
	first := max(0, slices.IndexFunc(spans, func(s [2]int) bool { return s[1] > start }))
	from, to := first, first // inclusive range of sentences
	size := func() int { return roughTokens(string(runes[spans[from][0]:spans[to][1]])) }
	for grown := true; grown; {
		grown = false
		if to+1 < len(spans) {
			if to++; size() > limit {
				to--
			} else {
				grown = true
			}
		}
		if from > 0 {
			if from--; size() > limit {
				from++
			} else {
				grown = true
			}
		}
	}
	return head + clipTokens(string(runes[spans[from][0]:spans[to][1]]), limit)
}

// roughTokens estimates tokens, counting non-ASCII characters higher. Three-byte characters, as in Chinese, are
// about a token each; clipTokens counts bytes and would allow a third too many.
func roughTokens(s string) int {
	runes := utf8.RuneCountInString(s)
	beyond := (len(s) - runes) / 2
	return (runes-beyond)/4 + beyond + 1
}

// markedAnswer returns the final instruction in a language (ISO 639-1): full sentences with passage numbers. A small
// model follows the end of its prompt, and answers in its language. Without the request for sentences it writes only
// numbers.
func markedAnswer(language string) string {
	if said, ok := markedAnswers[language]; ok {
		return said
	}
	return "In the language of the question: " + markedAnswers["en"]
}

var markedAnswers = map[string]string{
	"en": "Answer the question in one or two full sentences from the passages, and end each sentence with the number " +
		"of its passage in brackets [n].",
	"de": "Beantworte die Frage auf Deutsch in ein oder zwei ganzen Sätzen aus den Textstellen, und schreibe ans " +
		"Ende jedes Satzes die Nummer seiner Textstelle in Klammern [n].",
	"fr": "Réponds à la question en français, en une ou deux phrases complètes tirées des passages, et termine " +
		"chaque phrase par le numéro de son passage entre crochets [n].",
	"es": "Responde a la pregunta en español con una o dos frases completas sacadas de los pasajes, y termina cada " +
		"frase con el número de su pasaje entre corchetes [n].",
	"it": "Rispondi alla domanda in italiano con una o due frasi complete tratte dai brani, e termina ogni frase con " +
		"il numero del suo brano tra parentesi quadre [n].",
	"pt": "Responda à pergunta em português, em uma ou duas frases completas tiradas das passagens, e termine cada " +
		"frase com o número da sua passagem entre colchetes [n].",
	"nl": "Beantwoord de vraag in het Nederlands in een of twee volledige zinnen uit de passages, en eindig elke zin " +
		"met het nummer van zijn passage tussen haken [n].",
	"sv": "Besvara frågan på svenska i en eller två hela meningar ur textställena, och avsluta varje mening med " +
		"textställets nummer inom klammer [n].",
	"da": "Besvar spørgsmålet på dansk i en eller to hele sætninger fra tekststederne, og slut hver sætning med " +
		"tekststedets nummer i klammer [n].",
	"nb": "Svar på spørsmålet på norsk i en eller to hele setninger fra tekststedene, og avslutt hver setning med " +
		"tekststedets nummer i klammer [n].",
	"fi": "Vastaa kysymykseen suomeksi yhdellä tai kahdella kokonaisella lauseella tekstikohdista, ja päätä jokainen " +
		"lause sen tekstikohdan numeroon hakasulkeissa [n].",
	"pl": "Odpowiedz na pytanie po polsku, w jednym lub dwóch pełnych zdaniach z fragmentów, i zakończ każde zdanie " +
		"numerem jego fragmentu w nawiasie [n].",
	"cs": "Odpověz na otázku česky jednou nebo dvěma celými větami z úryvků a každou větu zakonči číslem jejího " +
		"úryvku v závorce [n].",
	"hu": "Válaszolj a kérdésre magyarul, egy vagy két teljes mondatban a szövegrészekből, és minden mondat végére " +
		"írd a szövegrész számát zárójelben [n].",
	"ro": "Răspunde la întrebare în română, în una sau două propoziții complete din pasaje, și încheie fiecare " +
		"propoziție cu numărul pasajului ei în paranteze [n].",
	"tr": "Soruyu Türkçe olarak, parçalardan bir veya iki tam cümleyle yanıtla ve her cümleyi parçasının köşeli " +
		"parantez içindeki numarasıyla bitir [n].",
	"ru": "Ответь на вопрос по-русски одним или двумя полными предложениями из отрывков и закончи каждое предложение " +
		"номером его отрывка в скобках [n].",
	"uk": "Дай відповідь на запитання українською одним або двома повними реченнями з уривків і закінчи кожне " +
		"речення номером його уривка в дужках [n].",
	"el": "Απάντησε στην ερώτηση στα ελληνικά με μία ή δύο πλήρεις προτάσεις από τα αποσπάσματα και τελείωσε κάθε " +
		"πρόταση με τον αριθμό του αποσπάσματός της σε αγκύλες [n].",
	"ar": "أجب عن السؤال بالعربية بجملة أو جملتين كاملتين من المقاطع، واختم كل جملة برقم مقطعها بين قوسين [n].",
	"he": "ענה על השאלה בעברית במשפט אחד או שניים מלאים מתוך הקטעים, וסיים כל משפט במספר הקטע שלו בסוגריים [n].",
	"ja": "質問に日本語で、上の文章から一つか二つの完全な文で答え、各文の終わりにその文章の番号を [n] の形で付けてください。",
	"zh": "请根据以上段落，用中文写一到两个完整的句子回答问题，并在每句末尾用方括号标出段落编号 [n]。",
	"ko": "위 글에 근거하여 질문에 한국어로 한두 개의 완전한 문장으로 답하고, 각 문장 끝에 그 글의 번호를 [n] 형식으로 쓰세요.",
}
