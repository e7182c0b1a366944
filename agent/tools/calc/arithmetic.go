// Package calc evaluates arithmetic expressions of people and models: exact decimals as long as only arithmetic is
// used, functions, percentages, dates. Evaluate is its entry point. Every evaluation is bounded in digits, depth and
// steps, and each error is a sentence for the reader.
//
// arithmetic.go parses an expression, amount.go computes, dates.go counts days and years, and spoken.go returns the
// words for operators. The package has no state, so Evaluate is safe for concurrent use.
package calc

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/footnote/footnote/text"
)

// Limits of a calculation, which bound it to about a millisecond.
const (
	maxExpression = 1000 // bytes
	maxDepth      = 50   // of nested brackets and operators
	maxBits       = 4096 // of a numerator or denominator
)

// Evaluate parses and computes an expression. Its errors are sentences for the model and for people. The result is
// exact for arithmetic. It never panics and never blocks.
func Evaluate(expression string) (Amount, error) {
	if len(expression) > maxExpression {
		return Amount{}, fmt.Errorf(
			"The expression is longer than %d characters: split it into smaller calculations.", maxExpression,
		) //nolint:staticcheck // shown as it is
	}
	p := parser{in: expression}
	p.nextToken()
	v, err := p.readExpression(0, 0)
	if err != nil {
		return Amount{}, err
	}
	if p.kind != tokenEnd {
		return Amount{}, p.unexpected()
	}
	return v, nil
}

// tokenKind is the kind of the current token.
type tokenKind int

const (
	tokenEnd tokenKind = iota
	tokenNumber
	tokenName
	tokenSign
	tokenBad
)

// parser is a precedence climbing parser: it reads an operand and then all operators that bind stronger than the
// enclosing one; see Clarke, “The top-down parsing of expressions”, 1986.
type parser struct {
	in   string
	at   int
	args int // number of open calls, whose commas separate arguments
	kind tokenKind
	text string
}

// unexpected returns the error for the current token, a sentence for the reader.
func (p *parser) unexpected() error {
	if p.kind == tokenEnd {
		return errors.New(
			"The expression ends too early: a number or a closing bracket is missing.",
		) //nolint:staticcheck // shown as it is
	}
	return fmt.Errorf(
		"“%s” can't be calculated here. Write it with numbers, + - * / ^, brackets and functions like sqrt.",
		text.Shorten(p.text, 40),
	) //nolint:staticcheck // shown as it is
}

// nextToken reads the next token. Alternative signs of an operator are normalised to one.
func (p *parser) nextToken() {
	for p.at < len(p.in) && strings.ContainsRune(" \t\r\n", rune(p.in[p.at])) {
		p.at++
	}
	if p.at >= len(p.in) {
		p.kind, p.text = tokenEnd, ""
		return
	}
	rest := p.in[p.at:]
	r, size := utf8.DecodeRuneInString(rest)
	switch {
	case isDigit(rest[0]) || rest[0] == '.' && len(rest) > 1 && isDigit(rest[1]):
		p.readNumber(rest)
	case isLetter(rest[0]):
		n := 1
		for n < len(rest) && (isLetter(rest[n]) || isDigit(rest[n])) {
			n++
		}
		p.kind, p.text, p.at = tokenName, strings.ToLower(rest[:n]), p.at+n
	case strings.HasPrefix(rest, "**"):
		p.kind, p.text, p.at = tokenSign, "^", p.at+2
	case strings.HasPrefix(rest, "//"):
		p.kind, p.text, p.at = tokenSign, "//", p.at+2
	case strings.ContainsRune("£$€¥", r):
		p.at += size // a currency sign before a number is skipped
		p.nextToken()
	default:
		p.kind, p.text, p.at = tokenSign, string(r), p.at+size
		switch r {
		case '×', '·', '⋅':
			p.text = "*"
		case '÷', '∕':
			p.text = "/"
		case '−', '–':
			p.text = "-"
		case 'π':
			p.kind, p.text = tokenName, "pi"
		case '√':
			p.text = "√"
		case '+', '-', '*', '/', '^', '(', ')', ',', '%', '=', '[', ']':
		default:
			p.kind = tokenBad
		}
	}
}

// readNumber parses digits with thousands commas (outside of calls, where a comma separates arguments), a fraction
// and an exponent.
func (p *parser) readNumber(rest string) {
	n := countDigits(rest)
	for p.args == 0 && n <= 3 && n > 0 || p.args == 0 && n > 3 && strings.Contains(rest[:n], ",") {
		if len(rest) < n+4 || rest[n] != ',' || countDigits(rest[n+1:]) != 3 {
			break
		}
		n += 4
	}
	if n < len(rest) && rest[n] == '.' {
		n += 1 + countDigits(rest[n+1:])
	}
	if n < len(rest) && (rest[n] == 'e' || rest[n] == 'E') {
		sign := 0
		if n+1 < len(rest) && (rest[n+1] == '+' || rest[n+1] == '-') {
			sign = 1
		}
		if d := countDigits(rest[n+1+sign:]); d > 0 {
			n += 1 + sign + d
		}
	}
	p.kind, p.text, p.at = tokenNumber, strings.ReplaceAll(rest[:n], ",", ""), p.at+n
}

// countDigits returns the number of leading ASCII digits. Digits of other scripts don't count.
func countDigits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

func isDigit(b byte) bool  { return b >= '0' && b <= '9' }
func isLetter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_' }

// bindingStrength returns the precedence of the current operator, 0 for a token that ends an operand. A percent sign
// has the precedence of the remainder; readExpression decides which it is by the next token.
func (p *parser) bindingStrength() int {
	switch {
	case p.kind == tokenName && p.text == "of":
		return 2
	case p.kind != tokenSign:
		return 0
	}
	switch p.text {
	case "+", "-":
		return 1
	case "*", "/", "//", "%":
		return 2
	case "^":
		return 4
	default:
		return 0
	}
}

// readExpression parses operands joined by operators with a precedence above least, 0 for a whole expression. depth
// limits the recursion.
func (p *parser) readExpression(least, depth int) (Amount, error) {
	if depth > maxDepth {
		return Amount{}, fmt.Errorf(
			"There are more than %d brackets or signs inside each other: simplify the expression.", maxDepth,
		) //nolint:staticcheck // shown as it is
	}
	left, err := p.readOperand(depth)
	if err != nil {
		return Amount{}, err
	}
	for {
		strength := p.bindingStrength()
		if strength <= least {
			return left, nil
		}
		sign := p.text
		p.nextToken()
		if sign == "%" && !p.startsOperand() {
			if left, err = quotient(left, wholeAmount(100)); err != nil {
				return Amount{}, err
			}
			continue
		}
		if sign == "^" {
			strength-- // 2^3^2 is 2^9
		}
		right, err := p.readExpression(strength, depth+1)
		if err != nil {
			return Amount{}, err
		}
		if left, err = combineAmounts(sign, left, right); err != nil {
			return Amount{}, err
		}
	}
}

// startsOperand reports whether an operand follows, which makes 10 % 3 a remainder, unlike 10% + 3 and 10% of 3. The
// lookahead is one token.
func (p *parser) startsOperand() bool {
	return p.kind == tokenNumber || p.kind == tokenName && p.text != "of" ||
		p.kind == tokenSign && (p.text == "(" || p.text == "√")
}

// readOperand parses a number, a signed operand, a bracket, a constant or a call. depth counts nested brackets and
// signs. A sign in front binds less than a power and more than a sum.
func (p *parser) readOperand(depth int) (Amount, error) {
	kind, word := p.kind, p.text
	switch {
	case kind == tokenNumber:
		if exponent := strings.IndexAny(word, "eE"); exponent >= 0 && len(word)-exponent > 6 {
			return Amount{}, errTooBig // before parsing: 1e999999999 has a billion digits
		}
		v, ok := new(big.Rat).SetString(word)
		if !ok || tooBig(v) {
			return Amount{}, fmt.Errorf(
				"The number %s is too large to calculate with.", text.Shorten(word, 40),
			) //nolint:staticcheck // shown as it is
		}
		p.nextToken()
		return Amount{Rat: v, exact: true}, nil
	case kind == tokenSign && (word == "-" || word == "+"):
		p.nextToken()
		v, err := p.readExpression(2, depth+1) // -2^2 is -4
		if err == nil && word == "-" {
			v.Rat = new(big.Rat).Neg(v.Rat)
		}
		return v, err
	case kind == tokenSign && word == "√": // applies to the one operand after it
		p.nextToken()
		v, err := p.readExpression(4, depth+1)
		if err != nil {
			return Amount{}, err
		}
		return applyFunction("sqrt", []Amount{v})
	case kind == tokenSign && word == "(":
		p.nextToken()
		args := p.args
		p.args = 0
		v, err := p.readExpression(0, depth+1)
		p.args = args
		if err != nil {
			return Amount{}, err
		}
		return v, p.closeBracket(")")
	case kind == tokenName:
		p.nextToken()
		return p.readNamed(word, depth)
	default:
		return Amount{}, p.unexpected()
	}
}

// closeBracket consumes the expected bracket.
func (p *parser) closeBracket(bracket string) error {
	if p.kind != tokenSign || p.text != bracket {
		return p.unexpected()
	}
	p.nextToken()
	return nil
}

// readNamed parses a constant or a call; any other name is an error. applyFunction has the only list of functions.
func (p *parser) readNamed(name string, depth int) (Amount, error) {
	if v, ok := namedConstant(name); ok {
		return v, nil
	}
	if p.kind != tokenSign || p.text != "(" {
		return Amount{}, fmt.Errorf(
			"“%s” is not known. There are sqrt, pow, log, log10, sin, cos, tan, abs, round, min, max, sum, days, "+
				"years, pi and e.",
			text.Shorten(name, 40),
		) //nolint:staticcheck // shown as it is
	}
	if name == "days" || name == "years" {
		return p.readDateSpan(name)
	}
	p.args++
	p.nextToken()
	list := p.kind == tokenSign && p.text == "[" // sum([1, 2]) is sum(1, 2)
	if list {
		p.nextToken()
	}
	var args []Amount
	for {
		v, err := p.readExpression(0, depth+1)
		if err != nil {
			return Amount{}, err
		}
		args = append(args, v)
		if p.kind == tokenSign && p.text == "," {
			p.nextToken()
			continue
		}
		break
	}
	p.args--
	if list {
		if err := p.closeBracket("]"); err != nil {
			return Amount{}, err
		}
	}
	if err := p.closeBracket(")"); err != nil {
		return Amount{}, err
	}
	return applyFunction(name, args)
}
