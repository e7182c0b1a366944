package text_test

import (
	"strings"
	"testing"

	"github.com/footnote/footnote/text"
)

func TestRuns(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{ // grammar in brackets
		{"Latin words are in none", "the roof of 1987", ""},
		{"hiragana behind other signs is grammar", "万年筆の単価はいくらですか", "万年筆[の]単価[はいくらですか]"},
		{"hiragana at the beginning is a name, without its particle", "みかんの単価は？", "みかん[の]単価[は]"},
		{"but no interrogative", "いつ届きますか", "[いつ]届[きますか]"},
		{"Chinese particles and interrogatives", "张伟在哪个部门工作？", "张伟[在哪个]部门工作"},
		{"Korean endings, word by word", "창고는 어디에 있습니까?", "창고는 [어디]에 있[습니까]"},
		{"Thai interrogatives and prepositions", "น้ำปลาอยู่ที่ไหน", "น้ำปลา[อยู่ที่ไหน]"},
		{"Latin words part runs", "東京のTower5はどこ", "東京[の] [はどこ]"},
	} {
		var runs []string
		for _, r := range text.Runs(tt.in) {
			var b strings.Builder
			for i, sign := range r.Runes {
				if r.Grammar[i] && (i == 0 || !r.Grammar[i-1]) {
					b.WriteString("[")
				}
				b.WriteRune(sign)
				if r.Grammar[i] && (i+1 == len(r.Runes) || !r.Grammar[i+1]) {
					b.WriteString("]")
				}
			}
			if want := max(1, len(r.Runes)-1); len(r.Terms) != want {
				t.Errorf("%s: %d terms of %q, want %d", tt.name, len(r.Terms), string(r.Runes), want)
			}
			runs = append(runs, b.String())
		}
		if got := strings.Join(runs, " "); got != tt.want {
			t.Errorf("%s: Runs(%q) = %q, want %q", tt.name, tt.in, got, tt.want)
		}
	}
}
