package extract

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// zoneOf returns the definition of a zone with daylight time, as Outlook writes it.
func zoneOf(id string, more ...string) string {
	return "BEGIN:VTIMEZONE\n" + strings.Join(append([]string{"TZID:" + id}, more...), "\n") + "\nBEGIN:STANDARD\n" +
		"DTSTART:16010101T030000\nTZOFFSETFROM:+0200\nTZOFFSETTO:+0100\n" +
		"RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=10\nEND:STANDARD\nBEGIN:DAYLIGHT\nDTSTART:16010101T020000\n" +
		"TZOFFSETFROM:+0100\nTZOFFSETTO:+0200\nRRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=3\nEND:DAYLIGHT\n" +
		"END:VTIMEZONE\n"
}

func TestAppointmentTimesAreThoseOfTheOrganizer(t *testing.T) {
	const windows = "W. Europe Standard Time"
	for _, tt := range []struct{ name, zone, lines, want string }{
		{"a place", "", "DTSTART;TZID=Europe/Berlin:20260312T140000\nDTEND;TZID=Europe/Berlin:20260312T150000",
			"Start: 2026-03-12 14:00 (Europe/Berlin) · End: 2026-03-12 15:00"},
		{"two places", "", "DTSTART;TZID=Asia/Tokyo:20260312T110000\nDTEND;TZID=Europe/Berlin:20260312T173000",
			"Start: 2026-03-12 11:00 (Asia/Tokyo) · End: 2026-03-12 17:30 (Europe/Berlin)"},
		{"a place with a definition", zoneOf("Europe/Berlin"), "DTSTART;TZID=Europe/Berlin:20260312T140000",
			"Start: 2026-03-12 14:00 (Europe/Berlin)"},
		{"any place", "", "DTSTART:20260312T140000\nDTEND:20260312T150000",
			"Start: 2026-03-12 14:00 · End: 2026-03-12 15:00"},
		{"UTC", "", "DTSTART:20260312T140000Z\nDTEND:20260312T150000Z",
			"Start: 2026-03-12 14:00 UTC · End: 2026-03-12 15:00"},
		{"UTC twice", "", "DTSTART;TZID=UTC;VALUE=DATE-TIME:20260312T140000Z", "Start: 2026-03-12 14:00 UTC"},
		{"UTC of Outlook", "", "DTSTART;TZID=tzone://Microsoft/Utc:20260312T140000", "Start: 2026-03-12 14:00 UTC"},
		{"Windows", zoneOf(windows), "DTEND;TZID=" + windows + ":20260312T150000\nDTSTART;TZID=" + windows +
			";VALUE=DATE-TIME:20260312T140000", "Start: 2026-03-12 14:00 (W. Europe Standard Time, UTC+01:00) · " +
			"End: 2026-03-12 15:00"},
		{"Windows in summer", zoneOf(windows), "DTSTART;TZID=\"" + windows + "\":20260712T140000",
			"Start: 2026-07-12 14:00 (W. Europe Standard Time, UTC+02:00)"},
		{"an hour before daylight time", zoneOf(windows), "DTSTART;TZID=" + windows + ":20260329T010000",
			"Start: 2026-03-29 01:00 (W. Europe Standard Time, UTC+01:00)"},
		{"the hour of daylight time", zoneOf(windows), "DTSTART;TZID=" + windows + ":20260329T020000",
			"Start: 2026-03-29 02:00 (W. Europe Standard Time, UTC+02:00)"},
		{"Windows without a definition", "", "DTSTART;TZID=GMT Standard Time 1:20260126T120000",
			"Start: 2026-01-26 12:00 (GMT Standard Time 1)"},
		{"a zone of the user", zoneOf("Customized Time Zone"), "DTSTART;TZID=\"Customized Time Zone\":20261108T090000",
			"Start: 2026-11-08 09:00 (Customized Time Zone, UTC+01:00)"},
		{"the first Sunday from a day", "BEGIN:VTIMEZONE\nTZID:1\nBEGIN:DAYLIGHT\nDTSTART:20070311T020000\n" +
			"RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=SU;BYMONTHDAY=8,9,10,11,12,13,14\nTZOFFSETTO:-0400\nEND:DAYLIGHT\n" +
			"BEGIN:STANDARD\nDTSTART:20071104T020000\nRRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU\nTZOFFSETTO:-0500\n" +
			"END:STANDARD\nEND:VTIMEZONE\n", "DTSTART;TZID=1:20260308T020000",
			"Start: 2026-03-08 02:00 (1, UTC-04:00)"},
		{"onsets of each year", "BEGIN:VTIMEZONE\nTZID:x\nBEGIN:STANDARD\nDTSTART:20251026T030000\n" +
			"RDATE:20261025T030000\nTZOFFSETTO:+0100\nEND:STANDARD\nBEGIN:DAYLIGHT\nDTSTART:20260329T020000\n" +
			"TZOFFSETTO:+0200\nEND:DAYLIGHT\nEND:VTIMEZONE\n", "DTSTART;TZID=x:20261026T030000",
			"Start: 2026-10-26 03:00 (x, UTC+01:00)"},
		{"no difference to UTC", "BEGIN:VTIMEZONE\nTZID:x\nBEGIN:STANDARD\nDTSTART:19700101T000000\n" +
			"TZOFFSETTO:+éé00\nEND:STANDARD\nEND:VTIMEZONE\n", "DTSTART;TZID=x:20260312T140000",
			"Start: 2026-03-12 14:00 (x)"},
		{"a place of a maker", "", "DTSTART;TZID=/mozilla.org/20050126_1/Europe/Berlin:20260312T140000",
			"Start: 2026-03-12 14:00 (Europe/Berlin)"},
		{"a place in the definition", zoneOf("berlin-1", "X-LIC-LOCATION:Europe/Berlin"),
			"DTSTART;TZID=berlin-1:20260312T140000", "Start: 2026-03-12 14:00 (Europe/Berlin)"},
		{"colons in a name", "", "DTSTART;TZID=GMT+05:30:20260312T140000\nDTEND;TZID=\"UTC+03:00\":20260312T150000",
			"Start: 2026-03-12 14:00 (GMT+05:30) · End: 2026-03-12 15:00 (UTC+03:00)"},
		{"a day", "", "DTEND;VALUE=DATE:20260707\nDTSTART;VALUE=DATE:20260706", "Start: 2026-07-06"},
		{"a day that ends when it starts", "", "DTSTART:20260706\nDTEND:20260706", "Start: 2026-07-06"},
		{"days", "", "DTSTART;VALUE=DATE:20261031\nDTEND;VALUE=DATE:20261105", "Start: 2026-10-31 · End: 2026-11-04"},
		{"a day on which a task is due", "", "DUE;VALUE=DATE:20261105", "Due: 2026-11-05"},
		{"a duration", "", "DTSTART:20260312T140000\nDURATION:PT1H30M",
			"Start: 2026-03-12 14:00 · Duration: 1 hour 30 minutes"},
		{"each week", "", "DTSTART;VALUE=DATE:20260706\nRRULE:FREQ=WEEKLY;WKST=SU;UNTIL=20261231",
			"Start: 2026-07-06 · Repeats: every week, until 2026-12-31"},
		{"every other week", "", "DTSTART:20260706T090000\nRRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE;COUNT=10",
			"Start: 2026-07-06 09:00 · Repeats: every 2 weeks on Monday, Wednesday, 10 times"},
		{"a day of the month", "", "RRULE:FREQ=MONTHLY;BYMONTHDAY=15", "Repeats: every month on day 15"},
		{"a weekday of the month", "", "RRULE:FREQ=MONTHLY;BYDAY=-1FR", "Repeats: every month on the last Friday"},
		{"a weekday of the month by position", "", "RRULE:FREQ=MONTHLY;BYDAY=TU;BYSETPOS=2",
			"Repeats: every month on the second Tuesday"},
		{"the last working day", "", "RRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
			"Repeats: every month on the last of Monday, Tuesday, Wednesday, Thursday, Friday"},
		{"each year", "", "RRULE:FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=-1", "Repeats: every year on the last day in March"},
		{"a rule of other parts", "", "RRULE:FREQ=DAILY;BYHOUR=9,17", "Repeats: FREQ=DAILY;BYHOUR=9,17"},
		{"exceptions", "", "DTSTART;TZID=Europe/Berlin:20260330T140000\nRRULE:FREQ=WEEKLY\n" +
			"EXDATE;TZID=Europe/Berlin:20260406T140000,20260413T140000",
			"Start: 2026-03-30 14:00 (Europe/Berlin) · Repeats: every week · Except: 2026-04-06 14:00, " +
				"2026-04-13 14:00"},
		{"a change of one time", "", "RECURRENCE-ID;TZID=Europe/Berlin:20260406T140000\n" +
			"DTSTART;TZID=Europe/Berlin:20260407T140000",
			"Start: 2026-04-07 14:00 (Europe/Berlin) · Instead of: 2026-04-06 14:00"},
	} {
		src := "BEGIN:VCALENDAR\n" + tt.zone + "BEGIN:VEVENT\nSUMMARY:Pump test\n" + tt.lines +
			"\nEND:VEVENT\nEND:VCALENDAR\n"
		want := []string{"heading Pump test", "row Name: Pump test · " + tt.want}
		if diff := cmp.Diff(want, blockLines(mustExtract(t, "a.ics", src))); diff != "" {
			t.Errorf("%s: blocks (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestCalendarsAndAddressBooksOfPrograms(t *testing.T) {
	for _, tt := range []struct {
		name, file, src string
		want            []string
	}{
		{"photographs that end with padding", "a.vcf", "BEGIN:VCARD\nFN:Bo Tarn\nPHOTO;ENCODING=b:AQQ=\nTEL:112\n" +
			"URL:https://example.org/?id=\nPHOTO:data:image/jpeg;base64,AQ==\nEND:VCARD\n" +
			"BEGIN:VCARD\nFN:Ida\nTEL:113\nEND:VCARD\n",
			[]string{"heading Bo Tarn", "row Name: Bo Tarn · Phone: 112 · Web: https://example.org/?id=", "heading Ida",
				"row Name: Ida · Phone: 113"}},
		{"quoted lines that are folded", "a.vcf", "BEGIN:VCARD\nVERSION:2.1\n" +
			"FN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=D0=90=\n =D0=B2=D0=B8=\n=D0=B0\nTEL;CELL:112\nEND:VCARD\n",
			[]string{"heading Авиа", "row Name: Авиа · Phone: 112"}},
		{"a soft break at the end of a value", "a.vcf", "BEGIN:VCARD\nVERSION:2.1\nFN;ENCODING=QUOTED-PRINTABLE:Bo=\n" +
			"TEL;CELL:112\nEND:VCARD\n", []string{"heading Bo", "row Name: Bo · Phone: 112"}},
		{"an encoding of a value", "a.vcf", "BEGIN:VCARD\nVERSION:2.1\n" +
			"FN;CHARSET=ISO-8859-1;ENCODING=QUOTED-PRINTABLE:M=FCller\nTEL:112\nEND:VCARD\n",
			[]string{"heading Müller", "row Name: Müller · Phone: 112"}},
		{"a colon in quotes", "a.vcf", "BEGIN:VCARD\nFN:Bo\nADR;LABEL=\"Mill: 1\":;;1 Mill Lane;Leeds\nEND:VCARD\n",
			[]string{"heading Bo", "row Name: Bo · Address: 1 Mill Lane, Leeds"}},
		{"a contact that breaks off", "a.vcf", "BEGIN:VCARD\nFN:Bo\nTEL:112\n",
			[]string{"heading Bo", "row Name: Bo · Phone: 112"}},
		{"a description in HTML", "a.ics", "BEGIN:VEVENT\nSUMMARY:Open day\nDESCRIPTION:<body>\\n<div>Meet " +
			"the <b>cr</b>ew\\, and ask.</div>\\n<div>Tea &amp\\; cake</div></body>\nEND:VEVENT\n",
			[]string{"heading Open day", "row Name: Open day · Description: Meet the crew, and ask. Tea & cake"}},
		{"a zone that breaks off", "a.ics", "BEGIN:VTIMEZONE\nTZID:x\nBEGIN:VEVENT\nSUMMARY:Pump\n" +
			"LOCATION:Hall\nEND:VEVENT\n",
			[]string{"heading Pump", "row Name: Pump · Place: Hall"}},
	} {
		if diff := cmp.Diff(tt.want, blockLines(mustExtract(t, tt.file, tt.src))); diff != "" {
			t.Errorf("%s: blocks (-want +got):\n%s", tt.name, diff)
		}
	}
}
