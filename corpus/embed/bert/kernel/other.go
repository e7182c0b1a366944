//go:build !amd64

package kernel

var best = &plain
