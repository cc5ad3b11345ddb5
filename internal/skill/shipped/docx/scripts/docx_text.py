"""Prints the text of a Word document as Markdown: headings, lists, tables. Usage: docx_text.py FILE.docx"""
import sys
import zipfile
import xml.etree.ElementTree as ET

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
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
        sys.exit(f"{name} declares entities, which a Word document never does")
    return ET.fromstring(data)


def text_of(paragraph):
    out = []
    for node in paragraph.iter():
        if node.tag == W + "t" and node.text:
            out.append(node.text)
        elif node.tag == W + "tab":
            out.append("\t")
        elif node.tag in (W + "br", W + "cr"):
            out.append("\n")
    return "".join(out)


def style_names(archive):
    """The names of the paragraph styles by their ids, in lower case."""
    root = part(archive, "word/styles.xml")
    names = {}
    for style in root.iter(W + "style") if root is not None else []:
        name = style.find(W + "name")
        if name is not None:
            names[style.get(W + "styleId")] = name.get(W + "val", "").lower()
    return names


def paragraph_line(paragraph, names):
    text = text_of(paragraph)
    style = paragraph.find(f"{W}pPr/{W}pStyle")
    name = names.get(style.get(W + "val"), "") if style is not None else ""
    if name == "title":
        return "# " + text
    if name.startswith("heading ") and name[8:].isdigit():
        return "#" * min(int(name[8:]), 6) + " " + text
    level = paragraph.find(f"{W}pPr/{W}numPr/{W}ilvl")
    if level is not None or name.startswith("list "):
        return "  " * int(level.get(W + "val", "0") if level is not None else 0) + "- " + text
    return text


def table_lines(table):
    rows = []
    for row in table.findall(W + "tr"):
        cells = []
        for cell in row.findall(W + "tc"):
            text = " ".join(text_of(p) for p in cell.iter(W + "p"))
            cells.append(text.replace("|", "\\|").replace("\n", " ").strip())
        rows.append("| " + " | ".join(cells) + " |")
        if len(rows) == 1:
            rows.append("|" + " --- |" * len(cells))
    return rows


def body_lines(parent, names):
    for node in parent:
        if node.tag == W + "p":
            yield paragraph_line(node, names)
        elif node.tag == W + "tbl":
            yield from table_lines(node)
        elif node.tag == W + "sdt":  # a content control
            content = node.find(W + "sdtContent")
            if content is not None:
                yield from body_lines(content, names)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        with zipfile.ZipFile(sys.argv[1]) as archive:
            root = part(archive, "word/document.xml")
            names = style_names(archive)
    except (OSError, zipfile.BadZipFile, ET.ParseError) as e:
        sys.exit(f"{sys.argv[1]}: {e}")
    body = root.find(W + "body") if root is not None else None
    if body is None:
        sys.exit(f"{sys.argv[1]} is not a Word document")
    for line in body_lines(body, names):
        print(line)


main()
