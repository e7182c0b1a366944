package mathml

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// parser parses one formula. After an error it is at the end of the input, so that every loop ends.
type parser struct {
	tex   string
	at    int
	err   error
	block bool
	nodes int
	depth int
	font  *font // of letters and digits; nil: italic letters
}

// fail stops the parser with an error.
func (p *parser) fail(err error) {
	if p.err == nil {
		p.err = err
	}
	p.at = len(p.tex)
}

// add returns a new element.
func (p *parser) add(tag, attrs, text string, kids ...*node) *node {
	if p.nodes++; p.nodes > MaxNodes {
		p.fail(ErrTooLarge)
	}
	return &node{tag: tag, attrs: attrs, text: text, kids: kids}
}

// row wraps items in a row. A single item is returned unchanged.
func (p *parser) row(items []*node) *node {
	if len(items) == 1 {
		return items[0]
	}
	return p.add("mrow", "", "", items...)
}

// enter increments the nesting depth; leave decrements it.
func (p *parser) enter() (leave func()) {
	if p.depth++; p.depth > maxDepth {
		p.fail(ErrTooLarge)
	}
	font := p.font
	return func() { p.depth--; p.font = font }
}

// peek returns the next token: a character, a command with its backslash, or "" at the end. White space is skipped.
func (p *parser) peek() string {
	p.at += len(p.tex[p.at:]) - len(strings.TrimLeftFunc(p.tex[p.at:], unicode.IsSpace))
	rest := p.tex[p.at:]
	if rest == "" {
		return ""
	}
	_, size := utf8.DecodeRuneInString(rest)
	if rest[0] != '\\' || len(rest) == 1 {
		return rest[:size]
	}
	end := 1
	for end < len(rest) && isLetter(rest[end]) {
		end++
	}
	if end == 1 {
		_, size = utf8.DecodeRuneInString(rest[1:])
		end += size
	}
	return rest[:end]
}

// next consumes the next token.
func (p *parser) next() string {
	t := p.peek()
	p.at += len(t)
	return t
}

// take consumes the next token if it is the wanted one.
func (p *parser) take(wanted string) bool {
	if p.peek() != wanted {
		return false
	}
	p.at += len(wanted)
	return true
}

// expect consumes a required token.
func (p *parser) expect(wanted string) {
	if !p.take(wanted) {
		p.fail(ErrUnknown)
	}
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// formula parses the whole formula. Rows outside an environment are aligned if they contain &.
func (p *parser) formula() *node {
	body := p.lines("", layout{columns: "rl", display: p.block})
	if p.peek() != "" {
		p.fail(ErrUnknown)
	}
	if body.tag != "mrow" {
		body = p.add("mrow", "", "", body)
	}
	return body
}

// ends are the tokens that end a list of items. The caller of list consumes them.
var ends = map[string]bool{
	"": true, "}": true, "&": true, `\\`: true, `\cr`: true, `\right`: true, `\middle`: true, `\end`: true,
}

// infix maps infix commands between the two parts of a fraction to the kind of fraction.
var infix = map[string]string{`\over`: `\frac`, `\choose`: `\binom`, `\atop`: "atop"}

// list parses items up to a token of ends, or to closing, which may be "".
func (p *parser) list(closing string) []*node {
	defer p.enter()()
	items := []*node{}
	for {
		t := p.peek()
		if ends[t] || t == closing {
			return items
		}
		if kind, ok := infix[t]; ok {
			p.next()
			above := p.row(items)
			return []*node{p.fraction(kind, above, p.row(p.list(closing)))}
		}
		if sw, ok := switches[t]; ok {
			p.next()
			return append(items, sw(p, closing))
		}
		if item := p.scripted(); item != nil {
			items = append(items, item)
			if item.named {
				items = append(items, p.applied()...)
			}
		}
	}
}

// applied returns the nodes after a function's name: the invisible function application sign, and a space unless a
// bracket follows.
func (p *parser) applied() []*node {
	next := p.peek()
	if ends[next] {
		return nil
	}
	out := []*node{p.add("mo", "", "\u2061")}
	if _, sized := sizes[next]; !sized && next != "(" && next != "[" && next != `\left` {
		out = append(out, p.add("mspace", ` width="0.1667em"`, ""))
	}
	return out
}

// scripted parses an item with its subscript, superscript and primes.
func (p *parser) scripted() *node {
	var base *node
	if t := p.peek(); t != "^" && t != "_" && t != "'" {
		if base = p.atom(); base == nil {
			return nil
		}
	}
	var sub, sup *node
	limits := base != nil && base.limits
	primes := 0
	for {
		switch p.peek() {
		case `\limits`:
			p.next()
			limits = true
			continue
		case `\nolimits`:
			p.next()
			limits = false
			continue
		case "'":
			p.next()
			primes++
			continue
		case "_":
			if p.next(); sub != nil {
				p.fail(ErrUnknown)
			}
			sub = p.argument()
			continue
		case "^":
			if p.next(); sup != nil {
				p.fail(ErrUnknown)
			}
			sup = p.argument()
			continue
		}
		break
	}
	if primes > 0 {
		mark := p.add("mo", ` lspace="0" rspace="0"`, strings.Repeat("′", primes))
		if sup == nil {
			sup = mark
		} else {
			sup = p.row([]*node{mark, sup})
		}
	}
	if sub == nil && sup == nil {
		return base
	}
	if base == nil {
		base = p.add("mrow", "", "")
	}
	return p.attach(base, sub, sup, limits)
}

// attach adds scripts to an item.
func (p *parser) attach(base, sub, sup *node, limits bool) *node {
	tags := [3]string{"msub", "msup", "msubsup"}
	if limits {
		tags = [3]string{"munder", "mover", "munderover"}
	}
	var out *node
	switch {
	case sup == nil:
		out = p.add(tags[0], "", "", base, sub)
	case sub == nil:
		out = p.add(tags[1], "", "", base, sup)
	default:
		out = p.add(tags[2], "", "", base, sub, sup)
	}
	out.named = base.named
	return out
}

// argument parses the argument of a command: a group, or one character or command.
func (p *parser) argument() *node {
	defer p.enter()()
	t := p.peek()
	switch {
	case ends[t] || t == "^" || t == "_" || t == "'":
		p.fail(ErrUnknown)
	case len(t) == 1 && t[0] >= '0' && t[0] <= '9':
		p.next()
		return p.number(t)
	case len(t) == 1 && isLetter(t[0]):
		p.next()
		return p.letters(t)
	}
	if item := p.atom(); item != nil {
		return item
	}
	return p.add("mrow", "", "")
}

// group parses a group in braces.
func (p *parser) group() *node {
	p.expect("{")
	items := p.list("}")
	p.expect("}")
	return p.row(items)
}

// option parses an optional argument in brackets. It returns nil without one.
func (p *parser) option() *node {
	if !p.take("[") {
		return nil
	}
	items := p.list("]")
	p.expect("]")
	return p.row(items)
}

// words consumes an argument in braces unparsed, up to its closing brace.
func (p *parser) words() string {
	p.expect("{")
	depth := 0
	for i := p.at; i < len(p.tex); i++ {
		switch p.tex[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			if depth--; depth < 0 {
				said := p.tex[p.at:i]
				p.at = i + 1
				return said
			}
		}
	}
	p.fail(ErrUnknown)
	return ""
}

// atom parses one item without scripts. It returns nil for an item that draws nothing.
func (p *parser) atom() *node {
	if p.peek() == "{" {
		return p.group()
	}
	t := p.next()
	r, _ := utf8.DecodeRuneInString(t)
	switch {
	case t == "":
		p.fail(ErrUnknown)
		return p.add("mrow", "", "")
	case t[0] == '\\':
		return p.command(t)
	case r >= '0' && r <= '9':
		return p.number(t + p.digits())
	case isLetter(t[0]):
		return p.letters(t)
	case unicode.IsLetter(r):
		return p.word(t)
	}
	return p.character(t)
}

// digits consumes the rest of a number: digits, points between them, and commas in braces.
func (p *parser) digits() string {
	from := p.at
	for p.at < len(p.tex) {
		rest := p.tex[p.at:]
		size := 0
		switch {
		case isDigit(rest, 0):
			size = 1
		case rest[0] == '.' && isDigit(rest, 1):
			size = 2
		case (strings.HasPrefix(rest, "{,}") || strings.HasPrefix(rest, "{.}")) && isDigit(rest, 3):
			size = 4
		}
		if size == 0 {
			break
		}
		p.at += size
	}
	return strings.NewReplacer("{", "", "}", "").Replace(p.tex[from:p.at])
}

func isDigit(s string, at int) bool { return at < len(s) && s[at] >= '0' && s[at] <= '9' }

// number draws a number.
func (p *parser) number(s string) *node { return p.add("mn", "", p.font.mapped(s)) }

// letters draws a letter, or with a font all letters that follow it as one identifier.
func (p *parser) letters(t string) *node {
	if p.font == nil {
		return p.add("mi", "", t)
	}
	for p.font.words && p.at < len(p.tex) && isLetter(p.tex[p.at]) {
		t += p.tex[p.at : p.at+1]
		p.at++
	}
	if len(t) == 1 && p.font.upper == 0 {
		return p.add("mi", ` mathvariant="normal"`, t)
	}
	return p.add("mi", "", p.font.mapped(t))
}

// word draws letters of other scripts: a single Greek or Hebrew letter is a variable, others make a word.
func (p *parser) word(t string) *node {
	if r, _ := utf8.DecodeRuneInString(t); unicode.In(r, unicode.Greek, unicode.Hebrew) ||
		r >= 0x1D400 && r <= 0x1D7FF || r >= 0x2100 && r <= 0x214F {
		return p.add("mi", "", t)
	}
	rest := p.tex[p.at:]
	end := strings.IndexFunc(rest, func(r rune) bool { return r < utf8.RuneSelf || !unicode.IsLetter(r) })
	if end < 0 {
		end = len(rest)
	}
	p.at += end
	return p.add("mtext", "", t+rest[:end])
}

// character draws a character that is neither a letter nor a digit.
func (p *parser) character(t string) *node {
	switch t {
	case "-":
		return p.add("mo", "", "−")
	case "*":
		return p.add("mo", "", "∗")
	case "~":
		return p.add("mspace", ` width="0.25em"`, "")
	case "(", ")", "[", "]":
		return p.add("mo", ` stretchy="false"`, t)
	case "|":
		return p.add("mo", ` stretchy="false" lspace="0" rspace="0"`, t)
	case ",", ";":
		return p.add("mo", ` separator="true"`, t)
	case "/":
		return p.add("mo", ` lspace="0" rspace="0"`, t)
	case ".", "%", "°", "∞", "∅", "?", "@", `"`:
		return p.add("mi", "", t)
	case "#", "$", `\`:
		p.fail(ErrUnknown)
	}
	return p.add("mo", "", t)
}
