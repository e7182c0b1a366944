package pptx_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/ooxml/ooxmltest"
	"github.com/footnote/footnote/corpus/extract/pptx"
)

// file writes a file of slides. Each slide is the content of its shape tree, with the prefix "hidden:" for a hidden
// one.
func file(t testing.TB, extra ooxmltest.Parts, slides ...string) corpus.File {
	t.Helper()
	parts := ooxmltest.Parts{}
	var list strings.Builder
	var relations []string
	for i, tree := range slides {
		n, show := i+1, ""
		if rest, hidden := strings.CutPrefix(tree, "hidden:"); hidden {
			tree, show = rest, ` show="0"`
		}
		fmt.Fprintf(&list, `<p:sldId id="%d" r:id="s%d"/>`, 255+n, n)
		relations = append(relations, fmt.Sprintf("s%d", n), "slide", fmt.Sprintf("slides/slide%d.xml", n))
		parts[fmt.Sprintf("ppt/slides/slide%d.xml", n)] = `<p:sld xmlns:p="p" xmlns:a="a" xmlns:r="r"` + show +
			`><p:cSld><p:spTree>` + tree + `</p:spTree></p:cSld></p:sld>`
		parts[fmt.Sprintf("ppt/slides/_rels/slide%d.xml.rels", n)] = ooxmltest.Relations(
			"l",
			"slideLayout",
			"../slideLayouts/l.xml",
			"n",
			"notesSlide",
			fmt.Sprintf("../notes/n%d.xml", n),
			"c",
			"chart",
			"../charts/c.xml",
		)
	}
	parts["ppt/presentation.xml"] = `<p:presentation xmlns:p="p" xmlns:r="r"><p:sldSz cx="1000" cy="500"/>` +
		`<p:sldIdLst>` +
		list.String() + `</p:sldIdLst></p:presentation>`
	parts["ppt/_rels/presentation.xml.rels"] = ooxmltest.Relations(relations...)
	for name, part := range extra {
		parts[name] = part
	}
	path := ooxmltest.Write(t, "talk.pptx", "ppt/presentation.xml", parts)
	return corpus.File{Path: path, Filename: filepath.Base(path)}
}

// box returns a shape with paragraphs. at is "x,y", empty for no position; holder is the type of its placeholder, if
// any.
func box(holder, at string, paragraphs ...string) string {
	place, frame := "", ""
	if holder != "" {
		place = `<p:nvPr><p:ph type="` + holder + `" idx="1"/></p:nvPr>`
	}
	if x, y, placed := strings.Cut(at, ","); placed {
		frame = `<a:xfrm><a:off x="` + x + `" y="` + y + `"/><a:ext cx="100" cy="50"/></a:xfrm>`
	}
	return `<p:sp><p:nvSpPr>` + place + `</p:nvSpPr><p:spPr>` + frame + `</p:spPr><p:txBody>` +
		strings.Join(paragraphs, "") + `</p:txBody></p:sp>`
}

func line(properties, text string) string {
	return `<a:p><a:pPr ` + properties + `</a:pPr><a:r><a:t>` + text + `</a:t></a:r></a:p>`
}

func read(t *testing.T, f corpus.File) corpus.Extracted {
	t.Helper()
	x, err := pptx.Read(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	if err := doctext.Check(x); err != nil {
		t.Fatal(err)
	}
	return x
}

// shown formats the blocks, one per line: the page, the kind, the text.
func shown(x corpus.Extracted) []string {
	var lines []string
	for _, b := range x.Blocks {
		lines = append(lines, fmt.Sprintf("%d %s %s", b.Page, b.Kind, doctext.Slice(x.Text, b.Start, b.End)))
	}
	return lines
}

func TestSlideReadingOrder(t *testing.T) {
	group := `<p:grpSp><p:grpSpPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="100" cy="100"/><a:chOff x="0" y="4000"/>` +
		`<a:chExt cx="1000" cy="1000"/></a:xfrm></p:grpSpPr>` +
		box(
			"",
			"0,4000",
			line(">", "a group at the top"),
		) + `</p:grpSp>`
	x := read(t, file(t, ooxmltest.Parts{
		"ppt/slideLayouts/l.xml": `<p:sldLayout xmlns:p="p" xmlns:a="a"><p:cSld><p:spTree>` + box("body", "0,200") +
			`</p:spTree></p:cSld></p:sldLayout>`,
		"ppt/notes/n1.xml": `<p:notes><p:cSld><p:spTree>` + box("body", "", line(">", "Say it slowly")) +
			box("sldNum", "", line(">", "1")) + `</p:spTree></p:cSld></p:notes>`,
		"ppt/charts/c.xml": `<c:chartSpace xmlns:c="c"><c:chart><c:title><c:tx><c:rich><a:t>Rent</a:t></c:rich>` +
			`</c:tx></c:title><c:plotArea><c:barChart><c:ser><c:tx><c:v>Flat</c:v></c:tx>` +
			`<c:cat><c:pt><c:v>2024</c:v></c:pt></c:cat><c:val><c:pt><c:v>8.1999999999999993</c:v></c:pt></c:val>` +
			`</c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>`,
	},
		box("", "0,400", line(">", "at the foot"))+group+
			box("body", "", line(">", "first"), line(`lvl="1"><a:buAutoNum type="alphaLcParenR"/`+">", "one"),
				line(`lvl="1"><a:buAutoNum type="alphaLcParenR"/`+">", "two"))+
			box("title", "0,100", line(">", "The roof"))+box("ftr", "0,480", line(">", "Harrow Ltd")),
		"hidden:"+box("", "0,10", line(">", "A short line"), line(">", strings.Repeat("words ", 30)))+
			box("ftr", "0,480", line(">", "Harrow Ltd"))+
			`<p:graphicFrame><p:xfrm><a:off x="0" y="50"/></p:xfrm><a:graphic><a:graphicData><a:tbl><a:tr><a:tc>`+
			`<a:txBody>`+
			line(">", "Room")+`</a:txBody></a:tc><a:tc><a:txBody>`+line(">", "Size")+
			`</a:txBody></a:tc></a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>`+
			`<p:graphicFrame><p:xfrm><a:off x="0" y="60"/></p:xfrm><a:graphic><a:graphicData><c:chart r:id="c"/>`+
			`</a:graphicData></a:graphic></p:graphicFrame>`,
		box("", "", line(">", strings.Repeat("long ", 40))),
	))
	want := []string{
		"1 heading The roof", "1 list first", "1 list a) one", "1 list b) two", "1 paragraph a group at the top",
		"1 paragraph at the foot", "1 paragraph Harrow Ltd", "1 heading Notes", "1 paragraph Say it slowly",
		"2 heading A short line", "2 paragraph " + strings.TrimSpace(strings.Repeat("words ", 30)),
		"2 table Room | Size", "2 paragraph Rent", "2 paragraph Flat: 2024 8.2",
		"3 paragraph " + strings.TrimSpace(strings.Repeat("long ", 40)),
	}
	if diff := cmp.Diff(want, shown(x)); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	if x.Title != "The roof" || x.Pages != 3 || x.Meta[corpus.MetaHidden] != "slide 2" {
		t.Errorf(
			"title %q, %d pages, hidden %v; want The roof, 3, slide 2",
			x.Title,
			x.Pages,
			x.Meta[corpus.MetaHidden],
		)
	}
	if last := x.Blocks[len(x.Blocks)-1]; len(last.Headings) > 0 {
		t.Errorf("headings of a slide without a title = %q, want none", last.Headings)
	}
}

// PowerPoint writes a formula with a picture for older programs.
func TestFormulaKeepsOperators(t *testing.T) {
	x := read(t, file(t, nil, box("", "", `<a:p><a:r><a:t>Lift is </a:t></a:r><mc:AlternateContent><mc:Choice><a14:m>`+
		`<m:oMathPara><m:oMath><m:sSup><m:e><m:r><m:t>10</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup>`+
		`</m:sSup><m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath>`+
		`</m:oMathPara></a14:m></mc:Choice><mc:Fallback><a:r><a:t>picture</a:t></a:r></mc:Fallback>`+
		`</mc:AlternateContent></a:p>`,
		line(">", strings.Repeat("words ", 30)))))
	if want := "Lift is 10²1/2"; !strings.Contains(x.Text, want) {
		t.Errorf("%q, want %q", x.Text, want)
	}
}

func TestDamagedSlidesFailWithMessage(t *testing.T) {
	for name, slide := range map[string]string{
		"an end that is missing": "<p:sp><p:txBody><a:p>",
		"deep groups":            strings.Repeat("<p:grpSp>", 50_000),
		"an entity":              "<p:sp>&nowhere;</p:sp>",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := pptx.Read(t.Context(), file(t, nil, slide))
			if failure, ok := errors.AsType[*corpus.Failure](err); !ok || failure.Code != "broken" {
				t.Errorf("error = %v, want a failure with the code broken", err)
			}
		})
	}
}

func TestPlaceholderIsNotTitle(t *testing.T) {
	for stated, want := range map[string]string{
		"The roof in May": "The roof in May", "PowerPoint Presentation": "The roof",
		"PowerPoint-Präsentation": "The roof",
		"Presentation1":           "The roof", "Slide 1": "The roof", "Quarterly template": "The roof",
	} {
		x := read(t, file(t, ooxmltest.Parts{
			"_rels/.rels": ooxmltest.Relations(
				"d", "officeDocument", "ppt/presentation.xml", "p", "core-properties", "core.xml",
			),
			"core.xml": `<cp:coreProperties xmlns:cp="cp" xmlns:dc="dc"><dc:title>` + stated +
				`</dc:title></cp:coreProperties>`,
		}, box("title", "0,100", line(">", "The roof"))+box("body", "", line(">", "It was mended in May."))))
		if x.Title != want {
			t.Errorf("a file that calls itself %q has the title %q, want %q", stated, x.Title, want)
		}
	}
}
