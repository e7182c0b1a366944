package main_test

import (
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
)

// shortDocuments have one sentence each, with a question that it answers and one that nothing answers.
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

// A library of one sentence is enough: what it says is quoted, and what it does not say is not called found.
func TestOneSentenceIsEnoughInEachLanguage(t *testing.T) {
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
