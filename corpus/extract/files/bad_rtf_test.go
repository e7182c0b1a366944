package files_test

import "strings"

func badRTF() []bad {
	read := func(name, text, body string) bad { return bad{name, "bad.rtf", `{\rtf1\ansi ` + body, "", text} }
	fails := func(name, fate, data string) bad { return bad{name, "bad.rtf", data, fate, ""} }
	return []bad{
		fails("nothing", misnamed, ""),
		fails("words", misnamed, "The roof is dry."),
		fails("its first bytes alone", noText, `{\rtf1`),
		fails("groups without end", tooDeep, `{\rtf1 `+strings.Repeat("{", 1_000_000)),
		read("ends without groups", "roof", strings.Repeat("}", 100_000)+"The roof"),
		read("a binary part longer than the file", "roof", `The roof}{\bin2147483647 abc`),
		fails("a binary part of everything", noText, `{\rtf1 \bin99999999999 The roof}`),
		read("a binary part of less than nothing", "roof", `{\pict\bin-5 ab}The roof}`),
		read("numbers that no number holds", "roof", `\u99999999999999 ?\uc999999999999999\f-99999999999 The roof`),
		read("half of a character beyond U+FFFF", "roof", `\u-10179?\u65?\u-8704?\u-8704?\u-10179 The roof}`),
		read("a thousand skipped characters behind each", "a", `\uc1000 a\u945`+strings.Repeat("x", 500)),
		read("a control word of 1 MB", "roof", `The roof\`+strings.Repeat("a", 1<<20)+` }`),
		read("a font that is its own", "roof", `{\fonttbl{\f0\fcharset999{\f0\fonttbl}}}\f0 The roof}`),
		read("a code page that nobody knows", "roof", `\ansicpg99999 The roof\'ff\'zz\'}`),
		read("a field in itself", "roof", strings.Repeat(`{\field{\*\fldinst HYPERLINK "a"}{\fldrslt `, 300)+
			"The roof"),
		read("rows that never end", "roof", strings.Repeat(`\trowd\intbl a\cell`, 20_000)+`\row\pard The roof}`),
		read("notes in notes", "roof", strings.Repeat(`{\footnote a`, 900)+strings.Repeat("}", 900)+"The roof}"),
		read("objects and templates from elsewhere", "roof",
			`{\*\template http://127.0.0.1:1/x}{\object\objocx{\*\objdata `+
				strings.Repeat("01", 1<<20)+`}}{\field{\*\fldinst INCLUDEPICTURE "http://127.0.0.1:1/x"}{\fldrslt The `+
				`roof}}}`),
		fails("a picture alone", noText, `{\rtf1{\pict\pngblip `+strings.Repeat("ff", 1<<20)+`}}`),
		read("cut in the middle of a character", "roof", `The roof \'f`),
		read("zero bytes", "The roof", "T\x00h\x00e\x00 \x00r\x00o\x00o\x00f\x00}"),
		read("20,000 styles", "roof", `{\stylesheet`+strings.Repeat(`{\s2147483647\outlinelevel2147483647 x;}`, 20_000)+
			`}\s2147483647 The roof}`),
	}
}
