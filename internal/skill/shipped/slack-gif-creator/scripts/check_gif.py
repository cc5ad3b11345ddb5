"""Says how large a GIF is, how long it runs, and whether it is fit for an emoji of Slack. Usage: check_gif.py FILE.gif

The limits of an emoji: 128 KB (slack.com/help, "Add custom emoji"), and 128×128 is the size that Slack suggests.
"""
import struct
import sys


def blocks(data, at):
    """The position behind a chain of blocks."""
    while data[at]:
        at += data[at] + 1
    return at + 1


def look(data):
    if data[:6] not in (b"GIF87a", b"GIF89a"):
        sys.exit("it is not a GIF")
    width, height, flags = struct.unpack("<HHB", data[6:11])
    at = 13 + (3 << (flags & 7) + 1 if flags & 0x80 else 0)
    frames, hundredths, loops = 0, 0, False
    while data[at] != 0x3B:
        if data[at] == 0x21:
            if data[at + 1] == 0xF9:
                hundredths += struct.unpack("<H", data[at + 4:at + 6])[0]
            loops = loops or data[at + 3:at + 14] == b"NETSCAPE2.0"
            at = blocks(data, at + 2)
        elif data[at] == 0x2C:
            frames += 1
            local = data[at + 9]
            at = blocks(data, at + 11 + (3 << (local & 7) + 1 if local & 0x80 else 0))
        else:
            sys.exit(f"it is damaged at byte {at}")
    return width, height, frames, hundredths / 100, loops


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        with open(sys.argv[1], "rb") as f:
            data = f.read()
        width, height, frames, seconds, loops = look(data)
    except (OSError, IndexError, struct.error) as e:
        sys.exit(f"{sys.argv[1]}: {e}")
    print(f"{width}×{height}, {frames} frames, {seconds:.2f} s, {'repeats' if loops else 'runs once'}, {len(data)} bytes")
    faults = []
    if len(data) > 128_000:
        faults.append("more than 128 KB")
    if (width, height) != (128, 128):
        faults.append("not 128×128")
    print("as an emoji: " + ("; ".join(faults) if faults else "fits"))


main()
