package edit

// Digest is the digest by which an edit names what a file says; "" is no file.
func Digest(data []byte) string { return digest(data) }
