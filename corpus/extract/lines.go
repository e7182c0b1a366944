package extract

import (
	"context"
	"encoding/json"
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
)

const (
	// A passage of code should hold a function, not a file. A block of about forty lines that ends at a blank line
	// mostly holds one or a few whole functions. It is far below the size limit of a passage.
	chunkLines = 40      // lines, after which a block ends at the next blank line
	chunkBytes = 8 << 10 // bytes, after which a block ends at its least indented line
)

// readSource reads text with line numbers: program code, settings, data. It keeps every line unchanged, except for
// escapes in data, see unescapeData. The language for syntax highlighting is the file extension. Blocks keep their
// line numbers, because people refer to places in code by them.
func readSource(ctx context.Context, src string, f corpus.File) (corpus.Extracted, error) {
	var w doctext.Writer
	language := strings.TrimPrefix(strings.ToLower(path.Ext(f.Filename)), ".")
	if escapedData[language] || f.MIME == "application/json" {
		src = unescapeData(src)
	}
	if err := writeSource(ctx, &w, src, language, 1); err != nil {
		return corpus.Extracted{}, err
	}
	return w.Result(), nil
}

// escapedData holds the extensions of data whose programs write all but ASCII as escapes.
var escapedData = map[string]bool{
	"json": true, "jsonl": true, "ndjson": true, "geojson": true, "ipynb": true, "properties": true, "yaml": true,
	"yml": true,
}

// unicodeEscape matches an escaped backslash, which does not escape the next letter, or escaped UTF-16.
var unicodeEscape = regexp.MustCompile(`\\\\|(?:\\u[0-9a-fA-F]{4})+`)

// unescapeData decodes the escapes of characters, "\u00e9", so that their words are found. Escapes of control
// characters, quotes and backslashes stay, and so do halves of a character, since the data would be another without.
// Some programs escape each byte of a character in UTF-8, which is decoded too.
func unescapeData(src string) string {
	if !strings.Contains(src, `\u`) {
		return src
	}
	return unicodeEscape.ReplaceAllStringFunc(src, func(escapes string) string {
		if escapes[1] != 'u' {
			return escapes
		}
		var units []uint16
		for at := 0; at < len(escapes); at += len(`\u0000`) {
			unit, _ := strconv.ParseUint(escapes[at+2:at+len(`\u0000`)], 16, 16) // hexadecimal, as matched
			units = append(units, uint16(unit))
		}
		if s := textOfBytes(units); s != "" {
			return s
		}
		var b strings.Builder
		for i := 0; i < len(units); i++ {
			r, size := rune(units[i]), 1
			if utf16.IsSurrogate(r) && i+1 < len(units) {
				if r = utf16.DecodeRune(r, rune(units[i+1])); r != unicode.ReplacementChar {
					size = 2
				}
			}
			if size == 1 && (!unicode.IsPrint(r) || r == '"' || r == '\\' || r == unicode.ReplacementChar) {
				b.WriteString(escapes[i*len(`\u0000`) : (i+1)*len(`\u0000`)])
				continue
			}
			b.WriteRune(r)
			i += size - 1
		}
		return b.String()
	})
}

// textOfBytes returns the printable text whose bytes in UTF-8 the units are, "" if there is none.
func textOfBytes(units []uint16) string {
	var bytes []byte
	for _, unit := range units {
		if unit < utf8.RuneSelf || unit > 0xff {
			return ""
		}
		bytes = append(bytes, byte(unit))
	}
	s := string(bytes)
	if !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return ""
	}
	return s
}

// writeSource writes lines as code blocks. A block ends at a blank line. A large one is split before the least
// indented line of its second half. Otherwise code without blank lines, such as minified scripts or long tables of
// data, would be one block of megabytes. first is the number of the first line.
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

// leastIndented returns the index of the line to split a block at: the least indented line of the second half that
// begins something. A function, a class or an entry of a list begins there. Lines of closing brackets only are
// skipped, because they belong to the lines above. Of equally indented lines it returns the last, so that blocks
// stay long.
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

// notebook is a Jupyter notebook (nbformat 4). Only the sources of the cells and the text of their outputs are read,
// no pictures. Versions before 4 kept cells in "worksheets"; such a file has no cells here and is read as JSON.
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

// lineOrList decodes a JSON string or a list of its lines, which nbformat calls a multiline_string. Any other value
// decodes to "", so that it doesn't fail the whole notebook.
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

// readNotebook reads the cells of a notebook, each as a page: Markdown as text, code with its output below it. Cells
// are numbered from 1 like pages, so that citations can refer to them. A file that is no valid notebook is read as
// JSON, line by line.
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

// writeCode writes a code block without line numbers, because the code is only a part of the file.
func writeCode(w *doctext.Writer, code, language string) {
	w.Begin(corpus.Block{Kind: corpus.BlockCode, Language: doctext.Line(language)})
	w.Text(code)
	w.End()
}
