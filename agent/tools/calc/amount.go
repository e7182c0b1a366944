package calc

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/english"
)

// Amount is an immutable number: exact as long as only arithmetic produced it. Functions and constants are computed
// as float64, and slack bounds the absolute error: a value no larger than its slack counts as 0.
//
// Rat is always set. exact reports whether Rat is the value itself. A result may be reported as exact only if exact
// is true: sums of money must be right to the last digit, which float64 does not guarantee.
type Amount struct {
	Rat   *big.Rat
	exact bool
	slack float64
}

// epsilon is the maximum relative error of a float64. It is 2^-52, the distance from 1 to the next float64 (IEEE 754
// double precision), twice the error of rounding to nearest.
const epsilon = 0x1p-52

var (
	errTooBig = errors.New("The result is too large to calculate.")      //nolint:staticcheck // shown as it is
	errByZero = errors.New("Dividing by zero has no result.")            //nolint:staticcheck // shown as it is
	errNoReal = errors.New("This has no result among the real numbers.") //nolint:staticcheck // shown as it is
)

// wholeAmount returns an exact whole number without slack.
func wholeAmount(n int64) Amount { return Amount{Rat: big.NewRat(n, 1), exact: true} }

// tooBig reports whether a value exceeds 4,096 bits, some 1,200 decimal digits. It is checked after each step, so no
// value grows beyond twice the limit.
func tooBig(r *big.Rat) bool { return r.Num().BitLen() > maxBits || r.Denom().BitLen() > maxBits }

// roughAmount converts a float64 to an inexact amount. slack, not negative, is the error from its arguments; the
// error of the float64 is added. NaN is an error for no real result, an infinity for a result that is too large.
func roughAmount(f, slack float64) (Amount, error) {
	if math.IsNaN(f) {
		return Amount{}, errNoReal
	}
	if math.IsInf(f, 0) {
		return Amount{}, errTooBig
	}
	return Amount{Rat: new(big.Rat).SetFloat64(f), slack: slack + math.Abs(f)*epsilon}, nil
}

// absFloat returns the absolute value as a float64, infinite beyond its range.
func (a Amount) absFloat() float64 { return math.Abs(a.toFloat()) }

// toFloat returns the nearest float64, infinite beyond its range.
func (a Amount) toFloat() float64 {
	f, _ := a.Rat.Float64()
	return f
}

// namedConstant returns pi or e as the nearest float64. Both are irrational, so never exact.
func namedConstant(name string) (Amount, bool) {
	switch name {
	case "pi":
		return Amount{Rat: new(big.Rat).SetFloat64(math.Pi), slack: math.Pi * epsilon}, true
	case "e":
		return Amount{Rat: new(big.Rat).SetFloat64(math.E), slack: math.E * epsilon}, true
	default:
		return Amount{}, false
	}
}

// combineAmounts applies a binary operator: one of + - * / // % of and ^, where of multiplies a percentage. The
// slack of a sum is the sum of both; of a product, each is weighted with the other factor. The result is exact if
// both operands are. It returns an error for a division by zero and for a result that is too large.
func combineAmounts(sign string, a, b Amount) (Amount, error) {
	out := Amount{Rat: new(big.Rat), exact: a.exact && b.exact, slack: a.slack + b.slack}
	switch sign {
	case "+":
		out.Rat.Add(a.Rat, b.Rat)
	case "-":
		out.Rat.Sub(a.Rat, b.Rat)
	case "*", "of":
		out.Rat.Mul(a.Rat, b.Rat)
		out.slack = a.absFloat()*b.slack + b.absFloat()*a.slack
	case "/":
		return quotient(a, b)
	case "//":
		q, err := quotient(a, b)
		if err == nil {
			q.Rat, q.slack = new(big.Rat).SetInt(floor(q.Rat)), 0
		}
		return q, err
	case "%":
		return remainder(a, b)
	default:
		return power(a, b)
	}
	if tooBig(out.Rat) {
		return Amount{}, errTooBig
	}
	return out, nil
}

// quotient returns a ÷ b. Relative errors add up, so the slack is (slack a + |q| · slack b) ÷ |b|. It returns an
// error only for a divisor of exactly 0, not for one within its slack of 0.
func quotient(a, b Amount) (Amount, error) {
	if b.Rat.Sign() == 0 {
		return Amount{}, errByZero
	}
	out := Amount{Rat: new(big.Rat).Quo(a.Rat, b.Rat), exact: a.exact && b.exact}
	out.slack = (a.slack + out.absFloat()*b.slack) / b.absFloat()
	if tooBig(out.Rat) {
		return Amount{}, errTooBig
	}
	return out, nil
}

// floor returns the greatest whole number not above v. Div of math/big rounds down for a positive divisor, and a
// Rat's denominator is always positive.
func floor(v *big.Rat) *big.Int { return new(big.Int).Div(v.Num(), v.Denom()) }

// remainder returns a − b·floor(a ÷ b), which has the sign of the divisor: −7 % 3 is 2. It returns an error for a
// divisor of 0.
func remainder(a, b Amount) (Amount, error) {
	q, err := quotient(a, b)
	if err != nil {
		return Amount{}, err
	}
	out := new(big.Rat).Mul(b.Rat, new(big.Rat).SetInt(floor(q.Rat)))
	return Amount{Rat: out.Sub(a.Rat, out), exact: q.exact, slack: a.slack + q.absFloat()*b.slack}, nil
}

// power returns a^b. It is exact for whole exponents; 0^0 is 1, as in Go's math.Pow. For other exponents the
// relative error is |b|·(slack a ÷ |a|) + |ln a|·slack b, the differential of a^b.
//
// The size of the result is checked before it is computed, since 9^9^9 would fill the memory.
func power(a, b Amount) (Amount, error) {
	if !b.Rat.IsInt() {
		f := math.Pow(a.toFloat(), b.toFloat())
		return roughAmount(f, math.Abs(f)*(b.absFloat()*a.slack/a.absFloat()+math.Abs(math.Log(a.absFloat()))*b.slack))
	}
	if a.Rat.Sign() == 0 && b.Rat.Sign() < 0 {
		return Amount{}, errByZero
	}
	n := b.Rat.Num()
	bits := int64(max(a.Rat.Num().BitLen(), a.Rat.Denom().BitLen()))
	// Powers of 0, 1 and −1 stay small for any exponent.
	one := a.Rat.IsInt() && a.Rat.Num().IsInt64() && max(a.Rat.Num().Int64(), -a.Rat.Num().Int64()) <= 1
	switch {
	case one && !n.IsInt64():
		n = big.NewInt(int64(n.Bit(0))) // 1, -1 and 0 only depend on even or odd
	case !n.IsInt64():
		return Amount{}, errTooBig
	}
	k := n.Int64()
	if one {
		k = k & 1
		if a.Rat.Sign() == 0 && n.Sign() > 0 {
			k = 1
		}
	} else if k > maxBits || k < -maxBits || max(k, -k)*(bits-1) > maxBits {
		// The result would have about k times as many bits.
		return Amount{}, errTooBig
	}
	exp := big.NewInt(max(k, -k))
	num, den := new(big.Int).Exp(a.Rat.Num(), exp, nil), new(big.Int).Exp(a.Rat.Denom(), exp, nil)
	if k < 0 {
		num, den = den, num
	}
	out := Amount{Rat: new(big.Rat).SetFrac(num, den), exact: a.exact && b.exact}
	if a.slack > 0 {
		out.slack = out.absFloat() * float64(max(k, -k)) * a.slack / a.absFloat()
	}
	if tooBig(out.Rat) {
		return Amount{}, errTooBig
	}
	return out, nil
}

// applyFunction evaluates a function by its name in lower case; ln is log with one argument. Slack is propagated by
// the derivative: 1/(2√x) for a root, 1/x for a logarithm, 1/cos² x for a tangent, which has no result at a quarter
// turn.
//
// abs is exact for exact arguments, sqrt for squares of fractions and log for whole results. min, max, sum, pow and
// round are as exact as their arguments. Unknown names and a wrong number of arguments are errors in words for
// people.
//
// Angles are in radians. Roots and logarithms of negative numbers are errors.
func applyFunction(name string, args []Amount) (Amount, error) {
	need := func(least, most int) error {
		if len(args) < least || len(args) > most {
			return fmt.Errorf(
				"%s was given %s, which does not fit.", name, english.Count(len(args), "number"),
			) //nolint:staticcheck // shown as it is
		}
		return nil
	}
	switch name {
	case "min", "max", "sum":
		return foldAmounts(name, args)
	case "pow":
		if err := need(2, 2); err != nil {
			return Amount{}, err
		}
		return power(args[0], args[1])
	case "round":
		if err := need(1, 2); err != nil {
			return Amount{}, err
		}
		return roundAmount(args)
	}
	f, ok := map[string]func(float64) float64{
		"log": math.Log, "ln": math.Log, "log10": math.Log10, "sin": math.Sin, "cos": math.Cos, "tan": math.Tan,
		"sqrt": math.Sqrt, "abs": math.Abs,
	}[name]
	if !ok {
		return Amount{}, fmt.Errorf(
			"The function %s is not known. There are sqrt, pow, log, log10, sin, cos, tan, abs, round, min, max, "+
				"sum, days and years.",
			text.Shorten(name, 40),
		) //nolint:staticcheck // shown as it is
	}
	most := 1
	if name == "log" {
		most = 2
	}
	if err := need(1, most); err != nil {
		return Amount{}, err
	}
	x := args[0]
	if len(args) == 2 {
		return logarithm(x, args[1])
	}
	switch name {
	case "abs":
		return Amount{Rat: new(big.Rat).Abs(x.Rat), exact: x.exact, slack: x.slack}, nil
	case "sqrt":
		if root, ok := squareRoot(x); ok {
			return root, nil
		}
	case "log", "ln", "log10":
		if x.Rat.Sign() == 0 {
			return Amount{}, errNoReal
		}
	}
	v := x.toFloat()
	slack := x.slack + math.Abs(v)*epsilon/2 // the float is not quite the value
	// Error propagation: the derivative, by its greatest part.
	switch name {
	case "sqrt":
		slack /= 2 * math.Sqrt(v)
	case "log", "ln":
		slack /= math.Abs(v)
	case "log10":
		slack /= math.Abs(v) * math.Ln10
	case "tan":
		c := math.Cos(v)
		if math.Abs(c) <= slack {
			return Amount{}, errNoReal // a quarter turn
		}
		slack /= c * c
	}
	return roughAmount(f(v), slack)
}

// logarithm returns the logarithm of x to a base, exact if it is a whole number. The float64 result is rounded and
// verified by an exact power, so log(1000, 10) is 3, not 2.9999999999999996.
func logarithm(x, base Amount) (Amount, error) {
	if x.Rat.Sign() <= 0 || base.Rat.Sign() <= 0 || base.Rat.Cmp(big.NewRat(1, 1)) == 0 {
		return Amount{}, errNoReal
	}
	about := math.Log(x.toFloat()) / math.Log(base.toFloat())
	if n := math.Round(about); math.Abs(about-n) < 1e-9 && math.Abs(n) <= maxBits {
		if p, err := power(base, wholeAmount(int64(n))); err == nil && p.exact && x.exact && p.Rat.Cmp(x.Rat) == 0 {
			return wholeAmount(int64(n)), nil
		}
	}
	return roughAmount(about, 2*math.Abs(about)*epsilon)
}

// foldAmounts returns the sum, minimum or maximum of at least one amount. The parser guarantees one argument.
func foldAmounts(name string, args []Amount) (Amount, error) {
	out := args[0]
	var err error
	for _, a := range args[1:] {
		switch name {
		case "sum":
			if out, err = combineAmounts("+", out, a); err != nil {
				return Amount{}, err
			}
		case "min":
			if a.Rat.Cmp(out.Rat) < 0 {
				out = a
			}
		default:
			if a.Rat.Cmp(out.Rat) > 0 {
				out = a
			}
		}
	}
	return out, nil
}

// roundAmount rounds halves away from zero, to 0–50 digits after the point, 0 by default. The result has no slack,
// since the rounding was requested.
func roundAmount(args []Amount) (Amount, error) {
	places := int64(0)
	if len(args) == 2 {
		if !args[1].Rat.IsInt() || !args[1].Rat.Num().IsInt64() {
			return Amount{}, errors.New("round needs a whole number of digits.") //nolint:staticcheck // shown as it is
		}
		places = args[1].Rat.Num().Int64()
	}
	if places < 0 || places > 50 {
		return Amount{}, errors.New("round takes 0 to 50 digits.") //nolint:staticcheck // shown as it is
	}
	v, _ := new(big.Rat).SetString(args[0].Rat.FloatString(int(places)))
	return Amount{Rat: v, exact: args[0].exact}, nil
}

// squareRoot returns the exact root of the square of a fraction. ok is false for all other and for negative values.
func squareRoot(x Amount) (Amount, bool) {
	if x.Rat.Sign() < 0 {
		return Amount{}, false
	}
	num, den := new(big.Int).Sqrt(x.Rat.Num()), new(big.Int).Sqrt(x.Rat.Denom())
	root := new(big.Rat).SetFrac(num, den)
	if new(big.Rat).Mul(root, root).Cmp(x.Rat) != 0 {
		return Amount{}, false
	}
	return Amount{Rat: root, exact: x.exact}, true
}

// Decimal formats the value: all digits if it is exact and terminates within 40 places, else 15 significant digits.
// A value no larger than its slack is 0: sin(pi) would otherwise be 1.22e-16. 15 digits are the guaranteed precision
// of a float64; 40 was not measured.
//
// s has no separators and a decimal point. exact determines whether = or ≈ is shown.
func (a Amount) Decimal() (s string, exact bool) {
	if a.exact {
		if places, ends := a.Rat.FloatPrec(); ends && places <= 40 {
			return a.Rat.FloatString(places), true
		}
	}
	if a.absFloat() <= a.slack {
		return "0", false
	}
	f := new(big.Float).SetPrec(200).SetRat(a.Rat)
	s = f.Text('g', 15)
	if strings.Contains(s, "e") {
		return s, false
	}
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s, false
}
