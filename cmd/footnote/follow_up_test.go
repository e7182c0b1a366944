package main_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// followUps are conversations over e2e/eval/everyday/open and two files more, each with what the first quote of the last
// answer holds.
var followUps = []struct{ conversation, says string }{
	// the last question names its own subject
	{"What did the new roof cost? → What about balance control?", "The zero moment point"},
	{"How much is the rent of the flat? → What about the deposit?", "deposit of £1,315"},
	{"When did the tenancy at Alder Street begin? → What about repairs?", "report faults promptly"},
	{"Can we get a dog in the flat? → What about smoking?", "Smoking, including e-cigarettes"},
	{"What does the workshop charge for a new chain? → What about bonfires?", "Bonfires are allowed from"},
	{"bonfires - when? → And hens?", "Up to six hens"},
	{"Am I allowed to water the vegetables with a hosepipe? → And greenhouses?", "greenhouses not higher"},
	{"How do I take the back wheel off? → What about the lights?", "The hub dynamo"},
	{"lemon drizzle how many days keep → What about the freezer?", "up to 3 months"},
	{"What is the new total Tom Brandt wants for our kitchen? → And the guarantee?", "five years on the cabinets"},
	{"What did I pay for the seed from Tamar? → What about blight?", "Blight"},
	{"On what date did I put the garlic in? → And the chillies?", "Sowed chillies"},
	{"What does the plan cost a month? → What about complaints?", "Write to us first"},
	{"Is my bicycle insured when I'm out with it? → What about moving house?", "If you move house"},
	{"ペットボトルは何曜日に出せばいいですか → 自転車は？", "自転車は500円"},
	{"¿Cuánto rato están las lentejas en la olla exprés? → ¿Y la sal?", "La sal se pone al final"},
	// what it lacks comes from the question before
	{"What does the gold service cost? → And the silver service?", "Silver service"},
	{"What does a town bike cost per week? → And the cargo e-bike?", "Cargo e-bike"},
	{"How much does a replacement SIM cost? → And a paper bill?", "paper bill"},
	{"Was heißt Fehler E05 an der Kaffeemaschine? → Und E07?", "Tresterbehälter voll"},
	{"How much is the plot's rent? → And for a half plot?", "£21 for a half plot"},
	{"What are the rules for bonfires? → And on a Sunday?", "never on a Sunday"},
	{"What is the tyre pressure of the Trekker? → And over 85 kg?", "over 85 kg"},
	{"What happened on 2 april in the garden? → And in june?", "june"},
	{"When were the tomatoes hardened off? → How many of them?", "6 plants"},
	{"Is my bicycle insured when I'm out with it? → and does it matter what kind of lock I use?", "Sold Secure Silver"},
	// it has no subject, or another one came in between
	{"Can we get a dog in the flat? → What about smoking? → Tell me more", "The flat is to be used"},
	{"How much is the rent of the flat? → What about the deposit? → why?", "deposit of £1,315"},
	{"How much is the rent of the flat? → thanks! → What about the deposit?", "deposit of £1,315"},
}

// A question that goes on from the one before it is about what it names itself. What it borrows only fills what it
// lacks.
func TestAFollowUpNamesItsOwnSubject(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	s.add(file{"house.md", "# House diary\n\n## The new roof\n\nThe new roof cost £14,300. The control of the work " +
		"cost £600 more.\n\n## Scaffolding\n\nIt stood for six weeks.\n"}, file{"robot.md", "# The walking robot\n\n" +
		"## Balance control\n\nThe zero moment point is kept inside the foot by moving the hips.\n\n## Cost\n\n" +
		"The robot cost £90,000; its new legs cost £4,000.\n"})
	s.addAll(filepath.Join("..", "..", "e2e", "eval", "everyday", "open", "*"))
	for _, tt := range followUps {
		session, first := "", ""
		for ask := range strings.SplitSeq(tt.conversation, " → ") {
			log := s.runIn(session, ask)
			session, first = log.start.SessionID, ""
			if log.answer != nil && len(log.answer.Citations) > 0 {
				first = log.answer.Citations[0].Quote
			}
		}
		if !strings.Contains(first, tt.says) {
			t.Errorf("%s: the first quote is %q, want %q in it", tt.conversation, first, tt.says)
		}
	}
}
