package extract

import (
	"context"
	"encoding/json"
	"math"
	"path"
	"strings"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
)

const (
	// A passage of code should hold a function, not a file. A block of about forty lines that ends at a blank line
	// mostly holds one or a few whole ones, and stays far below what a passage may have.
	chunkLines = 40      // of a file of lines, after which a block ends at the next blank line
	chunkBytes = 8 << 10 // likewise, after which it ends at some line
)

// readSource reads text whose lines have numbers: program code, settings, data. Every line stays as it is. The language
// is the file's extension, by which the page colours the code. Line numbers are kept with the blocks, because people
// name places in code by them.
func readSource(ctx context.Context, src string, f corpus.File) (corpus.Extracted, error) {
	var w doctext.Writer
	language := strings.TrimPrefix(strings.ToLower(path.Ext(f.Filename)), ".")
	if err := writeSource(ctx, &w, src, language, 1); err != nil {
		return corpus.Extracted{}, err
	}
	return w.Result(), nil
}

// writeSource writes lines as blocks of code. A block ends at a blank line or, where it is large, before the line of
// its second half that is indented the least. first is the number of the first line. Code without blank lines, such as
// minified scripts or long tables of data, would otherwise be one block of megabytes.
func writeSource(ctx context.Context, w *doctext.Writer, src, language string, first int) error {
	var block []string
	bytes, begun := 0, first
	flush := func(n int) {
		w.Begin(corpus.Block{Kind: corpus.BlockCode, Language: language, Line: begun})
		w.Text(strings.Join(block[:n], ""))
		w.End()
		begun += n
		block = block[n:]
		bytes = 0
		for _, left := range block {
			bytes += len(left)
		}
	}
	for one := range strings.Lines(src) {
		if bytes > chunkBytes {
			flush(leastIndented(block))
		} else if strings.TrimSpace(one) == "" && len(block) >= chunkLines {
			flush(len(block))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		block = append(block, one)
		bytes += len(one)
	}
	flush(len(block))
	return nil
}

// leastIndented is how many of the lines stand before the last one in their second half that has the least white space
// before it and begins something. That is where a function, a class or an entry of a list begins. Lines of nothing but
// closing brackets are passed over: they belong to what stands above them. Among equal ones the last is taken, so that
// blocks stay long.
func leastIndented(lines []string) int {
	best, least := len(lines), math.MaxInt
	for i := len(lines) / 2; i < len(lines); i++ {
		begins := strings.TrimLeft(lines[i], " \t")
		if indent := len(lines[i]) - len(begins); i > 0 && indent <= least && strings.Trim(begins, "]}),;\r\n") != "" {
			best, least = i, indent
		}
	}
	return best
}

// notebook is a Jupyter notebook (nbformat 4). Only what is shown is read: the sources of its cells, and of each output
// the text that it has beside pictures. Versions before 4 kept cells in "worksheets"; such a file has no cells here and
// is read as JSON.
type notebook struct {
	Cells []struct {
		Type    string     `json:"cell_type"`
		Source  lineOrList `json:"source"`
		Outputs []struct {
			Text lineOrList            `json:"text"`
			Data map[string]lineOrList `json:"data"`
		} `json:"outputs"`
	} `json:"cells"`
	Metadata struct {
		Language struct {
			Name string `json:"name"`
		} `json:"language_info"`
	} `json:"metadata"`
}

// lineOrList is a text that is one string or a list of its lines. Anything else is empty. nbformat calls this a
// multiline_string and allows both. An odd value must not fail the whole notebook.
type lineOrList string

// UnmarshalJSON implements json.Unmarshaler.
func (l *lineOrList) UnmarshalJSON(data []byte) error {
	var lines []string
	var one string
	if json.Unmarshal(data, &lines) == nil {
		one = strings.Join(lines, "")
	} else if json.Unmarshal(data, &one) != nil {
		one = ""
	}
	*l = lineOrList(one)
	return nil
}

// readNotebook reads the cells of a notebook, each a page: Markdown as text, code with what it printed below it. Cells
// are numbered from 1 like pages, since a reader of the answer finds a place by the number of its cell. A file that is
// no notebook after all is still JSON, which is read line by line.
func readNotebook(ctx context.Context, src string, f corpus.File) (corpus.Extracted, error) {
	var n notebook
	if json.Unmarshal([]byte(src), &n) != nil || len(n.Cells) == 0 {
		return readSource(ctx, src, f)
	}
	m := markdownWalk{}
	for i, cell := range n.Cells {
		m.w.Paging(i + 1)
		if ctx.Err() != nil {
			return corpus.Extracted{}, ctx.Err()
		}
		switch cell.Type {
		case "markdown":
			if body := string(cell.Source); len(body) > maxMarkdown || tooNested(body) {
				writeCode(&m.w, body, "")
			} else {
				m.writeMarkdown(body)
			}
		case "code":
			writeCode(&m.w, string(cell.Source), n.Metadata.Language.Name)
			for _, out := range cell.Outputs {
				writeCode(&m.w, string(out.Text)+string(out.Data["text/plain"]), "")
			}
		default:
			writeCode(&m.w, string(cell.Source), "")
		}
	}
	x := m.w.Result()
	x.Title, x.Pages = firstTitle(x), len(n.Cells)
	return x, nil
}

// writeCode writes a block of code that has no line numbers, because it isn't a file of its own.
func writeCode(w *doctext.Writer, code, language string) {
	w.Begin(corpus.Block{Kind: corpus.BlockCode, Language: doctext.Line(language)})
	w.Text(code)
	w.End()
}
