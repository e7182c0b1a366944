package odf

import (
	"encoding/xml"
	"path"
	"slices"
	"strings"

	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/ooxml"
)

// Limits of a chart's data table. A chart with more rows has its data in another table, so that the rest is dropped.
const (
	maxChartRows    = 1000
	maxChartColumns = 100
)

// ChartLines returns the words of an embedded chart, line by line: its titles, its axes' titles and its series. href
// is the reference in the object's element. It returns nil for a missing object and for other objects. values
// includes the values of the series, which a spreadsheet already has in its cells.
func ChartLines(p *ooxml.Package, href string, values bool) ([]string, error) {
	c := chart{}
	err := p.Decode(path.Join(href, "content.xml"), func(d *ooxml.Decoder) error {
		c.d = d
		return d.Children(c.find)
	})
	return append(c.titles, c.series(values)...), err
}

// chart collects the words of a chart while it is parsed. LibreOffice stores its series as the columns of a table,
// with their names in the header, and the labels of its points in the first column. Of tables in another form only
// the titles are read.
type chart struct {
	d       *ooxml.Decoder
	titles  []string
	labels  bool // the first column has the labels of the points
	rows    [][]string
	columns int
}

// find searches the chart in the object's body. Two elements are named "chart": the one in the office namespace
// contains the other, which is parsed.
func (c *chart) find(e xml.StartElement) error {
	switch e.Name.Local {
	case "body":
		return c.d.Children(c.find)
	case "chart":
		if e.Name.Space == "office" {
			return c.d.Children(c.find)
		}
		return c.d.Children(c.read)
	}
	return c.d.Skip()
}

// read parses the parts of a chart with text: titles, including those of axes, and the data table.
func (c *chart) read(e xml.StartElement) error {
	switch e.Name.Local {
	case "title", "subtitle":
		title, err := c.d.Text()
		if title = doctext.Line(title); title != "" {
			c.titles = append(c.titles, title)
		}
		return err
	case "categories":
		c.labels = true
	case "plot-area", "axis":
		return c.d.Children(c.read)
	case "table":
		return c.d.Children(c.readTable)
	}
	return c.d.Skip()
}

// readTable stores the rows of the table: a header and at most maxChartRows.
func (c *chart) readTable(e xml.StartElement) error {
	switch e.Name.Local {
	case "table-header-rows", "table-rows":
		return c.d.Children(c.readTable)
	case "table-row":
		var row []string
		err := c.d.Children(func(e xml.StartElement) error {
			if e.Name.Local != "table-cell" {
				return c.d.Skip()
			}
			text, err := c.d.Text()
			row = append(row, doctext.Line(text))
			return err
		})
		if len(c.rows) <= maxChartRows {
			row = row[:min(len(row), maxChartColumns)]
			c.rows, c.columns = append(c.rows, row), max(c.columns, len(row))
		}
		return err
	}
	return c.d.Skip()
}

// series returns lines such as "Rent: 2024 900, 2025 950"; without values "Rent: 2024, 2025" for the first series
// and "Heating" for the next. The first row has the names of the series; empty points are skipped.
func (c *chart) series(values bool) (lines []string) {
	at := func(row, column int) string {
		if column >= len(c.rows[row]) {
			return ""
		}
		return c.rows[row][column]
	}
	for column := 1; column < c.columns && len(c.rows) > 1; column++ {
		var points []string
		for row := 1; row < len(c.rows); row++ {
			label, value := "", ""
			if c.labels && (values || column == 1) {
				label = at(row, 0)
			}
			if values {
				value = at(row, column)
			}
			points = append(points, strings.TrimSpace(label+" "+value))
		}
		points = slices.DeleteFunc(points, func(p string) bool { return p == "" })
		line := strings.TrimPrefix(at(0, column)+": "+strings.Join(points, ", "), ": ")
		if line = strings.TrimSuffix(line, ": "); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}
