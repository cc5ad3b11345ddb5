"""Says whether text is readable on its background, by WCAG 2: contrast.py TEXT BACKGROUND [TEXT BACKGROUND …], colours as #rrggbb or #rgb

Normal text needs a ratio of 4.5, large text and the parts of controls need 3. It fails if a pair has less than 4.5.
"""
import re
import sys


def channels(colour):
    m = re.fullmatch(r"#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})", colour)
    if not m:
        sys.exit(f"{colour!r} is not a colour such as #1a2b3c")
    digits = m.group(1)
    if len(digits) == 3:
        digits = "".join(d * 2 for d in digits)
    return [int(digits[i:i + 2], 16) / 255 for i in (0, 2, 4)]


def luminance(colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    dark, light = sorted((luminance(a), luminance(b)))
    return (light + 0.05) / (dark + 0.05)


def main():
    colours = sys.argv[1:]
    if not colours or len(colours) % 2:
        sys.exit(__doc__)
    bad = 0
    for text, background in zip(colours[::2], colours[1::2]):
        ratio = contrast(text, background)
        verdict = "any text" if ratio >= 4.5 else "large text only" if ratio >= 3 else "too little for text"
        bad += ratio < 4.5
        print(f"{text} on {background}: {int(ratio * 100) / 100:.2f}, {verdict}")  # rounded down: 4.499 is no 4.5
    sys.exit(1 if bad else 0)


main()
