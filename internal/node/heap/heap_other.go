//go:build !linux

package heap

func dropProgram() {}
