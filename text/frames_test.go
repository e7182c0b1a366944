package text

import "testing"

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
