//go:build !race

package views

// detectorShare is the factor for memory limits in tests. It is 1 without the race detector.
const detectorShare = 1
