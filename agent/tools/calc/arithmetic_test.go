package calc

import (
	"strings"
	"testing"

	"github.com/footnote/footnote/text"
)

func TestEvaluate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, want string }{
		{"1+2*3", "7"},
		{"0.1 + 0.2", "0.3"},
		{"9223372036854775807+1", "9223372036854775808"},
		{"1,000 * 2", "2000"},
		{"£1,234,567.50 / 2", "617283.75"},
		{"max(100,200)", "200"},
		{"sum(1, 2, 3.5)", "6.5"},
		{"sum([1, 2, 3.5])", "6.5"},
		{"7 // 2", "3"},
		{"-7 // 2 * 2", "-8"},
		{"min(4, 2, 8)", "2"},
		{"15% of 200", "30"},
		{"200 * 15%", "30"},
		{"10 % 3", "1"},
		{"50% + 1", "1.5"},
		{"2^10", "1024"},
		{"2**3**2", "512"},
		{"-2^2", "-4"},
		{"(-2)^2", "4"},
		{"2^-2", "0.25"},
		{"7 ÷ 2 × 4 − 1", "13"},
		{"sqrt(16)", "4"},
		{"sqrt(0.25)", "0.5"},
		{"sqrt(2)", "1.4142135623731"},
		{"pow(2, 0.5)", "1.4142135623731"},
		{"log10(1000)", "3"},
		{"days(1931-06-09, 1931-09-30)", "113"},
		{"days(2024-03-01,2024-02-01) + 1", "-28"},
		{"days(1000-01-01, 2000-01-01)", "365242"},
		{"years(1952-03-14, 1987-10-02)", "35"},
		{"years(1952-03-14, 1987-03-13) * 2", "68"},
		{"YEARS( 2024-05-01 , 2020-05-02 )", "-3"},
		{"log(e)", "1"},
		{"log(8, 2)", "3"},
		{"log(1/9, 3)", "-2"},
		{"log(2, 8)", "0.33333333333333"},
		{"log(1000, 10) + 1", "4"},
		{"√16", "4"},
		{"√(9 + 16) * 2", "10"},
		{"√16^2 + √√16", "18"},
		{"10 % √9", "1"},
		{"sin(0) + cos(0) + tan(0)", "1"},
		{"abs(-3.5)", "3.5"},
		{"round(2.5)", "3"},
		{"round(10/3, 2)", "3.33"},
		{"1/3", "0.333333333333333"},
		{"2*pi", "6.28318530717959"},
		{"sin(pi)", "0"},
		{"cos(pi / 2)", "0"},
		{"sin(100 * pi) + 1", "1"},
		{"tan(pi)", "0"},
		{"sin(pi/6) * 2 - 1", "0"},
		{"sqrt(2)^2 - 2", "0"},
		{"sqrt(2) * sqrt(2)", "2"},
		{"2^0.5 * 2^0.5 - 2", "0"},
		{"log(e^2) - 2", "0"},
		{"sin(0.00000000000000000001)", "1e-20"},
		{"sqrt(0.0000000000000000000000000000000000000002)", "1.4142135623731e-20"},
		{"1e-30", "0.000000000000000000000000000001"},
		{"pi // 3", "1"},
		{"sin(1)", "0.841470984807897"},
		{"(1250*1.19-300)/12", "98.9583333333333"},
		{"1e3", "1000"},
	} {
		v, err := Evaluate(tt.in)
		if err != nil {
			t.Errorf("%s: %v, want no error", tt.in, err)
			continue
		}
		if got, _ := v.Decimal(); !strings.HasPrefix(got, tt.want) ||
			strings.Contains(tt.want, ".") == false && got != tt.want {
			t.Errorf("%s = %s, want %s", tt.in, got, tt.want)
		}
	}
}

func TestEvaluateRejectsInvalidExpressions(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"9**9**9", "9^9999999999999999999", "1e999999999", strings.Repeat("(", 100<<10),
		strings.Repeat("(", 400) + "1" + strings.Repeat(")", 400),
		strings.Repeat("-", 900) + "1", "1/0", "5 % 0", "0^-1", "sqrt(-1)", "log(0)", "log(-1)", "1 +", "(1", "1)",
		"2 2", "import os", "foo(1)", "sqrt(1, 2)", "log(8, 1)", "log(8, 0)", "log(-8, 2)", "log(8, 2, 2)",
		"log10(8, 2)", "√", "√-4", "√x", strings.Repeat("√", 300) + "16", "max()",
		"days()", "days", "days(2024-01-01)", "days(2024-01-01, 2024-02-30)", "days(2024-01-01, 2024-02-01",
		"days(1, 2)", "years(2024-01-01, 2024-02-01, 2024-03-01)", "years(2024-1-1, 2025-1-1)",
		"__import__('os')", "x = 3", "round(1, 99)", "tan(1e300)^1e300", "2^0.5^99999", "((2^4000)^4000)", "",
	} {
		v, err := Evaluate(in)
		if err == nil {
			got, _ := v.Decimal()
			t.Errorf("%s = %s, want an error", text.Shorten(in, 30), got)
		} else if !strings.HasSuffix(err.Error(), ".") {
			t.Errorf("%s: %q is no sentence, want %q at its end", text.Shorten(in, 30), err, ".")
		}
	}
}

func FuzzEvaluate(f *testing.F) {
	for _, in := range []string{"1+2", "9**9**9", "max(1,2)%3", "15% of 2e9", "-(-(1))^2"} {
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if v, err := Evaluate(in); err == nil {
			if s, _ := v.Decimal(); s == "" {
				t.Errorf("%q: got no decimal value, want one", in)
			}
		}
	})
}
