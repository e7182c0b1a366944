package mathml

import (
	"regexp"
	"strconv"
	"strings"
)

// commands maps each command with its own argument form to its parser.
var commands map[string]func(p *parser, name string) *node

// switches maps commands that apply to the end of the group to their parsers.
var switches map[string]func(p *parser, closing string) *node

func init() { // these parse items, which look up commands
	first := func(p *parser) *node { return p.argument() }
	fraction := func(p *parser, name string) *node { return p.fraction(name, p.argument(), p.argument()) }
	commands = map[string]func(p *parser, name string) *node{
		`\frac`: fraction, `\dfrac`: fraction, `\tfrac`: fraction, `\cfrac`: fraction, `\binom`: fraction,
		`\dbinom`: fraction, `\tbinom`: fraction,
		`\sqrt`: func(p *parser, _ string) *node {
			if degree := p.option(); degree != nil {
				return p.add("mroot", "", "", p.argument(), degree)
			}
			return p.add("msqrt", "", "", p.argument())
		},
		`\left`:  func(p *parser, _ string) *node { return p.fenced() },
		`\begin`: func(p *parser, _ string) *node { return p.environment() },
		`\not`:   func(p *parser, _ string) *node { return p.negated() },
		`\overset`: func(p *parser, _ string) *node {
			above := p.argument()
			return p.add("mover", "", "", p.argument(), above)
		},
		`\underset`: func(p *parser, _ string) *node {
			below := p.argument()
			return p.add("munder", "", "", p.argument(), below)
		},
		`\substack`: func(p *parser, _ string) *node {
			p.expect("{")
			n := p.lines("", layout{})
			p.expect("}")
			return n
		},
		`\operatorname`: func(p *parser, _ string) *node {
			limits := p.take("*")
			return p.function(p.plain(strings.NewReplacer(`\,`, " ", `\;`, " ", `\ `, " ", `\mathrm`, "", `\text`, "").
				Replace(p.words())), limits)
		},
		`\mathop`: func(p *parser, _ string) *node {
			n := p.argument()
			n.limits = true
			return n
		},
		`\tag`: func(p *parser, _ string) *node {
			open, closing := "(", ")"
			if p.take("*") {
				open, closing = "", ""
			}
			number := p.add("mtext", "", open+p.plain(p.words())+closing)
			return p.add("mrow", "", "", p.add("mspace", ` width="2em"`, ""), number)
		},
		`\pmod`: func(p *parser, _ string) *node {
			return p.add(
				"mrow",
				"",
				"",
				p.add("mspace", ` width="0.6em"`, ""),
				p.character("("),
				p.add("mi", "", "mod"),
				p.add("mspace", ` width="0.3333em"`, ""),
				first(p),
				p.character(")"),
			)
		},
		`\bmod`: func(p *parser, _ string) *node { return p.add("mo", ` lspace="0.2222em" rspace="0.2222em"`, "mod") },
		`\mod`:  func(p *parser, _ string) *node { return p.add("mo", ` lspace="1em" rspace="0.3333em"`, "mod") },
		`\phantom`: func(p *parser, _ string) *node {
			return p.add("mphantom", "", "", first(p))
		},
		`\hspace`: space, `\mspace`: space, `\textcolor`: colored, `\colorbox`: colored,
		`\label`: func(p *parser, _ string) *node { p.words(); return nil },
	}
	for name, class := range map[string]string{
		`\boxed`: "mx-box", `\fbox`: "mx-box", `\cancel`: "mx-cancel", `\bcancel`: "mx-cancel", `\xcancel`: "mx-cancel",
	} {
		commands[name] = func(p *parser, _ string) *node { return p.add("mrow", ` class="`+class+`"`, "", first(p)) }
	}
	for _, name := range []string{`\nonumber`, `\notag`, `\allowbreak`, `\relax`, `\hfill`, `\strut`, `\mathstrut`} {
		commands[name] = func(*parser, string) *node { return nil }
	}
	for _, name := range []string{
		`\mathbin`, `\mathrel`, `\mathord`, `\mathopen`, `\mathclose`, `\mathpunct`, `\mathinner`,
		`\smash`, `\ensuremath`,
		`\hphantom`, `\vphantom`,
	} {
		commands[name] = func(p *parser, name string) *node {
			if n := first(p); !strings.HasSuffix(name, "phantom") {
				return n
			}
			return nil
		}
	}
	commands[`\stackrel`] = commands[`\overset`]

	styled := func(attrs string) func(p *parser, closing string) *node {
		return func(p *parser, closing string) *node { return p.add("mstyle", attrs, "", p.list(closing)...) }
	}
	switches = map[string]func(p *parser, closing string) *node{
		`\displaystyle`:      styled(` displaystyle="true" scriptlevel="0"`),
		`\textstyle`:         styled(` displaystyle="false" scriptlevel="0"`),
		`\scriptstyle`:       styled(` displaystyle="false" scriptlevel="1"`),
		`\scriptscriptstyle`: styled(` displaystyle="false" scriptlevel="2"`),
		`\color`: func(p *parser, closing string) *node {
			p.words()
			return p.row(p.list(closing))
		},
	}
	for _, name := range []string{`\rm`, `\bf`, `\it`, `\sf`, `\tt`, `\cal`} {
		switches[name] = func(p *parser, closing string) *node {
			defer p.enter()()
			p.font = fonts[name]
			return p.row(p.list(closing))
		}
	}
}

// fraction draws a numerator above a denominator, in the form of the command kind.
func (p *parser) fraction(kind string, above, below *node) *node {
	attrs := ""
	if strings.HasSuffix(kind, "binom") || kind == "atop" {
		attrs = ` linethickness="0"`
	}
	switch kind[:2] {
	case `\d`, `\c`:
		attrs += ` displaystyle="true"`
	case `\t`:
		attrs += ` displaystyle="false"`
	}
	n := p.add("mfrac", attrs, "", above, below)
	if !strings.HasSuffix(kind, "binom") {
		return n
	}
	fence := func(char string) *node { return p.add("mo", ` fence="true" stretchy="true"`, char) }
	return p.add("mrow", "", "", fence("("), n, fence(")"))
}

var length = regexp.MustCompile(`^\s*(-?\d{1,4}(?:\.\d{1,4})?)\s*(em|ex|pt|mm|cm|in|mu)\s*$`)

// ems maps a unit to its length in em.
var ems = map[string]float64{"em": 1, "ex": 0.43, "pt": 0.1, "mm": 0.2845, "cm": 2.845, "in": 7.227, "mu": 1. / 18}

// space parses and draws a space of a given width, at most ten em.
func space(p *parser, _ string) *node {
	p.take("*")
	m := length.FindStringSubmatch(p.words())
	if m == nil {
		p.fail(ErrUnknown)
		return nil
	}
	width, _ := strconv.ParseFloat(m[1], 64)
	width = min(max(width*ems[m[2]], -1), 10)
	return p.add("mspace", ` width="`+strconv.FormatFloat(width, 'f', 4, 64)+`em"`, "")
}

// colored draws its second argument and ignores the colour: the page's colour is used.
func colored(p *parser, _ string) *node {
	p.words()
	return p.argument()
}
