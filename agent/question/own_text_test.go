package question

import "testing"

func TestOwnTextIsToldByTheGrammarOfItsOrder(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]struct{ ordered, undecided, talk bool }{
		"Rewrite this more formally: gonna be late, traffic sucks":              {ordered: true},
		"Make this friendlier: Send me the report by Friday.":                   {ordered: true},
		"Turn this into bullet points: We met, we ate, we left.":                {ordered: true},
		"Translate into German: Good morning, neighbours.":                      {ordered: true},
		"Please make this friendlier:\nSend me the report.":                     {ordered: true},
		`Reserve them, please. #call reserve {"what":"slates"}`:                 {},
		"Mach das freundlicher: Schick mir den Bericht bis Freitag.":            {ordered: true},
		"Explain this: The tenant shall keep the gutters clear.":                {ordered: true},
		"Fix the spelling: teh cat sat":                                         {undecided: true},
		"Translate into German: where is the station?":                          {undecided: true},
		"Explain in simple terms: the deposit clause":                           {undecided: true},
		"Find this in the lease: roof damage":                                   {undecided: true},
		"Question: what is the capital of France?":                              {undecided: true},
		"What does the lease say about this: pets?":                             {},
		"How many days of holiday are there?":                                   {},
		"When was the survey made, and by whom?":                                {},
		"Hello, how are you?":                                                   {talk: true},
		"Hi, can you help me?":                                                  {talk: true},
		"Hello! Thanks.":                                                        {talk: true},
		"Can you sing?":                                                         {undecided: true},
		"Do you smoke?":                                                         {undecided: true},
		"Can you help me find the clause on damp in the lease of 12 Mill Lane?": {},
	} {
		a := Analyse(message, false)
		if OrdersOwnText(message) != want.ordered || a.Undecided != want.undecided || IsTalk(message) != want.talk ||
			a.NeedsDocuments() == (want.ordered || want.talk) {
			t.Errorf("%s: ordered %v, undecided %v, talk %v, %s; want %+v", message, OrdersOwnText(message),
				a.Undecided, IsTalk(message), a.Type, want)
		}
	}
}

func TestAReplyShowsThatItNeedsDocuments(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		message, reply string
		claims         []string
		want           bool
	}{
		{"Fix the spelling: teh cat sat", "The cat sat.", []string{"The cat sat."}, true},
		{"Fix the spelling: teh cat sat", "The 7 cats sat.", nil, false},
		{"List the steps: mix and bake", "1. Mix.\n2. Bake.", nil, true},
		{"Question: what is the capital of France?", "Paris is the capital.", nil, false},
		{"Translate into German: where is the station?", "Wo ist der Bahnhof?", nil, true},
		{"Can you sing?", "No, I can't sing.", []string{"No, I can't sing."}, true},
		{"Do you allow pets?", "Yes, pets are allowed.", []string{"Yes, pets are allowed."}, false},
	} {
		if got := NeedsNone(tt.message, tt.reply, tt.claims); got != tt.want {
			t.Errorf("%s: %q needs none: %v, want %v", tt.message, tt.reply, got, tt.want)
		}
	}
}
