//go:build !linux

package ocr

// limitMemory can't be done here: the size of the picture bounds what tesseract takes.
func limitMemory(int, uint64) {}
