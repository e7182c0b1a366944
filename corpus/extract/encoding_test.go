package extract

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"github.com/footnote/footnote/corpus"
)

func TestEncodingsAreDecoded(t *testing.T) {
	german := "Die Prüfung des Daches ergab keine Mängel. Größe: 120 m², Straße: Königsallee 5."
	french := "Le toit a été rénové l'année dernière; la façade est très sèche."
	japaneseText := "屋根は昨年新しくなりました。東京の家です。"
	chinese := "这个房子的屋顶是去年新做的，我们对它进行了检查。"
	for _, tt := range []struct {
		name, text string
		enc        encoding.Encoding
	}{
		{"UTF-8 with a mark", "\ufeffGröße", unicode.UTF8},
		{"UTF-16 with a mark, little end first", german, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)},
		{"UTF-16 with a mark, big end first", japaneseText, unicode.UTF16(unicode.BigEndian, unicode.UseBOM)},
		{"UTF-16 without a mark, little end first", german, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
		{"UTF-16 without a mark, big end first", german, unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
		{"Japanese UTF-16 without a mark", strings.Repeat(japaneseText+"\n", 5),
			unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
		{"Russian UTF-16 without a mark", "Крыша дома была осмотрена в прошлом году.",
			unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
		{"UTF-32", german, utf32.UTF32(utf32.LittleEndian, utf32.UseBOM)},
		{"German Windows-1252", german, charmap.Windows1252},
		{"French Latin-1", french, charmap.ISO8859_1},
		{"one accent in Latin-1", "The café is closed.", charmap.ISO8859_1},
		{"curly quotes in Windows-1252", "He said “yes” – and left… It’s true.", charmap.Windows1252},
		{"Spanish Windows-1252", "¿Dónde está el niño? Mañana por la mañana, señor.", charmap.Windows1252},
		{"Polish Windows-1250", "Dach został wymieniony w zeszłym roku, ściany są suche, źródło: właściciel.",
			charmap.Windows1250},
		{"Shift-JIS", japaneseText, japanese.ShiftJIS},
		{"Shift-JIS katakana", "カタカナのテキストファイル", japanese.ShiftJIS},
		{"Shift-JIS among English", "The word for roof is 屋根 and it is read やね in this text.", japanese.ShiftJIS},
		{"EUC-JP", japaneseText, japanese.EUCJP},
		{"ISO-2022-JP", japaneseText, japanese.ISO2022JP},
		{"GBK", chinese, simplifiedchinese.GBK},
		{"GB18030", chinese, simplifiedchinese.GB18030},
		{"Big5", "這個房子的屋頂是去年新做的，我們對它進行了檢查。", traditionalchinese.Big5},
		{"a little Big5 among English", "Alfresco MSG format testing ( MSG 格式測試 )", traditionalchinese.Big5},
		{"German letters alone", "Subject äöü Subject", charmap.Windows1252},
		{"EUC-KR", "지붕은 작년에 새로 교체되었습니다. 벽은 건조합니다.", korean.EUCKR},
		{"Windows-1251", "Крыша дома была осмотрена в прошлом году. Стены сухие.", charmap.Windows1251},
		{"KOI8-R", "Крыша дома была осмотрена в прошлом году. Стены сухие.", charmap.KOI8R},
		{"Greek Windows-1253", "Η στέγη του σπιτιού αντικαταστάθηκε πέρυσι.", charmap.Windows1253},
		{"Hungarian Windows-1250", "A tetőt tavaly újították fel, a fűtés működik.", charmap.Windows1250},
		{"Czech ISO-8859-2", "Střecha byla loni vyměněna, stěny jsou suché, žádné škody.", charmap.ISO8859_2},
		{"Turkish Windows-1254", "Çatı geçen yıl yenilendi, duvarlar kuru değil.", charmap.Windows1254},
		{"Lithuanian Windows-1257", "Stogas buvo pakeistas praėjusiais metais, čia viskas sausa, žiūrėkite į šį raštą.",
			charmap.Windows1257},
		{"code page 866", "Крыша дома была осмотрена в прошлом году.", charmap.CodePage866},
		{"ISO-8859-5", "Крыша дома была осмотрена в прошлом году.", charmap.ISO8859_5},
		{"Thai Windows-874", "หลังคาบ้านได้รับการเปลี่ยนเมื่อปีที่แล้ว", charmap.Windows874},
		{"Hebrew Windows-1255", "הגג של הבית הוחלף בשנה שעברה והקירות יבשים", charmap.Windows1255},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data, err := tt.enc.NewEncoder().Bytes([]byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			got, err := decodeText(data, "")
			if want := strings.TrimPrefix(tt.text, "\ufeff"); err != nil || got != want {
				t.Errorf("decode(% x…) = %q, %v; want %q", data[:min(len(data), 12)], got, err, want)
			}
		})
	}
}

func TestStrayNULIsDropped(t *testing.T) {
	for _, text := range []string{
		"The roof\x00 is new.", "The roof\x00 is new!.", "\x00Dach für 5 €\n",
		strings.Repeat("A line of words that goes on.\n", 50) + "\x00",
	} {
		got, err := decodeText([]byte(text), "")
		if want := strings.ReplaceAll(text, "\x00", ""); err != nil || got != want {
			t.Errorf("decode(%q) = %q, %v, want %q", text, got, err, want)
		}
	}
	if got, err := decodeText([]byte(strings.Repeat("ab\x00\x01cd", 50)), ""); err == nil {
		t.Errorf("binary data became %q, want an error", got)
	}
}

func TestDeclaredEncodingIsUsed(t *testing.T) {
	text := "Dach wymieniony"
	for _, tt := range []struct{ name, page, want string }{
		{"meta charset", `<meta charset="windows-1250"><p>` + text + " \xb3", text + " ł"},
		{"meta http-equiv",
			`<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-2"><p>` + text + " \xb1",
			text + " ą"},
		{"UTF-8 that is none", `<meta charset="utf-8"><p>caf` + "\xe9", "café"},
		{"a name that does not exist", `<meta charset="klingon"><p>caf` + "\xe9", "café"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x, err := extractBytes(t, "a.html", "text/html", []byte(tt.page))
			if err != nil || x.Text != tt.want {
				t.Errorf("text of %q = %q, %v; want %q", tt.page, x.Text, err, tt.want)
			}
		})
	}
}

func TestStrayByteKeepsUTF8(t *testing.T) {
	src := strings.Repeat("Größe und Straße. ", 5) + "caf\xe9"
	got, err := decodeText([]byte(src), "")
	if want := strings.Repeat("Größe und Straße. ", 5) + "café"; err != nil || got != want {
		t.Errorf("decode(%q) = %q, %v; want %q", src, got, err, want)
	}
}

func TestReplacementCharactersComeFromSource(t *testing.T) {
	for b := 0x80; b <= 0xFF; b++ {
		src := fmt.Sprintf("word %c word", 'x')
		data := []byte(strings.Replace(src, "x", string([]byte{byte(b)}), 1))
		if got, err := decodeText(data, ""); err == nil && strings.ContainsRune(got, '\ufffd') {
			t.Errorf("decode(%q) = %q", data, got)
		}
	}
	if got, err := decodeText([]byte("kept \ufffd"), ""); err != nil || got != "kept \ufffd" {
		t.Errorf("a replacement character of the source became %q, %v; want %q", got, err, "kept \ufffd")
	}
}

func readTable(t *testing.T, src string) corpus.Extracted {
	t.Helper()
	x, err := readCSV(t.Context(), src, corpus.File{})
	if err != nil {
		t.Fatalf("readCSV: %v, want no error", err)
	}
	return x
}

func TestCSVWithAnyDelimiterIsTable(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ src, want string }{
		{"Part,Price\nSlate,4.50\n\"Nail, long\",0.10\n", "Part | Price\nSlate | 4.50\nNail, long | 0.10"},
		{"Teil;Preis\nSchiefer;4,50\nNagel;0,10\n", "Teil | Preis\nSchiefer | 4,50\nNagel | 0,10"},
		{"Part\tPrice\nSlate\t4.50\n", "Part | Price\nSlate | 4.50"},
		{"a|b|c\n1|2,5|3\n", "a | b | c\n1 | 2,5 | 3"},
		{"Part,Note\nSlate,\"two\nlines\"\n", "Part | Note\nSlate | two lines"},
		{"Part,Note\nSlate,5\" wide\n", "Part | Note\nSlate | 5\" wide"},
	} {
		x := readTable(t, tt.src)
		if x.Text != tt.want || len(x.Blocks) != 1 || x.Blocks[0].Kind != corpus.BlockTable {
			t.Errorf("%q is read as %q in %d blocks, want %q in one table", tt.src, x.Text, len(x.Blocks), tt.want)
		}
	}
	for _, src := range []string{"Dear all,\n\nthe roof is sound.\n", "one\ntwo\n", "a,b\nc\nd,e,f\n", ""} {
		for _, b := range readTable(t, src).Blocks {
			if b.Kind == corpus.BlockTable {
				t.Errorf("%q is a table, want text", src)
			}
		}
	}
}

func TestLongTablePartsRepeatHeader(t *testing.T) {
	t.Parallel()
	var src strings.Builder
	src.WriteString("Part,Price,Supplier\n")
	for i := range 9000 {
		fmt.Fprintf(&src, "slate no. %d,%d.50,Harper & Sons\n", i, i%90)
	}
	x := readTable(t, src.String())
	if len(x.Blocks) < 3 {
		t.Fatalf("%d blocks, want some", len(x.Blocks))
	}
	for i, b := range x.Blocks {
		want := "Part | Price | Supplier"
		if i == 0 {
			want = ""
		}
		if b.Kind != corpus.BlockTable || b.Columns != want {
			t.Errorf("block %d is a %s with columns %q, want a table with %q", i, b.Kind, b.Columns, want)
		}
	}
	for i, p := range corpus.Split("d", "sha", x) {
		if i > 0 && p.Section != "Part | Price | Supplier" {
			t.Errorf("passage %d has the section %q, want the names of its columns", i, p.Section)
		}
	}
}

func TestCSVOverCellLimitIsText(t *testing.T) {
	t.Parallel()
	src := "a,b\n" + strings.Repeat("1,2\n", 200_000) + "the,end\n"
	x := readTable(t, src)
	if first, last := x.Blocks[0], x.Blocks[len(x.Blocks)-1]; first.Kind != corpus.BlockTable ||
		last.Kind == corpus.BlockTable || !strings.HasSuffix(x.Text, "the,end") {
		t.Errorf("begins with a %s, ends with a %s and %q, want a table, text and the,end", first.Kind, last.Kind,
			x.Text[len(x.Text)-20:])
	}
	if got, want := strings.Count(x.Text, "1"), 200_000; got != want {
		t.Errorf("%d rows are left, want %d", got, want)
	}
}
