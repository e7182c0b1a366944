//go:build !amd64 && !arm64

package kernel

func sets() []*set { return []*set{&plain} }
