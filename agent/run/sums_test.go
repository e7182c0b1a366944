package run

import (
	"testing"

	"github.com/footnote/footnote/agent/ground"
	"github.com/footnote/footnote/agent/question"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/support"
)

func TestWrongSumsOfUnsupportedSentencesAreNamed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ question, said, want string }{
		{"What is 2*3?", "2*3 = 7", "“2*3 = 7” is wrong: it is 6."},
		{"How much is the rent?", "Three months cost 3 × £1,150 = £3,500.",
			"“3 × £1,150 = £3,500” is wrong: it is 3450."},
		{"What is 2*3?", "It is 7.", "The sum comes to 6, which the answer does not say."},
		{"What is 2*3?", "There are 6 dragons.", ""},
		{"What is 1/3?", "1/3 = 0.33", ""},
		{"What is 2/3?", "2/3 = 0.7", ""},
		{"What is 2/3?", "2/3 = 0.5", "“2/3 = 0.5” is wrong: it is 0.666666666666667."},
		{"What is 2//0?", "It is 7.", "The sum was not calculated, so nothing bears out what the answer says of it."},
		{"Who lives here?", "Room 12, 3rd floor = 5", ""},
	} {
		run := chat.Run{Request: chat.RunRequest{Message: tt.question}}
		found := &knowledge{
			run: run, asked: question.Analyse(tt.question, false), evidence: &ground.Evidence{},
		}
		got := ""
		for _, note := range found.sumNotes([]string{tt.said}) {
			got += note
		}
		if got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.question, tt.said, got, tt.want)
		}
	}
}

// A judge of an answer is shown a long text that came with the question as far as there is room, first what the answer
// rests on.
func TestTheJudgeIsShownWhatThereIsRoomFor(t *testing.T) {
	t.Parallel()
	const first, filler, borne = "The house was painted in spring.",
		"Nothing of interest is told in this paragraph of the text.", "Anna works 80 percent of full time since March."
	given := first + "\n\n" + filler + "\n\n" + borne
	req, cite := chat.RunRequest{AddedContext: given}, &ground.Citer{Judge: support.NewJudge()}
	k := &knowledge{
		run: chat.Run{Request: req}, cite: cite, evidence: ground.NewEvidence(nil, cite, req),
	}
	const answer = "Anna works 80 percent of full time."
	for limit, want := range map[int]string{
		1000: given, estimateTokens(borne) + 1: borne,
		estimateTokens(borne) + estimateTokens(first) + 2: first + "\n\n" + borne, 3: "", -5: "",
	} {
		if got := k.shortenGiven(answer, limit); got != want {
			t.Errorf("in %d tokens: %q, want %q", limit, got, want)
		}
	}
}
