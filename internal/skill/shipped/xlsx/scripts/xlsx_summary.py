"""Shows what a workbook has: its sheets, their sizes, and the first rows. Usage: xlsx_summary.py FILE.xlsx [--sheet NAME] [--rows N] [--formulas]

With --sheet it prints that sheet as CSV. --formulas shows formulas in place of their last computed values.
"""
import argparse
import csv
import datetime
import re
import sys
import zipfile
import xml.etree.ElementTree as ET

M = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
LARGEST = 256 << 20  # bytes of one part: a small file can unpack to a huge one
DATES = set(range(14, 23)) | set(range(45, 48))  # the built-in formats of dates and times


class Book:
    def __init__(self, archive):
        self.archive = archive
        workbook = self.part("xl/workbook.xml")
        if workbook is None:
            sys.exit("it is not a workbook: xl/workbook.xml is missing")
        targets = {rel.get("Id"): rel.get("Target") for rel in self.part("xl/_rels/workbook.xml.rels")}
        self.sheets = {}
        for s in workbook.iter(M + "sheet"):
            target = targets.get(s.get(R + "id"), "")
            self.sheets[s.get("name")] = target.lstrip("/") if target.startswith("/") else "xl/" + target
        properties = workbook.find(M + "workbookPr")
        since_1904 = properties is not None and properties.get("date1904") in ("1", "true")
        self.epoch = datetime.datetime(1904, 1, 1) if since_1904 else datetime.datetime(1899, 12, 30)
        strings = self.part("xl/sharedStrings.xml")
        self.strings = [] if strings is None else [text_of(si) for si in strings.findall(M + "si")]
        self.dates = self.date_styles()

    def part(self, name):
        try:
            info = self.archive.getinfo(name)
        except KeyError:
            return None
        if info.file_size > LARGEST:
            sys.exit(f"{name} is larger than {LARGEST} bytes")
        data = self.archive.read(info)
        if b"<!DOCTYPE" in data[:4096]:
            sys.exit(f"{name} declares entities, which a workbook never does")
        return ET.fromstring(data)

    def date_styles(self):
        """The numbers of the cell styles that show a date."""
        styles = self.part("xl/styles.xml")
        if styles is None:
            return set()
        own = {}
        for f in styles.iter(M + "numFmt"):
            bare = re.sub(r'"[^"]*"|\[[^\]]*\]|\\.', "", f.get("formatCode", "")).lower()
            own[int(f.get("numFmtId"))] = bool(re.search(r"[ymdh]", bare))
        formats = styles.find(M + "cellXfs")
        ids = [int(x.get("numFmtId", "0")) for x in formats] if formats is not None else []
        return {i for i, n in enumerate(ids) if n in DATES or own.get(n)}

    def rows(self, sheet, formulas=False):
        """Yields (number, {column: text}) of the rows that have a cell."""
        root = self.part(self.sheets[sheet])
        for row in root.iter(M + "row") if root is not None else []:
            cells, column = {}, 0
            for c in row.findall(M + "c"):
                letters = re.match(r"[A-Z]+", c.get("r", ""))
                column = number_of(letters.group()) if letters else column + 1
                cells[column] = self.value(c, formulas)
            yield int(row.get("r", "0")), cells

    def value(self, c, formulas):
        formula = c.find(M + "f")
        if formulas and formula is not None:
            return "=" + (formula.text or "(shared)")
        if c.get("t") == "inlineStr":
            return text_of(c)
        v = c.find(M + "v")
        if v is None or v.text is None:
            return ""
        if c.get("t") == "s":
            return self.strings[int(v.text)]
        if c.get("t") == "b":
            return "TRUE" if v.text == "1" else "FALSE"
        if c.get("t") in (None, "n") and int(c.get("s", "0")) in self.dates:
            moment = self.epoch + datetime.timedelta(days=float(v.text))
            return moment.strftime("%Y-%m-%d" if float(v.text) % 1 == 0 else "%Y-%m-%d %H:%M:%S")
        return v.text


def text_of(node):
    """The text of a string, without its reading aids (furigana)."""
    if node.tag == M + "rPh":
        return ""
    return (node.text or "" if node.tag == M + "t" else "") + "".join(text_of(child) for child in node)


def number_of(letters):
    n = 0
    for letter in letters:
        n = n * 26 + ord(letter) - ord("A") + 1
    return n


def write_rows(rows, limit):
    out = csv.writer(sys.stdout, lineterminator="\n")
    for i, (_, cells) in enumerate(rows):
        if limit is not None and i >= limit:
            break
        out.writerow([cells.get(c, "") for c in range(1, max(cells, default=0) + 1)])


def main():
    p = argparse.ArgumentParser(description="Shows what a workbook has.")
    p.add_argument("file")
    p.add_argument("--sheet")
    p.add_argument("--rows", type=int)
    p.add_argument("--formulas", action="store_true")
    a = p.parse_args()
    try:
        with zipfile.ZipFile(a.file) as archive:
            book = Book(archive)
            if a.sheet is not None:
                if a.sheet not in book.sheets:
                    sys.exit("there is no such sheet; there are: " + ", ".join(book.sheets))
                write_rows(book.rows(a.sheet, a.formulas), a.rows)
                return
            for name in book.sheets:
                rows = list(book.rows(name, a.formulas))
                columns = max((max(cells, default=0) for _, cells in rows), default=0)
                print(f"## {name}: {len(rows)} rows, {columns} columns")
                write_rows(rows, 5 if a.rows is None else a.rows)
                print()
    except (OSError, ValueError, zipfile.BadZipFile, ET.ParseError) as e:
        sys.exit(f"{a.file}: {e}")


main()
