package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Coefficients of e to the power of r, |r| ≤ ln 2 / 2: Cephes' expf.
var powers = []float32{
	1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1, 1, 1,
}

const nearest = 8 // round to the nearest integer, without an exception

// exponential emits e to the power of x ≤ 0. It overwrites x. x is n·ln 2 + r with integer n and |r| at most half
// of ln 2; then e^x is 2^n·e^r. ln 2 is subtracted in two parts, high and low, to keep the precision (Cody and
// Waite). x is clamped at -87, below which the result is hardly a normal float.
type exponential struct {
	vector
	least, log2e, high, low VecVirtual
	powers                  []VecVirtual
	bias                    VecVirtual
}

// newExponential loads the constants, which stay in registers for the whole row. 0.693359375 has so few bits that
// its product with n is exact; low is the rest of ln 2.
func (v vector) newExponential() exponential {
	e := exponential{vector: v, least: v.constant(-87), log2e: v.constant(1.44269504), high: v.constant(0.693359375),
		low: v.constant(-2.12194440e-4)}
	if v.bytes == 32 { // only half of the registers: coefficients stay in memory
		return e
	}
	for _, p := range powers[:len(powers)-1] {
		e.powers = append(e.powers, v.constant(p))
	}
	return e
}

// emit emits e^r by its polynomial, then adds the exponent: by an instruction with AVX-512, by integer addition
// with AVX2.
func (e exponential) emit(x, out, whole VecVirtual) {
	VMAXPS(e.least, x, x)
	VMULPS(e.log2e, x, whole)
	if e.bytes == 64 {
		VRNDSCALEPS(Imm(nearest), whole, whole)
	} else {
		VROUNDPS(Imm(nearest), whole, whole)
	}
	// From here on x is r: subtract the exact part first, then the small one.
	VFNMADD231PS(e.high, whole, x)
	VFNMADD231PS(e.low, whole, x)
	if e.bytes == 64 {
		VMOVAPS(e.powers[0], out)
		for _, p := range e.powers[1:] {
			VFMADD213PS(p, x, out)
		}
		VFMADD213PS(e.powers[len(e.powers)-1], x, out)
		VSCALEFPS(whole, out, out)
		return
	}
	// With AVX2 each coefficient is loaded from memory.
	spare := e.new()
	VBROADCASTSS(float(powers[0]), out)
	for _, p := range powers[1:] {
		VBROADCASTSS(float(p), spare)
		VFMADD213PS(spare, x, out)
	}
	// Multiply by 2^n: the exponent of a float begins at bit 23, where n is added.
	VCVTPS2DQ(whole, whole)
	VPSLLD(Imm(23), whole, whole)
	VPADDD(whole, out, out) // out is between ½ and 2, whole at least -126
}

// expRow replaces each x with e to the power of x minus the maximum, and returns their sum.
func (v vector) expRow() {
	TEXT("exp"+v.name, NOSPLIT, "func(x *float32, blocks uintptr) float32")
	Pragma("noescape")
	x, blocks := Load(Param("x"), GP64()), Load(Param("blocks"), GP64())
	// Two passes over the row: for the maximum, and for the powers. A row of attention is short and stays in the
	// cache.
	most, sum := v.new(), v.new()
	at, left := GP64(), GP64()
	MOVQ(x, at)
	MOVQ(blocks, left)
	VMOVUPS(Mem{Base: x}, most)
	Label("greatest")
	VMAXPS(Mem{Base: at}, most, most)
	ADDQ(I32(v.bytes), at)
	DECQ(left)
	JNZ(LabelRef("greatest"))
	// Only the first lane has the maximum; broadcast it.
	v.fold(most, func(a, b, to Op) { VMAXPS(a, b, to) })
	VBROADCASTSS(most.AsX(), most)
	zero(sum)
	e := v.newExponential()
	in, out, whole := v.new(), v.new(), v.new()
	Label("next")
	VMOVUPS(Mem{Base: x}, in)
	VSUBPS(most, in, in)
	e.emit(in, out, whole)
	VMOVUPS(out, Mem{Base: x})
	VADDPS(out, sum, sum)
	ADDQ(I32(v.bytes), x)
	DECQ(blocks)
	JNZ(LabelRef("next"))
	v.fold(sum, func(a, b, to Op) { VADDPS(a, b, to) })
	Store(sum.AsX(), ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// fold reduces all lanes of r with combine into the first.
func (v vector) fold(r VecVirtual, combine func(a, b, to Op)) {
	spare := v.new()
	if v.bytes == 64 {
		VEXTRACTF64X4(Imm(1), r.AsZ(), spare.AsY())
		combine(spare.AsY(), r.AsY(), r.AsY())
	}
	// Combine halves until one lane is left: 16 or 8 floats, then 4, 2 and 1. The masks of VPERMILPS swap pairs,
	// then neighbours.
	VEXTRACTF128(Imm(1), r.AsY(), spare.AsX())
	combine(spare.AsX(), r.AsX(), r.AsX())
	VPERMILPS(Imm(0b01001110), r.AsX(), spare.AsX())
	combine(spare.AsX(), r.AsX(), r.AsX())
	VPERMILPS(Imm(0b10110001), r.AsX(), spare.AsX())
	combine(spare.AsX(), r.AsX(), r.AsX())
}

// Coefficients of erf: Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26, each halved; accurate to
// 1.5e-7.
var erf = []float32{1.061405429 / 2, -1.453152027 / 2, 1.421413741 / 2, -0.284496736 / 2, 0.254829592 / 2}

// geluRow replaces each x with x·½(1 + erf(x/√2)).
func (v vector) geluRow() {
	TEXT("gelu"+v.name, NOSPLIT, "func(x *float32, blocks uintptr)")
	Pragma("noescape")
	x, blocks := Load(Param("x"), GP64()), Load(Param("blocks"), GP64())
	e := v.newExponential()
	one := v.constant(1)
	in, z, t, out, whole, spare := v.new(), v.new(), v.new(), v.new(), v.new(), v.new()
	Label("next")
	VMOVUPS(Mem{Base: x}, in)
	// p of the formula, times 1/√2, as z is |x| here and x/√2 there. Shifting out the sign bit gives |x|.
	VBROADCASTSS(float(0.3275911*0.70710678), spare)
	VPSLLD(Imm(1), in, z) // |x|
	VPSRLD(Imm(1), z, z)
	VMOVAPS(one, t)
	VFMADD231PS(spare, z, t)
	VDIVPS(t, one, t) // 1 / (1 + p·z)
	// -z²/2 is the exponent of e: the formula's -(x/√2)².
	VBROADCASTSS(float(-0.5), spare)
	VMULPS(z, z, z)
	VMULPS(spare, z, z)
	e.emit(z, out, whole)
	VBROADCASTSS(float(erf[0]), whole)
	for _, c := range erf[1:] {
		VBROADCASTSS(float(c), spare)
		VFMADD213PS(spare, t, whole)
	}
	VMULPS(t, whole, whole)
	VMULPS(out, whole, whole) // ½(1 - erf(|x|/√2))
	// For x > 0 it is 1 minus that: x·h + max(x, 0)·(1 - 2h) is right for both signs and keeps NaN.
	zero(spare)
	VMAXPS(in, spare, spare)
	VADDPS(whole, whole, z)
	VSUBPS(z, one, z)
	VMULPS(z, spare, spare)
	VFMADD213PS(spare, whole, in)
	VMOVUPS(in, Mem{Base: x})
	ADDQ(I32(v.bytes), x)
	DECQ(blocks)
	JNZ(LabelRef("next"))
	VZEROUPPER()
	RET()
}

// quantiseRow stores each x as an integer number of steps from the minimum: bytes with AVX-512, 16 bits with AVX2.
func (v vector) quantiseRow() {
	TEXT("quantise"+v.name, NOSPLIT, "func(q *byte, x *float32, blocks uintptr, scales *float32)")
	Pragma("noescape")
	q, x, blocks := Load(Param("q"), GP64()), Load(Param("x"), GP64()), Load(Param("blocks"), GP64())
	least, most, in := v.new(), v.new(), v.new()
	VMOVUPS(Mem{Base: x}, least)
	VMOVAPS(least, most)
	at, left := GP64(), GP64()
	MOVQ(x, at)
	MOVQ(blocks, left)
	Label("range")
	VMOVUPS(Mem{Base: at}, in)
	VMINPS(in, least, least)
	VMAXPS(in, most, most)
	ADDQ(I32(v.bytes), at)
	DECQ(left)
	JNZ(LabelRef("range"))
	v.fold(least, func(a, b, to Op) { VMINPS(a, b, to) })
	v.fold(most, func(a, b, to Op) { VMAXPS(a, b, to) })
	scales := Load(Param("scales"), GP64())
	step, per := XMM(), v.new()
	VSUBSS(least.AsX(), most.AsX(), step)
	VMULSS(float(1.0/255), step, step)
	VMOVSS(step, Mem{Base: scales})
	VMOVSS(least.AsX(), Mem{Base: scales, Disp: 4})
	VPXOR(per.AsX(), per.AsX(), per.AsX())
	// A row of equal values has no step, and division by it would be infinite: then per and all codes are 0.
	VUCOMISS(per.AsX(), step)
	JE(LabelRef("flat"))
	spare := XMM()
	VMOVSS(float(1), spare)
	VDIVSS(step, spare, per.AsX())
	Label("flat")
	VBROADCASTSS(per.AsX(), per)
	VBROADCASTSS(least.AsX(), least)
	Label("next")
	VMOVUPS(Mem{Base: x}, in)
	VSUBPS(least, in, in)
	VMULPS(per, in, in)
	VCVTPS2DQ(in, in)
	if v.bytes == 64 {
		// It saturates.
		VPMOVUSDB(in, Mem{Base: q})
	} else {
		VEXTRACTI128(Imm(1), in, most.AsX())
		VPACKUSDW(most.AsX(), in.AsX(), in.AsX())
		VMOVDQU(in.AsX(), Mem{Base: q})
	}
	ADDQ(I32(v.bytes), x)
	ADDQ(I32(16), q)
	DECQ(blocks)
	JNZ(LabelRef("next"))
	VZEROUPPER()
	RET()
}
