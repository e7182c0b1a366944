// Command generate generates the assembly of package kernel: for amd64 with avo, or for arm64.
//
// A tile is a part of a matrix product whose sums stay in registers: rows of the left side by two registers of
// columns of the right. There is a routine for each number of rows, because assembly can't loop over registers.
// main.go and rows.go are for amd64; neon.go and neonrows.go print the assembly for arm64, with instructions that
// Go's assembler partly does not support.
package main

import (
	"flag"
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	arm64 := flag.Bool("arm64", false, "write the assembly for arm64 to standard output")
	flag.Parse()
	if *arm64 {
		writeNEON()
		return
	}
	ConstraintExpr("amd64")
	for rows := range wide.rows {
		vnniTile(rows + 1)
		fusedTile(rows+1, wide)
	}
	for rows := range narrow.rows {
		pairTile(rows + 1)
		fusedTile(rows+1, narrow)
	}
	for _, v := range []vector{wide, narrow} {
		v.expRow()
		v.geluRow()
		v.quantiseRow()
	}
	Generate()
}

// vector is a register width: 16 floats with AVX-512, 8 with AVX2.
type vector struct {
	name  string
	bytes int
	rows  int // maximum rows of a tile, whose sums fill the registers
	new   func() VecVirtual
}

var (
	wide   = vector{"512", 64, 12, ZMM}
	narrow = vector{"256", 32, 6, YMM}
)

func (v vector) several(n int) []VecVirtual {
	out := make([]VecVirtual, n)
	for i := range out {
		out[i] = v.new()
	}
	return out
}

// constant returns a register with the float in each lane.
func (v vector) constant(value float32) VecVirtual {
	r := v.new()
	VBROADCASTSS(float(value), r)
	return r
}

// floats are the constants in memory, deduplicated.
var floats = map[float32]Mem{}

func float(value float32) Mem {
	m, ok := floats[value]
	if !ok {
		m = ConstData(fmt.Sprintf("float%d", len(floats)), F32(value))
		floats[value] = m
	}
	return m
}

// rowPointers computes the addresses of rows that are stride bytes apart: every third row has a register, which
// advance moves along the row.
type rowPointers struct {
	bases  []Register
	stride Register
}

// newRowPointers returns the pointers from the first row's address. An address may be a base plus once or twice the
// stride, so one register serves three rows.
func newRowPointers(first, stride Register, rows int) rowPointers {
	p := rowPointers{[]Register{first}, stride}
	for at := 3; at < rows; at += 3 {
		next := GP64()
		LEAQ(Mem{Base: p.bases[len(p.bases)-1], Index: stride, Scale: 2}, next)
		ADDQ(stride, next)
		p.bases = append(p.bases, next)
	}
	return p
}

func (p rowPointers) at(row, bytes int) Mem {
	m := Mem{Base: p.bases[row/3], Disp: bytes}
	if row%3 > 0 {
		m.Index, m.Scale = p.stride, uint8(row%3)
	}
	return m
}

func (p rowPointers) advance(bytes int) {
	for _, base := range p.bases {
		ADDQ(I32(bytes), base)
	}
}

const unrolled = 4 // steps of the innermost loop of an integer tile

const tileSignature = "func(y *float32, yStride uintptr, x *byte, xStride, steps uintptr, w *byte, " +
	"scales, columns *float32)"

// vnniTile sums 8-bit products of rows with 32 outputs, four at a time, and stores the results as floats.
func vnniTile(rows int) {
	TEXT(fmt.Sprintf("vnni%d", rows), NOSPLIT, tileSignature)
	Pragma("noescape")
	multiply := func(sum, x, w, _ VecVirtual) { VPDPBUSD(w, x, sum) }
	tile{wide, rows, 4, multiply, func(m Mem, w VecVirtual) { VMOVDQU32(m, w) }}.emit()
}

// pairTile is vnniTile for 16 outputs and rows of 16-bit numbers, two at a time, which AVX2 multiplies without
// saturation.
func pairTile(rows int) {
	TEXT(fmt.Sprintf("pair%d", rows), NOSPLIT, tileSignature)
	Pragma("noescape")
	multiply := func(sum, x, w, product VecVirtual) {
		VPMADDWD(x, w, product)
		VPADDD(product, sum, sum)
	}
	tile{narrow, rows, 2, multiply, func(m Mem, w VecVirtual) { VPMOVSXBW(m, w) }}.emit()
}

// tile holds the differences of vnniTile and pairTile: how weights are loaded and multiplied.
type tile struct {
	vector
	rows     int
	depth    int // weights per output and step
	multiply func(sum, x, w, spare VecVirtual)
	load     func(Mem, VecVirtual)
}

// emit emits the routine: for each step it loads the weights of two registers of outputs, and for each row it
// broadcasts the codes and multiplies both.
func (t tile) emit() {
	x := newRowPointers(Load(Param("x"), GP64()), Load(Param("xStride"), GP64()), t.rows)
	w, steps := Load(Param("w"), GP64()), Load(Param("steps"), GP64())
	left, right := t.several(t.rows), t.several(t.rows)
	for i := range t.rows {
		zero(left[i])
		zero(right[i])
	}
	a, b, row, product := t.new(), t.new(), t.new(), VecVirtual(nil)
	if t.depth == 2 {
		product = t.new()
	}
	stepBytes := t.bytes / 4 * t.depth // of weights, for a register of outputs
	name := "sum"
	Label(name)
	for step := range unrolled {
		t.load(Mem{Base: w, Disp: 2 * step * stepBytes}, a)
		t.load(Mem{Base: w, Disp: (2*step + 1) * stepBytes}, b)
		for i := range t.rows {
			VPBROADCASTD(x.at(i, 4*step), row)
			t.multiply(left[i], row, a, product)
			t.multiply(right[i], row, b, product)
		}
	}
	ADDQ(I32(2*unrolled*stepBytes), w)
	x.advance(4 * unrolled)
	DECQ(steps)
	JNZ(LabelRef(name))
	t.finish(left, right, a, row)
}

// finish stores step·scale·sum + low·total + bias: columns has the scales, totals and biases of the outputs, scales
// the step and low of each row.
func (t tile) finish(left, right []VecVirtual, spare, base VecVirtual) {
	y := newRowPointers(Load(Param("y"), GP64()), Load(Param("yStride"), GP64()), t.rows)
	columns, scales := Load(Param("columns"), GP64()), Load(Param("scales"), GP64())
	outputs := 2 * t.bytes // bytes of a tile's outputs as floats
	for i := range t.rows {
		for half, sum := range []VecVirtual{left[i], right[i]} {
			at := half * t.bytes
			VCVTDQ2PS(sum, sum)
			VMULPS(Mem{Base: columns, Disp: at}, sum, sum)
			VMOVUPS(Mem{Base: columns, Disp: 2*outputs + at}, base)
			VBROADCASTSS(Mem{Base: scales, Disp: 8*i + 4}, spare)
			VFMADD231PS(Mem{Base: columns, Disp: outputs + at}, spare, base)
			VBROADCASTSS(Mem{Base: scales, Disp: 8 * i}, spare)
			VFMADD231PS(sum, spare, base)
			VMOVUPS(base, y.at(i, at))
		}
	}
	VZEROUPPER()
	RET()
}

// zero clears a register.
func zero(r VecVirtual) {
	if r.Size() == 64 {
		VPXORD(r, r, r)
	} else {
		VPXOR(r, r, r)
	}
}

// fusedTile multiplies rows of floats with two registers of columns: c = a·b.
func fusedTile(rows int, v vector) {
	TEXT(fmt.Sprintf("fused%s_%d", v.name, rows), NOSPLIT,
		"func(c *float32, cStride uintptr, a *float32, aStride uintptr, b *float32, "+
			"bStride, depth uintptr)")
	Pragma("noescape")
	a := newRowPointers(Load(Param("a"), GP64()), Load(Param("aStride"), GP64()), rows)
	b, bStride, depth := Load(Param("b"), GP64()), Load(Param("bStride"), GP64()), Load(Param("depth"), GP64())
	left, right := v.several(rows), v.several(rows)
	for i := range rows {
		zero(left[i])
		zero(right[i])
	}
	first, second, row := v.new(), v.new(), v.new()
	Label("sum")
	VMOVUPS(Mem{Base: b}, first)
	VMOVUPS(Mem{Base: b, Disp: v.bytes}, second)
	for i := range rows {
		VBROADCASTSS(a.at(i, 0), row)
		VFMADD231PS(first, row, left[i])
		VFMADD231PS(second, row, right[i])
	}
	ADDQ(bStride, b)
	a.advance(4)
	DECQ(depth)
	JNZ(LabelRef("sum"))
	c := newRowPointers(Load(Param("c"), GP64()), Load(Param("cStride"), GP64()), rows)
	for i := range rows {
		VMOVUPS(left[i], c.at(i, 0))
		VMOVUPS(right[i], c.at(i, v.bytes))
	}
	VZEROUPPER()
	RET()
}
