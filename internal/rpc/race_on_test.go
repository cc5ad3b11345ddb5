//go:build race

package rpc

// raceDetector: sync.Pool drops at random under it, so that allocations cannot be counted.
const raceDetector = true
