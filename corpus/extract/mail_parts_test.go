package extract

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mailOf returns a mail with further header lines and a body.
func mailOf(header, body string) string {
	return "Subject: Boiler\n" + header + "\n\n" + body
}

// multipart returns a multipart mail of parts, each with its own header.
func multipart(kind string, parts ...string) string {
	return mailOf("Content-Type: multipart/"+kind+"; boundary=b", part(parts...)+"--b--\n")
}

func part(parts ...string) string { return "--b\n" + strings.Join(parts, "\n--b\n") + "\n" }

func plainPart(text string) string { return "Content-Type: text/plain; charset=utf-8\n\n" + text }

func htmlPart(text string) string { return "Content-Type: text/html; charset=utf-8\n\n" + text }

// bodyLines returns the blocks below a mail's heading and header row.
func bodyLines(t *testing.T, name, mail string) []string {
	t.Helper()
	x, _, err := extractFile(t, name, mail)
	if err != nil {
		t.Errorf("%v", err)
	}
	lines := blockLines(x)
	return lines[min(2, len(lines)):]
}

const content = `<h2>Service</h2><p>The boiler is serviced on <b>19 May</b> by Quill &amp; Sons.</p>` +
	`<table><tr><th>Part</th><th>Price</th></tr><tr><td>Valve</td><td>80</td></tr></table>`

var contentLines = []string{
	"heading Service", "paragraph The boiler is serviced on 19 May by Quill & Sons.", "table Part | Price\nValve | 80",
}

func TestMailShowsTheAlternativeWithTheContent(t *testing.T) {
	long := "The valve of the boiler was replaced by Quill & Sons, who come again on 19 May. The old one leaked."
	for _, tt := range []struct {
		name, mail string
		want       []string
	}{
		{"a stub", multipart("alternative", plainPart("Your mail program can't show HTML mail."), htmlPart(content)),
			contentLines},
		{"a stub in another language", multipart("alternative",
			plainPart("Diese Nachricht kann nur als HTML angezeigt werden."), htmlPart(content)), contentLines},
		{"a stub with a link", multipart("alternative",
			plainPart("View this mail at https://example.com/boiler/19/may/by/quill/sons/valve/80\n"),
			htmlPart(content)), contentLines},
		{"a blank text", multipart("alternative", plainPart(" \n\u00a0\n"), htmlPart(content)), contentLines},
		{"a text that breaks off", multipart("alternative", plainPart("Service\n\nThe boiler is serviced on…"),
			htmlPart(content)), contentLines},
		{"a long stub", multipart("alternative", plainPart("This message was written for programs with pictures "+
			"and colours. Yours has neither, or it was told to leave them out. Please ask an administrator."),
			htmlPart(content)),
			append(contentLines[:3:3], "paragraph This message was written for programs with pictures and colours. "+
				"Yours has neither, or it was told to leave them out. Please ask an administrator.")},
		{"the same words", multipart("alternative", plainPart("> Who?\n\n"+long), htmlPart("<p>Who?</p><p>"+
			strings.ReplaceAll(long, "&", "&amp;")+"</p>")), []string{"paragraph > Who?", "paragraph " + long}},
		{"HTML with a preview besides", multipart("alternative", plainPart(long),
			htmlPart("<p>News</p><p>"+strings.ReplaceAll(long, "&", "&amp;")+"</p>")), []string{"paragraph " + long}},
		{"HTML that is a stub", multipart("alternative", plainPart(long), htmlPart("<p>See the text.</p>")),
			[]string{"paragraph " + long}},
		{"a script without spaces", multipart("alternative", plainPart("锅炉将于五月十九日由奎尔父\n子公司检修。"),
			htmlPart("<p>锅炉将于五月十九日由奎尔父子公司检修。</p>")), []string{"paragraph 锅炉将于五月十九日由奎尔父\n子公司检修。"}},
		{"related parts", multipart("alternative", plainPart("HTML only."),
			"Content-Type: multipart/related; boundary=r\n\n--r\n"+htmlPart(content)+"\n--r\n"+
				"Content-Type: image/png\nContent-Id: <x>\n\nx\n--r--"),
			append(contentLines[:3:3], "row Attachments: picture.png")},
		{"an alternative for small programs", multipart("alternative", plainPart(long),
			"Content-Type: text/x-amp-html\n\n<html amp4email>nothing</html>",
			htmlPart("<p>"+strings.ReplaceAll(long, "&", "&amp;")+"</p>")), []string{"paragraph " + long}},
		{"HTML that is blank", multipart("alternative", plainPart(long),
			htmlPart("<html><body><br>&nbsp;</body></html>")),
			[]string{"paragraph " + long}},
		{"a blank text deep inside", multipart("mixed", "Content-Type: multipart/related; boundary=r\n\n--r\n"+
			"Content-Type: multipart/alternative; boundary=a\n\n--a\n"+plainPart("\n")+"\n--a\n"+htmlPart(content)+
			"\n--a--\n--r--"), contentLines},
		{"HTML around a file", multipart("alternative", plainPart("The plan is below."),
			"Content-Type: multipart/mixed; boundary=m\n\n--m\n"+htmlPart("<p>The plan is below.</p>")+"\n--m\n"+
				"Content-Type: application/pdf\nContent-Disposition: inline; filename=plan.pdf\n\n%PDF\n--m\n"+
				htmlPart(content)+"\n--m--"),
			append(append([]string{"paragraph The plan is below."}, contentLines...), "row Attachments: plan.pdf")},
		{"a footer of a mailing list", multipart("mixed", htmlPart(content), plainPart("Leave the list: ask Ida.")),
			append(contentLines[:3:3], "paragraph Leave the list: ask Ida.")},
	} {
		if diff := cmp.Diff(tt.want, bodyLines(t, "a.eml", tt.mail)); diff != "" {
			t.Errorf("%s: blocks (-want +got):\n%s", tt.name, diff)
		}
	}
}

// calendar returns a calendar part with further lines of an event.
func calendar(header, method, lines string) string {
	return "Content-Type: text/calendar; charset=utf-8" + header + "\n\nBEGIN:VCALENDAR\nVERSION:2.0\n" + method +
		"BEGIN:VEVENT\nUID:1\nDTSTART;TZID=Europe/Berlin:20260312T140000\nSUMMARY:Pump test\n" + lines +
		"END:VEVENT\nEND:VCALENDAR"
}

func TestMailShowsAnAppointmentInWords(t *testing.T) {
	hello := "paragraph See the appointment."
	for _, tt := range []struct {
		name, mail string
		want       []string
	}{
		{"an invitation", multipart("alternative", htmlPart("<p>See the appointment.</p>"), calendar("; method=REQUEST",
			"METHOD:REQUEST\n", "LOCATION:Hall 6\nDESCRIPTION:Bring the seal kit.\n")), []string{hello,
			"heading Pump test", "row Invitation: Pump test · Start: 2026-03-12 14:00 (Europe/Berlin) · " +
				"Place: Hall 6 · Description: Bring the seal kit."}},
		{"an appointment that is sent twice and described in the text", multipart("mixed",
			"Content-Type: multipart/alternative; boundary=c\n\n--c\n"+plainPart("Bring the seal kit.")+"\n--c\n"+
				calendar("", "METHOD:REQUEST\n", "DESCRIPTION:Bring the\\nseal kit.\n")+"\n--c--",
			calendar("; name=invite.ics", "METHOD:REQUEST\n", "DESCRIPTION:Bring the\\nseal kit.\n")),
			[]string{"paragraph Bring the seal kit.", "heading Pump test",
				"row Invitation: Pump test · Start: 2026-03-12 14:00 (Europe/Berlin)"}},
		{"an attached file", multipart("mixed", plainPart("See the appointment."),
			calendar("; name=invite.ics\nContent-Disposition: attachment", "METHOD:REQUEST\n", "")),
			[]string{hello, "row Attachments: invite.ics"}},
		{"a cancellation", multipart("alternative", plainPart("See the appointment."),
			calendar("", "METHOD:CANCEL\n", "STATUS:CANCELLED\n")), []string{hello, "heading Pump test",
			"row Cancellation: Pump test · Start: 2026-03-12 14:00 (Europe/Berlin) · Status: CANCELLED"}},
		{"a reply without a text", mailOf("Content-Type: text/calendar; method=REPLY", strings.SplitN(calendar("",
			"METHOD:REPLY\n", "ATTENDEE;PARTSTAT=ACCEPTED;CN=\"Tarn, Bo\":mailto:bo@example.org\n"), "\n\n", 2)[1]),
			[]string{"heading Pump test", "row Reply to an invitation: Pump test · " +
				"Start: 2026-03-12 14:00 (Europe/Berlin) · Attendee: Tarn, Bo <bo@example.org> (accepted)"}},
		{"a method in the header alone", multipart("alternative", plainPart("See the appointment."),
			calendar("; method=request", "", "")), []string{hello, "heading Pump test",
			"row Invitation: Pump test · Start: 2026-03-12 14:00 (Europe/Berlin)"}},
		{"a reply whose alternative is a text", multipart("alternative", plainPart("See the appointment."), calendar(
			"; method=REPLY", "METHOD:REPLY\n", "ATTENDEE;PARTSTAT=DECLINED:MAILTO:bo@example.org\n")), []string{hello,
			"heading Pump test", "row Reply to an invitation: Pump test · Start: 2026-03-12 14:00 (Europe/Berlin) · " +
				"Attendee: bo@example.org (declined)"}},
		{"a calendar without entries", multipart("mixed", plainPart("See the appointment."),
			"Content-Type: text/calendar\n\nBEGIN:VCALENDAR\nBEGIN:VFREEBUSY\nEND:VFREEBUSY\nEND:VCALENDAR"),
			[]string{hello, "row Attachments: calendar.ics"}},
		{"a contact", multipart("mixed", plainPart("See the appointment."),
			"Content-Type: text/vcard\n\nBEGIN:VCARD\nFN:Bo Tarn\nTEL:112\nEND:VCARD"),
			[]string{hello, "heading Bo Tarn", "row Name: Bo Tarn · Phone: 112"}},
	} {
		got := bodyLines(t, "a.eml", tt.mail)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: blocks (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestBrokenPartsAreShownAsByMailPrograms(t *testing.T) {
	const code = "The gate code is 4417."
	alternatives := part(plainPart(code), htmlPart("<b>"+code+"</b>")) + "--b--\n"
	for name, mail := range map[string]string{
		"two content types": mailOf("Content-Type: multipart/alternative; boundary=a\nContent-Type: "+
			"multipart/alternative;\n boundary=b", alternatives),
		"an empty content type first": mailOf("Content-Type: \nContent-Type: multipart/alternative; boundary=b",
			alternatives),
		"the same content type twice": mailOf("Content-Type: multipart/alternative; boundary=b\nContent-Type: "+
			"multipart/alternative; boundary=b", alternatives),
		"another boundary than declared": mailOf("Content-Type: multipart/alternative; boundary=x", alternatives),
		"no boundary declared":           mailOf("Content-Type: multipart/alternative", alternatives),
		"a kind of multipart twice": mailOf("Content-Type: multipart/multipart/mixed; boundary=b",
			part(plainPart(code))),
		"no final boundary": mailOf("Content-Type: multipart/mixed; boundary=b", part(plainPart(code))),
		"a final boundary too early": mailOf("Content-Type: multipart/mixed; boundary=b",
			"--b--\n"+part(plainPart(code))),
		"a boundary with spaces behind it": mailOf("Content-Type: multipart/mixed; boundary=\"b \"",
			strings.ReplaceAll(part(plainPart(code)), "--b\n", "--b  \n")),
		"a boundary right below the header": "Subject: Boiler\nContent-Type: multipart/alternative; boundary=b\n" +
			part(plainPart(code), htmlPart("<p>Look.</p>")) + "--b--\n",
		"final boundaries without their end": mailOf("Content-Type: multipart/mixed; boundary=b", part("Content-Type: "+
			"multipart/alternative; boundary=c\n\n--c\n"+plainPart(code)+"\n--c\n")+"--b\n"),
		"a header line of a space": mailOf("Content-Type: multipart/mixed; boundary=b\n ", part(plainPart(code))),
		"a part without a header":  mailOf("Content-Type: multipart/mixed; boundary=b", part(code)),
		"a boundary that begins so": mailOf("Content-Type: multipart/mixed; boundary=b",
			part("Content-Type: multipart/mixed; boundary=bb\n\n--bb\n"+plainPart(code)+"\n--bb--")),
		"no inner final boundary": mailOf("Content-Type: multipart/mixed; boundary=b", part("Content-Type: multipart/"+
			"alternative; boundary=c\n\n--c\n"+plainPart(code))),
		"a kind that is none": mailOf("Content-Type: text", code),
		"flowed lines": mailOf("Content-Type: text/plain; format=flowed",
			"The gate \ncode is \n4417.\n"),
		"flowed lines without spaces": mailOf("Content-Type: text/plain; format=flowed; delsp=yes",
			"The ga \nte code i \ns 4417.\n"),
		"a soft break at the end": mailOf("Content-Transfer-Encoding: quoted-printable",
			"The gate code is=20=\n4417.="),
		"soft breaks of both line ends": mailOf("Content-Transfer-Encoding: Quoted-Printable ",
			"The gate=\r\n code is=\n =\n4417=2E"),
		"base64 with padding inside": mailOf("Content-Transfer-Encoding: base64",
			"VGhlIGdhdGU=\nIGNvZGUgaXMgNDQxNy4=\n"),
		"base64 with a footer": mailOf("Content-Transfer-Encoding: base64",
			"VGhlIGdhdGUgY29kZSBpcyA0NDE3Lg==\n\n-- \nsent by a list\n"),
	} {
		if diff := cmp.Diff([]string{"paragraph " + code}, bodyLines(t, "a.eml", mail)); diff != "" {
			t.Errorf("%s: blocks (-want +got):\n%s", name, diff)
		}
	}
}

func TestFlowedTextKeepsQuotations(t *testing.T) {
	got := unflow("> What did \n> it \n>> cost \nUp to \n >50 each \n-- \nIda \nMoss\n >a\n", false)
	if want := "> What did it \n>> cost \nUp to  >50 each \n-- \nIda Moss\n >a"; got != want {
		t.Errorf("unflow = %q, want %q", got, want)
	}
}

func TestCharactersOfMailsAreRead(t *testing.T) {
	for _, tt := range []struct{ name, header, body, subject, text string }{
		{"a character split between encoded words",
			"=?utf-8?b?w4Rw?= =?UTF-8?B?Zmw=?=\n =?utf-8?B?w6TD?= =?utf-8?B?pA==?=",
			"x", "Äpflää", "x"},
		{"a quoted character split", "=?utf-8?Q?f=C3?= =?utf-8?Q?=BCr_May?= and", "x", "für May and", "x"},
		{"words of two encodings", "=?koi8-r?Q?=EB=D2?= =?utf-8?Q?=D1=8B?=", "x", "Кры", "x"},
		{"an encoded word with spaces", "=?utf-8?Q?f=C3=BCr May?=", "x", "für May", "x"},
		{"a language of an encoded word", "=?utf-8*de?Q?f=C3=BCr?=", "x", "für", "x"},
		{"8-bit header in the encoding of the text", "\xeb\xd2\xd9\xdb\xc1\nContent-Type: text/plain; charset=koi8-r",
			"\xeb\xd2\xd9\xdb\xc1", "Крыша", "Крыша"},
		{"UTF-8 that declares another", "a\nContent-Type: text/plain; charset=iso-8859-1", "für 5 €", "a", "für 5 €"},
		{"windows-1252 that declares UTF-8", "a\nContent-Type: text/plain; charset=utf-8", "f\xfcr 5 \x80",
			"a", "für 5 €"},
		{"an unknown encoding", "a\nContent-Type: text/plain; charset=x-unknown", "für", "a", "für"},
		{"two parameters of a name", "a\nContent-Type: text/plain; charset=koi8-r; charset=utf-8",
			"\xeb\xd2\xd9\xdb\xc1", "a", "Крыша"},
		{"escapes without an encoding", "a\nContent-Type: text/plain;\nContent-Transfer-Encoding: 7bit",
			"\x1b$B%F%9%H\x1b(B", "a", "テスト"},
		{"UTF-8 that declares escapes", "a\nContent-Type: text/plain; charset=iso-2022-jp", "ほげ", "a", "ほげ"},
		{"an encoded word behind 8-bit text", "回执 - =?GBK?Q?test=B5=C4=BB=D8=D6=B4?=", "x", "回执 - test的回执", "x"},
		{"HTML whose meta element is right", "a\nContent-Type: text/html", "<meta charset=koi8-r>\xeb\xd2\xd9\xdb\xc1",
			"a", "Крыша"},
	} {
		x, _, err := extractFile(t, "a.eml", "From: a@example.org\nSubject: "+tt.header+"\n\n"+tt.body)
		if err != nil || x.Meta["subject"] != tt.subject || !strings.HasSuffix(x.Text, "\n\n"+tt.text) {
			t.Errorf("%s: %v, subject %q, text %q; want %q and %q", tt.name, err, x.Meta["subject"], x.Text,
				tt.subject, tt.text)
		}
	}
}

// der returns an element of a signed message, with a length of two bytes.
func der(tag, content string) string {
	return tag + "\x82\x00" + string([]byte{byte(len(content))}) + content
}

// signed returns a signed message whose content is in octet strings.
func signed(octets string) string {
	const data, signedData = "\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01", "\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02"
	inner := der("\x06", data) + "\xa0\x80" + octets + "\x00\x00"
	return der("\x30", der("\x06", signedData)+der("\xa0", der("\x30", der("\x02", "\x01")+der("\x31", "")+
		"\x30\x80"+inner+"\x00\x00"+der("\x31", der("\x04", "signer")))))
}

func TestAttachmentsOfMailsAreFound(t *testing.T) {
	inner := "From: a@example.org\nSubject: Inner\n\nIt is dry.\n"
	for _, tt := range []struct {
		name, mail, text string
		files            map[string]string
	}{
		{"a forwarded mail", multipart("mixed", plainPart("See below."), "Content-Type: message/rfc822\n\n"+inner),
			"See below.", map[string]string{"message.eml": inner}},
		{"a forwarded mail in base64", multipart("mixed", plainPart("See below."),
			"Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\nRnJvbTogYQ=="), "See below.",
			map[string]string{"message.eml": "From: a"}},
		{"a digest", multipart("digest", "\n"+inner, "\n"+inner), "",
			map[string]string{"message.eml": inner, "1-2/message.eml": inner}},
		{"a report of delivery", multipart("report; report-type=delivery-status", plainPart("It was not delivered."),
			"Content-Type: message/delivery-status\n\nFinal-Recipient: rfc822;b@example.org\nStatus: 5.1.1",
			"Content-Type: message/rfc822\n\n"+inner),
			"It was not delivered.\n\nFinal-Recipient: rfc822;b@example.org\nStatus: 5.1.1",
			map[string]string{"message.eml": inner}},
		{"a name with spaces and no quotes", multipart("mixed", plainPart("See."), "Content-Type: application/pdf; "+
			"name=The lease.pdf\nContent-Disposition: attachment; filename=The lease.pdf\n\n%PDF"), "See.",
			map[string]string{"The lease.pdf": "%PDF"}},
		{"no name", multipart("mixed", plainPart("See."), "Content-Type: application/pdf\n\n%PDF"), "See.",
			map[string]string{"attachment.pdf": "%PDF"}},
		{"a name in another encoding", multipart("mixed", plainPart("See."), "Content-Type: application/pdf\n"+
			"Content-Disposition: attachment; filename*=iso-8859-1'en'f%FCr.pdf\n\n%PDF"), "See.",
			map[string]string{"für.pdf": "%PDF"}},
		{"a name in sections", multipart("mixed", plainPart("See."), "Content-Type: application/pdf\n"+
			"Content-Disposition: attachment;\n filename*0*=gb2312''%B2%E2;\n filename*1*=%CA%D4;\n "+
			"filename*2=\".p\";\n filename*3=df\n\n%PDF"), "See.", map[string]string{"测试.pdf": "%PDF"}},
		{"sections of an encoded name", multipart("mixed", plainPart("See."), "Content-Type: application/pdf\n"+
			"Content-Disposition: attachment;\n filename*0=\"=?UTF-8?Q?f=C3=B\";\n filename*1=\"Cr.pdf?=\"\n\n%PDF"),
			"See.", map[string]string{"für.pdf": "%PDF"}},
		{"files from before MIME", mailOf("X: y", "See below.\n\nbegin 664 words.txt\n.5&AE(%!U;7`@:7,@-RX*\n`\nend\n"+
			"And\nbegin 644 no file\nthat ends.\n"), "See below.\n\nAnd\nbegin 644 no file\nthat ends.",
			map[string]string{"words.txt": "The Pump is 7."}},
		{"an encoding from before MIME", multipart("mixed", plainPart("See."), "Content-Type: text/plain; name=a.txt\n"+
			"Content-Transfer-Encoding: x-uuencode\n\nbegin 664 b.txt\n#0V%T\n`\nend"), "See.",
			map[string]string{"a.txt": "Cat"}},
		{"a signed mail", mailOf("Content-Type: application/pkcs7-mime; smime-type=signed-data; name=smime.p7m",
			signed(der("\x04", "Content-Type: text/plain\n\nThe gate code is 4417."))), "The gate code is 4417.",
			map[string]string{}},
		{"a signed mail in pieces", mailOf("Content-Type: application/x-pkcs7-mime; name=smime.p7m",
			signed("\x24\x80"+der("\x04", "X: "+strings.Repeat("x", 128)+"\n\nThe gate ")+
				der("\x04", "code is 4417.")+"\x00\x00")),
			"The gate code is 4417.", map[string]string{}},
		{"a signed file", multipart("mixed", plainPart("See."), "Content-Type: application/pkcs7-mime; "+
			"name=bill.pdf.p7m\n\n"+signed(der("\x04", "%PDF"))), "See.", map[string]string{"bill.pdf": "%PDF"}},
		{"an encrypted mail", mailOf("Content-Type: application/pkcs7-mime; name=smime.p7m", der("\x30",
			der("\x06", "\x2a\x86\x48\x86\xf7\x0d\x01\x07\x03"))), "Boiler", map[string]string{"smime.p7m": der("\x30",
			der("\x06", "\x2a\x86\x48\x86\xf7\x0d\x01\x07\x03"))}},
		{"an encoded name", multipart("mixed", plainPart("See."), "Content-Type: application/pdf; "+
			"name=\"=?utf-8?q?f=C3?=\n =?utf-8?q?=BCr.pdf?=\"\n\n%PDF"), "See.", map[string]string{"für.pdf": "%PDF"}},
	} {
		x, inside, err := extractFile(t, "a.eml", tt.mail)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		files := map[string]string{}
		for _, m := range x.Members {
			body, err := os.ReadFile(filepath.Join(inside, m.File))
			if err != nil {
				t.Fatal(err)
			}
			files[m.Path] = string(body)
		}
		if diff := cmp.Diff(tt.files, files); diff != "" || !strings.Contains(x.Text, tt.text) {
			t.Errorf("%s: text %q, want %q; files (-want +got):\n%s", tt.name, x.Text, tt.text, diff)
		}
	}
	x, _, err := extractFile(t, "a.eml", multipart("related", htmlPart(`<p>Hi <img src="cid:a@b"></p>`),
		"Content-Type: image/png; name=a.png\nContent-Id: <a@b>\n\nx", "Content-Type: image/png; name=b.png\n\nx"))
	if err != nil || len(x.Members) != 2 || !x.Members[0].Shown || x.Members[1].Shown {
		t.Errorf("%v, members %+v; want the first of two shown", err, x.Members)
	}
}
