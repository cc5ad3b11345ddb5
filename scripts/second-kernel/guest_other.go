//go:build !linux

package main

const guestArgument = "guest"

// guestMain is for the guest, which is a Linux machine.
func guestMain() {}

func work() int { return 1 }
