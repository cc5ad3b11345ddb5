"""Fills a Word template: every {{name}} becomes the value of that name. Usage: docx_fill.py TEMPLATE.docx VALUES.json OUT.docx

VALUES.json is one object of texts and numbers. Names without a value are reported, and then no file is written.
"""
import json
import re
import sys
import zipfile
import xml.etree.ElementTree as ET

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
XML_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
FIELD = re.compile(r"\{\{\s*([^{}]+?)\s*\}\}")
TEXT_PARTS = re.compile(r"word/(document|header\d*|footer\d*|footnotes|endnotes)\.xml")


def fill(paragraph, values, missing):
    """Fills one paragraph. Word may split a field over several runs: the filled text takes the format of the run in which a field begins."""
    nodes = list(paragraph.iter(W + "t"))
    whole = "".join(n.text or "" for n in nodes)
    fields = list(FIELD.finditer(whole))
    if not fields:
        return 0
    starts, at = [], 0
    for n in nodes:
        starts.append(at)
        at += len(n.text or "")
    for field in reversed(fields):
        name = field.group(1)
        if name not in values:
            missing.add(name)
            continue
        first = max(i for i, s in enumerate(starts) if s <= field.start() and nodes[i].text)
        left, right = field.span()
        for i in range(len(nodes) - 1, first - 1, -1):
            text, begin = nodes[i].text or "", starts[i]
            a, b = max(left - begin, 0), min(right - begin, len(text))
            if a < b:
                nodes[i].text = text[:a] + (str(values[name]) if i == first else "") + text[b:]
                nodes[i].set(XML_SPACE, "preserve")
    return len(fields)


def filled(data, values, missing):
    if b"<!DOCTYPE" in data[:4096]:
        sys.exit("the template declares entities, which a Word document never does")
    for prefix, uri in re.findall(rb'xmlns:(\w+)="([^"]+)"', data):
        if not re.fullmatch(rb"ns\d+", prefix):
            ET.register_namespace(prefix.decode(), uri.decode())  # keeps the prefixes that mc:Ignorable names
    root = ET.fromstring(data)
    count = sum(fill(p, values, missing) for p in root.iter(W + "p"))
    if count == 0:
        return data, 0
    out = ET.tostring(root, encoding="UTF-8", xml_declaration=True)
    return keep_declared(data, out), count


def keep_declared(before, after):
    """Declares again the namespaces that are used only in the text of an attribute, such as those of mc:Ignorable."""
    lost = [m for m in re.findall(rb'xmlns:\w+="[^"]+"', before) if m not in after]
    head = re.search(rb"<[^?!][^>]*?(?=/?>)", after)
    return after[:head.end()] + b"".join(b" " + m for m in dict.fromkeys(lost)) + after[head.end():]


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    template, values_file, out = sys.argv[1:]
    try:
        with open(values_file, encoding="utf-8") as f:
            values = json.load(f)
        if not isinstance(values, dict):
            sys.exit(f"{values_file} is not one object of names and values")
        missing, count, parts = set(), 0, []
        with zipfile.ZipFile(template) as archive:
            for info in archive.infolist():
                data = archive.read(info)
                if TEXT_PARTS.fullmatch(info.filename):
                    data, n = filled(data, values, missing)
                    count += n
                parts.append((info, data))
        if missing:
            sys.exit("no value for: " + ", ".join(sorted(missing)))
        with zipfile.ZipFile(out, "x", zipfile.ZIP_DEFLATED) as archive:
            for info, data in parts:
                archive.writestr(info.filename, data)
    except (OSError, ValueError, zipfile.BadZipFile, ET.ParseError) as e:
        sys.exit(f"{type(e).__name__}: {e}")
    print(f"{out}: {count} fields filled")


main()
