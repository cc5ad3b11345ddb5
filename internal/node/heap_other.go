//go:build !linux

package node

func dropProgram() {}
