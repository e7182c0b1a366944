package offline

import (
	"slices"
	"strings"
	"testing"
)

// What only frames a text is not quoted: a salutation, a closing, a title.
func TestFramesAreNoQuotes(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string // what may be quoted
	}{
		{"a letter", "Dear Judith,\n\nYour lease ends in June.\n\nKind regards,\nTom Ashdown\n\nAshdown & Sons, Leeds",
			[]string{"Your lease ends in June."}},
		{"a title", "Fern Hill Allotment Society\nMinutes of the committee\n\nThe shed is sold.",
			[]string{"The shed is sold."}},
		{"in German", "Sehr geehrte Frau Weiß,\n\ndie Miete steigt.\n\nMit freundlichen Grüßen",
			[]string{"die Miete steigt."}},
		{"a line with a figure", "Deposit of £970\n\nIt is due now.", []string{"Deposit of £970", "It is due now."}},
		{"a field", "Chair: Ruth Okafor\n\nAll agreed.", []string{"Chair: Ruth Okafor", "All agreed."}},
		{"a command", "git commit --amend\n\nIt mends the last one.",
			[]string{"git commit --amend", "It mends the last one."}},
		{"a list", "- Bread of yesterday\n\n- Butter and jam\n\nBoth are cheap.",
			[]string{"- Bread of yesterday", "- Butter and jam", "Both are cheap."}},
		{"lines of a long block", "Apples\nPears cost little\nPlums are out\nGrapes are in season",
			[]string{"Apples\nPears cost little", "Plums are out", "Grapes are in season"}},
		{"titles in capitals", "All is well here.\n\n3. HOW IT IS TAKEN\n\nTake it twice a day.",
			[]string{"All is well here.", "Take it twice a day."}},
		{"a notice in capitals", "KEEP OFF THE GRASS\n\nDOGS ARE NOT ALLOWED HERE",
			[]string{"KEEP OFF THE GRASS", "DOGS ARE NOT ALLOWED HERE"}},
		{"a notice without full stops", "Dogs must be kept on a lead\n\nThe library closes at noon",
			[]string{"Dogs must be kept on a lead", "The library closes at noon"}},
		{"a statement in the middle", "All is well here.\n\nThe library closes at noon\n\nGuests sign in.",
			[]string{"All is well here.", "The library closes at noon", "Guests sign in."}},
		{"a mail below another", "All is well here.\n\nDear Tom,\n\nGuests sign in.",
			[]string{"All is well here.", "Guests sign in."}},
		{"another script", "图书馆从明天起关门两个星期。\n\n请大家按时还书", []string{"图书馆从明天起关门两个星期。"}},
	} {
		var got []string
		for _, u := range pileOfText(tt.in).units {
			if u.quotable() {
				got = append(got, u.text)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q may be quoted, want %q", tt.name, got, tt.want)
		}
	}
}

// An item of a list is quoted with its number, below what introduces the list.
func TestAnItemIsQuotedWithItsLead(t *testing.T) {
	lease := []paper{{"d1", "lease.txt", "Lease", []passage{{Section: "Duties", Text: "The Tenant shall:\n\n" +
		"(a) pay the rent on the first day of each month, without deduction;\n\n" +
		"(b) keep the windows clean at least once a month, inside and outside;\n\n" +
		"(c) keep no animals but a cage bird or an aquarium of moderate size.\n\n" +
		"The Landlord insures the building."}}}}
	answer, _ := askIn(t, lease, "May animals be kept, an aquarium say?")
	first, _, _ := strings.Cut(answer[strings.Index(answer, ">"):], "\n\n")
	want := "> The Tenant shall:\n>\n> (c) keep no animals but a cage bird or an aquarium of moderate size. [1]"
	if first != want {
		t.Errorf("the first quote is %q, want %q", first, want)
	}
	for _, between := range []string{
		"## Forbidden animals\n", "The following is forbidden.\n", "\nMr. Smith decides.\n\n",
	} {
		p := pileOfText("These animals are allowed:\n- dogs of any size\n" + between + "- parrots and snakes")
		if got := p.leadOf(len(p.units) - 1); got != -1 {
			t.Errorf("behind %q the parrots are introduced by %q, want by nothing", between, p.units[got].text)
		}
	}
	p := pileOfText("The Tenant shall:\n\n(a) pay the rent. It is due on the first day;\n\n(c) keep no animals.\n\n" +
		"The Landlord insures the building.")
	for i, u := range p.units {
		want := -1
		if u.text[0] == '(' {
			want = 0
		}
		if got := p.leadOf(i); got != want {
			t.Errorf("what introduces %q is %d, want %d", u.text, got, want)
		}
	}
}

// What introduces a list is said once.
func TestALeadIsWrittenOnce(t *testing.T) {
	p := pileOfText("The Tenant shall:\n\n(a) pay the rent;\n\n(b) air the rooms;\n\n(c) keep no animals.")
	quoteOf := func(i int) quote {
		u := p.units[i]
		return quote{start: u.start, end: u.end, first: i, last: i}
	}
	for name, quotes := range map[string][]quote{
		"two items": {quoteOf(1), quoteOf(3)}, "the lead and an item": {quoteOf(0), quoteOf(3)},
	} {
		if got := strings.Join(p.blocks(quotes, nil), "\n"); strings.Count(got, "> The Tenant shall") != 1 {
			t.Errorf("%s are written %q, want the lead once", name, got)
		}
	}
}

// A refusal says what was lacking, which headings come nearest, and that a document may be missing.
func TestARefusalSaysAWayOn(t *testing.T) {
	answer, _ := ask(t, "Which helicopter flies to Madagascar?")
	for _, want := range []string{
		Refusal, "I searched for “", " If the document that says it is missing here, add it and ask again.",
	} {
		if !strings.Contains(answer, want) {
			t.Errorf("the refusal is %q, want %q in it", answer, want)
		}
	}
	near := turn{question: "Which voucher pays the helicopter?", results: []result{{
		tool: "search_documents", input: map[string]any{"query": "voucher"}, out: output{Documents: []document{{
			DocID: "d", Filename: "staff.md",
			Passages: []passage{{N: 1, Section: "Pay › Lunch", Text: "A voucher is one."}},
		}}},
	}}}
	said := wayOn(near, composed(t, near))
	if want := " Nothing there has “helicopter”. The nearest headings are “Lunch” in staff.md." +
		" If the document that says it is missing here, add it and ask again."; said != want {
		t.Errorf("the way on is %q, want %q", said, want)
	}
}

// composed is what is put together for a turn.
func composed(t *testing.T, of turn) answer {
	t.Helper()
	a, err := compose(t.Context(), of, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
