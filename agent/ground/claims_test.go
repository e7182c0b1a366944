package ground

import (
	"slices"
	"testing"
)

func TestAFootnoteBelongsToTheSentenceItStandsInOrBehind(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		markdown string
		want     []string
		numbers  [][]int
	}{
		{"The roof leaks [1]. It is old. [2] Pigs fly.", []string{"The roof leaks.", "It is old.", "Pigs fly."},
			[][]int{{1}, {2}, nil}},
		{"The roof leaks.[1] It was replaced in 1850.[2]", []string{"The roof leaks.", "It was replaced in 1850."},
			[][]int{{1}, {2}}},
		{"The roof leaks.[1][2]It is old.[3]", []string{"The roof leaks.", "It is old."}, [][]int{{1, 2}, {3}}},
		{"[1] The roof leaks.", []string{"The roof leaks."}, [][]int{{1}}},
		{"The roof leaks.\n\n[1]", []string{"The roof leaks."}, [][]int{{1}}},
		{"- The roof leaks [1].\n- **It is old [2].**\n1. It is cold.",
			[]string{"The roof leaks.", "It is old.", "1. It is cold."}, [][]int{{1}, {2}, nil}},
		{"# Roof [1]\n\n**Roof**\n\nIt leaks [1].\n\n```\nx[1]\n```", []string{"Roof", "Roof", "It leaks.", "x[1]"},
			[][]int{{1}, nil, {1}, nil}},
		{"Roof\n====\nIt leaks [1].", []string{"Roof", "It leaks."}, [][]int{nil, {1}}},
		{"| Item | Cost |\n|---|---|\n| Roof | £5 [1] |", []string{"Item", "Cost", "Roof | £5 |"},
			[][]int{nil, nil, {1}}},
		{"Use `a[1]` for this [2], see [3](http://x).", []string{"Use `a[1]` for this, see(http://x)."}, [][]int{{2}}},
		{"The roof, which was renewed by Harper & Sons,\nis in poor condition [1].",
			[]string{"The roof, which was renewed by Harper & Sons, is in poor condition."}, [][]int{{1}}},
		{`The optimum is \(p^* = 1. 5\) today [1]. It is $x! = y$ [2]. $a$ is old.`,
			[]string{`The optimum is \(p^* = 1. 5\) today.`, `It is $x! = y$.`, `$a$ is old.`}, [][]int{{1}, {2}, nil}},
		{"The optimum is\n\n\\[ p^* = \\frac{a}{b} \\] [1]\n\nIt is old [2].", []string{"The optimum is", "It is old."},
			[][]int{{1}, {2}}},
		{"The optimum is\n\\[\np\n= 1\n- 2\n\\]\nwhere p is the price [1].",
			[]string{"The optimum is \\[ p = 1 - 2 \\] where p is the price."}, [][]int{{1}}},
		{"$$\na\n=\nb\n$$\n\nIt is old [1].", []string{"It is old."}, [][]int{{1}}},
		{`The roof leaks for \( a [1] \) days, as $x [2]$ says [3].`,
			[]string{`The roof leaks for \( a [1] \) days, as $x [2]$ says.`}, [][]int{{3}}},
		{"It costs $5 [1] or $10 [2].", []string{"It costs $5 or $10."}, [][]int{{1, 2}}},
	} {
		var said []string
		var numbers [][]int
		for _, c := range splitClaims(tt.markdown, nil, nil) {
			said, numbers = append(said, c.Text), append(numbers, c.Numbers)
		}
		if !slices.Equal(said, tt.want) || !slices.EqualFunc(numbers, tt.numbers, slices.Equal) {
			t.Errorf("%q has %q %v, want %q %v", tt.markdown, said, numbers, tt.want, tt.numbers)
		}
	}
}

func TestWhatStatesNothingNeedsNoFootnote(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"The survey says:", "**What it costs:**", "Do you want more?", "Hello!", "Yes, of course.",
		"Let me know if you need more.", "I hope this helps!",
		"Here is a short summary of what I found.", RefusalSentence, "I searched for: roof condition.",
		"I could not find who paid for it.", "I couldn’t find the price.",
		"The documents do not say who paid.", "The lease doesn't mention pets.", "The price is not stated.",
		"There is no information about the price.",
		"Nothing that I found is about “the windows”, so there is nothing to compare with.",
		"Die Dokumente enthalten keine Angaben zum Preis.",
		"Les documents ne mentionnent pas le prix.", "El precio no se menciona.", "価格についての記載はありません。", "文档中没有提到价格。",
		"---", "It is so.",
	} {
		if IsFactualClaim(s) {
			t.Errorf("%q is taken for a claim", s)
		}
	}
	for _, s := range []string{
		"Pigs fly over the moon.", "Cows sing.", "It leaks.", "Yes, the roof leaks.", "Flood damage is not covered.",
		"Dogs are not allowed.", "No guarantee is available.",
		"I could not find the price, but the king keeps dragons.", "Nothing was replaced in 1850.",
		"Here is a dragon, and it breathes fire.", "Das Dach ist undicht.", "水車の直径は四メートルである。",
		"There is no smoke detector in the hall.",
	} {
		if !IsFactualClaim(s) {
			t.Errorf("%q is not taken for a claim", s)
		}
	}
}

func TestWithoutSentencesLeavesThemOutWhereverTheyStand(t *testing.T) {
	t.Parallel()
	const answer = "# The house\n\nIt was built in 1904 [1]. Seven dragons live in it [2].\n\n" +
		"| What | Year |\n|---|---|\n| Dragons | 1066 |\n\n```\nSeven dragons live in it.\nprint(1)\n```\n"
	got := WithoutSentences(answer, []string{"Seven dragons live in it.", "Dragons | 1066 |"})
	if want := "It was built in 1904.\n\nprint(1)"; got != want {
		t.Errorf("WithoutSentences = %q, want %q", got, want)
	}
}
