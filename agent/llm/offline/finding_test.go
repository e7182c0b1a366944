package offline

import (
	"context"
	"testing"
)

// A model that does not know a language finds that whatever is in it means the same. The word that is lacking tells.
func TestWhatLacksTheHeaviestWordIsNotFoundByMeaningAlone(t *testing.T) {
	q := turn{question: "駐車場は月いくらですか", results: []result{{tool: "search_documents", out: output{
		Documents: []document{{DocID: "d1", Passages: []passage{
			{N: 1, Text: "ごみは収集日の朝8時までに、駐車場横の集積所に出してください。前の晩に出すとカラスや猫に荒らされます。"},
			{N: 2, Text: "自転車は駐輪場に置き、登録シールを貼ってください。シールは1台目は無料、2台目からは月200円です。"},
			{N: 3, Text: "燃えないごみは第4月曜日に出してください。廊下に傘立てを置かないでください。"},
		}}},
	}}}}
	got, err := compose(t.Context(), q, func(_ context.Context, _ string, texts []string) ([]float64, error) {
		alike := make([]float64, len(texts))
		for i := range alike {
			alike[i] = 0.8
		}
		return alike, nil
	})
	if err != nil || got.finding != closest {
		t.Errorf("got %q, %.2f and %v, want quotes that are called closest", got.finding, got.sure, err)
	}
}
