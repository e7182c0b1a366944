package kernel

import "golang.org/x/sys/cpu"

var best = choose()

// choose returns the set with the widest registers that the processor supports. VNNI multiplies bytes and sums four
// products in one instruction.
func choose() *set {
	switch {
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512VNNI:
		return &wide
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA:
		return &narrow
	}
	return &plain
}

var wide = set{
	name:     "AVX-512 VNNI",
	outputs:  32,
	depth:    4,
	code:     1,
	floats:   16,
	exp:      exp512,
	gelu:     gelu512,
	quantise: quantise512,
	tiles:    []tileRoutine{vnni1, vnni2, vnni3, vnni4, vnni5, vnni6, vnni7, vnni8, vnni9, vnni10, vnni11, vnni12},
	fused: []fusedRoutine{
		fused512_1,
		fused512_2,
		fused512_3,
		fused512_4,
		fused512_5,
		fused512_6,
		fused512_7,
		fused512_8,
		fused512_9,
		fused512_10,
		fused512_11,
		fused512_12,
	},
}

var narrow = set{
	name: "AVX2", outputs: 16, depth: 2, code: 2, floats: 8,
	exp: exp256, gelu: gelu256, quantise: quantise256,
	tiles: []tileRoutine{pair1, pair2, pair3, pair4, pair5, pair6},
	fused: []fusedRoutine{fused256_1, fused256_2, fused256_3, fused256_4, fused256_5, fused256_6},
}
