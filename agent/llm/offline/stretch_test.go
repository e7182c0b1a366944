package offline

import (
	"slices"
	"strings"
	"testing"
)

// The documents cut a question without spaces into words; what is left of it is a word that nothing has.
func TestStretches(t *testing.T) {
	for _, tt := range []struct {
		name, found, question string
		has, lacks            []string
	}{
		{"Japanese", "商品名 | 単価\n万年筆 | 12,000円", "万年筆の単価はいくらですか。", []string{"万年筆", "単価"}, nil},
		{"a Japanese word that nothing has", "商品名 | 単価\n万年筆 | 12,000円", "万年筆の製造元はどこですか。",
			[]string{"万年筆"}, []string{"製造元"}},
		{"hiragana inside a word", "商品名 | 単価\n消しゴム | 60円", "消しゴムの単価は？", []string{"消しゴム", "単価"}, nil},
		{"a name in hiragana", "商品名 | 単価\nりんご | 100円", "みかんの単価は？", []string{"単価"}, []string{"みかん"}},
		{"one sign with its particle", "水車は欅の木の車輪を持つ。", "水車は何の木ですか", []string{"水車", "の木"}, nil},
		{"one sign that nothing has", "水車は欅の木で作られている。", "水車は何色ですか", []string{"水車"}, []string{"色"}},
		{"Chinese", "姓名 | 部门\n张伟 | 研发部", "张伟在哪个部门工作？", []string{"张伟", "部门"}, []string{"工作"}},
		{"Korean endings", "이름 | 내선번호\n박지훈 | 412", "박지훈의 내선번호는 몇 번입니까?",
			[]string{"박지훈", "내선번호"}, nil},
		{"Thai", "สินค้า | ราคา\nกะปิ | 60 บาท", "กะปิราคาเท่าไร", []string{"กะปิ", "ราคา"}, nil},
		{"a Thai word that nothing has", "สินค้า | ราคา\nกะปิ | 60 บาท", "นมสดราคาเท่าไร", []string{"ราคา"},
			[]string{"นมสด"}},
		{"a longer word than the documents have", "電話番号：八〇二一", "電話番号一覧", []string{"電話番号"},
			[]string{"一覧"}},
	} {
		var has, lacks []string
		for _, w := range pileOfText(tt.found).stretches(tt.question) {
			if len(w.terms) > 0 {
				has = append(has, w.typed)
			} else {
				lacks = append(lacks, w.typed)
			}
		}
		if !slices.Equal(has, tt.has) || !slices.Equal(lacks, tt.lacks) {
			t.Errorf(
				"%s: of %q found %q and not %q, want %q and %q",
				tt.name,
				tt.question,
				has,
				lacks,
				tt.has,
				tt.lacks,
			)
		}
	}
}

func TestRowsInScriptsWithoutSpaces(t *testing.T) {
	stock := tableOf("在庫.csv", "", "商品名 | 在庫数 | 単価 | 保管場所", "赤鉛筆 | 120 | 80円 | 第一倉庫", "消しゴム | 45 | 60円 | 第二倉庫",
		"万年筆 | 8 | 12,000円 | 本店金庫")
	staff := tableOf("员工.csv", "", "姓名 | 部门 | 职位 | 电话", "王小明 | 财务部 | 会计 | 8021", "李娜 | 人事部 | 经理 | 8033")
	prices := tableOf("ราคา.csv", "", "สินค้า | ราคา | ชั้นวาง", "น้ำปลา | 28 บาท | ก2", "ไข่ไก่ | 5 บาท | ข3")
	people := tableOf("직원.csv", "", "이름 | 부서 | 내선번호", "김민수 | 영업부 | 201", "박지훈 | 개발부 | 412")
	for _, tt := range []struct {
		question string
		library  []paper
		said     finding
		row      string
	}{
		{"万年筆の単価はいくらですか。", stock, answers, "| 万年筆 | 8 | 12,000円 | 本店金庫 [1] |"},
		{"消しゴムはどこに保管されていますか。", stock, answers, "| 消しゴム | 45 | 60円 | 第二倉庫 [1] |"},
		{"李娜的电话是多少？", staff, answers, "| 李娜 | 人事部 | 经理 | 8033 [1] |"},
		{"ไข่ไก่อยู่ชั้นวางไหน", prices, answers, "| ไข่ไก่ | 5 บาท | ข3 [1] |"},
		{"박지훈의 내선번호는 몇 번입니까?", people, answers, "| 박지훈 | 개발부 | 412 [1] |"},
		{"万年筆の製造元はどこですか。", stock, closest, "| 万年筆 | 8 | 12,000円 | 本店金庫 [1] |"},
		{"李娜的工资是多少？", staff, closest, "| 李娜 | 人事部 | 经理 | 8033 [1] |"},
	} {
		got, _ := askIn(t, tt.library, tt.question)
		if said, quotes, _ := strings.Cut(got, "\n\n"); said != string(tt.said) || !strings.HasSuffix(quotes, tt.row) {
			t.Errorf("%s: %q\n%s\nwant %q and the row\n%s", tt.question, said, quotes, tt.said, tt.row)
		}
	}
}
