package ooxml

import (
	"encoding/xml"
	"slices"
	"strconv"
	"strings"

	"github.com/footnote/footnote/corpus/extract/doctext"
)

// A chart with more points has its data in another table, and its points would be useless as text.
const maxPoints = 1000 // per series

// RelationID returns the attribute r:id of an element, which may also have an unprefixed id. It matches any prefix.
func RelationID(e xml.StartElement) string {
	for _, a := range e.Attr {
		if a.Name.Local == "id" && a.Name.Space != "" {
			return a.Value
		}
	}
	return ""
}

// GraphicLines returns the words of a child of graphicData, line by line. A chart ("chart") or diagram ("relIds") is
// in a separate part. For other elements it returns nil. It doesn't read e to its end. values includes the values of
// a chart's series. The elements are those of ECMA-376 part 1, chapter 21 (DrawingML: charts and diagrams).
func (p *Package) GraphicLines(e xml.StartElement, relations Relations, values bool) ([]string, error) {
	switch e.Name.Local {
	case "chart":
		return p.chartLines(relations[RelationID(e)].Target, values)
	case "relIds":
		return p.diagramLines(relations[Attr(e, "dm")].Target)
	}
	return nil, nil
}

// chart collects the lines of a chart: its title, its axes' titles and its series. values includes the values of the
// series, which a workbook already has in its cells.
type chart struct {
	d      *Decoder
	values bool
	labels []string // of the last series written without values
	lines  []string
}

// chartLines parses the part of a chart. It supports the form of ECMA-376 and that of Office 2016's newer kinds
// (chartex), whose elements "plotAreaRegion", "series" and "axis" are handled like their older ones.
func (p *Package) chartLines(part string, values bool) ([]string, error) {
	c := chart{values: values}
	err := p.Decode(part, func(d *Decoder) error {
		c.d = d
		return c.read()
	})
	return c.lines, err
}

// read parses titles and series, and skips formatting.
func (c *chart) read() error {
	return c.d.Children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "title":
			return c.title()
		case "ser", "series":
			return c.series()
		case "chart", "plotArea", "plotAreaRegion", "valAx", "catAx", "dateAx", "serAx", "axis":
			return c.read()
		}
		if strings.HasSuffix(e.Name.Local, "Chart") { // barChart, lineChart, …
			return c.read()
		}
		return c.d.Skip()
	})
}

// title parses a title, which is text of the chart or from a cell. The cached value of the cell is next to the
// formula ("f") that references it.
func (c *chart) title() error {
	var words []string
	var walk func(e xml.StartElement) error
	walk = func(e xml.StartElement) error {
		switch e.Name.Local {
		case "rich":
			lines, err := c.d.Paragraphs()
			words = append(words, lines...)
			return err
		case "v":
			v, err := c.d.Text()
			words = append(words, v)
			return err
		case "f", "txPr":
			return c.d.Skip()
		}
		return c.d.Children(walk)
	}
	err := c.d.Children(walk)
	if title := doctext.Line(strings.Join(words, " ")); title != "" {
		c.lines = append(c.lines, title)
	}
	return err
}

// points holds the cached values of a series, its labels or its name. format is a number format such as "0.00" or
// "d.m.yyyy", empty for text.
type points struct {
	texts  []string
	format string // of numbers
}

// points parses the cached values below an element, at most maxPoints. It does not look up their cells.
func (c *chart) points() (p points, err error) {
	var walk func(e xml.StartElement) error
	walk = func(e xml.StartElement) error {
		switch e.Name.Local {
		case "v":
			v, err := c.d.Text()
			if len(p.texts) < maxPoints {
				p.texts = append(p.texts, doctext.Line(v))
			}
			return err
		case "formatCode":
			p.format, err = c.d.Text()
			return err
		}
		return c.d.Children(walk)
	}
	err = c.d.Children(walk)
	return p, err
}

// areShown reports whether the stored numbers equal the displayed ones. Dates are stored as the number of days since
// 1900.
func (p points) areShown() bool { return p.format == "" || p.format == "General" || p.format == "0" }

// series writes a line such as "Rent: 2024 900, 2025 950"; without values "Rent: 2024, 2025" for the first series
// with these labels and "Heating" for the next. The x values of a scatter chart are numbers. They are dropped as
// labels if values are in cells.
func (c *chart) series() error {
	var name, labels, values points
	err := c.d.Children(func(e xml.StartElement) (err error) {
		switch e.Name.Local {
		case "tx":
			name, err = c.points()
		case "cat":
			labels, err = c.points()
		case "xVal":
			if labels, err = c.points(); !c.values {
				labels = points{}
			}
		case "val", "yVal":
			values, err = c.points()
		default:
			err = c.d.Skip()
		}
		return err
	})
	if !labels.areShown() {
		labels.texts = nil
	}
	if !c.values {
		values.texts = labels.texts
		if slices.Equal(labels.texts, c.labels) {
			values.texts = nil
		}
		c.labels = labels.texts
	}
	for i := range values.texts {
		if values.texts[i] = rounded(values.texts[i]); c.values && i < len(labels.texts) {
			values.texts[i] = labels.texts[i] + " " + values.texts[i]
		}
	}
	line := strings.Join(values.texts, ", ")
	if len(name.texts) > 0 {
		line = strings.TrimSuffix(name.texts[0]+": "+line, ": ")
	}
	if line != "" {
		c.lines = append(c.lines, line)
	}
	return err
}

// rounded returns a number without rounding errors of its binary form: 8.2 for 8.1999999999999993. It keeps twelve
// digits. A 64-bit float has 15 to 17, and the last few carry the error of a sum.
func rounded(value string) string {
	n, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return value
	}
	return strconv.FormatFloat(n, 'g', 12, 64)
}

// diagramLines returns the words of a diagram (SmartArt), a line for each paragraph of its points.
func (p *Package) diagramLines(part string) (lines []string, err error) {
	err = p.Decode(part, func(d *Decoder) error {
		lines, err = d.Paragraphs()
		return err
	})
	return lines, err
}

// Paragraphs returns the DrawingML paragraphs inside the current element, which it reads to its end. A line break
// inside a paragraph becomes a space. Empty paragraphs are skipped.
func (d *Decoder) Paragraphs() (lines []string, err error) {
	var b strings.Builder
	end := func() {
		if line := doctext.Line(b.String()); line != "" {
			lines = append(lines, line)
		}
		b.Reset()
	}
	var walk func(e xml.StartElement) error
	walk = func(e xml.StartElement) error {
		switch e.Name.Local {
		case "t": // a point of a diagram stores its paragraphs in a "t" as well
			return d.mixed(&b, walk)
		case "br":
			b.WriteByte(' ')
		case "p":
			end()
			defer end()
		}
		return d.Children(walk)
	}
	err = d.Children(walk)
	end()
	return lines, err
}

// mixed writes the text directly inside the current element, and calls visit for its child elements.
func (d *Decoder) mixed(b *strings.Builder, visit func(xml.StartElement) error) error {
	for {
		token, err := d.Next()
		if err != nil {
			return unexpected(err)
		}
		switch t := token.(type) {
		case xml.CharData:
			b.Write(t)
		case xml.StartElement:
			if err := visit(t); err != nil {
				return err
			}
		case xml.EndElement:
			return nil
		}
	}
}
