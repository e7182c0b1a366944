package pdf_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/pdf/pdftest"
)

// Nothing that recurs on pages is lost: it stays once, or on each page if it is part of the text there.
func TestRecurringTextIsNotLost(t *testing.T) {
	reader := newReader(t, nil)
	months := []string{"January", "February", "March", "April"}
	for _, tt := range []struct {
		name string
		page func(i int) string
		want map[string]int // texts and how often the document has them
		left string
	}{
		{"a pay slip for each month, with the name on top", func(i int) string {
			return pdftest.At(50, 770, 12, "F", "Name Ada Moss") + pdftest.At(50, 690, 14, "B", "Pay slip "+months[i]) +
				pdftest.Para(50, 640, "You were paid 2,400.00 euros this month.") +
				pdftest.At(50, 30, 8, "F", "Nordlicht Ltd, Register 4471")
		}, map[string]int{"Name Ada Moss": 1, "Nordlicht Ltd, Register 4471": 1, "Pay slip": 4}, "6 repeated lines"},
		{"a name in the first lines of the text", func(i int) string {
			return pdftest.Para(50, 770, "Pay slip for "+months[i], "Name: Ada Moss", "Paid: 2,400.00 euros")
		}, map[string]int{"Name: Ada Moss": 4, "Paid: 2,400.00 euros": 4}, ""},
		{"invoices with their own numbers", func(i int) string {
			return pdftest.At(50, 770, 10, "F", fmt.Sprintf("Invoice No 20%02d", 31+i)) +
				pdftest.Para(50, 640, "Please pay for the work of "+months[i]+".") +
				pdftest.At(280, 30, 8, "F", fmt.Sprint(i+1))
		}, map[string]int{"Invoice No 2031": 1, "Invoice No 2033": 1, "Invoice No 2034": 1}, "4 repeated lines"},
		{"totals at the foot of each page", func(i int) string {
			return pdftest.Para(50, 640, "The work of "+months[i]+".") +
				pdftest.At(400, 40, 10, "F", fmt.Sprintf("Total: %d.50", 117+i*i*61))
		}, map[string]int{"Total: 117.50": 1, "Total: 178.50": 1, "Total: 361.50": 1}, ""},
		{"the title of the document over each page", func(i int) string {
			title := pdftest.At(50, 770, 9, "F", "The roofs of Bath") + pdftest.At(400, 770, 9, "F",
				fmt.Sprint("Page ", i+1))
			if i == 0 {
				title += pdftest.At(50, 700, 20, "B", "The roofs of Bath")
			}
			return title + pdftest.Para(50, 640, "What is to be said about roofs in "+months[i]+".")
		}, map[string]int{"The roofs of Bath": 2, "Page 1": 1, "Page 2": 0}, "3 repeated lines"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sheets := make([]pdftest.Sheet, 4)
			for i := range sheets {
				sheets[i].Content = tt.page(i)
			}
			x := mustExtract(t, reader, pdftest.Document("", sheets...))
			flat := strings.Join(strings.Fields(x.Text), " ")
			for text, n := range tt.want {
				if got := strings.Count(flat, text); got != n {
					t.Errorf("%q is %d times in %q, want %d", text, got, flat, n)
				}
			}
			if left, _ := x.Meta[corpus.MetaLeftOut].(string); left != tt.left {
				t.Errorf("left out: %q, want %q", left, tt.left)
			}
		})
	}
}

// A header is no part of the paragraph that goes on below it.
func TestParagraphsGoOnBetweenHeadersThatStay(t *testing.T) {
	var sheets []pdftest.Sheet
	for i := range 4 {
		sheets = append(sheets, pdftest.Sheet{Content: pdftest.At(50, 770, 9, "F", "Chronicle of the mill") +
			pdftest.Para(50, 700, "the wheel turns while the fields are sown and the carts are",
				"mended by the smith, and the warden keeps the water low, so that") +
			pdftest.At(50, 30, 9, "F", fmt.Sprintf("Copy of folio %d", i+1))})
	}
	x := mustExtract(t, newReader(t, nil), pdftest.Document("", sheets...))
	if want := strings.TrimSuffix(strings.Repeat("the wheel turns while the fields are sown and the carts are mended "+
		"by the smith, and the warden keeps the water low, so that ", 4), " "); !strings.Contains(x.Text, want) ||
		!strings.Contains(x.Text, "Chronicle of the mill") || !strings.Contains(x.Text, "Copy of folio 1") {
		t.Errorf("text = %q, want %q whole, and the header", x.Text, want)
	}
}

// The number of a paragraph in the margin begins it.
func TestNumbersInTheMarginBeginParagraphs(t *testing.T) {
	var b strings.Builder
	var want []string
	for i := range 3 {
		b.WriteString(pdftest.At(50, 700-50*i, 9, "F", fmt.Sprint(12+i)) + pdftest.Para(80, 700-50*i,
			"The court has seen the "+names[i]+" roof and found, as to the merits",
			"of the case, that nothing is owed."))
		want = append(want, fmt.Sprintf("paragraph: %d The court has seen the %s roof and found, as to the merits "+
			"of the case, that nothing is owed.", 12+i, names[i]))
	}
	x := mustExtract(t, newReader(t, nil), pdftest.Document("", pdftest.Sheet{Content: b.String()}))
	if diff := cmp.Diff(want, outlineOf(x)); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
}

func TestLineNumbersStayOutOfSentences(t *testing.T) {
	reader := newReader(t, nil)
	words := []string{
		"The warden of the mill keeps the water low in winter and",
		"lets it rise in spring when the snow melts on the hills,",
		"so that the wheel can turn while the fields are sown and",
		"the carts are mended by the smith, who lives beside the",
		"bridge with his sons and a dog that barks at all who pass",
		"the gate on their way to the market in the town below,",
		"which is held in the square before the church on Fridays",
		"and ends when the bells are rung at noon, or a bit later,",
		"if the road is dry and many have come to buy and to sell",
		"what the fields gave them in the year that is now ending.",
	}
	numbered := func(x, step, from int) string {
		var b strings.Builder
		for i, w := range words {
			if n := from + i + 1; n%step == 0 {
				b.WriteString(pdftest.At(x, 700-14*i, 8, "F", fmt.Sprint(n)))
			}
			b.WriteString(pdftest.At(80, 700-14*i, 12, "F", w))
		}
		return b.String()
	}
	var printed strings.Builder // on the paper, also beside lines that are blank
	for i := range 24 {
		printed.WriteString(pdftest.At(50, 750-24*i, 12, "F", fmt.Sprint(i+1)))
		if at := i - 3; at >= 0 && at < len(words) {
			printed.WriteString(pdftest.At(80, 750-24*i, 12, "F", words[at]))
		}
	}
	var list, steps strings.Builder
	for i := range 12 {
		list.WriteString(pdftest.At(50, 700-14*i, 12, "F", fmt.Sprint(i+1)) + pdftest.At(80, 700-14*i, 12, "F", "The "+
			strings.ToUpper(names[i])))
		steps.WriteString(pdftest.At(50, 700-14*i, 12, "F", fmt.Sprint(5*i+5)) + pdftest.At(80, 700-14*i, 12, "F",
			"minutes of "+names[i]+" work"))
	}
	for _, tt := range []struct {
		name    string
		pages   []string
		numbers bool
	}{
		{"every fifth line, on from page to page", []string{numbered(50, 5, 0), numbered(50, 5, 10)}, false},
		{"each line, again on each page", []string{numbered(60, 1, 0), numbered(60, 1, 0)}, false},
		{"at the right", []string{numbered(560, 5, 0), numbered(560, 5, 10)}, false},
		{"each line of the paper", []string{printed.String(), printed.String()}, false},
		{"the rows of a list", []string{list.String()}, true},
		{"values that grow by five", []string{steps.String()}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var sheets []pdftest.Sheet
			for _, p := range tt.pages {
				sheets = append(sheets, pdftest.Sheet{Content: p})
			}
			x := mustExtract(t, reader, pdftest.Document("", sheets...))
			if got := strings.ContainsAny(x.Text, "0123456789"); got != tt.numbers {
				t.Errorf("text = %q, want numbers: %v", x.Text, tt.numbers)
			}
			left, _ := x.Meta[corpus.MetaLeftOut].(string)
			if strings.Contains(left, "line number") == tt.numbers {
				t.Errorf("left out: %q, numbers kept: %v", left, tt.numbers)
			}
			if want := strings.Join(words, " "); !tt.numbers && !strings.Contains(x.Text, want) {
				t.Errorf("text = %q, want %q in it", x.Text, want)
			}
		})
	}
}
