package mathml

import (
	"cmp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// command parses and draws the command t.
func (p *parser) command(t string) *node {
	if width, ok := spaces[t]; ok {
		return p.add("mspace", ` width="`+width+`"`, "")
	}
	if limits, ok := functions[t]; ok {
		name := t[1:]
		return p.function(cmp.Or(spelled[name], name), limits)
	}
	if f, ok := fonts[t]; ok {
		leave := p.enter()
		p.font = f
		n := p.argument()
		leave()
		return n
	}
	if a, ok := accents[t]; ok {
		return p.accent(a)
	}
	if size, ok := sizes[t]; ok {
		return p.add("mo", ` fence="false" symmetric="true" stretchy="true" minsize="`+size+`" maxsize="`+size+`"`,
			p.fence())
	}
	if arrow, ok := arrows[t]; ok {
		return p.arrow(arrow)
	}
	if draw, ok := commands[t]; ok {
		return draw(p, t)
	}
	if text, ok := texts[t]; ok {
		return p.text(text)
	}
	char, ok := symbol(t)
	if !ok {
		p.fail(ErrUnknown)
	}
	return p.draw(char)
}

var spaces = map[string]string{
	`\,`: "0.1667em", `\thinspace`: "0.1667em", `\:`: "0.2222em", `\>`: "0.2222em", `\medspace`: "0.2222em",
	`\;`: "0.2778em", `\thickspace`: "0.2778em", `\!`: "-0.1667em", `\negthinspace`: "-0.1667em", `\ `: "0.25em",
	"\\\n": "0.25em", "\\\t": "0.25em", "\\\r": "0.25em", `\space`: "0.25em", `\enspace`: "0.5em", `\quad`: "1em",
	`\qquad`: "2em",
}

// functions holds the names of functions. The value is true if their scripts are set below them.
var functions = map[string]bool{}

func init() {
	for name := range strings.FieldsSeq(`arccos arcsin arctan arg cos cosh cot coth csc deg dim exp hom ker lg ln log
		sec sin sinh tan tanh sgn erf tr rank diag Tr`) {
		functions[`\`+name] = false
	}
	for name := range strings.FieldsSeq("det gcd inf lim liminf limsup max min Pr sup argmax argmin injlim projlim") {
		functions[`\`+name] = true
	}
}

// spelled holds the functions whose names are written as two words.
var spelled = map[string]string{
	"liminf": "lim inf", "limsup": "lim sup", "argmax": "arg max", "argmin": "arg min", "injlim": "inj lim",
	"projlim": "proj lim",
}

// function draws a function's name.
func (p *parser) function(name string, limits bool) *node {
	var n *node
	if limits {
		n = p.add("mo", ` form="prefix" movablelimits="true" lspace="0" rspace="0"`, name)
	} else if n = p.add("mi", "", name); len(name) == 1 {
		n.attrs = ` mathvariant="normal"`
	}
	n.limits, n.named = limits, true
	return n
}

// accent is a mark above or below an argument.
type accent struct {
	char  string
	wide  bool // stretched to the width of its argument
	below bool
	notes bool // scripts are beyond it
}

var accents = map[string]accent{
	`\hat`: {char: "^"}, `\bar`: {char: "¯"}, `\vec`: {char: "→"}, `\dot`: {char: "˙"}, `\ddot`: {char: "¨"},
	`\dddot`: {char: "\u20db"}, `\tilde`: {char: "~"}, `\check`: {char: "ˇ"},
	`\breve`: {char: "˘"}, `\acute`: {char: "´"},
	`\grave`: {char: "`"}, `\mathring`: {char: "˚"}, `\widehat`: {char: "^", wide: true},
	`\widetilde`: {char: "~", wide: true}, `\overline`: {char: "‾", wide: true},
	`\underline`: {char: "_", wide: true, below: true}, `\overrightarrow`: {char: "→", wide: true},
	`\overleftarrow`: {char: "←", wide: true}, `\overleftrightarrow`: {char: "↔", wide: true},
	`\overbrace`:    {char: "⏞", wide: true, notes: true},
	`\underbrace`:   {char: "⏟", wide: true, below: true, notes: true},
	`\overbracket`:  {char: "⎴", wide: true, notes: true},
	`\underbracket`: {char: "⎵", wide: true, below: true, notes: true},
}

// accent parses an argument and draws it with its mark.
func (p *parser) accent(a accent) *node {
	base := p.argument()
	attrs := ` stretchy="false"`
	if a.wide {
		attrs = ` stretchy="true"`
	}
	mark := p.add("mo", attrs, a.char)
	tag, attrs := "mover", ` accent="true"`
	if a.below {
		tag, attrs = "munder", ` accentunder="true"`
	}
	n := p.add(tag, attrs, "", base, mark)
	n.limits = a.notes
	return n
}

var sizes = map[string]string{}

func init() {
	for name, size := range map[string]string{"big": "1.2em", "Big": "1.8em", "bigg": "2.4em", "Bigg": "3em"} {
		for _, side := range []string{"", "l", "r", "m"} {
			sizes[`\`+name+side] = size
		}
	}
}

// arrows maps arrow commands with text above and below to their characters.
var arrows = map[string]string{
	`\xrightarrow`: "→", `\xleftarrow`: "←", `\xRightarrow`: "⇒", `\xLeftarrow`: "⇐", `\xleftrightarrow`: "↔",
	`\xmapsto`: "↦", `\xrightleftharpoons`: "⇌",
}

// arrow draws an arrow that is stretched to its texts.
func (p *parser) arrow(char string) *node {
	below := p.option()
	above := p.argument()
	pad := func(n *node) *node {
		return p.add("mrow", "", "", p.add("mspace", ` width="0.4em"`, ""), n, p.add("mspace", ` width="0.4em"`, ""))
	}
	base := p.add("mo", ` stretchy="true"`, char)
	if below == nil {
		return p.add("mover", "", "", base, pad(above))
	}
	return p.add("munderover", "", "", base, pad(below), pad(above))
}

// fence parses the token after \left, \right, \middle or \big: one character, or an empty fence for a point.
func (p *parser) fence() string {
	t := p.next()
	if t == "." {
		return ""
	}
	char := t
	if strings.HasPrefix(t, `\`) && len(t) > 1 {
		char, _ = symbol(t)
	}
	switch char {
	case "<":
		char = "⟨"
	case ">":
		char = "⟩"
	}
	if char == "" || !strings.Contains(fences, char) {
		p.fail(ErrUnknown)
	}
	return char
}

// fenced parses and draws the items between \left and \right.
func (p *parser) fenced() *node {
	defer p.enter()()
	fence := func(form string) *node {
		return p.add("mo", ` fence="true" form="`+form+`" stretchy="true" symmetric="true"`, p.fence())
	}
	items := []*node{fence("prefix")}
	items = append(items, p.list("")...)
	for p.take(`\middle`) {
		items = append(append(items, fence("infix")), p.list("")...)
	}
	p.expect(`\right`)
	return p.add("mrow", "", "", append(items, fence("postfix"))...)
}

// negated draws a crossed-out symbol.
func (p *parser) negated() *node {
	n := p.argument()
	if len(n.kids) > 0 || n.text == "" {
		return p.add("mrow", ` class="mx-not"`, "", n)
	}
	n.text = norm.NFC.String(n.text + "\u0338")
	return n
}

// texts maps commands with a text argument to the class that draws them.
var texts = map[string]string{
	`\text`:       "",
	`\textrm`:     "",
	`\textnormal`: "",
	`\textup`:     "",
	`\mbox`:       "",
	`\hbox`:       "",
	`\textbf`:     "mx-bold",
	`\textit`:     "mx-italic",
	`\emph`:       "mx-italic",
	`\textsf`:     "mx-sans",
	`\texttt`:     "mx-mono",
	`\mathsc`:     "",
	`\textsc`:     "",
}

// text parses and draws a text argument, with formulas between dollars in it.
func (p *parser) text(class string) *node {
	defer p.enter()()
	attrs := ""
	if class != "" {
		attrs = ` class="` + class + `"`
	}
	pieces := strings.Split(strings.ReplaceAll(p.words(), `\$`, "\x00"), "$")
	if len(pieces)%2 == 0 {
		p.fail(ErrUnknown)
	}
	items := []*node{}
	for i, piece := range pieces {
		if i%2 == 1 {
			items = append(items, p.within(strings.ReplaceAll(piece, "\x00", `\$`)))
		} else if piece != "" {
			items = append(items, p.add("mtext", attrs, p.plain(piece)))
		}
	}
	return p.row(items)
}

// within parses and draws a nested formula.
func (p *parser) within(tex string) *node {
	inner := &parser{tex: tex, nodes: p.nodes, depth: p.depth}
	n := inner.row(inner.list(""))
	if p.nodes = inner.nodes; inner.err != nil {
		p.fail(inner.err)
	} else if inner.peek() != "" {
		p.fail(ErrUnknown)
	}
	return n
}

// plain decodes a text argument: white space is normalised to one non-collapsing space, and escapes are decoded.
func (p *parser) plain(s string) string {
	s = strings.NewReplacer(
		"\x00",
		"$",
		`\%`,
		"%",
		`\&`,
		"&",
		`\_`,
		"_",
		`\#`,
		"#",
		`\{`,
		"\x01",
		`\}`,
		"\x02",
		`\ `,
		" ",
		"~",
		" ",
		`\,`,
		" ",
		"---",
		"—",
		"--",
		"–",
		"``",
		"“",
		"''",
		"”",
	).Replace(
		s,
	)
	if strings.ContainsAny(s, `\`) {
		p.fail(ErrUnknown)
	}
	s = strings.NewReplacer("{", "", "}", "", "\x01", "{", "\x02", "}").Replace(s)
	first, last := strings.TrimLeftFunc(s, unicode.IsSpace) != s, strings.TrimRightFunc(s, unicode.IsSpace) != s
	s = strings.Join(strings.Fields(s), " ")
	if first {
		s = "\u00a0" + s
	}
	if last && s != "\u00a0" {
		s += "\u00a0"
	}
	return s
}
