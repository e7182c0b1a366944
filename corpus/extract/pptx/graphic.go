package pptx

import (
	"encoding/xml"
	"strconv"
	"strings"

	"footnote/corpus/extract/doctext"
	"footnote/corpus/extract/ooxml"
)

// graphic reads a table, or the words of a chart or a diagram, which stand in parts of their own.
func (t *tree) graphic(s *shape) error {
	err := t.d.Children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "nvGraphicFramePr":
			return t.holder(s)
		case "xfrm":
			return t.transform(s)
		case "graphic", "graphicData":
			return t.graphicData(s)
		}
		return t.d.Skip()
	})
	t.add(s)
	return err
}

func (t *tree) graphicData(s *shape) error {
	return t.d.Children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "graphicData":
			return t.graphicData(s)
		case "tbl":
			return t.table(s)
		case "chart":
			words, err := t.r.chartWords(t.relations[relationID(e)].Target)
			s.words = append(s.words, words...)
			if err != nil {
				return err
			}
		case "relIds":
			words, err := t.r.diagramWords(t.relations[ooxml.Attr(e, "dm")].Target)
			s.words = append(s.words, words...)
			if err != nil {
				return err
			}
		}
		return t.d.Skip()
	})
}

func (t *tree) table(s *shape) error {
	return t.d.Children(func(e xml.StartElement) error {
		if e.Name.Local != "tr" {
			return t.d.Skip()
		}
		var row []string
		err := t.d.Children(func(e xml.StartElement) error {
			if e.Name.Local != "tc" {
				return t.d.Skip()
			}
			var cell shape
			err := t.d.Children(func(e xml.StartElement) error {
				if e.Name.Local == "txBody" {
					return t.text(&cell)
				}
				return t.d.Skip()
			})
			lines := make([]string, len(cell.paragraphs))
			for i, p := range cell.paragraphs {
				lines[i] = p.text
			}
			row = append(row, strings.Join(lines, " "))
			return err
		})
		s.rows = append(s.rows, row)
		return err
	})
}

// chartWords are the title of a chart, its axes' titles and its series with their values, a line each.
func (r *reader) chartWords(part string) (lines []string, err error) {
	err = r.pack.Decode(part, func(d *ooxml.Decoder) error {
		return d.Root(func(xml.StartElement) error { return r.chartLines(d, &lines) })
	})
	return lines, err
}

func (r *reader) chartLines(d *ooxml.Decoder, lines *[]string) error {
	return d.Children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "title":
			words, err := d.Text()
			if words = doctext.Line(words); words != "" {
				*lines = append(*lines, words)
			}
			return err
		case "ser":
			line, err := series(d)
			if line != "" {
				*lines = append(*lines, line)
			}
			return err
		case "chart", "plotArea", "valAx", "catAx", "dateAx", "serAx":
			return r.chartLines(d, lines)
		}
		if strings.HasSuffix(e.Name.Local, "Chart") { // barChart, lineChart, …
			return r.chartLines(d, lines)
		}
		return d.Skip()
	})
}

const maxPoints = 1000 // of a series

// series is a line such as "Rent: 2024 900, 2025 950".
func series(d *ooxml.Decoder) (string, error) {
	var name, labels, values []string
	var points func(to *[]string) error
	points = func(to *[]string) error {
		return d.Children(func(e xml.StartElement) error {
			if e.Name.Local != "v" {
				return points(to)
			}
			v, err := d.Text()
			if len(*to) < maxPoints {
				*to = append(*to, doctext.Line(v))
			}
			return err
		})
	}
	err := d.Children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "tx":
			return points(&name)
		case "cat", "xVal":
			return points(&labels)
		case "val", "yVal":
			return points(&values)
		}
		return d.Skip()
	})
	for i := range values {
		values[i] = rounded(values[i])
		if i < len(labels) {
			values[i] = labels[i] + " " + values[i]
		}
	}
	line := strings.Join(values, ", ")
	if len(name) > 0 {
		line = strings.TrimSuffix(name[0]+": "+line, ": ")
	}
	return line, err
}

// rounded is a value without the noise of its binary form: 8.2 for 8.1999999999999993.
func rounded(value string) string {
	n, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return value
	}
	return strconv.FormatFloat(n, 'g', 12, 64)
}

// diagramWords are the words of a diagram (SmartArt), a line for each of its points.
func (r *reader) diagramWords(part string) (lines []string, err error) {
	err = r.pack.Decode(part, func(d *ooxml.Decoder) error {
		return d.Root(func(xml.StartElement) error {
			return d.Children(func(e xml.StartElement) error {
				if e.Name.Local != "ptLst" {
					return d.Skip()
				}
				return d.Children(func(e xml.StartElement) error { // a point
					t := tree{r: r, d: d}
					return d.Children(func(e xml.StartElement) error {
						if e.Name.Local != "t" {
							return d.Skip()
						}
						var s shape
						err := t.text(&s)
						for _, p := range s.paragraphs {
							lines = append(lines, p.text)
						}
						return err
					})
				})
			})
		})
	})
	return lines, err
}
