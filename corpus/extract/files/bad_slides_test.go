package files_test

import (
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus/extract/ooxml/ooxmltest"
)

const slideList = `<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst>@@</p:sldIdLst></p:presentation>`

var slides = pack{"bad.pptx", []string{
	"_rels/.rels", ooxmltest.Relations("m", "officeDocument", "ppt/presentation.xml"),
	"ppt/presentation.xml", strings.Replace(slideList, "@@", `<p:sldId id="256" r:id="s"/>`, 1),
	"ppt/_rels/presentation.xml.rels", ooxmltest.Relations("s", "slide", "slides/slide1.xml"),
	"ppt/slides/slide1.xml", `<p:sld xmlns:p="p" xmlns:a="a" xmlns:r="r"><p:cSld><p:spTree><p:sp><p:txBody><a:p><a:r>` +
		`<a:t>@</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>`,
}, "ppt/slides/slide1.xml"}

func badSlides(t testing.TB) []bad {
	made := func(name, text string, parts ...string) bad {
		return bad{name, slides.file, slides.with(t, parts...), "", text}
	}
	refuses := func(name, fate string, parts ...string) bad {
		return bad{name, slides.file, slides.with(t, parts...), fate, ""}
	}
	const rels = "ppt/slides/_rels/slide1.xml.rels"
	const end, begin = `</a:t></a:r></a:p></p:txBody></p:sp>`, `<p:sp><p:txBody><a:p><a:r><a:t>`
	tree := func(s string) string { return slides.saying("The roof is dry." + end + s + begin) }
	shape := func(inside string) string { return `<p:sp>` + inside + `<p:txBody><a:p><a:r><a:t>x` + end }
	times := func(n int) string {
		return strings.Replace(slideList, "@@", strings.Repeat(`<p:sldId r:id="s"/>`, n), 1)
	}
	return append(badPackages(t, slides),
		made("a slide that is its own layout, notes and chart", "roof", rels, ooxmltest.Relations("l", "slideLayout",
			"slide1.xml", "n", "notesSlide", "slide1.xml", "c", "chart", "slide1.xml"), slides.main,
			tree(`<p:graphicFrame><a:graphic><a:graphicData><c:chart r:id="c"/></a:graphicData></a:graphic>`+
				`</p:graphicFrame>`)),
		made("a slide that is there 20,000 times", "roof", "ppt/presentation.xml", times(20_000)),
		refuses("a slide of 2 MB that is there 10,000 times", tooMuch, "ppt/presentation.xml", times(10_000),
			slides.main, slides.saying("a"+strings.Repeat(" <x>1</x>", 250_000))),
		refuses("slides that are not there", noText, "ppt/presentation.xml",
			strings.Replace(slideList, "@@", `<p:sldId r:id="t"/>`, 1)),
		refuses("a presentation that is a slide of itself", noText, "ppt/_rels/presentation.xml.rels",
			ooxmltest.Relations("s", "slide", "presentation.xml")),
		refuses("groups in groups", tooDeep, slides.main, tree(strings.Repeat("<p:grpSp>", 50_000))),
		made("300 groups that shrink each other", "roof", slides.main,
			tree(strings.Repeat(`<p:grpSp><p:grpSpPr><a:xfrm>`+
				`<a:ext cx="1" cy="1"/><a:chExt cx="1e300" cy="0.0001"/></a:xfrm></p:grpSpPr>`, 300)+shape("")+
				strings.Repeat("</p:grpSp>", 300))),
		made("places that are no numbers", "roof", slides.main, tree(shape(`<p:spPr><a:xfrm><a:off x="NaN" y="Inf"/>`+
			`<a:ext cx="-1e308" cy="1e309"/></a:xfrm></p:spPr>`)), "ppt/presentation.xml",
			strings.Replace(slides.parts[3], "<p:sldIdLst>", `<p:sldSz cx="NaN" cy="-Inf"/><p:sldIdLst>`, 1)),
		made("a list of level 2³¹ that begins with 2³¹", "roof", slides.main, tree(`<p:sp><p:txBody><a:p><a:pPr `+
			`lvl="2147483647"><a:buAutoNum type="alphaLcPeriod" startAt="2147483647"/></a:pPr><a:r><a:t>x`+end)),
		made("a row of 100,000 cells", "roof", slides.main,
			tree(`<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr>`+
				strings.Repeat(`<a:tc/>`, 100_000)+`</a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>`)),
		made("a chart of 100,000 series of nothing", "roof", rels, ooxmltest.Relations("c", "chart", "c.xml"),
			slides.main, tree(`<p:graphicFrame><a:graphic><a:graphicData><c:chart r:id="c"/></a:graphicData><`+
				`/a:graphic>`+
				`</p:graphicFrame>`), "ppt/slides/c.xml", `<c><chart><plotArea><barChart>`+
				strings.Repeat(`<ser/>`, 100_000)+`</barChart></plotArea></chart></c>`),
		made("a chart that is there 300 times", "roof", rels, ooxmltest.Relations("c", "chart", "c.xml"),
			slides.main, tree(strings.Repeat(`<p:graphicFrame><a:graphic><a:graphicData><c:chart r:id="c"/><`+
				`/a:graphicData>`+
				`</a:graphic></p:graphicFrame>`, 300)), "ppt/slides/c.xml", `<c><chart><plotArea><barChart><ser><val>`+
				strings.Repeat(`<v>1</v>`, 5000)+`</val></ser></barChart></plotArea></chart></c>`),
	)
}
