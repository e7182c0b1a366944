package text

import "testing"

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
