package search

import "testing"

func TestTyposCountsSwapsOnce(t *testing.T) {
	for _, tt := range []struct {
		a, b  string
		limit int
		want  int
	}{
		{"roof", "roof", 2, 0}, {"roof", "rofo", 2, 1}, {"roof", "rof", 2, 1}, {"roof", "proof", 2, 1},
		{"elefant", "elephant", 2, 2}, {"roof", "cellar", 2, 3}, {"", "ab", 2, 2}, {"首都", "首部", 2, 1},
	} {
		if got := Typos(tt.a, tt.b, tt.limit); got != tt.want && (got <= tt.limit || tt.want <= tt.limit) {
			t.Errorf("Typos(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestErrorsOfTheFingersAreToldFromOtherWords(t *testing.T) {
	for _, tt := range []struct {
		typed, word string
		want        Meant
	}{
		{"rihgts", "rights", SurelyMeant}, {"rofo", "roof", SurelyMeant}, {"lemmon", "lemon", SurelyMeant},
		{"boiller", "boiler", SurelyMeant}, {"accomodate", "accommodate", SurelyMeant}, {"rpof", "roof", MaybeMeant},
		{"repaird", "repairs", SurelyMeant}, {"seperate", "separate", SurelyMeant}, {"tenent", "tenant", SurelyMeant},
		{"maintainance", "maintenance", SurelyMeant}, {"elefant", "elephant", SurelyMeant},
		{"крыпа", "крыша", NotMeant}, {"крвша", "крыша", MaybeMeant},
		{"clau", "claus", MaybeMeant}, {"planet", "plant", MaybeMeant}, {"plugh", "plug", MaybeMeant},
		{"world", "would", NotMeant}, {"bread", "break", NotMeant}, {"weather", "washer", NotMeant},
		{"flibber", "flicker", NotMeant}, {"wireguard", "wiregauge", NotMeant}, {"totp", "toto", MaybeMeant},
	} {
		if got, _ := MeantBy(tt.typed, tt.word); got != tt.want {
			t.Errorf("%q is meant by %q: got %d, want %d", tt.word, tt.typed, got, tt.want)
		}
	}
}
