//go:build race

package views

// detectorShare is by how much bounds of memory are raised in tests. The race detector allocates up to as much again
// for what it watches.
const detectorShare = 2
