package agent

import (
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/llm/offline"
)

// Quotes of the offline model are in the documents, so none is marked as unsupported.
func TestQuotesOfTheOfflineModelAreSupported(t *testing.T) {
	t.Parallel()
	h := newHarness(t, offline.New(nil, nil))
	h.add("diary.txt", "12 march\nBroad beans out under fleece. Mended the water butt.\n\n25 june\nNo rain for three "+
		"weeks. Carrying cans every second evening, the kohlrabi hates me.\n")
	h.add("wheel.md", "# Removing the sprocket\n\n1. Shift to the smallest sprocket.\n2. Open the *thru* axle of the "+
		"sprocket with a 6 mm key.\n3. Do not squeeze the lever while the sprocket is out.\n")
	h.add("prices.txt", "WHAT IT COSTS\nMonthly charge for the telephone plan ...... GBP 16.00\nTelephone connection "+
		"fee ........... GBP 20.00\n")
	for question, want := range map[string]string{
		"What hates the kohlrabi?":               "25 june No rain for three weeks.",
		"How do I remove the sprocket?":          "3. Do not squeeze",
		"What is the telephone connection fee? ": "Telephone connection fee ........... GBP 20.00",
	} {
		a := h.answer(asks(question)).answer()
		if !strings.Contains(a.Markdown, want) || len(a.Unsupported) != 0 {
			t.Errorf("%s: %q, unsupported %q; want %q in it and nothing unsupported", question, a.Markdown,
				a.Unsupported, want)
		}
	}
}

// Quotes from mails, calendars and address books say what they are about.
func TestQuotesFromMailsAndCardsNameTheirSubject(t *testing.T) {
	t.Parallel()
	h := newHarness(t, offline.New(nil, nil))
	mail := func(subject, first, second string) string {
		return "From: Ida Moss <ida@example.org>\nSubject: " + subject + "\nContent-Type: multipart/alternative; " +
			"boundary=b\n\n--b\nContent-Type: text/" + first + "\n--b\nContent-Type: text/" + second + "\n--b--\n"
	}
	h.add("boiler.eml", mail("Boiler", "plain\n\nYour mail program can't show HTML mail.",
		"html\n\n<p>The boiler is serviced on <b>19 May</b> by Quill &amp; Sons.</p>"))
	h.add("filter.eml", mail("Invitation", "html\n\n<p>See the appointment.</p>", "calendar\n\nBEGIN:VCALENDAR\n"+
		"METHOD:REQUEST\nBEGIN:VEVENT\nDTSTART:20260412T140000\nSUMMARY:Filter change\nLOCATION:Hall 9\n"+
		"DESCRIPTION:Bring the long ladder. Ask Bo for the key.\nEND:VEVENT\nEND:VCALENDAR"))
	h.add("people.vcf", "BEGIN:VCARD\nFN:Renée Harrow\nTEL:0113 496 0000\nEND:VCARD\n"+
		"BEGIN:VCARD\nFN:Olu Brand\nTEL:0113 496 1111\nNOTE:Repairs the lift.\nEND:VCARD\n")
	h.add("team.ics", "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Pump test\nDTSTART:20260312T140000\nLOCATION:Hall 6\n"+
		"END:VEVENT\nEND:VCALENDAR\n")
	for question, want := range map[string]string{
		"When is the boiler serviced?":              "serviced on 19 May by Quill & Sons",
		"Where is the filter change?":               "Filter change · Start: 2026-04-12 14:00 · Place: Hall 9",
		"What is Renée Harrow's phone number?":      "Name: Renée Harrow · Phone: 0113 496 0000",
		"Who has the phone number 0113 496 1111?":   "Name: Olu Brand · Phone: 0113 496 1111",
		"Who repairs the lift?":                     "Name: Olu Brand · Phone: 0113 496 1111 · Note: Repairs the lift.",
		"In which hall is the pump test, and when?": "Name: Pump test · Start: 2026-03-12 14:00 · Place: Hall 6",
	} {
		a := h.answer(asks(question)).answer()
		if !strings.Contains(a.Markdown, want) || len(a.Citations) == 0 {
			t.Errorf("%s: %q with %d citations, want %q in it", question, a.Markdown, len(a.Citations), want)
		}
	}
}
