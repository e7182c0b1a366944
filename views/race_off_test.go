//go:build !race

package views

// detectorShare is by how much bounds of memory are raised in tests. Without the race detector memory is counted as it
// is.
const detectorShare = 1
