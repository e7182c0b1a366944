package kernel

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

func random(r *rand.Rand, n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(r.NormFloat64())
	}
	return out
}

// far returns the maximum difference of two slices.
func far(a, b []float32) (most float64) {
	for i := range a {
		most = max(most, math.Abs(float64(a[i]-b[i])))
	}
	return most
}

// FOOTNOTE_TEST_KERNEL is the name of the expected routines on an emulated processor.
func TestProcessorSelectsRoutines(t *testing.T) {
	t.Parallel()
	t.Log(Name())
	if want, ok := os.LookupEnv("FOOTNOTE_TEST_KERNEL"); ok && Name() != want {
		t.Errorf("got the routines %q, want %q", Name(), want)
	}
}

func TestKernelsMultiplyLikeGo(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		inputs, outputs, count := 1+r.IntN(400), 1+r.IntN(400), 1+i%40 // rows, for tiles of each height
		if r.IntN(2) == 0 {
			inputs, outputs = padded(inputs), padded(outputs)
		}
		w, bias, x := random(r, inputs*outputs), random(r, outputs), random(r, inputs*count)
		exact := make([]float32, count*outputs)
		for t := range count {
			for o := range outputs {
				sum := float64(bias[o])
				for i := range inputs {
					sum += float64(w[o*inputs+i]) * float64(x[t*inputs+i])
				}
				exact[t*outputs+o] = float32(sum)
			}
		}
		want := make([]float32, count*outputs)
		for _, k := range sets() {
			l, err := k.pack(w, bias)
			if err != nil {
				t.Fatal(err)
			}
			var rows Rows
			var s Scratch
			k.setRows(&rows, x, inputs, &s)
			got := make([]float32, count*outputs)
			k.apply(&l, got, &rows, &s)
			floats := make([]float32, count*outputs)
			if k.multiply(floats, x, w, bias, &s); !(far(floats, exact) < 1e-3) {
				t.Errorf("%d × %d, %d rows, %s: floats differ by %g",
					inputs, outputs, count, k.name, far(floats, exact))
			}
			if k == &plain {
				copy(want, got)
				if d := far(got, exact); !(d < 0.06*math.Sqrt(float64(inputs))) {
					t.Errorf("%d × %d, %d rows, %s: got a distance of %g from the product of floats",
						inputs, outputs, count, k.name, d)
				}
			} else if d := far(got, want); !(d < 1e-4) {
				t.Errorf("%d × %d, %d rows, %s: got a distance of %g from plain Go", inputs, outputs, count, k.name, d)
			}
		}
	}
}

func TestKernelsMixLikeGo(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for range 40 {
		width := 1 + r.IntN(70)
		size, count := width*(1+r.IntN(4)), 1+r.IntN(90)
		q, key, v := random(r, size*count), random(r, size*count), random(r, size*count)
		var bias []float32
		if r.IntN(2) == 0 {
			bias = random(r, size/width*(2*count-1))
		}
		want := make([]float32, size*count)
		for head := 0; head < size; head += width {
			for t := range count {
				var sum float64
				mixed := make([]float64, width)
				for u := range count {
					var score float64
					for d := head; d < head+width; d++ {
						score += float64(q[t*size+d]) * float64(key[u*size+d])
					}
					if bias != nil {
						score += float64(bias[head/width*(2*count-1)+u-t+count-1])
					}
					e := math.Exp(score)
					sum += e
					for d := range mixed {
						mixed[d] += e * float64(v[u*size+head+d])
					}
				}
				for d := range mixed {
					want[t*size+head+d] = float32(mixed[d] / sum)
				}
			}
		}
		for _, k := range sets() {
			got := make([]float32, size*count)
			k.mix(got, q, key, v, bias, size, width, new(Scratch))
			if d := far(got, want); !(d < 1e-4) {
				t.Errorf("%d tokens, heads of %d in %d, %s: got a distance of %g from the definition",
					count, width, size, k.name, d)
			}
		}
	}
}

func TestKernelsHaveAllFunctions(t *testing.T) {
	t.Parallel()
	var x []float32
	for v := float32(-12); v < 12; v += 1.0 / 64 {
		x = append(x, v)
	}
	for _, k := range sets() {
		got := append([]float32{}, x...)
		k.geluAll(got)
		for i, v := range x {
			if want := float64(
				v,
			) * 0.5 * (1 + math.Erf(float64(v)/math.Sqrt2)); !(math.Abs(float64(got[i])-want) < 2e-6) {
				t.Fatalf("%s: gelu(%g) is %g, want %g", k.name, v, got[i], want)
			}
		}
		got = append([]float32{}, x...)
		sum := k.exp(&got[0], uintptr(len(got)/k.floats))
		var all float64
		for i, v := range x {
			want := math.Exp(float64(v) - float64(x[len(x)-1]))
			all += want
			if !(math.Abs(float64(got[i])-want) <= 3e-7*want+1e-37) {
				t.Fatalf("%s: exp(%g) is %g, want %g", k.name, v-x[len(x)-1], got[i], want)
			}
		}
		if !(math.Abs(float64(sum)-all) < 1e-5*all) {
			t.Errorf("%s: the sum is %g, want %g", k.name, sum, all)
		}
	}
}

func TestNaNIsPropagated(t *testing.T) {
	t.Parallel()
	for _, k := range sets() {
		x := make([]float32, 2*block)
		for i := range x {
			x[i] = float32(math.NaN())
		}
		k.geluAll(x)
		if x[5] == x[5] {
			t.Errorf("%s: gelu(NaN) = %g, want NaN", k.name, x[5])
		}
		l, err := k.pack(make([]float32, block*block), make([]float32, block))
		if err != nil {
			t.Fatal(err)
		}
		var rows Rows
		var s Scratch
		k.setRows(&rows, x, block, &s)
		y := make([]float32, 2*block)
		if k.apply(&l, y, &rows, &s); y[0] == y[0] || y[2*block-1] == y[2*block-1] {
			t.Errorf("%s: layer of NaN = %g, want NaN", k.name, y[0])
		}
	}
}

// benchmarkSets runs a benchmark with each set.
func benchmarkSets(b *testing.B, run func(b *testing.B, k *set)) {
	for _, k := range sets() {
		b.Run(k.name, func(b *testing.B) { run(b, k) })
	}
}

// benchmarkLayer runs a benchmark of a layer with each set, and reports the products per second.
func benchmarkLayer(b *testing.B, run func(b *testing.B, k *set, y, x, w, bias []float32, inputs int)) {
	r := rand.New(rand.NewPCG(5, 6))
	const inputs, outputs, count = 384, 1536, 200
	w, bias, x := random(r, inputs*outputs), random(r, outputs), random(r, inputs*count)
	y := make([]float32, count*outputs)
	benchmarkSets(b, func(b *testing.B, k *set) {
		run(b, k, y, x, w, bias, inputs)
		b.ReportMetric(float64(b.N)*inputs*outputs*count/b.Elapsed().Seconds()/1e9, "G/s")
	})
}

func BenchmarkLinear(b *testing.B) {
	benchmarkLayer(b, func(b *testing.B, k *set, y, x, w, bias []float32, inputs int) {
		l, _ := k.pack(w, bias)
		var rows Rows
		var s Scratch
		for b.Loop() {
			k.setRows(&rows, x, inputs, &s)
			k.apply(&l, y, &rows, &s)
		}
	})
}

func BenchmarkMultiply(b *testing.B) {
	benchmarkLayer(b, func(b *testing.B, k *set, y, x, w, bias []float32, _ int) {
		var s Scratch
		for b.Loop() {
			k.multiply(y, x, w, bias, &s)
		}
	})
}

func BenchmarkMix(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	const size, width, count = 384, 32, 200
	q, key, v, out := random(r, size*count), random(r, size*count), random(r, size*count), make([]float32, size*count)
	benchmarkSets(b, func(b *testing.B, k *set) {
		var s Scratch
		for b.Loop() {
			k.mix(out, q, key, v, nil, size, width, &s)
		}
	})
}

func BenchmarkGelu(b *testing.B) {
	start := random(rand.New(rand.NewPCG(5, 6)), 200*1536)
	x := make([]float32, len(start))
	benchmarkSets(b, func(b *testing.B, k *set) {
		for b.Loop() {
			copy(x, start)
			k.geluAll(x)
		}
	})
}
