"""Prints the text of a presentation, slide by slide, with its notes. Usage: pptx_text.py FILE.pptx"""
import posixpath
import sys
import zipfile
import xml.etree.ElementTree as ET

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
LARGEST = 64 << 20  # bytes of one part: a small file can unpack to a huge one


def part(archive, name):
    try:
        info = archive.getinfo(name)
    except KeyError:
        return None
    if info.file_size > LARGEST:
        sys.exit(f"{name} is larger than {LARGEST} bytes")
    data = archive.read(info)
    if b"<!DOCTYPE" in data[:4096]:
        sys.exit(f"{name} declares entities, which a presentation never does")
    return ET.fromstring(data)


def relations(archive, name):
    """The parts to which a part refers: id → (kind, path)."""
    folder, base = posixpath.split(name)
    root = part(archive, f"{folder}/_rels/{base}.rels")
    out = {}
    for rel in root if root is not None else []:
        if rel.get("TargetMode") != "External":
            target = posixpath.normpath(posixpath.join("/" + folder, rel.get("Target", "")))
            out[rel.get("Id")] = (rel.get("Type", "").rsplit("/", 1)[-1], target.lstrip("/"))
    return out


def paragraphs(root):
    for paragraph in root.iter(A + "p"):
        text = "".join((n.text or "") if n.tag == A + "t" else "\n" for n in paragraph.iter() if n.tag in (A + "t", A + "br"))
        if text.strip():
            yield paragraph, text


def slide_lines(root):
    for shape in root.iter(P + "sp"):
        kind = shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph")
        title = kind is not None and kind.get("type") in ("title", "ctrTitle")
        for paragraph, text in paragraphs(shape):
            level = paragraph.find(A + "pPr")
            indent = int(level.get("lvl", "0")) if level is not None else 0
            yield "### " + text if title else "  " * indent + "- " + text
    for table in root.iter(A + "tbl"):
        for row in table.findall(A + "tr"):
            cells = [" ".join(t for _, t in paragraphs(cell)).replace("\n", " ") for cell in row.findall(A + "tc")]
            yield "| " + " | ".join(cells) + " |"


def notes(archive, slide):
    for kind, name in relations(archive, slide).values():
        if kind == "notesSlide":
            root = part(archive, name)
            for shape in root.iter(P + "sp") if root is not None else []:
                place = shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph")
                if place is not None and place.get("type") == "body":
                    yield from (text for _, text in paragraphs(shape))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        with zipfile.ZipFile(sys.argv[1]) as archive:
            root = part(archive, "ppt/presentation.xml")
            if root is None:
                sys.exit(f"{sys.argv[1]} is not a presentation")
            related = relations(archive, "ppt/presentation.xml")
            for number, entry in enumerate(root.iter(P + "sldId"), 1):
                _, name = related[entry.get(R + "id")]
                slide = part(archive, name)
                hidden = " (hidden)" if slide.get("show") == "0" else ""
                print(f"## Slide {number}{hidden}")
                for line in slide_lines(slide):
                    print(line)
                for line in notes(archive, name):
                    print("Notes: " + line)
                print()
    except (OSError, KeyError, zipfile.BadZipFile, ET.ParseError) as e:
        sys.exit(f"{sys.argv[1]}: {e}")


main()
