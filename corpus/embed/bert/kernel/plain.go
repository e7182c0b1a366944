package kernel

import (
	"math"
	"slices"
	"unsafe"
)

// plain holds the routines in plain Go, for any processor. outputs and depth define the layout of weights in tiles:
// 16 adjacent outputs, each with 4 consecutive inputs.
var plain = set{
	name:    "plain Go",
	outputs: 16,
	depth:   4,
	code:    1,
	floats:  16,
	tiles: []tileRoutine{
		plainTile,
	},
	fused:    []fusedRoutine{plainFused},
	exp:      plainExp,
	gelu:     plainGelu,
	quantise: plainQuantise,
}

// plainTile is the tileRoutine for one row. Its integer sums equal those of the other sets.
func plainTile(y *float32, _ uintptr, x *byte, _, groups uintptr, w *byte, scales, columns *float32) {
	const outputs, depth = 16, 4
	inputs := int(groups) * unrolled * depth
	// The signature is that of the assembly, with pointers and counts; convert them to slices.
	codes, weights := unsafe.Slice(x, inputs), unsafe.Slice(w, inputs*outputs)
	scale, by, out := unsafe.Slice(scales, 2), unsafe.Slice(columns, 3*outputs), unsafe.Slice(y, outputs)
	var sums [outputs]int32
	for at := 0; at < inputs; at += depth {
		a, b, c, d := int32(codes[at]), int32(codes[at+1]), int32(codes[at+2]), int32(codes[at+3])
		// Slices of a known length eliminate bounds checks in the loop below.
		group := weights[at*outputs:][: depth*outputs : depth*outputs]
		for o := range sums {
			w := group[depth*o:][:depth:depth]
			sums[o] += a*int32(int8(w[0])) + b*int32(int8(w[1])) + c*int32(int8(w[2])) + d*int32(int8(w[3]))
		}
	}
	for o, sum := range sums {
		out[o] = scale[0]*(by[o]*float32(sum)) + scale[1]*by[outputs+o] + by[2*outputs+o]
	}
}

// plainFused is the fusedRoutine for one row.
func plainFused(c *float32, _ uintptr, a *float32, _ uintptr, b *float32, bStride, depth uintptr) {
	const columns = 16
	out, row := unsafe.Slice(c, columns), unsafe.Slice(a, depth)
	var sums [columns]float32
	for i, x := range row {
		by := unsafe.Slice((*float32)(unsafe.Add(unsafe.Pointer(b), uintptr(i)*bStride)), columns)
		for o := range sums {
			sums[o] += x * by[o]
		}
	}
	copy(out, sums[:])
}

// plainExp replaces each x with e to the power of x minus the maximum, and returns the sum.
func plainExp(x *float32, blocks uintptr) (sum float32) {
	values := unsafe.Slice(x, 16*blocks)
	most := slices.Max(values)
	for i, v := range values {
		// Subtracting the maximum prevents overflow: the largest power is e^0 = 1, and shares stay the same.
		e := float32(math.Exp(float64(v - most)))
		values[i] = e
		sum += e
	}
	return sum
}

// plainGelu is exact; the other sets are accurate to 1.5e-7, since they approximate erf.
func plainGelu(x *float32, blocks uintptr) {
	values := unsafe.Slice(x, 16*blocks)
	for i, v := range values {
		values[i] = float32(float64(v) * 0.5 * (1 + math.Erf(float64(v)/math.Sqrt2)))
	}
}

// plainQuantise rounds half to even, like the processors' instructions, so that all sets have the same codes.
func plainQuantise(q *byte, x *float32, blocks uintptr, scales *float32) {
	values := unsafe.Slice(x, 16*blocks)
	codes, scale := unsafe.Slice(q, len(values)), unsafe.Slice(scales, 2)
	least, most := values[0], values[0]
	for _, v := range values {
		least, most = min(least, v), max(most, v)
	}
	// 255 steps span the range; if all values are equal there is no step, and all codes are 0.
	step, per := (most-least)*(1.0/255), float32(0)
	if step != 0 {
		per = 1 / step
	}
	scale[0], scale[1] = step, least
	for i, v := range values {
		codes[i] = byte(max(0, min(255, int32(math.RoundToEven(float64((v-least)*per))))))
	}
}
