package files_test

import (
	"fmt"
	"strings"
)

func badMails() []bad {
	read := func(name, text, data string) bad { return bad{name, "bad.eml", "Subject: Roof\n" + data, "", text} }
	deep, closed := "", ""
	for i := range 5000 {
		deep += fmt.Sprintf("Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", i, i)
	}
	for i := range 300 {
		closed += fmt.Sprintf("Content-Type: message/rfc822\nSubject: %d\n\n", i)
	}
	mixed := "Content-Type: multipart/mixed; boundary=x\n\n"
	return []bad{
		{"nothing", "bad.eml", "", misnamed, ""},
		{"a picture", "bad.eml", "\x89PNG\r\n\x1a\n", "This picture is damaged", ""},
		{"headers without names", "bad.eml", strings.Repeat(":\n", 100_000), misnamed, ""},
		read("parts in parts", "Roof", deep),
		read("mails in mails", "Roof", closed),
		read("a part that never ends", "half", mixed+"--x\nContent-Type: text/plain\n\nhalf"),
		read("200,000 empty parts", "Roof", mixed+strings.Repeat("--x\n\n", 200_000)),
		read("a boundary of nothing", "Roof", "Content-Type: multipart/mixed; boundary=\"\"\n\n--\n\nThe roof"),
		read("a boundary of 1 MB", "Roof", "Content-Type: multipart/mixed; boundary="+strings.Repeat("x", 1<<20)+
			"\n\nx"),
		read("a million headers", "dry", strings.Repeat("X: y\n", 1_000_000)+"\nThe roof is dry."),
		read("a header of 8 MB", "dry", "X: "+strings.Repeat("y", 8<<20)+"\n\nThe roof is dry."),
		read("a header that goes on for 500,000 lines", "dry", "To: a\n"+strings.Repeat(" b\n", 500_000)+
			"\nThe roof is dry."),
		read("a million encoded words", "dry", "To: "+strings.Repeat("=?utf-8?q?a?= ", 1_000_000)+
			"\n\nThe roof is dry."),
		read("a character set that nobody knows", "dry",
			"Content-Type: text/plain; charset=x-none\nTo: =?x-none?b?AA==?=\n\n"+
				"The roof is dry."),
		read("an encoding that nobody knows", "dry", "Content-Transfer-Encoding: x-none\n\nThe roof is dry."),
		read("base64 that is none", "Roof", "Content-Transfer-Encoding: base64\n\n=====!!!!"),
		read("quoted-printable that breaks off", "dry", "Content-Transfer-Encoding: quoted-printable\n\nThe roof "+
			"is dry=\n=Z"),
		read("a file whose path leads outside", "slip", mixed+"--x\nContent-Disposition: attachment; "+
			"filename=\"../../slip\"\n\nx\n--x\nContent-Disposition: attachment; "+
			"filename=\"..\\\\..\\\\slip\"\n\nx\n--x--"),
		read("3,000 files", "Roof", mixed+strings.Repeat("--x\nContent-Disposition: attachment; "+
			"filename=\"a\"\n\nx\n", 3000)),
		read("elements 100,000 deep", "dry", "Content-Type: text/html\n\nThe roof is dry."+strings.Repeat("<div>",
			100_000)),
		read("a date that is none", "dry", "Date: Thu, 99 Foo 99999 99:99:99 +9999\n\nThe roof is dry."),
		read("zero bytes", "dry", "To: a\x00b\n\nThe roof is\x00 dry."),
		read("100,000 lines of quotations", "dry", "\n"+strings.Repeat(strings.Repeat(">", 50)+" a\nb\n", 50_000)+
			"dry"),
	}
}

func badMailboxes() []bad {
	read := func(name, text, data string) bad { return bad{name, "bad.mbox", data, "", text} }
	fails := func(name, fate, data string) bad { return bad{name, "bad.mbox", data, fate, ""} }
	const one = "From a Mon Jun 01 10:00:00 2009\nSubject: Roof\n\nThe roof is dry.\n\n"
	return []bad{
		fails("nothing", misnamed, ""),
		fails("a ZIP archive", misnamed, "PK\x03\x04"),
		fails("a million beginnings", noText, strings.Repeat("From a\n\n", 1_000_000)),
		read("60,000 mails", "dry", strings.Repeat(one, 60_000)),
		read("a beginning alone, then a mail", "dry", "From a\n"+one),
		read("half a mail", "The", one[:len(one)-12]),
		read("a line of 16 MB", "Roof", one+strings.Repeat("x", 16<<20)),
		read("beginnings without mails between mails", "dry", strings.Repeat("From x\n\n"+one, 1000)),
		read("a million lines that are quoted beginnings", "dry", one+strings.Repeat(">From x\n", 1_000_000)),
		read("a beginning of 8 MB", "dry", one+"From "+strings.Repeat("x", 8<<20)+"\n\nx"),
		read("a mail of parts in parts", "dry", one+"From a\n"+strings.Repeat(
			"Content-Type: multipart/mixed; boundary=x\n\n--x\n", 5000)+"\n\n"+one),
		read("zero bytes", "dry", one+"From \x00\nSubject: \x00\n\n\x00"),
		read("mails that hold 3,000 files", "dry", one+strings.Repeat("From a\nContent-Disposition: attachment; "+
			"filename=\"../../a\"\n\nx\n\n", 3000)),
		fails("lines that end with carriage returns alone", noText, strings.ReplaceAll(one, "\n", "\r")),
		read("characters of no encoding", "dry", one+"From a\nSubject: \xff\xfe\xc0\n\n\x81\x8d\x8f\n"),
		read("1,000 mails of 1,000 headers", "dry", strings.Repeat("From a\n"+strings.Repeat("To: a\n", 1000)+
			"\ndry\n\n", 1000)),
	}
}
