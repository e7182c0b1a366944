package main_test

import "encoding/base64"

// realMails are mails, mailboxes, calendars and address books as programs write them, at least one of each family.
func realMails() []realFile {
	mail := func(header, body string) string {
		return "From: Ida Moss <ida@example.org>\nSubject: News\n" + header + "\n\n" + body
	}
	parts := func(kind, first, second string) string {
		return mail("Content-Type: multipart/"+kind+"; boundary=b", "--b\nContent-Type: "+first+"\n--b\nContent-Type: "+
			second+"\n--b--\n")
	}
	attribute := func(id uint16, value string) string {
		head := []byte{1, byte(id), byte(id >> 8), 0, 0, byte(len(value)), 0, 0, 0}
		return string(head) + value + "\x00\x00"
	}
	winmail := "\x78\x9f\x3e\x22\x01\x00" + attribute(0x9007, "\xe4\x04\x00\x00") +
		attribute(0x800C, "Good morning.\r\n\r\nThe caf\xe9 on the pier opens on 3 April.\x00")
	return []realFile{
		{file{"stub.eml", parts("alternative", "text/plain\n\nYour mail program can't show HTML mail.",
			"text/html\n\n<p>Dear Bo,</p><p>The boiler is serviced on <b>19 May</b> by Quill &amp; Sons.</p>")},
			"When is the boiler serviced?", "The boiler is serviced on 19 May by Quill & Sons.", "19 May",
			"program", nil},
		{file{"invitation.eml", parts("alternative", "text/html\n\n<p>See the appointment.</p>",
			"text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR\nMETHOD:REQUEST\nBEGIN:VTIMEZONE\n"+
				"TZID:W. Europe Standard Time\nBEGIN:STANDARD\nDTSTART:16010101T030000\nTZOFFSETTO:+0100\n"+
				"RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10\nEND:STANDARD\nEND:VTIMEZONE\nBEGIN:VEVENT\n"+
				"DTEND;TZID=W. Europe Standard Time:20260212T150000\n"+
				"DTSTART;TZID=W. Europe Standard Time:20260212T140000\n"+
				"RRULE:FREQ=MONTHLY;BYDAY=2TH\nSUMMARY:Filter change\nLOCATION:Hall 9\nEND:VEVENT\nEND:VCALENDAR")},
			"When is the filter change?", "Invitation: Filter change · Start: 2026-02-12 14:00 " +
				"(W. Europe Standard Time, UTC+01:00) · End: 2026-02-12 15:00 · " +
				"Repeats: every month on the second Thursday · Place: Hall 9",
			"14:00", "DTSTART", nil},
		{file{"gate.eml", "Subject: Gate\nContent-Type: multipart/alternative; boundary=b\n--b\n" +
			"Content-Type: text/plain\nContent-Transfer-Encoding: quoted-printable\n\nHello Bo,\n\n" +
			"the gate code of the north entrance is=20=\n" +
			"4417.\n--b\nContent-Type: text/html\n\n<p>Hello Bo,</p>" +
			"<p>the gate code of the north entrance is 4417.</p>\n"},
			"What is the gate code of the north entrance?",
			"the gate code of the north entrance is 4417.", "4417", "=20", nil},
		{file{"rent.eml", mail("Content-Type: text/plain; charset=utf-8", "Hello Bo,\n\n"+
			"The rent of the caf\xe9 is 940 \x80 a month.\n")}, "How much is the rent of the café?",
			"The rent of the café is 940 € a month.", "940 €", "\ufffd", nil},
		{file{"forwarded.eml", parts("mixed", "text/plain\n\nSee below.", "message/rfc822\n\n"+mail("",
			"Hello,\n\nThe slates of the roof cost 4,500 crowns.\n"))},
			"What do the slates of the roof cost?", "The slates of the roof cost 4,500 crowns.", "4,500", "", nil},
		{file{"report.eml", parts("report", "text/plain\n\nYour mail could not be delivered.",
			"message/delivery-status\n\nReporting-MTA: dns; mx.example.org\n\n"+
				"Final-Recipient: rfc822; olu@example.org\nStatus: 5.1.1\n")},
			"What is the status of the final recipient?",
			"Final-Recipient: rfc822; olu@example.org Status: 5.1.1", "5.1.1", "", nil},
		{file{"pier.eml", parts("mixed", "text/plain\n\n\n", "application/ms-tnef; name=winmail.dat\n"+
			"Content-Transfer-Encoding: base64\n\n"+base64.StdEncoding.EncodeToString([]byte(winmail)))},
			"When does the café on the pier open?", "The café on the pier opens on 3 April.", "3 April", "", nil},
		{file{"hall.mbox", "From a@example.org Mon Jun  1 10:00:00 2009\nSubject: Hall\n\nHello.\n\n" +
			"From 10:30 to 12:00 the hall is closed for cleaning.\n\nFrom b@example.org Mon Jun  1 11:00:00 2009\n" +
			"Subject: Lift\n\nThe lift is repaired.\n"}, "When is the hall closed for cleaning?",
			"From 10:30 to 12:00 the hall is closed for cleaning.",
			"10:30", "", nil},
		{file{"team.ics", "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTEND;VALUE=DATE:20261105\nDTSTART;VALUE=DATE:20261031\n" +
			"SUMMARY:Autumn fair\nEND:VEVENT\nBEGIN:VEVENT\nSUMMARY:Pump test\nDTSTART:20260312T140000\nEND:VEVENT\n" +
			"END:VCALENDAR\n"}, "When does the autumn fair end?",
			"Name: Autumn fair · Start: 2026-10-31 · End: 2026-11-04", "2026-11-04", "2026-11-05", nil},
		{file{"people.vcf", "BEGIN:VCARD\nVERSION:2.1\nFN;CHARSET=ISO-8859-1;ENCODING=QUOTED-PRINTABLE:" +
			"J=F6rg M=FCller\nPHOTO;ENCODING=BASE64:AQQ=\nTEL:0113 496 1111\nEND:VCARD\n" +
			"BEGIN:VCARD\nFN:Olu Brand\nTEL:0113 496 0000\n" +
			"END:VCARD\n"}, "What is the phone number of Jörg Müller?", "Name: Jörg Müller · Phone: 0113 496 1111",
			"0113 496 1111", "0000", nil},
	}
}
