package compare

import (
	"testing"

	"github.com/footnote/footnote/chat"
)

// An edit is a document before and after, and the expected difference of the quote. The pairs are made for this
// test.
type edit struct {
	name, before, quote, after string
	kind                       chat.DifferenceKind // empty: nothing differs
	was, now                   string
}

const lease = "# Lease\n\nThe rent is 900 euros a month.\n\nThe notice period is 3 months.\n\nPets are allowed.\n"

var edits = []edit{
	{"a number", lease, "The notice period is 3 months.",
		"# Lease\n\nThe rent is 900 euros a month.\n\nThe notice period is 6 months.\n\nPets are allowed.\n",
		chat.DifferenceChanged, "The notice period is 3 months", "6 months"},
	{"another part of the document", lease, "The notice period is 3 months.",
		"# Lease\n\nThe rent is 950 euros a month.\n\nThe notice period is 3 months.\n", "", "", ""},
	{"it moved", lease, "The notice period is 3 months.",
		"# Lease\n\nPets are allowed.\n\nOn ending.\n\nThe notice period is 3 months.\n", "", "", ""},
	{"it is gone", lease, "The notice period is 3 months.", "# Lease\n\nThe rent is 900 euros a month.\n",
		chat.DifferenceGone, "", ""},
	{"white space and lines", lease, "The notice period is 3 months.",
		"# Lease\n\nThe notice  period is\n3 months.\n", "", "", ""},
	{"punctuation", lease, "The notice period is 3 months.", "The notice period, is 3 months!\n", "", "", ""},
	{"a negation", "Pets are allowed in the flat.", "Pets are allowed in the flat.",
		"Pets are not allowed in the flat.", chat.DifferenceChanged, "", ""},
	{"a date", "The contract ends on 31.12.2026.", "The contract ends on 31.12.2026.",
		"The contract ends on 30.06.2027.", chat.DifferenceChanged, "The contract ends on 31.12.2026", "30.06.2027"},
	{"a name", "The tenant is Ada Lovelace of London.", "The tenant is Ada Lovelace of London.",
		"The tenant is Grace Hopper of London.", chat.DifferenceChanged, "The tenant is Ada Lovelace", "Grace Hopper"},
	{"a large number", "The price is 1,200 euros.", "The price is 1,200 euros.", "The price is 1,350 euros.",
		chat.DifferenceChanged, "The price is 1,200 euros", "1,350 euros"},
	{"a currency", "The price is €500 in all.", "The price is €500 in all.", "The price is $500 in all.",
		chat.DifferenceChanged, "The price is €", "$"},
	{"a sign", "The limit is -5 degrees.", "The limit is -5 degrees.", "The limit is 5 degrees.",
		chat.DifferenceChanged, "", ""},
	{"a per cent", "Interest is 5 % a year.", "Interest is 5 % a year.", "Interest is 5 ‰ a year.",
		chat.DifferenceChanged, "Interest is 5 %", "‰"},
	{"two values", "It costs 5 euros for 2 days.", "It costs 5 euros for 2 days.", "It costs 7 euros for 3 days.",
		chat.DifferenceChanged, "", ""},
	{"German", "Die Kündigungsfrist beträgt drei Monate.", "Die Kündigungsfrist beträgt drei Monate.",
		"Die Kündigungsfrist beträgt sechs Monate.", chat.DifferenceChanged, "Die Kündigungsfrist beträgt drei",
		"sechs"},
	{"French", "Le loyer est de 800 € par mois.", "Le loyer est de 800 € par mois.",
		"Le loyer est de 850 € par mois.", chat.DifferenceChanged, "Le loyer est de 800 €", "850 €"},
	{"Japanese", "解約の予告期間は3か月です。", "解約の予告期間は3か月です。", "解約の予告期間は6か月です。",
		chat.DifferenceChanged, "解約の予告期間は3か", "6か"},
	{"Chinese", "通知期为三个月。", "通知期为三个月。", "通知期为六个月。", chat.DifferenceChanged, "通知期为三", "六"},
	{"a row of a list", "- Filter: 3 months\n- Belt: 12 months\n", "Filter: 3 months",
		"- Filter: 4 months\n- Belt: 12 months\n", chat.DifferenceChanged, "Filter: 3 months", "4 months"},
	{"a like row that was there", "- Filter: 3 months\n- Belt: 12 months\n", "Filter: 3 months", "- Belt: 12 months\n",
		chat.DifferenceGone, "", ""},
	{"another sentence in its place", lease, "Pets are allowed.",
		"# Lease\n\nThe rent is 900 euros a month.\n\nThe garden belongs to everyone.\n", chat.DifferenceGone, "", ""},
	{"capitals", "The Notice Period is 3 months.", "The Notice Period is 3 months.", "The notice period is 3 months.",
		"", "", ""},
	{"words behind", "Deliveries arrive within 5 days.", "Deliveries arrive within 5 days.",
		"Deliveries arrive within 5 days of the order.", chat.DifferenceChanged, "", ""},
}

func TestEdits(t *testing.T) {
	for _, e := range edits {
		t.Run(e.name, func(t *testing.T) {
			before := chat.Basis{
				Citations: []chat.Citation{{DocumentID: "d", Title: "Lease.md", Quote: e.quote, URL: "/d/d?c=r.1"}},
				Documents: []chat.KnownDocument{{ID: "d", SHA256: "one", Lines: Lines(e.before)}},
			}
			got := Differences(before, chat.Basis{}, func(string) (Document, bool) {
				return Document{SHA256: "two", Text: e.after, Fresh: true}, true
			})
			if e.kind == "" {
				if len(got) != 0 {
					t.Errorf("differences = %+v, want none", got)
				}
				return
			}
			if len(got) != 1 || got[0].Kind != e.kind || got[0].Was != e.was || got[0].Now != e.now {
				t.Errorf("differences = %+v; want one, %s, from %q to %q", got, e.kind, e.was, e.now)
			}
		})
	}
}

func TestDocumentReplacedByAnother(t *testing.T) {
	before := chat.Basis{
		Citations: []chat.Citation{{DocumentID: "old", Quote: "The notice period is 3 months."}},
		Documents: []chat.KnownDocument{{ID: "old", SHA256: "one", Lines: Lines(lease)}},
	}
	now := "The notice period is 6 months."
	after := chat.Basis{Citations: []chat.Citation{
		{DocumentID: "new", Title: "Lease 2.md", Quote: now, URL: "/d/new?c=r.1"},
		{DocumentID: "there", Title: "Notes.md", Quote: "A notice period is agreed upon by both."},
	}}
	got := Differences(before, after, func(id string) (Document, bool) {
		switch id {
		case "new":
			return Document{SHA256: "n", Text: now, Fresh: true}, true
		case "there": // not cited before, although it could have been
			return Document{SHA256: "t", Text: "A notice period is agreed upon by both."}, true
		}
		return Document{}, false
	})
	if len(got) != 1 || got[0].Kind != chat.DifferenceChanged || got[0].After.URL != "/d/new?c=r.1" ||
		got[0].Was != "The notice period is 3 months" {
		t.Errorf("differences = %+v, want the one pair", got)
	}
}

func TestAddedTextIsNew(t *testing.T) {
	before := chat.Basis{
		Citations: []chat.Citation{{DocumentID: "d", Quote: "Pets are allowed."}},
		Documents: []chat.KnownDocument{{ID: "d", SHA256: "one", Lines: Lines(lease)}},
	}
	now := lease + "\nDogs must be kept on a lead.\n"
	after := chat.Basis{Citations: []chat.Citation{
		{
			DocumentID: "d",
			Quote:      "Dogs must be kept on a lead.",
		}, {DocumentID: "d", Quote: "The rent is 900 euros a month."},
	}}
	got := Differences(before, after, func(string) (Document, bool) { return Document{SHA256: "two", Text: now}, true })
	if len(got) != 1 || got[0].Kind != chat.DifferenceAdded || got[0].After.Quote != "Dogs must be kept on a lead." {
		t.Errorf("differences = %+v, want the sentence about dogs alone", got)
	}
}
