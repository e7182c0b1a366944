package bert

import (
	"testing"

	"github.com/footnote/footnote/corpus/search"
)

// The English model doubts queries in scripts that it does not know, knows English, and lies between in languages that
// share words with it. docs/quality.md has the effect on whole sets.
func TestTheModelDoubtsWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	e := open(t, Config{})
	queries, passages := search.SimilarityPairs()
	asked := make([][]float32, len(queries))
	for i, query := range queries {
		var err error
		if asked[i], err = e.EmbedQuery(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	found, err := e.Embed(t.Context(), passages)
	if err != nil {
		t.Fatal(err)
	}
	scale := search.MeasureScale(asked, found)
	for query, want := range map[string]struct{ least, most float64 }{
		"How do I connect a printer to the network?":         {0, 0.3},
		"Why is the battery of my laptop never full?":        {0, 0.3},
		"¿Cómo conecto una impresora a la red?":              {0, 0.7},
		"Wie verbinde ich einen Drucker mit dem Netz?":       {0, 0.7},
		"Как подключить принтер к локальной сети?":           {0.8, 1},
		"Πώς συνδέω έναν εκτυπωτή στο τοπικό δίκτυο;":        {0.8, 1},
		"如何把打印机连接到局域网？":                                      {0.8, 1},
		"プリンターをネットワークに接続するにはどうすればよいですか":                      {0.8, 1},
		"كيف أوصل الطابعة بالشبكة المحلية؟":                  {0.8, 1},
		"จะเชื่อมต่อเครื่องพิมพ์กับเครือข่ายได้อย่างไร":      {0.8, 1},
		"నేను ప్రింటర్‌ను నెట్‌వర్క్‌కు ఎలా కనెక్ట్ చేయాలి?": {0.8, 1},
	} {
		var both [2][]float32
		for i, text := range []string{query, search.Nonsense(query)} {
			if both[i], err = e.EmbedQuery(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
		if got := scale.Doubt(search.Cosine(both[0], both[1])); got < want.least || got > want.most {
			t.Errorf("%s: doubt %.2f, want %v to %v", query, got, want.least, want.most)
		}
	}
}
