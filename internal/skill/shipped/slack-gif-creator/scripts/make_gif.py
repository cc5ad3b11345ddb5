"""Makes an animated GIF of frames. Usage: make_gif.py OUT.gif --delay MS FRAME.ppm …

A frame is a binary PPM file (P6, 8 bits), all of one size: any program can write one, as it is a short header and the bytes of the pixels.
The colours are the most frequent 256 of all frames; other colours become the nearest of them.
"""
import argparse
import collections
import re
import struct
import sys


def read_ppm(name):
    with open(name, "rb") as f:
        data = f.read()
    m = re.match(rb"P6(?:\s+|#[^\n]*\n)+(\d+)(?:\s+|#[^\n]*\n)+(\d+)(?:\s+|#[^\n]*\n)+255\s", data)
    if not m:
        sys.exit(f"{name} is not a binary PPM file of 8 bits (P6, 255)")
    width, height = int(m.group(1)), int(m.group(2))
    pixels = data[m.end():]
    if len(pixels) != width * height * 3:
        sys.exit(f"{name} has {len(pixels)} bytes of pixels, not {width * height * 3}")
    return width, height, [pixels[i:i + 3] for i in range(0, len(pixels), 3)]


def palette_of(frames):
    count = collections.Counter()
    for _, _, pixels in frames:
        count.update(pixels)
    colours = [c for c, _ in count.most_common(256)]
    number = {c: i for i, c in enumerate(colours)}
    for c in count:
        if c not in number:
            number[c] = min(range(len(colours)), key=lambda i: sum((a - b) ** 2 for a, b in zip(colours[i], c)))
    return colours, number


def compressed(indexes, size):
    """The variable-length LZW code of GIF, in blocks of at most 255 bytes."""
    clear, end = 1 << size, (1 << size) + 1
    out, held, bits = bytearray(), 0, 0

    def put(code, width):
        nonlocal held, bits
        held |= code << bits
        bits += width
        while bits >= 8:
            out.append(held & 255)
            held >>= 8
            bits -= 8

    table = {bytes([i]): i for i in range(clear)}
    width, following = size + 1, end + 1
    put(clear, width)
    word = b""
    for index in indexes:
        longer = word + bytes([index])
        if longer in table:
            word = longer
            continue
        put(table[word], width)
        if following < 4096:
            table[longer] = following
            if following == 1 << width:
                width += 1
            following += 1
        else:
            put(clear, width)
            table = {bytes([i]): i for i in range(clear)}
            width, following = size + 1, end + 1
        word = bytes([index])
    put(table[word], width)
    put(end, width)
    if bits:
        out.append(held & 255)
    blocks = [bytes([len(out[i:i + 255])]) + out[i:i + 255] for i in range(0, len(out), 255)]
    return bytes([size]) + b"".join(blocks) + b"\0"


def main():
    p = argparse.ArgumentParser(description="Makes an animated GIF of PPM frames.")
    p.add_argument("out")
    p.add_argument("--delay", type=int, default=80, help="milliseconds of a frame, a multiple of 10 (default: 80)")
    p.add_argument("frames", nargs="+")
    a = p.parse_args()
    if not 20 <= a.delay <= 655350:
        sys.exit("--delay: viewers slow down what is faster than 20 ms; the longest is 655350")
    try:
        frames = [read_ppm(name) for name in a.frames]
        width, height, _ = frames[0]
        if any(f[:2] != (width, height) for f in frames) or not 0 < width < 65536 or not 0 < height < 65536:
            sys.exit("the frames are not all of one size")
        colours, number = palette_of(frames)
        size = max(2, (len(colours) - 1).bit_length())
        table = b"".join(colours).ljust(3 << size, b"\0")
        with open(a.out, "wb") as f:
            f.write(b"GIF89a" + struct.pack("<HHBBB", width, height, 0xF0 | (size - 1), 0, 0) + table)
            f.write(b"\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0")  # repeat for ever
            for _, _, pixels in frames:
                f.write(b"\x21\xf9\x04\x04" + struct.pack("<H", a.delay // 10) + b"\0\0")
                f.write(b"\x2c" + struct.pack("<HHHHB", 0, 0, width, height, 0))
                f.write(compressed([number[c] for c in pixels], size))
            f.write(b"\x3b")
    except OSError as e:
        sys.exit(str(e))
    print(f"{a.out}: {len(frames)} frames of {width}×{height}, {len(colours)} colours")


main()
