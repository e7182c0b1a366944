package mathml

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// symbol returns the character of a command. Most commands are decoded as HTML entity names, which HTML took from
// TeX; the others are in the table.
func symbol(command string) (char string, ok bool) {
	name := command[1:]
	if char, ok = symbols[name]; ok {
		return char, true
	}
	char = html.UnescapeString("&" + name + ";")
	if strings.HasPrefix(char, "&") && name != "amp" {
		return "", false
	}
	r, _ := utf8.DecodeRuneInString(char)
	return char, unicode.IsGraphic(r) && !unicode.IsSpace(r)
}

// symbols holds the commands without an HTML entity, or with another character than the entity.
var symbols = map[string]string{
	"epsilon":            "ϵ",
	"varepsilon":         "ε",
	"phi":                "ϕ",
	"varphi":             "φ",
	"vartheta":           "ϑ",
	"varpi":              "ϖ",
	"varrho":             "ϱ",
	"varsigma":           "ς",
	"varkappa":           "ϰ",
	"hbar":               "ℏ",
	"hslash":             "ℏ",
	"ell":                "ℓ",
	"imath":              "ı",
	"jmath":              "ȷ",
	"wp":                 "℘",
	"infty":              "∞",
	"partial":            "∂",
	"emptyset":           "∅",
	"varnothing":         "∅",
	"exists":             "∃",
	"nexists":            "∄",
	"neg":                "¬",
	"lnot":               "¬",
	"land":               "∧",
	"lor":                "∨",
	"wedge":              "∧",
	"vee":                "∨",
	"top":                "⊤",
	"bot":                "⊥",
	"angle":              "∠",
	"cdot":               "⋅",
	"cdots":              "⋯",
	"ldots":              "…",
	"dots":               "…",
	"dotsc":              "…",
	"dotsb":              "⋯",
	"dotsm":              "⋯",
	"dotsi":              "⋯",
	"vdots":              "⋮",
	"ddots":              "⋱",
	"ast":                "∗",
	"star":               "⋆",
	"circ":               "∘",
	"bullet":             "∙",
	"div":                "÷",
	"times":              "×",
	"pm":                 "±",
	"mp":                 "∓",
	"le":                 "≤",
	"ge":                 "≥",
	"neq":                "≠",
	"ll":                 "≪",
	"gg":                 "≫",
	"sim":                "∼",
	"simeq":              "≃",
	"cong":               "≅",
	"equiv":              "≡",
	"propto":             "∝",
	"in":                 "∈",
	"notin":              "∉",
	"ni":                 "∋",
	"cup":                "∪",
	"cap":                "∩",
	"setminus":           "∖",
	"mid":                "∣",
	"nmid":               "∤",
	"parallel":           "∥",
	"nparallel":          "∦",
	"perp":               "⟂",
	"to":                 "→",
	"gets":               "←",
	"mapsto":             "↦",
	"longmapsto":         "⟼",
	"leftarrow":          "←",
	"rightarrow":         "→",
	"Leftarrow":          "⇐",
	"Rightarrow":         "⇒",
	"leftrightarrow":     "↔",
	"Leftrightarrow":     "⇔",
	"longleftarrow":      "⟵",
	"longrightarrow":     "⟶",
	"Longleftarrow":      "⟸",
	"Longrightarrow":     "⟹",
	"longleftrightarrow": "⟷",
	"Longleftrightarrow": "⟺",
	"implies":            "⟹",
	"impliedby":          "⟸",
	"iff":                "⟺",
	"uparrow":            "↑",
	"downarrow":          "↓",
	"updownarrow":        "↕",
	"Uparrow":            "⇑",
	"Downarrow":          "⇓",
	"nearrow":            "↗",
	"searrow":            "↘",
	"swarrow":            "↙",
	"nwarrow":            "↖",
	"hookrightarrow":     "↪",
	"hookleftarrow":      "↩",
	"rightharpoonup":     "⇀",
	"leftharpoonup":      "↼",
	"leadsto":            "⇝",
	"lt":                 "<",
	"gt":                 ">",
	"colon":              ":",
	"coloneqq":           "≔",
	"langle":             "⟨",
	"rangle":             "⟩",
	"lvert":              "|",
	"rvert":              "|",
	"vert":               "|",
	"lVert":              "‖",
	"rVert":              "‖",
	"Vert":               "‖",
	"|":                  "‖",
	"lbrace":             "{",
	"rbrace":             "}",
	"{":                  "{",
	"}":                  "}",
	"lbrack":             "[",
	"rbrack":             "]",
	"lceil":              "⌈",
	"rceil":              "⌉",
	"lfloor":             "⌊",
	"rfloor":             "⌋",
	"ulcorner":           "⌜",
	"urcorner":           "⌝",
	"llcorner":           "⌞",
	"lrcorner":           "⌟",
	"backslash":          `\`,
	"sum":                "∑",
	"prod":               "∏",
	"coprod":             "∐",
	"int":                "∫",
	"iint":               "∬",
	"iiint":              "∭",
	"oint":               "∮",
	"bigcup":             "⋃",
	"bigcap":             "⋂",
	"bigoplus":           "⨁",
	"bigotimes":          "⨂",
	"bigodot":            "⨀",
	"bigvee":             "⋁",
	"bigwedge":           "⋀",
	"biguplus":           "⨄",
	"bigsqcup":           "⨆",
	"degree":             "°",
	"prime":              "′",
	"backprime":          "‵",
	"dagger":             "†",
	"ddagger":            "‡",
	"checkmark":          "✓",
	"complement":         "∁",
	"surd":               "√",
	"flat":               "♭",
	"natural":            "♮",
	"sharp":              "♯",
	"Re":                 "ℜ",
	"Im":                 "ℑ",
	"aleph":              "ℵ",
	"square":             "□",
	"Box":                "□",
	"blacksquare":        "■",
	"triangle":           "△",
	"diamond":            "⋄",
	"Diamond":            "◇",
	"qed":                "□",
	"S":                  "§",
	"models":             "⊨",
	"vdash":              "⊢",
	"dashv":              "⊣",
	"vDash":              "⊨",
	"therefore":          "∴",
	"because":            "∵",
	"ltimes":             "⋉",
	"rtimes":             "⋊",
	"wr":                 "≀",
	"amalg":              "⨿",
	"uplus":              "⊎",
	"sqcup":              "⊔",
	"sqcap":              "⊓",
	"ne":                 "≠",
	"leq":                "≤",
	"geq":                "≥",
	"leqslant":           "⩽",
	"geqslant":           "⩾",
	"lll":                "⋘",
	"ggg":                "⋙",
	"prec":               "≺",
	"succ":               "≻",
	"preceq":             "⪯",
	"succeq":             "⪰",
	"owns":               "∋",
	"dotso":              "…",
	"euro":               "€",
	"pounds":             "£",
	"%":                  "%",
	"$":                  "$",
	"#":                  "#",
	"&":                  "&",
	"_":                  "_",
	"And":                "&",
	"colonequals":        "≔",
	"ngtr":               "≯",
	"nless":              "≮",
	"lvertneqq":          "≨",
	"gvertneqq":          "≩",
	"omicron":            "ο",
	"digamma":            "ϝ",
	"upsilon":            "υ",
	"Upsilon":            "ϒ",
}

// variables are symbols without the spacing of operators.
const variables = "∞∅⊤⊥∠ℏℓ℘ıȷ°%$#_&§□■△◇…∂"

// Operators with scripts below and above them in display style, and operators with scripts beside them.
const (
	summing     = "∑∏∐⋃⋂⨁⨂⨀⋁⋀⨄⨆"
	integrating = "∫∬∭∮"
)

// fences are the characters accepted after \left, \right, \middle and \big.
const fences = "()[]{}|‖⟨⟩⌈⌉⌊⌋⌜⌝⌞⌟/\\<>↑↓↕⇑⇓"

// draw draws the character of a command.
func (p *parser) draw(char string) *node {
	r, _ := utf8.DecodeRuneInString(char)
	switch {
	case strings.Contains(summing, char):
		n := p.add("mo", "", char)
		n.limits = true
		return n
	case strings.Contains(fences, char) && !strings.Contains(`<>/\↑↓↕⇑⇓`, char):
		return p.add("mo", ` stretchy="false"`, char)
	case unicode.IsUpper(r) && unicode.Is(unicode.Greek, r) && (p.font == nil || p.font.upper == 0):
		return p.add("mi", ` mathvariant="normal"`, char) // TeX's capital Greek letters are upright
	case unicode.IsLetter(r), strings.Contains(variables, char):
		return p.add("mi", "", p.font.mapped(char))
	}
	return p.add("mo", "", char)
}
