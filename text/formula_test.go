package text

import (
	"slices"
	"strings"
	"testing"
)

func TestFormulasDifferFromAmounts(t *testing.T) {
	for _, c := range []struct {
		in   string
		want string // the formulas, joined by " ~ "
	}{
		{`The optimum is \( p^* = \frac{a}{b} \).`, `\( p^* = \frac{a}{b} \)`},
		{`So \[ x = 1 \] holds.`, `\[ x = 1 \]`},
		{"\\[\na\n+ b\n\\]", "\\[\na\n+ b\n\\]"},
		{`We have $x^2$, $$y$$ and $n$-te, the $n$th of $k_{i}$s.`, `$x^2$ ~ $$y$$ ~ $n$ ~ $n$ ~ $k_{i}$`},
		{`値は$x$です、$5$と$y$。`, `$x$ ~ $5$ ~ $y$`},
		{`costs \$5 and $\text{\$}x$`, `$\text{\$}x$`},
		{`$a$ $b$`, `$a$ ~ $b$`},
		{`|$x$|$y$|`, `$x$ ~ $y$`},
		{`\(x\)\(y\)`, `\(x\) ~ \(y\)`},
		{`\[ a \\[2pt] b \]`, `\[ a \\[2pt] b \]`},
		{`$0.05$ and $p < 0.05$`, `$0.05$ ~ $p < 0.05$`},
		{`$x$`, `$x$`},

		{`$5 and $10`, ""},
		{`$5-$10, $5–$10, $5/$10`, ""},
		{`US$ 5 and US$5, then $x$`, `$x$`},
		{`between $5 and 10$ a day`, ""},
		{`$1,000 (or $x) is more than $2`, ""},
		{`| $5 | $10 |`, ""},
		{`|$5|$10|`, ""},
		{`10$-20$`, ""},
		{`$100 million and 20$`, ""},
		{`$HOME/$USER and $PATH`, ""},
		{`$$$ and $$$`, ""},
		{`$ x $`, ""},
		{`$$ $$`, ""},
		{`\(\)`, ""},
		{`See \[1\] and \[TODO\], \[…\], \[sic\]`, ""},
		{"\\( a\n\nb \\)", ""},
		{"$a\n  \nb$", ""},
		{`\\(a\\)`, ""},
		{`\$x$ y`, ""},
		{`\( a \( b \)`, `\( b \)`},
	} {
		var got []string
		for _, f := range Formulas(c.in, nil) {
			got = append(got, c.in[f.Start:f.End])
		}
		if joined := strings.Join(got, " ~ "); joined != c.want {
			t.Errorf("%q has the formulas %q, want %q", c.in, joined, c.want)
		}
	}
}

// While a text is streamed, no rendered formula disappears: text that is not held back is final.
func TestOpenFormulaIsHeldBack(t *testing.T) {
	for _, c := range []struct {
		in       string
		ok, open bool
	}{
		{`\(x`, false, true}, {`\`, false, true}, {`\(x\`, false, true}, {`\(x\)`, true, false},
		{"$", false, true}, {"$x", false, true}, {"$x$", true, true}, {"$x$ ", true, false}, {"$x$1", false, false},
		{"$5", false, true}, {"$5 pe", false, false}, {"$5 and $", false, false},
		{"$$", false, true}, {"$$x$", false, true}, {"$$x$$", true, false},
		{"$x" + strings.Repeat("y", maxOpenDollar), false, false},
		{`\[` + strings.Repeat("y", MaxOpenFormula), false, false},
	} {
		if _, ok, open := ReadFormula(c.in, 0); ok != c.ok || open != c.open {
			t.Errorf("%.20q: a formula %v, may change %v; want %v, %v", c.in, ok, open, c.ok, c.open)
		}
	}
}

func FuzzFormulas(f *testing.F) {
	for _, s := range []string{`a \(b\) $c$ $$d$$ \[ e \]`, `$5 and $10`, "\\[\n\n\\]", `\\$`, "`$x$`", "$é$ü", `\`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		end := 0
		for _, found := range Formulas(s, nil) {
			if found.Start < end || found.End <= found.Start || found.End > len(s) ||
				!strings.Contains(s[found.Start:found.End], found.TeX) || strings.TrimSpace(found.TeX) == "" {
				t.Fatalf("%q: formula %+v after %d", s, found, end)
			}
			end = found.End
		}
	})
}

func TestSentencesKeepFormulasWhole(t *testing.T) {
	for s, want := range map[string][]string{
		`So $x! = 1. 5$ holds. $y$ is old. It ends.`: {`So $x! = 1. 5$ holds.`, `$y$ is old.`, `It ends.`},
		"The optimum is\n\\[ a. B \\]\nwhere \\(p = 1. Q\\) is it.": {
			"The optimum is\n\\[ a. B \\]\nwhere \\(p = 1. Q\\) is it."},
		`It costs $5. It costs $6. Over.`: {`It costs $5.`, `It costs $6.`, `Over.`},
	} {
		var got []string
		runes := []rune(s)
		for _, span := range Sentences(s) {
			got = append(got, string(runes[span[0]:span[1]]))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q has the sentences %q, want %q", s, got, want)
		}
	}
}

func TestWithoutFormulasKeepsNumbers(t *testing.T) {
	for s, want := range map[string]string{
		`a \(x\) b`: "a   b", `a \(5\) b`: "a  5  b", `a $1{,}000\,\%$ b`: "a  1,000% b", `a $x = 5$ b`: "a   b",
		`$5 and $6`: `$5 and $6`,
	} {
		if got := WithoutFormulas(
			s,
		); strings.Join(
			strings.Fields(got),
			" ",
		) != strings.Join(
			strings.Fields(want),
			" ",
		) {
			t.Errorf("WithoutFormulas(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestInCapitals(t *testing.T) {
	for line, want := range map[string]bool{
		"3. HOW RAVOLIN IS TAKEN": true, "ÜBER UNS": true, "BEFORE YOU TAKE IT": true,
		"4.2 HOW TO": true, "NUMERIC(3, 1)": false,
		"HE LEFT.": false, "NOTE: HE LEFT": false, "A": false, "1984": false, "The NASA": false, "使用方法": false,
		"": false,
		"THE SOFTWARE IS PROVIDED AS IT IS WITHOUT ANY WARRANTY WHATSOEVER BY ITS AUTHORS OR ANYBODY": false,
	} {
		if got := InCapitals(line); got != want {
			t.Errorf("InCapitals(%q) is %v, want %v", line, got, want)
		}
	}
}

func TestFrames(t *testing.T) {
	for line, want := range map[string]bool{
		"Dear Judith,": true, "Sehr geehrte Frau Weiß,": true, "Kind regards": true, "Chère Madame,": true,
		"Tom Ashdown, Brightline Roofing Ltd": true, "Minutes of the committee": true,
		"Your lease ends in June.": false, "Deposit of £970": false, "Chair: Ruth Okafor": false,
		"git commit --amend": false, "Is the roof sound?": false, "“Yes, it is.”": false, "He left (at last.)": false,
		"敬启者": false, "": false, "- Bread and butter": false,
		"The tenant, who has signed the lease and has read it, keeps the garden and the hedge in order": false,
	} {
		if got := Frames(line); got != want {
			t.Errorf("Frames(%q) is %v, want %v", line, got, want)
		}
	}
}

func TestBracketInURLIsNotProse(t *testing.T) {
	t.Parallel()
	for before, want := range map[string]bool{
		"The roof leaks ": true, "The roof leaks": true, "The roof leaks.": true, "": true, "Vitamin C": true,
		"It was built in 1904": true,
		"das Dach":             true, "(see": true, "屋根": true, "See https://x.org": true, "See https://x.org/a ": true,
		"[the survey](https://x.org/a)":      true,
		"[the survey](https://x.org/a) says": true, "**bold**": true, "_it leaks_": true, "<b>": true, "à": true,
		"See https://x.org/a": false, "https://x.org/a[1]/b": false, "www.x.org/?q=": false, "<https://x.org/a": false,
		"<urn:isbn:1":    false,
		"[the survey](a": false, "[the survey](/a(1)": false, "[the survey](<a b": false,
		`[the survey](a "title`: false, "![roof](x": false,
		`It says \`: false, `C:\\`: true,
		"set a": false, "x=a": false, "max_size": false,
	} {
		if got := IsRunning(before); got != want {
			t.Errorf("IsRunning(%q) = %v, want %v", before, got, want)
		}
	}
}
