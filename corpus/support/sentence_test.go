package support_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/footnote/footnote/corpus/support"
)

const survey = "Roof survey. The slates on the north slope are sound. Three of them have slipped above the bay " +
	"window. " +
	"Replacing the flashing costs about $1,250. Mr. Miller of Acme Roofing inspected it on 14 March " +
	"2021.\n\nItem\tPrice\nGutter\t$300\nChimney\t$900"

func FuzzSentences(f *testing.F) {
	f.Add("The roof’s north slope is sound", "roofs north slope")
	f.Add("a\u0301 - \ufb01 …", "\ufb01")
	f.Add("", "x")
	f.Fuzz(func(t *testing.T, s, claim string) {
		start, end, score := support.BestSentence(s, claim)
		if start < 0 || start > end || end > utf8.RuneCountInString(s) || score < 0 || score > 1 {
			t.Fatalf("BestSentence(%q, %q) = %d, %d, %f; want at least 0, at most %d, at least 0, at most 1",
				s, claim, start, end, score, end)
		}
		support.Supports(s, claim)
		if start, end, _ := support.NewJudge().Quote(s, claim); start < 0 || start > end ||
			end > utf8.RuneCountInString(s) {
			t.Fatalf("Quote(%q, %q) = %d, %d; want at least 0 and at most %d", s, claim, start, end, end)
		}
	})
}

func TestBestSentence(t *testing.T) {
	for _, tt := range []struct{ name, claim, want string }{
		{"by its words", "The north slope's slates are in sound condition [1].",
			"The slates on the north slope are sound."},
		{"by its number", "Flashing replacement is estimated at 1250 dollars",
			"Replacing the flashing costs about $1,250."},
		{"by a numeral", "3 slates slipped", "Three of them have slipped above the bay window."},
		{"a table's row", "The gutter costs $300", "Gutter\t$300"},
		{"by a name", "It was inspected by Miller", "Mr. Miller of Acme Roofing inspected it on 14 March 2021."},
		{"nothing fits: the first", "Quantum chromodynamics", "Roof survey."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := []rune(survey)
			a, b, score := support.BestSentence(survey, tt.claim)
			if got := string(r[a:b]); got != tt.want {
				t.Errorf("BestSentence(%q) = %q (%.2f), want %q", tt.claim, got, score, tt.want)
			}
			if fits := tt.claim != "Quantum chromodynamics"; fits != (score > 0) {
				t.Errorf("BestSentence(%q) has score %.2f", tt.claim, score)
			}
		})
	}
}

func TestHeadingIsQuotedOnlyForItself(t *testing.T) {
	const drains = "Drains\n\nThe pipes under the yard date from 1980. They were cleaned by Acme in " +
		"May.\n\nWater\n\nThe tap drips."
	for _, tt := range []struct {
		claim, want string
		some        bool
	}{
		{"The drains are forty years old", "The pipes under the yard date from 1980.", false},
		{"The king keeps dragons in the cellar", "The pipes under the yard date from 1980.", false},
		{"The drains were cleaned in May", "They were cleaned by Acme in May.", true},
		{"The water tap drips", "The tap drips.", true},
		{"Drains", "Drains", true},
	} {
		a, b, score := support.NewJudge().Quote(drains, tt.claim)
		if got := string([]rune(drains)[a:b]); got != tt.want || (score > 0) != tt.some {
			t.Errorf("Quote(%q) = %q (%.2f), want %q", tt.claim, got, score, tt.want)
		}
	}
	if a, b, _ := support.NewJudge().Quote("Drains", "dragons"); a != 0 || b != 6 {
		t.Errorf("of a passage that is a heading alone: %d, %d; want 0 and 6", a, b)
	}
}

func TestContentsLineIsQuotedOnlyAsLastResort(t *testing.T) {
	const passage = "13.1 How can I become a developer? . . . . . . . . 57\n13.2 Where are the keys kept? . . . . . " +
		". . 58\n\n13.1 How can I become a developer?\n\n" +
		"The New Members' Corner describes how somebody becomes a developer. Wait for a sponsor."
	for _, tt := range []struct{ claim, want string }{
		{"One becomes a developer as the New Members' Corner describes",
			"The New Members' Corner describes how somebody becomes a developer."},
		{"How can one become a developer", "The New Members' Corner describes how somebody becomes a developer."},
		{"The keys are kept on page 58", "13.2 Where are the keys kept? . . . . . . . 58"},
	} {
		a, b, _ := support.NewJudge().Quote(passage, tt.claim)
		if got := string([]rune(passage)[a:b]); got != tt.want {
			t.Errorf("Quote(%q) = %q, want %q", tt.claim, got, tt.want)
		}
	}
}

func TestQuestionIsQuotedOnlyAsLastResort(t *testing.T) {
	const passage = "Tax handbook\n\n1. When is the tax return due?\n2. How is the tax return filed online?\n\n" +
		"When is the tax return due?\n\nThe return is due in July.\n\nHow is the tax return filed online?\n\n" +
		"To file the tax return online, open the portal and sign with your card."
	for _, tt := range []struct{ claim, want string }{
		{"The tax return is filed online.", "To file the tax return online, open the portal and sign with your card."},
		{"The tax return is filed online through the portal.",
			"To file the tax return online, open the portal and sign with your card."},
		{"The tax return is due in July.", "The return is due in July."},
	} {
		start, end, _ := support.NewJudge().Quote(passage, tt.claim)
		if got := string([]rune(passage)[start:end]); got != tt.want {
			t.Errorf("Quote(%q) = %q, want %q", tt.claim, got, tt.want)
		}
	}
}

func TestPassageSupportsItsRows(t *testing.T) {
	const passage = "setting | default | what it does\nFOOTNOTE_SESSION_KEEP_DAYS | 30 | a conversation is removed " +
		"so many days after its last question; 0: never\nFOOTNOTE_WEB_ALLOW | | addresses (IP:PORT) that pages may " +
		"be read from"
	for _, row := range strings.Split(passage, "\n") {
		if !support.Supports(row, passage) {
			t.Errorf("row %q is unsupported by its own passage", row)
		}
	}
	if support.Supports("FOOTNOTE_OTHER_THING | 30 | a conversation is kept in the cellar", passage) {
		t.Error("claim on another setting is supported")
	}
}

func TestSupports(t *testing.T) {
	for _, tt := range []struct {
		name, claim string
		want        bool
	}{
		{"a paraphrase", "The slates on the north slope are **sound** [1].", true},
		{"the right number", "Replacing the flashing costs **$1,250** [2]", true},
		{"another number", "Flashing costs $1,350 [2]", false},
		{"another name", "The roof was inspected by Johnson from Globex in 2021", false},
		{"other words", "The basement floods every winter after heavy rain", false},
		{"a list's number is none", "7. The slates are sound", true},
		{"a name with underscores", "Set FOOTNOTE_DATA for _every_ **survey**", false},
		{"in emphasis", "_Three_ of **them** have `slipped`", true},
		{"nothing said", "Yes, it is.", true},
		{"another language with the right numbers",
			"Das Dach wurde am 14. März 2021 von der Firma Acme geprüft und ist in Ordnung.", true},
		{"another language with another number",
			"Das Dach wurde am 15. März 2021 von der Firma Acme geprüft und ist in Ordnung.", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := support.Supports(tt.claim, survey); got != tt.want {
				t.Errorf("Supports(%q) = %v, want %v", tt.claim, got, tt.want)
			}
		})
	}
}

const rules = "Rules. The roof was replaced in 2019. The roof was renewed in 1987. The wiring was renewed in 2005. " +
	"It was checked again in 2010. " +
	"The boiler is serviced twice a year. The filter is cleaned every six months. The maker guarantees the slates " +
	"for 30 years against splitting. " +
	"The policy does not cover flood damage to the basement. The tenant may keep one cat. Dogs are not allowed " +
	"without the landlord's written consent. " +
	"A residual current device is missing. There was no rain, and the walls were dry. No guarantee is available for " +
	"that work. The rent is £1,150 a month. " +
	"The cover ends no later than 3 May 2031. Der Filter wird nicht gereinigt. The employee gets three months' notice."

func TestOppositeStatementIsUnsupported(t *testing.T) {
	for _, tt := range []struct {
		claim string
		want  bool
	}{
		{"The roof was replaced in 2019.", true},
		{"The roof was not replaced in 2019.", false},
		{"The roof wasn’t replaced in 2019.", false},
		{"The roof was renewed in 1987.", true},
		{"The roof was renewed in 2005.", false},
		{"The wiring was renewed in 2005.", true},
		{"The wiring was checked again in 2010.", true},
		{"The roof was renewed in 1987 and the wiring in 2005.", true},
		{"The boiler is serviced twice a year.", true},
		{"The boiler is serviced twice a month.", false},
		{"The boiler is serviced twice a week.", false},
		{"The boiler is serviced twice weekly.", false},
		{"The filter is cleaned twice a year.", false}, // true, but not by its words
		{"The slates are guaranteed for 30 years.", true},
		{"The slates are guaranteed for 30 days.", false},
		{"The slates are guaranteed for thirty years.", true},
		{"The rent is £1,150 a month.", true},
		{"The monthly rent is $1,150.", false},
		{"The rent is £1,150 each month.", false}, // true, but not by its words
		{"The notice is three months.", true},
		{"The notice is three years.", false},
		{"The policy does not cover flood damage.", true},
		{"The policy covers flood damage to the basement.", false},
		{"No, the tenant may keep one cat.", true},
		{"Dogs are not allowed.", true},
		{"Dogs are allowed with the landlord's written consent.", false}, // true, but not by its words
		{"There is no residual current device.", false},                  // true, but not by its words
		{"The walls were dry.", true},
		{"The walls were dry, for there was no rain.", false}, // true, but not by its words
		{"A guarantee is available for that work.", false},
		{"No guarantee is available for that work.", true},
		{"The cover ends on 3 May 2031 at the latest.", false}, // true, but not by its words
		{"Der Filter wird gereinigt.", false},
		{"Der Filter wird nicht gereinigt.", true},
	} {
		if got := support.Supports(tt.claim, rules); got != tt.want {
			t.Errorf("Supports(%q) = %v, want %v", tt.claim, got, tt.want)
		}
	}
}

func TestClaimMayNeedSeveralPassages(t *testing.T) {
	j := support.NewJudge()
	if !j.Backed("MAX_UPLOAD_MIB | 50 | largest file", "", "Setting\tDefault\nMAX_UPLOAD_MIB\t50\tlargest file") {
		t.Error("name with underscores is split")
	}
	const rent, deposit = "The monthly rent is £1,150.", "A deposit of £2,300 is held."
	if claim := "The rent is £1,150 and the deposit £2,300."; j.Backed(claim, "", rent) || j.Backed(claim, "") ||
		!j.Backed(claim, "", rent, deposit) {
		t.Error("claim needs both passages: got another result")
	}
	if claim := "The lease of Mill Lane ends in May."; j.Backed(claim, "", "It ends in May.") ||
		!j.Backed(claim, "Lease agreement for 12 Mill Lane", "It ends in May.") {
		t.Error("title has no effect, want its words counted")
	}
}

func BenchmarkBestSentence(b *testing.B) {
	for b.Loop() {
		support.BestSentence(survey, "Flashing replacement is estimated at 1250 dollars")
	}
}

func TestCopiedSentenceIsItsQuote(t *testing.T) {
	t.Parallel()
	const passage = "dpkg --get-selections \\* > selections.txt\n\ndpkg --set-selections < selections.txt\n\nThe " +
		"selections are kept\nin a file. Purge packages by hand."
	for claim, want := range map[string]string{
		"dpkg --get-selections \\* > selections.txt": "dpkg --get-selections \\* > selections.txt",
		"The selections are kept in a file":          "The selections are kept\nin a file.",
		"by hand":                                    "Purge packages by hand.",
	} {
		start, end, _ := support.NewJudge().Quote(passage, claim)
		if got := string([]rune(passage)[start:end]); got != want {
			t.Errorf("Quote(%q) = %q, want %q", claim, got, want)
		}
	}
}
