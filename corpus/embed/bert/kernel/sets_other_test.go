//go:build !amd64

package kernel

func sets() []*set { return []*set{&plain} }
