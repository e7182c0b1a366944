package kernel

import "golang.org/x/sys/cpu"

var best = choose()

// choose returns the NEON set if the processor has dot products of signed bytes (ARMv8.2's FEAT_DotProd), otherwise
// plain Go.
func choose() *set {
	if cpu.ARM64.HasASIMDDP {
		return &neon
	}
	return &plain
}

// Input codes are signed bytes, offset by -128 from those of the other sets.
var neon = set{
	name: "NEON dot product", outputs: 16, depth: 4, code: 1, floats: 16,
	exp: exp128, gelu: gelu128, quantise: quantise128,
	tiles: []tileRoutine{dot1, dot2, dot3, dot4, dot5, dot6},
	fused: []fusedRoutine{fused128_1, fused128_2, fused128_3, fused128_4, fused128_5, fused128_6},
}

//go:noescape
func dot1(y *float32, yStride uintptr, x *byte, xStride, steps uintptr, w *byte, scales, columns *float32)

//go:noescape
func dot2(y *float32, yStride uintptr, x *byte, xStride, steps uintptr, w *byte, scales, columns *float32)

//go:noescape
func dot3(y *float32, yStride uintptr, x *byte, xStride, steps uintptr, w *byte, scales, columns *float32)

//go:noescape
func dot4(y *float32, yStride uintptr, x *byte, xStride, steps uintptr, w *byte, scales, columns *float32)

//go:noescape
func dot5(y *float32, yStride uintptr, x *byte, xStride, steps uintptr, w *byte, scales, columns *float32)

//go:noescape
func dot6(y *float32, yStride uintptr, x *byte, xStride, steps uintptr, w *byte, scales, columns *float32)

//go:noescape
func fused128_1(c *float32, cStride uintptr, a *float32, aStride uintptr, b *float32, bStride, depth uintptr)

//go:noescape
func fused128_2(c *float32, cStride uintptr, a *float32, aStride uintptr, b *float32, bStride, depth uintptr)

//go:noescape
func fused128_3(c *float32, cStride uintptr, a *float32, aStride uintptr, b *float32, bStride, depth uintptr)

//go:noescape
func fused128_4(c *float32, cStride uintptr, a *float32, aStride uintptr, b *float32, bStride, depth uintptr)

//go:noescape
func fused128_5(c *float32, cStride uintptr, a *float32, aStride uintptr, b *float32, bStride, depth uintptr)

//go:noescape
func fused128_6(c *float32, cStride uintptr, a *float32, aStride uintptr, b *float32, bStride, depth uintptr)

//go:noescape
func exp128(x *float32, blocks uintptr) float32

//go:noescape
func gelu128(x *float32, blocks uintptr)

//go:noescape
func quantise128(q *byte, x *float32, blocks uintptr, scales *float32)
