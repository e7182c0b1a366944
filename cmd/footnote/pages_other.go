//go:build !linux

package main

// dropProgramPages does nothing where the system has no such call.
func dropProgramPages() {}
