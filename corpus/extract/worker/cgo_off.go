//go:build !cgo

package worker

const threadStacks = 0 // Go's own threads have small stacks
