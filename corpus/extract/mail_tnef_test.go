package extract

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/corpus"
)

// tnefFile returns a message in TNEF of attributes.
func tnefFile(attributes ...string) string {
	return "\x78\x9f\x3e\x22\x01\x00" + strings.Join(attributes, "")
}

// attribute returns an attribute of TNEF of the message (level 1) or of an attachment (level 2).
func tnefAttribute(level byte, id uint16, value string) string {
	b := binary.LittleEndian.AppendUint16([]byte{level}, id)
	b = append(b, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(value)))
	return string(append(append(b, value...), 0, 0))
}

// tnefList returns a list of properties.
func tnefList(properties ...string) string {
	return string(binary.LittleEndian.AppendUint32(nil, uint32(len(properties)))) + strings.Join(properties, "")
}

// tnefProperty returns a property of a variable size.
func tnefProperty(id, kind uint16, value string) string {
	b := binary.LittleEndian.AppendUint16(nil, kind)
	b = binary.LittleEndian.AppendUint16(b, id)
	b = binary.LittleEndian.AppendUint32(b, 1)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(value)))
	return string(b) + value + strings.Repeat("\x00", -len(value)&3)
}

// rtfHello is the first example of [MS-OXRTFCP] §4.1, and rtfRepeated the second.
const (
	rtfHello = "\x2d\x00\x00\x00\x2b\x00\x00\x00\x4c\x5a\x46\x75\xf1\xc5\xc7\xa7\x03\x00\x0a\x00\x72\x63" +
		"\x70\x67\x31\x32\x35\x42\x32\x0a\xf3\x20\x68\x65\x6c\x09\x00\x20\x62\x77\x05\xb0\x6c\x64\x7d\x0a\x80\x0f\xa0"
	rtfRepeated = "\x1a\x00\x00\x00\x1c\x00\x00\x00\x4c\x5a\x46\x75\xe2\xd4\x4b\x51\x41\x00\x04\x20\x57\x58\x59\x5a" +
		"\x0d\x6e\x7d\x01\x0e\xb0"
)

// uncompressed returns RTF in the form of compressed RTF without compression.
func uncompressed(rtf string) string { return strings.Repeat("\x00", 8) + "MELA\x00\x00\x00\x00" + rtf }

func TestCompressedRTFIsDecompressed(t *testing.T) {
	for compressed, want := range map[string]string{
		rtfHello:                "{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n",
		rtfRepeated:             "{\\rtf1 WXYZWXYZWXYZWXYZWXYZ}",
		uncompressed(`{\rtf1}`): `{\rtf1}`,
		rtfHello[:20]:           `{\rtf1\ansi`,
		"short":                 "",
		strings.Repeat("a", 20): "",
	} {
		if got := string(decompressRTF([]byte(compressed))); !strings.HasPrefix(got, want) || len(got) > len(want)+10 {
			t.Errorf("decompressRTF(%q) = %q, want %q", compressed, got, want)
		}
	}
}

func TestWinmailIsReadAsTheMail(t *testing.T) {
	wide := func(s string) string {
		var b []byte
		for _, unit := range utf16.Encode([]rune(s)) {
			b = binary.LittleEndian.AppendUint16(b, unit)
		}
		return string(b)
	}
	file := tnefAttribute(2, tnefBegins, "") + tnefAttribute(2, tnefTitle, "PRICES~1.CSV\x00") +
		tnefAttribute(2, tnefData, "item,price\n") +
		tnefAttribute(2, tnefAttachment, tnefList(tnefProperty(0x3707, 0x1F, wide("prices für May.csv\x00"))))
	message := func(properties ...string) string {
		return tnefFile(tnefAttribute(1, tnefCodePage, "\xe2\x04\x00\x00"), tnefAttribute(1, tnefProperties,
			tnefList(properties...)), file)
	}
	htmlRTF := `{\rtf1\ansi\ansicpg1251\fromhtml1 \deff0{\fonttbl{\f0\fswiss Arial;}}{\*\htmltag18 <html>}` +
		`{\*\htmltag64 <p>}\htmlrtf {\htmlrtf0 Your code is {\*\htmltag84 <b>}\htmlrtf {\b\htmlrtf0 44` +
		`{\*\htmltag92 </b>}\htmlrtf }\htmlrtf0 17, \'ca\'f0{\*\htmltag84 &nbsp;}\htmlrtf \'a0\htmlrtf0 today.` +
		`\htmlrtf\par}\htmlrtf0{\*\htmltag72 </p>}{\*\mhtmltag <i>}}`
	html := "<p>Your code is <b>4417</b>.</p>"
	for _, tt := range []struct {
		name, winmail, text string
		want                []string
	}{
		{"a body in RTF", message(tnefProperty(0x1009, 0x102, rtfHello)), "", []string{"paragraph hello world"}},
		{"a body in HTML", message(tnefProperty(0x1013, 0x102, html)), "", []string{"paragraph Your code is 4417."}},
		{"HTML in RTF", message(tnefProperty(0x1009, 0x102, uncompressed(htmlRTF))), "",
			[]string{"paragraph Your code is 4417, Кр today."}},
		{"a plain body of the code page", tnefFile(tnefAttribute(1, tnefCodePage, "\xe3\x04\x00\x00"),
			tnefAttribute(1, tnefBody, "\xca\xf0\xfb\xf8\xe0\x00"), file), "", []string{"paragraph Крыша"}},
		{"a body beside the same text", message(tnefProperty(0x1013, 0x102, html)), "> Your code is 4417.",
			[]string{"paragraph > Your code is 4417."}},
		{"a body beside a stub", message(tnefProperty(0x1013, 0x102, html)), "See winmail.dat.",
			[]string{"paragraph Your code is 4417."}},
		{"properties with names, and several values", message(
			"\x1f\x10\x00\x80"+strings.Repeat("g", 16)+"\x01\x00\x00\x00\x06\x00\x00\x00"+wide("abc")+"\x00\x00"+
				"\x02\x00\x00\x00\x02\x00\x00\x00a\x00\x00\x00\x02\x00\x00\x00b\x00\x00\x00",
			"\x02\x10\x01\x30\x03\x00\x00\x00\x01\x00\x02\x00\x03\x00\x00\x00", "\x0b\x00\x02\x30\x01\x00\x00\x00",
			tnefProperty(0x1013, 0x102, html)), "", []string{"paragraph Your code is 4417."}},
		{"a body in a message that breaks off", message(tnefProperty(0x1013, 0x102, html)) + "\x02\x05\x90", "",
			[]string{"paragraph Your code is 4417."}},
	} {
		mail := multipart("mixed", plainPart(tt.text), "Content-Type: application/ms-tnef; name=winmail.dat\n"+
			"Content-Transfer-Encoding: base64\n\n"+base64.StdEncoding.EncodeToString([]byte(tt.winmail)))
		want := append(tt.want, "row Attachments: prices für May.csv")
		if diff := cmp.Diff(want, bodyLines(t, "a.eml", mail)); diff != "" {
			t.Errorf("%s: blocks (-want +got):\n%s", tt.name, diff)
		}
		if tt.text != "" {
			continue
		}
		x, _, err := extractFile(t, "winmail.dat", tt.winmail)
		if diff := cmp.Diff(want, blockLines(x)); err != nil || diff != "" {
			t.Errorf("%s as a file: %v, blocks (-want +got):\n%s", tt.name, err, diff)
		}
	}
	const start, end = "\xea\x07\x05\x00\x13\x00\x10\x00\x1e\x00\x00\x00\x02\x00", "\xea\x07\x05\x00\x13\x00\x11\x00" +
		"\x00\x00\x00\x00\x02\x00"
	meeting := func(more string) string {
		return multipart("mixed", plainPart("See the appointment."), "Content-Type: application/ms-tnef\n"+
			"Content-Transfer-Encoding: base64\n\n"+base64.StdEncoding.EncodeToString([]byte(tnefFile(
			tnefAttribute(1, tnefSubject, "Pump test\x00"),
			tnefAttribute(1, tnefClass, "IPM.Microsoft Schedule.MtgReq\x00"),
			tnefAttribute(1, tnefStart, start), tnefAttribute(1, tnefEnd, end)))), more)
	}
	for more, want := range map[string]string{
		"\n": "row Invitation: Pump test · Start: 2026-05-19 16:30 UTC · " +
			"End: 2026-05-19 17:00",
		calendar("", "METHOD:REQUEST\n", ""): "row Invitation: Pump test · Start: 2026-03-12 14:00 (Europe/Berlin)",
	} {
		blocks := []string{"paragraph See the appointment.", "heading Pump test", want}
		if diff := cmp.Diff(blocks, bodyLines(t, "a.eml", meeting(more))); diff != "" {
			t.Errorf("a meeting: blocks (-want +got):\n%s", diff)
		}
	}
	name := tnefFile(tnefAttribute(1, tnefCodePage, "\xb6\x03\x00\x00"), tnefAttribute(2, tnefBegins, ""),
		tnefAttribute(2, tnefTitle, "\xb4\xfa\xb8\xd5.doc\x00"), tnefAttribute(2, tnefData, "x"))
	if x := mustExtract(t, "winmail.dat", name); !strings.Contains(x.Text, "測試.doc") {
		t.Errorf("a name in Big5: %q, want 測試.doc", x.Text)
	}
	inner := tnefFile(tnefAttribute(1, tnefBody, "It is dry.\x00"))
	x, _, err := extractFile(t, "winmail.dat", tnefFile(tnefAttribute(1, tnefSubject, "Outer\x00"),
		tnefAttribute(2, tnefBegins, ""), tnefAttribute(2, tnefTitle, "Untitled Attachment\x00"),
		tnefAttribute(2, tnefAttachment, tnefList(tnefProperty(0x3701, 0x0D, strings.Repeat("\x00", 16)+inner)))))
	if err != nil || len(x.Members) != 1 || x.Members[0].Path != "Untitled Attachment" {
		t.Errorf("%v, members %+v; want the attached message", err, x.Members)
	}
}

func TestOutlookMessageShowsTheBodyWithTheContent(t *testing.T) {
	const stub, html = "Your program can't show HTML.", "<p>The boiler is serviced on 19 May.</p>"
	for _, tt := range []struct {
		name       string
		properties map[string]string
		want       []body
	}{
		{"a stub", map[string]string{"1000001E": stub, "10130102": html}, []body{{htmlBody, html}}},
		{"the same text", map[string]string{"1000001E": "> The boiler is serviced on 19 May.", "1013001E": html},
			[]body{{plainBody, "> The boiler is serviced on 19 May."}}},
		{"HTML in RTF", map[string]string{"10090102": uncompressed(`{\rtf1\ansi\fromhtml1 ` +
			`{\*\htmltag64 <p>}The boiler is serviced on 19 May.{\*\htmltag72 </p>}}`)}, []body{{htmlBody, html}}},
		{"RTF alone", map[string]string{"10090102": rtfHello},
			[]body{{rtfBody, "{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"}}},
		{"RTF beside its text", map[string]string{"1000001E": "hello world", "10090102": rtfHello},
			[]body{{plainBody, "hello world"}}},
		{"the code page of the HTML", map[string]string{"10130102": "f\xfcr \x80", "3FDE0003": "\xe4\x04\x00\x00"},
			[]body{{htmlBody, "für €"}}},
	} {
		o := newOutlook()
		for key, value := range tt.properties {
			o.properties[key] = []byte(value)
		}
		if diff := cmp.Diff(tt.want, o.letter(t.Context()).bodies, cmp.AllowUnexported(body{})); diff != "" {
			t.Errorf("%s: bodies (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestAttachedOutlookMessageBecomesAMail(t *testing.T) {
	o := newOutlook()
	inner, path := o.within([]string{"__attach_version1.0_#00000000", "__substg1.0_3701000D"})
	if inner == o || len(path) != 0 {
		t.Fatalf("within = the message itself, %q; want the attached one", path)
	}
	for key, value := range map[string]string{"0037001E": "Für Bo", "1000001E": "It is dry.", "0C1A001E": "Ida"} {
		inner.properties[key] = []byte(value)
	}
	inner.at([]string{"__attach_version1.0_#00000000"})[propData+"0102"] = []byte("x")
	l := o.letter(t.Context())
	if len(l.attachments) != 1 || l.attachments[0].name != "message.eml" {
		t.Fatalf("attachments %+v, want message.eml", l.attachments)
	}
	x, _, err := extractFile(t, "message.eml", string(l.attachments[0].data))
	want := []string{"heading Für Bo", "row From: Ida · Subject: Für Bo", "paragraph It is dry.",
		"row Attachments: attachment"}
	if diff := cmp.Diff(want, blockLines(x)); err != nil || diff != "" || len(x.Members) != 1 {
		t.Errorf("%v, %d members, blocks (-want +got):\n%s", err, len(x.Members), diff)
	}
}

// FuzzTNEF reads a message in TNEF, and the same data as compressed RTF.
func FuzzTNEF(f *testing.F) {
	f.Add([]byte(tnefFile(tnefAttribute(1, tnefProperties, tnefList(tnefProperty(0x1009, 0x102, rtfHello))))))
	f.Add([]byte(tnefFile(tnefAttribute(2, tnefAttachment, tnefList(tnefProperty(0x3701, 0x0D, rtfRepeated))))))
	f.Add([]byte(rtfHello))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 64<<10 {
			return
		}
		if out := decompressRTF(data); len(out) > 9*len(data) {
			t.Errorf("%d bytes become %d of RTF, want at most nine times as many", len(data), len(out))
		}
		_, _, err := extractFile(t, "winmail.dat", string(append(bytes.Clone(tnefMagic), data...)))
		if failure, ok := errors.AsType[*corpus.Failure](err); err != nil && (!ok || failure.Detail == "") {
			t.Errorf("winmail.dat fails with %v, want a sentence", err)
		}
	})
}

// FuzzMail reads a mail whose header, boundary and body are arbitrary.
func FuzzMail(f *testing.F) {
	f.Add("Content-Type: multipart/alternative; boundary=b", multipart("alternative", plainPart("a"), htmlPart("<p>b")))
	f.Add("Content-Type: text/plain; format=flowed; delsp=yes", "> a \n> b\n-- \nc")
	f.Add("Content-Transfer-Encoding: base64\nSubject: =?utf-8?b?w4Rw?= =?utf-8?q?=C3?=", "YQ==\nYg==\n--")
	f.Add("Content-Transfer-Encoding: quoted-printable", "=\n=4=C3=")
	f.Add("Content-Type: text/calendar", calendar("", "METHOD:REPLY\n", "ATTENDEE;CN=\"a:mailto:b\n"))
	f.Add("Content-Type: application/pkcs7-mime", signed("\x24\x80"+der("\x04", "Subject: a\n\nb")+"\x00\x00"))
	f.Add("Content-Disposition: attachment; filename*0*=utf-8'en'a%C3; filename*1*=%A4", "begin 644 a\n#0V%T\n`\nend\n")
	f.Add("Content-Type: text/calendar", "BEGIN:VCALENDAR\n"+zoneOf("x")+"BEGIN:VEVENT\n"+
		"DTSTART;TZID=x:20260312T140000\nDURATION:P1DT2H\nRRULE:FREQ=MONTHLY;BYDAY=-1FR;BYSETPOS=1;"+
		"UNTIL=20260312T140000Z\nEND:VEVENT\n")
	f.Fuzz(func(t *testing.T, header, body string) {
		if len(header)+len(body) > 64<<10 {
			return
		}
		_, _, err := extractFile(t, "a.eml", "Subject: a\n"+header+"\n\n"+body)
		if failure, ok := errors.AsType[*corpus.Failure](err); err != nil && (!ok || failure.Detail == "") {
			t.Errorf("the mail fails with %v, want a sentence", err)
		}
	})
}
