package find

import "strings"

// stem returns the part of a lower-case word that its forms share: files and file, creates, created and creating. It is light: a word of
// three letters or with a digit (aws, dns, s3) is an abbreviation and stays, and so does every word in another script.
func stem(w string) string {
	if len(w) <= 3 || !letters(w) {
		return w
	}
	switch {
	case strings.HasSuffix(w, "ies") && len(w) > 4:
		w = w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "xes"), strings.HasSuffix(w, "ches"), strings.HasSuffix(w, "shes"):
		w = w[:len(w)-2]
	case strings.HasSuffix(w, "ss"), strings.HasSuffix(w, "us"), strings.HasSuffix(w, "is"), strings.HasSuffix(w, "ns") && len(w) == 4,
		w == "news", w == "kubernetes", w == "aws", w == "always":
		return w
	case strings.HasSuffix(w, "s"):
		w = w[:len(w)-1]
	}
	for _, ending := range [...]string{"ing", "ed"} {
		base, ok := strings.CutSuffix(w, ending)
		if !ok || len(base) < 3 || !strings.ContainsAny(base, "aeiouy") || ending == "ed" && strings.HasSuffix(base, "e") {
			continue
		}
		if n := len(base); base[n-1] == base[n-2] && !strings.ContainsRune("lsz", rune(base[n-1])) {
			base = base[:n-1]
		}
		w = base
		break
	}
	if base, ok := strings.CutSuffix(w, "ion"); ok && len(base) >= 5 && base[len(base)-1] == 't' {
		w = base // translation, deletion
	}
	if strings.HasSuffix(w, "e") && len(w) > 3 {
		w = w[:len(w)-1]
	}
	if strings.HasSuffix(w, "y") && len(w) > 3 {
		w = w[:len(w)-1] + "i"
	}
	return w
}

func letters(w string) bool {
	for i := range len(w) {
		if w[i] < 'a' || w[i] > 'z' {
			return false
		}
	}
	return true
}
