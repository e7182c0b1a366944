package pdf_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/pdf/pdftest"
	"github.com/google/go-cmp/cmp"
)

func TestLayout(t *testing.T) {
	reader := newReader(t, nil)
	for _, tt := range []struct {
		name  string
		pages []pdftest.Sheet
		want  []string
	}{
		{"the lines of a paragraph are joined, a gap begins the next", []pdftest.Sheet{{Content: pdftest.Para(50, 700,
			"The roof was replaced in the spring of last year and",
			"has a warranty of thirty years.") + pdftest.Para(50, 640, "The walls are dry.")}},
			[]string{
				"paragraph: The roof was replaced in the spring of last year and has a warranty of thirty years.",
				"paragraph: The walls are dry.",
			}},
		{"an indented line begins a paragraph without a gap", []pdftest.Sheet{{Content: pdftest.Para(50, 700,
			"The first paragraph runs over more than one line of text",
			"and ends somewhere in the middle of the line, as they do.") +
			pdftest.At(70, 672, 12, "F", "The second one begins with an indented first line and goes") +
			pdftest.Para(50, 658, "on at the left edge of the page.")}},
			[]string{
				"paragraph: The first paragraph runs over more than one line of text and ends somewhere in the " +
					"middle of the line, as they do.",
				"paragraph: The second one begins with an indented first line and goes on at the left edge of " +
					"the page.",
			}},
		{"larger and bold lines are headings by size",
			[]pdftest.Sheet{{Content: pdftest.At(50, 740, 24, "F", "Survey of the house") +
				pdftest.At(50, 700, 16, "F", "Condition") +
				pdftest.Para(50, 670, "All parts of the house were looked at and found to be dry.",
					"Nothing is missing at all.") +
				pdftest.At(50, 630, 12, "B", "Findings in short") +
				pdftest.Para(50, 610, "There are none that a reader of this survey should know.")}},
			[]string{"heading1: Survey of the house", "heading2: Condition",
				"paragraph: All parts of the house were looked at and found to be dry. Nothing is missing at all.",
				"heading3: Findings in short", "paragraph: There are none that a reader of this survey should know."}},
		{"a word cut at the end of a line is whole again, a compound keeps its hyphen",
			[]pdftest.Sheet{{Content: pdftest.Para(50, 700,
				"The surveyor says that the ex-", "amination was thorough, for Mr Smith-",
				"Jones looked at all of it.")}},
			[]string{
				"paragraph: The surveyor says that the examination was thorough, for Mr Smith-Jones looked at " +
					"all of it.",
			}},
		{"a paragraph goes on on the next page, in the middle of a word, behind a footnote",
			[]pdftest.Sheet{
				{
					Content: pdftest.Para(50, 300, "The roof is of slate and was",
						"renewed by a firm that is very sophisti-") +
						pdftest.At(50, 100, 8, "F", "1") + pdftest.At(56, 98, 10, "F", "A footnote about the firm."),
				},
				{Content: pdftest.Para(50, 700, "cated in what it does, and that", "has a warranty.") +
					pdftest.Para(50, 640, "the walls are dry.")},
			},
			[]string{
				"paragraph: ¹A footnote about the firm.",
				"paragraph: The roof is of slate and was renewed by a firm that is very sophisticated in what it " +
					"does, and that has a warranty.", "paragraph: the walls are dry.",
			}},
		{"a full line without a stop goes on on the next page, a short one or an ended one does not",
			[]pdftest.Sheet{
				{
					Content: pdftest.Para(50, 300, "The roof is of slate from Wales and",
						"was renewed by the well known Mr"),
				},
				{Content: pdftest.Para(50, 700, "Jones of Mill Lane, who is still", "alive and works in the town of")},
				{Content: pdftest.Para(50, 700, "Bath. All is well in this house and", "it ends.")},
				{Content: pdftest.Para(50, 700, "Contents", "of the boxes")},
			},
			[]string{
				"paragraph: The roof is of slate from Wales and was renewed by the well known Mr Jones of Mill Lane, " +
					"who is still alive and works in the town of Bath. All is well in this house and it ends.",
				"paragraph: Contents of the boxes",
			}},
		{"a paragraph goes on in the next column, a heading or a list does not", []pdftest.Sheet{
			{Content: pdftest.Para(50, 700, "This is the text of the left", "column, and it goes on where") +
				pdftest.Para(320, 700, "the right column begins, as one", "would expect of it.")},
			{Content: pdftest.Para(50, 700, "This sentence has no end and", "nothing else") +
				pdftest.Para(320, 700, "- a list item is apart", "- and one more")}},
			[]string{"paragraph: This is the text of the left column, and it goes on where the right column begins, " +
				"as one would expect of it.", "paragraph: This sentence has no end and nothing else",
				"list1: a list item is apart", "list1: and one more"}},
		{"columns are read one after the other", []pdftest.Sheet{{Content: pdftest.Para(50, 700,
			"This is the text of the left", "column, which comes first,", "and here it ends.") +
			pdftest.Para(320, 700, "This is the right column and", "it comes second, as one would", "expect of it.")}},
			[]string{"paragraph: This is the text of the left column, which comes first, and here it ends.",
				"paragraph: This is the right column and it comes second, as one would expect of it."}},
		{"columns that the file holds line by line are read one after the other",
			[]pdftest.Sheet{{Content: func() string {
				var b strings.Builder
				left := []string{
					"The text of the left column is", "woven into that of the right", "one, line by line, as some old",
					"programs do it for no reason.", "It ends here, at the bottom.",
				}
				right := []string{
					"while the right column goes its", "own way and has nothing to do",
					"with the left one, not even the", "number of letters in its lines", "is the same, as you can see.",
				}
				for i := range left {
					b.WriteString(
						pdftest.At(50, 700-14*i, 12, "F", left[i]) + pdftest.At(320, 700-14*i, 12, "F", right[i]),
					)
				}
				return b.String()
			}()}},
			[]string{
				"paragraph: The text of the left column is woven into that of the right one, line by line, as some " +
					"old programs do it for no reason. It ends here, at the bottom.",
				"paragraph: while the right column goes its own way and has nothing to do with the left one, not " +
					"even the number of letters in its lines is the same, as you can see.",
			}},
		{"a table has rows and cells, empty ones too",
			[]pdftest.Sheet{{Content: pdftest.Para(50, 740, "Prices of the parts that we sell in our shop:") +
				pdftest.At(50, 700, 12, "B", "Part") + pdftest.At(200, 700, 12, "B", "Price") +
				pdftest.At(300, 700, 12, "B", "Stock") +
				pdftest.At(50, 684, 12, "F", "Roof tile") + pdftest.At(200, 684, 12, "F", "2.40") +
				pdftest.At(300, 684, 12, "F", "1200") +
				pdftest.At(50, 668, 12, "F", "Nail") + pdftest.At(300, 668, 12, "F", "9")}},
			[]string{
				"paragraph: Prices of the parts that we sell in our shop:",
				"table: Part | Price | Stock\nRoof tile | 2.40 | 1200\nNail |  | 9",
			}},
		{"a stretched paragraph is no table",
			[]pdftest.Sheet{{Content: pdftest.At(50, 700, 12, "F", "The gaps are usually so wide") +
				pdftest.At(50, 686, 12, "F", "yet") + pdftest.At(110, 686, 12, "F", "below") +
				pdftest.At(183, 686, 12, "F", "they") +
				pdftest.At(50, 672, 12, "F", "are") + pdftest.At(110, 672, 12, "F", "quite") +
				pdftest.At(181, 672, 12, "F", "wide")}},
			[]string{"paragraph: The gaps are usually so wide yet below they are quite wide"}},
		{"list items are told apart",
			[]pdftest.Sheet{{Content: pdftest.Para(50, 740, "The surveyor looked at these parts of the house:") +
				pdftest.At(60, 716, 12, "F", "1. The roof, which is new and") +
				pdftest.At(75, 702, 12, "F", "has no holes") +
				pdftest.At(60, 688, 12, "F", "2. The cellar")}},
			[]string{
				"paragraph: The surveyor looked at these parts of the house:",
				"list1: 1. The roof, which is new and has no holes", "list1: 2. The cellar",
			}},
		{"text in a fixed-width font is code and keeps its lines",
			[]pdftest.Sheet{{Content: pdftest.Para(50, 740, "Run this to see the answer of the program:") +
				pdftest.At(50, 700, 10, "C", "for x in a:") + pdftest.At(74, 688, 10, "C", "print x")}},
			[]string{"paragraph: Run this to see the answer of the program:", "code: for x in a:\n    print x"}},
		{"a line that is all inline code belongs to its paragraph, at its end and inside",
			[]pdftest.Sheet{{Content: pdftest.Para(50, 740,
				"Everything that the program keeps lies in one directory,") +
				pdftest.At(50, 726, 10, "C", "/var/lib/footnote/documents/originals,") +
				pdftest.At(50, 712, 12, "F", "unless another one was chosen before it was started, with") +
				pdftest.At(50, 698, 10, "C", "FOOTNOTE_DATA.")}},
			[]string{
				"paragraph: Everything that the program keeps lies in one directory, " +
					"/var/lib/footnote/documents/originals, unless another one was chosen before it was started, " +
					"with FOOTNOTE_DATA.",
			}},
		{"a line that is mostly code, set smaller, begins a paragraph",
			[]pdftest.Sheet{{Content: pdftest.At(50, 740, 9, "C", "POST /search with a body, limit and mode") +
				pdftest.At(275, 740, 11, "F", "returns") +
				pdftest.At(50, 726, 11, "F", "passages with their score and the section that they stand in,") +
				pdftest.At(50, 712, 11, "F", "and nothing else that a program would have to leave out.")}},
			[]string{
				"paragraph: POST /search with a body, limit and mode returns passages with their score and the " +
					"section that they stand in, and nothing else that a program would have to leave out.",
			}},
		{"the entries of a table of contents keep their lines",
			[]pdftest.Sheet{
				{Content: pdftest.Para(50, 740, "1.1 How do I become a member? . . . . . . . . . . . . . . . . 57",
					"1.2 Where are the rules? . . . . . . . . . . . . . . . . . . . 58",
					"1.3 Who wrote all this? . . . . . . . . . . . . . . . . . . . 59")},
			},
			[]string{
				"paragraph: 1.1 How do I become a member? . . . . . . . . . . . . . . . . 57\n1.2 Where are the " +
					"rules? . . . . . . . . . . . . . . . . . . . 58\n1.3 Who wrote all this? . . . . . . . . . . . " +
					". . . . . . . . 59",
			}},
		{"code after a short line or the end of a sentence is a block of its own",
			[]pdftest.Sheet{
				{Content: pdftest.Para(50, 740, "Type this") + pdftest.At(50, 726, 10, "C", "footnote serve") +
					pdftest.Para(50, 680, "The program then shows where the page is to be found.") +
					pdftest.At(50, 666, 10, "C", "http://localhost:8080")},
			},
			[]string{
				"paragraph: Type this", "code: footnote serve",
				"paragraph: The program then shows where the page is to be found.", "code: http://localhost:8080",
			}},
		{"what lies outside the crop box is left out",
			[]pdftest.Sheet{
				{Crop: "0 0 600 720",
					Content: pdftest.At(50, 750, 12, "F", "Proof 17") + pdftest.Para(50, 700, "Inside.")},
			},
			[]string{"paragraph: Inside."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := mustExtract(t, reader, pdftest.Document("", tt.pages...))
			if diff := cmp.Diff(tt.want, outlineOf(x)); diff != "" {
				t.Errorf("blocks (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHeadersAndFootersStayOnce(t *testing.T) {
	var pages []pdftest.Sheet
	for i := range 6 {
		pages = append(pages, pdftest.Sheet{
			Content: pdftest.At(50, 770, 9, "F", "Survey of the house") +
				pdftest.Para(50, 600, fmt.Sprintf("Words of page %d that count, numbered %d.", i+1, i+1)) +
				pdftest.At(290, 30, 9, "F", fmt.Sprintf("Page %d of 6", i+1)),
		})
	}
	x := mustExtract(t, newReader(t, nil), pdftest.Document("", pages...))
	want := []string{
		"paragraph: Survey of the house", "paragraph: Words of page 1 that count, numbered 1.",
		"paragraph: Page 1 of 6",
	}
	for i := 1; i < 6; i++ {
		want = append(want, fmt.Sprintf("paragraph: Words of page %d that count, numbered %d.", i+1, i+1))
	}
	if diff := cmp.Diff(want, outlineOf(x)); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	if left, want := x.Meta[corpus.MetaLeftOut], "10 repeated lines"; left != want {
		t.Errorf("left out: %v, want %q", left, want)
	}
	if x.Pages != 6 || x.Blocks[7].Page != 6 || x.Sizes[0] != [2]float64{600, 800} {
		t.Errorf("%d pages of %v points, last block on page %d; want 6 and 6", x.Pages, x.Sizes[0], x.Blocks[7].Page)
	}
}

func TestDocumentMetadata(t *testing.T) {
	var m pdftest.Maker
	m.Trailer = "/Info 3 0 R"
	// The outline refers to lines with ordinary letters, on page 1, and contains a cycle.
	outline := m.Add("<</Type /Outlines /First 2 0 R /Last 2 0 R /Count 1>>")
	m.Add("<</Title (What we found) /Parent 1 0 R /Next 4 0 R /First 1 0 R /Dest [6 0 R /XYZ 0 712 0]>>")
	m.Add("<</Title (The house) /Author (A. Smith) /CreationDate (D:20240229120000Z)>>")
	m.Add("<</Title (Chapter 2. The method) /Parent 1 0 R /Next 2 0 R /Dest [6 0 R /XYZ 0 612 0]>>")
	data := m.Document(fmt.Sprintf("/Outlines %d 0 R", outline), pdftest.Sheet{
		Content: pdftest.At(50, 700, 12, "F", "What we found") +
			pdftest.Para(50, 660, "The house is new and the walls are dry, which is more than",
				"one could have hoped for.") + pdftest.At(50, 630, 14, "B", "A. Smith, surveyor") +
			pdftest.At(50, 600, 12, "F", "The method") + pdftest.Para(50, 570, "We looked at all of it.")})
	x := mustExtract(t, newReader(t, nil), data)
	if x.Title != "The house" || x.Meta["author"] != "A. Smith" || x.Meta["date"] != "2024-02-29" {
		t.Errorf("title %q, meta %v; want %q, %q, %q", x.Title, x.Meta, "The house", "A. Smith", "2024-02-29")
	}
	if diff := cmp.Diff([]string{
		"heading1: What we found",
		"paragraph: The house is new and the walls are dry, which is more than one could have hoped for.",
		"paragraph: A. Smith, surveyor", "heading1: The method", "paragraph: We looked at all of it.",
	}, outlineOf(x)); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	if got, want := x.Blocks[4].Headings, []string{"Chapter 2. The method"}; !slices.Equal(got, want) {
		t.Errorf("headings of the last block = %q, want %q", got, want)
	}
}

func TestPlaceholderIsNotTitle(t *testing.T) {
	r := newReader(t, nil)
	for stated, want := range map[string]string{
		"Survey of the roof": "Survey of the roof", "Microsoft Word - Survey": "Survey",
		`\(anonymous\)`: "Roof survey", "untitled": "Roof survey", "Untitled-1": "Roof survey",
		"Document1":                     "Roof survey",
		"Microsoft Word - draft 3.docx": "Roof survey", "- - -": "Roof survey", "12": "Roof survey",
		"Dokument1": "Roof survey", "Invoice template": "Roof survey",
	} {
		m := pdftest.Maker{Trailer: "/Info 1 0 R"}
		m.Add("<</Title (%s)>>", stated)
		x := mustExtract(t, r, m.Document("", pdftest.Sheet{
			Content: pdftest.At(50, 700, 24, "B", "Roof survey") +
				pdftest.Para(50, 660, "The slates are new and the walls are dry, which is more than",
					"one could have hoped for in a house of that age.")}))
		if x.Title != want {
			t.Errorf("a PDF that calls itself %q has the title %q, want %q", stated, x.Title, want)
		}
	}
}
