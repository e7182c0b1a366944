package run

// markedAnswer asks in a language (ISO 639-1) for full sentences with numbers. A small model heeds what stands last,
// and answers in its language; asked for less than sentences it writes numbers alone.
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
