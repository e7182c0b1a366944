package quote

import "testing"

func TestIndexFindsEqualRuns(t *testing.T) {
	t.Parallel()
	var x Index
	x.Add("Nothing of it stands here.")
	const mail = "Dear Anna,\n\nthe floor won’t be sanded for 1,200.50 € before the exam-\nple of −5 % " +
		"(see “Plan B”). Next: nothing."
	x.Add(mail)
	x.Add("寄木細工の床は月曜日に研磨されます。")
	for said, want := range map[string]string{
		"The floor **won't** be sanded, for 1,200.50€ before the example of -5%": "the floor won’t be sanded for " +
			"1,200.50 € before the exam-\nple of −5 %",
		`EXAMPLE of -5% (see "plan b"). Next`:                               "exam-\nple of −5 % (see “Plan B”). Next",
		"the floor will be sanded for 1,200.50 € before the example of -5%": "",
		"the floor won't be sanded for 1,200.5 € before the example of -5%": "",
		"the floor won't be sanded for 1,200.50 $ before the example":       "",
		"before the example of 5 % (see Plan B)":                            "",
		"before the example of -5 (see Plan B)":                             "",
		"the floor won't be sanded for good":                                "",
		"floor won't be sanded":                                             "",
		"loor won't be sanded for 1,200.50 €":                               "",
		"床は月曜日に研磨され":                                                        "床は月曜日に研磨され",
		"床は火曜日に研磨され":                                                        "",
	} {
		got := ""
		for _, r := range x.Find(said) {
			got = string([]rune([]string{"", mail, "寄木細工の床は月曜日に研磨されます。"}[r.Text])[r.Start:r.End])
		}
		if got != want {
			t.Errorf("Find(%q): got %q, want %q", said, got, want)
		}
	}
}
