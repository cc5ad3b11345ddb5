// Package model talks to a language model.
package model
