//go:build cgo

package worker

// threadStacks is what the C library sets aside for the stacks of threads, 8 MiB each. The kernel counts them as
// private memory although next to nothing of them is ever used.
const threadStacks = 24 * 8 << 20
