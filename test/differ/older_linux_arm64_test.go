package differ

// oldCall is a system call that has a newer one beside it. There are none on this machine.
type oldCall struct {
	now  int
	args func(a [6]uint64) [6]uint64
}

var older map[int]oldCall
