package main

// horner emits coefficients[0]·xⁿ + … + coefficients[n], alternating between two result registers. FMLA adds to its
// first operand, which therefore holds the next coefficient; amd64 has a form that multiplies it.
func horner(x registers, coefficients []registers, one, other registers) registers {
	before := coefficients[0]
	for _, c := range coefficients[1:] {
		move(one, c)
		fmla(one, before, x)
		before, one, other = one, other, one
	}
	return before
}

// neonExponential emits e to the power of x ≤ 0.
type neonExponential struct {
	least, log2e, high, low registers
	powers                  []registers
	one                     registers
}

// newNEONExponential allocates registers for the constants. All of them fit into the 32 registers.
func newNEONExponential(a *allocator) neonExponential {
	e := neonExponential{least: a.constant(-87), log2e: a.constant(1.44269504), high: a.constant(0.693359375),
		low: a.constant(-2.12194440e-4), powers: a.constants(powers[:len(powers)-1])}
	e.one = e.powers[len(e.powers)-1] // the last two are 1
	e.powers = append(e.powers, e.one)
	return e
}

// emit returns the result register: one or other. It overwrites x and whole.
func (e neonExponential) emit(x, whole, one, other registers) registers {
	fmax(x, x, e.least)
	fmul(whole, x, e.log2e)
	frintn(whole, whole)
	fmls(x, whole, e.high)
	fmls(x, whole, e.low)
	out := horner(x, e.powers, one, other)
	fcvtns(whole, whole)
	for _, r := range whole {
		line("VSHL $23, V%d.S4, V%d.S4", r, r)
	}
	add(out, out, whole) // out is between ½ and 2, whole at least -126
	return out
}

// neonExpRow is expRow for blocks of 16 floats.
func neonExpRow() {
	text("exp128", "(x *float32, blocks uintptr) float32", 20)
	var a allocator
	x, whole, one, other, sum := a.several(4), a.several(4), a.several(4), a.several(4), a.several(4)
	most := a.several(1)
	line("MOVD x+0(FP), R0")
	line("MOVD blocks+8(FP), R1")
	line("MOVD R0, R2")
	line("MOVD R1, R3")
	line("VLD1 (R0), %s", sum.list())
	label("greatest")
	line("VLD1.P 64(R2), %s", x.list())
	fmax(sum, sum, x)
	again("greatest", "R3")
	// sum is used for the maximum of the four registers here, and for the sum after that.
	fmax(sum[:2], sum[:2], sum[2:])
	fmax(most, sum[:1], sum[1:2])
	fmaxv(most, most)
	line("VDUP V%d.S[0], V%d.S4", most[0], most[0])
	clearAll(sum)
	e := newNEONExponential(&a)
	label("next")
	line("VLD1 (R0), %s", x.list())
	fsub(x, x, most)
	out := e.emit(x, whole, one, other)
	line("VST1.P %s, 64(R0)", out.list())
	fadd(sum, sum, out)
	again("next", "R1")
	fadd(sum[:2], sum[:2], sum[2:])
	fadd(sum[:1], sum[:1], sum[1:2])
	// Twice: the first adds pairs of four lanes, the second the results.
	faddp(sum[:1], sum[:1], sum[:1])
	faddp(sum[:1], sum[:1], sum[:1])
	line("FMOVS F%d, ret+16(FP)", sum[0])
	line("RET")
}

// neonGeluRow is geluRow for blocks of 16 floats, half a block at a time.
func neonGeluRow() {
	text("gelu128", "(x *float32, blocks uintptr)", 16)
	var a allocator
	// Half a block, since a whole one would need more than 32 registers with the constants.
	in, z, t := a.several(2), a.several(2), a.several(2)
	whole, one, other := a.several(2), a.several(2), a.several(2)
	line("MOVD x+0(FP), R0")
	line("MOVD blocks+8(FP), R1")
	line("LSL $1, R1")
	e := newNEONExponential(&a)
	p, half, coefficients, zero := a.constant(0.3275911*0.70710678), a.constant(-0.5), a.constants(erf), a.several(1)
	clearAll(zero)
	label("next")
	line("VLD1 (R0), %s", in.list())
	fabs(z, in)
	move(t, e.one)
	fmla(t, z, p)
	fdiv(t, e.one, t) // 1 / (1 + p·z)
	fmul(z, z, z)
	fmul(z, z, half)
	power := e.emit(z, whole, one, other)
	// Reuse z and whole as horner's alternating registers.
	h := horner(t, coefficients, z, whole)
	fmul(h, h, t)
	fmul(h, h, power) // ½(1 - erf(|x|/√2))
	// For x > 0 it is 1 minus that: x·h + max(x, 0)·(1 - 2h) is right for both signs and keeps NaN.
	fmax(power, in, zero)
	fadd(t, h, h)
	fsub(t, e.one, t)
	fmul(power, power, t)
	fmla(power, h, in)
	line("VST1.P %s, 32(R0)", power.list())
	again("next", "R1")
	line("RET")
}

// neonQuantiseRow stores each x as an integer number of steps from the minimum, minus 128: a signed byte. The row's
// second scale is the value of code 0, 128 steps above the minimum.
func neonQuantiseRow() {
	text("quantise128", "(q *byte, x *float32, blocks uintptr, scales *float32)", 32)
	var a allocator
	x, least, most := a.several(4), a.several(4), a.several(4)
	line("MOVD q+0(FP), R0")
	line("MOVD x+8(FP), R1")
	line("MOVD blocks+16(FP), R2")
	line("MOVD scales+24(FP), R5")
	line("MOVD R1, R3")
	line("MOVD R2, R4")
	line("VLD1 (R1), %s", least.list())
	move(most, least)
	label("range")
	line("VLD1.P 64(R3), %s", x.list())
	fmin(least, least, x)
	fmax(most, most, x)
	again("range", "R4")
	fmin(least[:2], least[:2], least[2:])
	fmin(least[:1], least[:1], least[1:2])
	fminv(least[:1], least[:1])
	fmax(most[:2], most[:2], most[2:])
	fmax(most[:1], most[:1], most[1:2])
	fmaxv(most[:1], most[:1])
	step, per, factor := a.several(1), a.several(1), a.constant(1.0/255)
	line("FSUBS F%d, F%d, F%d", least[0], most[0], step[0])
	line("FMULS F%d, F%d, F%d", factor[0], step[0], step[0])
	middle := a.constant(128)
	line("FMADDS F%d, F%d, F%d, F%d", middle[0], least[0], step[0], most[0]) // least + 128·step
	line("FMOVS F%d, (R5)", step[0])
	line("FMOVS F%d, 4(R5)", most[0])
	clearAll(per)
	// As in quantiseRow: a row of equal values has no step.
	line("FCMPS F%d, F%d", per[0], step[0])
	line("BEQ flat")
	line("FMOVS $1.0, F%d", per[0])
	line("FDIVS F%d, F%d, F%d", step[0], per[0], per[0])
	label("flat")
	line("VDUP V%d.S[0], V%d.S4", per[0], per[0])
	line("VDUP V%d.S[0], V%d.S4", least[0], least[0])
	// 128 as an integer, subtracted from each code.
	fcvtns(middle, middle)
	label("next")
	line("VLD1.P 64(R1), %s", x.list())
	fsub(x, x, least[:1])
	fmul(x, x, per)
	fcvtns(x, x)
	sub(x, x, middle)
	// Narrow four registers of 32 bits to one of 16 bytes, in two saturating steps.
	shorts(x[:1], x[:1])
	upperShort(x[:1], x[1:2])
	shorts(x[2:3], x[2:3])
	upperShort(x[2:3], x[3:])
	bytes(x[:1], x[:1])
	upperBytes(x[:1], x[2:3])
	line("VST1.P [V%d.B16], 16(R0)", x[0])
	again("next", "R2")
	line("RET")
}
