package sqlite

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// clusteredUnits returns unit vectors about as many centres as there are: what texts of some subjects are like.
func clusteredUnits(random *rand.Rand, n, dimension, centres int) [][]float32 {
	about := make([][]float64, centres)
	for i := range about {
		about[i] = make([]float64, dimension)
		for j := range about[i] {
			about[i][j] = random.NormFloat64()
		}
	}
	units := make([][]float32, n)
	for i := range units {
		centre, v, sum := about[random.IntN(centres)], make([]float32, dimension), 0.0
		for j := range v {
			value := centre[j] + random.NormFloat64()
			v[j], sum = float32(value), sum+value*value
		}
		for j := range v {
			v[j] /= float32(math.Sqrt(sum))
		}
		units[i] = v
	}
	return units
}

func upsertUnits(t testing.TB, vs *Vectors, units [][]float32) {
	t.Helper()
	all := make([]corpus.Vector, len(units))
	for i, values := range units {
		all[i] = corpus.Vector{
			PassageID: fmt.Sprintf("p%06d", i), DocumentID: fmt.Sprint("d", i/100), User: chat.LocalUser,
			Namespace: chat.DefaultNamespace, Values: values,
		}
	}
	if err := vs.Upsert(t.Context(), all); err != nil {
		t.Fatalf("Upsert: %v, want no error", err)
	}
}

func nearestExactly(units [][]float32, query []float32, k int) map[string]bool {
	order := make([]int, len(units))
	cosines := make([]float64, len(units))
	for i := range order {
		order[i], cosines[i] = i, exactCosine(query, units[i])
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(cosines[b], cosines[a]) })
	nearest := make(map[string]bool, k)
	for _, i := range order[:k] {
		nearest[fmt.Sprintf("p%06d", i)] = true
	}
	return nearest
}

func TestTheNearestAreFoundByTheirSigns(t *testing.T) {
	t.Parallel()
	const n, dimension, k = 20_000, 100, 10 // not a multiple of 64 dimensions
	random := rand.New(rand.NewPCG(11, 12))
	units := clusteredUnits(random, n+50, dimension, 200)
	vs := openNew(t).Vectors("test")
	upsertUnits(t, vs, units[:n])
	found := 0
	for _, query := range units[n:] {
		hits, err := vs.SearchVectors(t.Context(), chat.Local, query, nil, k)
		if err != nil || len(hits) != k {
			t.Fatalf("%d hits, %v; want %d", len(hits), err, k)
		}
		nearest := nearestExactly(units[:n], query, k)
		for _, h := range hits {
			if nearest[h.PassageID] {
				found++
			}
		}
	}
	if recall := float64(found) / (50 * k); recall < 0.98 {
		t.Errorf("recall@%d = %.3f against the exact nearest, want at least 0.98", k, recall)
	}
}

// signsOfVectors reads which vectors the blocks hold, and fails unless their signs are those of the vectors.
func signsOfVectors(t *testing.T, db *DB) (inBlocks, inTable []int64) {
	t.Helper()
	bodies := map[int64][]byte{}
	read := func(query string, each func(scanner) error) {
		t.Helper()
		if err := db.eachRow(t.Context(), query, nil, each); err != nil {
			t.Fatal(err)
		}
	}
	read(`SELECT n, body FROM vectors ORDER BY n`, func(row scanner) error {
		var n int64
		var body []byte
		err := row.Scan(&n, &body)
		inTable, bodies[n] = append(inTable, n), body
		return err
	})
	read(`SELECT body FROM vector_signs`, func(row scanner) error {
		var body []byte
		err := row.Scan(&body)
		for ; len(body) > 0; body = body[16:] {
			n := int64(binary.LittleEndian.Uint64(body))
			if got, want := body[8:16], appendSigns(nil, bodies[n]); !slices.Equal(got, want) {
				t.Errorf("the signs of vector %d are %x, want %x", n, got, want)
			}
			inBlocks = append(inBlocks, n)
		}
		return err
	})
	slices.Sort(inBlocks)
	return inBlocks, inTable
}

func TestBlocksHoldTheSignsOfAllVectorsAndOfNoOther(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	vs, random := db.Vectors("test"), rand.New(rand.NewPCG(13, 14))
	for i := range 60 {
		document := fmt.Sprint("d", random.IntN(4))
		var err error
		if i%3 < 2 { // some of the passages are there
			var some []corpus.Vector
			for _, values := range clusteredUnits(random, 1+random.IntN(300), 40, 3) {
				some = append(some, corpus.Vector{
					PassageID:  fmt.Sprint(document, "p", random.IntN(400)),
					DocumentID: document, User: chat.LocalUser, Namespace: chat.DefaultNamespace, Values: values,
				})
			}
			err = vs.Upsert(t.Context(), some)
		} else {
			var keep []string
			for range random.IntN(3) * 50 {
				keep = append(keep, fmt.Sprint(document, "p", random.IntN(400)))
			}
			err = vs.DeleteVectors(t.Context(), document, keep)
		}
		if err != nil {
			t.Fatal(err)
		}
		if blocks, table := signsOfVectors(t, db); !slices.Equal(blocks, table) {
			t.Fatalf("after change %d blocks hold %d vectors, want the %d of the table", i, len(blocks), len(table))
		}
	}
}

func TestVectorsOfAnEarlierVersionGetTheirSigns(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "footnote.db")
	before, err := Open(t.Context(), path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	units := clusteredUnits(rand.New(rand.NewPCG(15, 16)), 25_000, 16, 10)
	upsertUnits(t, before.Vectors("test"), units)
	err = before.writeTx(t.Context(), true, func(t *tx) error {
		for _, statement := range []string{`DELETE FROM vector_signs`, `UPDATE vector_models SET signed = 0`} {
			if _, err := t.Exec(statement); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	db := openAt(t, path)
	if blocks, table := signsOfVectors(t, db); !slices.Equal(blocks, table) {
		t.Fatalf("blocks hold %d vectors, want the %d of the table", len(blocks), len(table))
	}
	hits, err := db.Vectors("test").SearchVectors(t.Context(), chat.Local, units[777], nil, 1)
	if err != nil || len(hits) != 1 || hits[0].PassageID != "p000777" {
		t.Errorf("found %v, %v; want p000777", hits, err)
	}
}
