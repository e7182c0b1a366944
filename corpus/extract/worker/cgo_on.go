//go:build cgo

package worker

// threadStacks is the memory in bytes that the C library reserves for thread stacks, 8 MiB each. The kernel counts
// it as private memory although hardly any of it is ever used.
const threadStacks = 24 * 8 << 20
