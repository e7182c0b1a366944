//go:build race

package views

// detectorShare is the factor for memory limits in tests. The race detector allocates up to as much again.
const detectorShare = 2
