"""Describes the columns of a CSV or TSV file: type, missing values, range, mean, frequent values. Usage: csv_profile.py FILE [--delimiter D]"""
import argparse
import collections
import csv
import math
import sys

MOST_DISTINCT = 10_000  # different values of a column that are counted


class Column:
    def __init__(self, name):
        self.name, self.filled, self.missing, self.numbers = name, 0, 0, 0
        self.low, self.high, self.mean, self.spread = math.inf, -math.inf, 0.0, 0.0
        self.values, self.more = collections.Counter(), False

    def add(self, text):
        text = text.strip()
        if text == "" or text.lower() in ("na", "n/a", "null", "none", "nan"):
            self.missing += 1
            return
        self.filled += 1
        if text in self.values or len(self.values) < MOST_DISTINCT:
            self.values[text] += 1
        else:
            self.more = True
        try:
            x = float(text)
        except ValueError:
            return
        if not math.isfinite(x):
            return
        self.numbers += 1
        self.low, self.high = min(self.low, x), max(self.high, x)
        step = x - self.mean
        self.mean += step / self.numbers
        self.spread += step * (x - self.mean)  # Welford: the sum of the squared distances from the mean

    def line(self):
        numeric = self.filled > 0 and self.numbers == self.filled
        kind = "number" if numeric else "empty" if self.filled == 0 else "mixed" if self.numbers else "text"
        distinct = f"more than {MOST_DISTINCT}" if self.more else str(len(self.values))
        out = f"{self.name}: {kind}, {self.filled} values, {self.missing} missing, {distinct} different"
        if numeric:
            deviation = math.sqrt(self.spread / (self.numbers - 1)) if self.numbers > 1 else 0
            out += f"; from {self.low:g} to {self.high:g}, mean {self.mean:g}, standard deviation {deviation:g}"
        elif self.filled:
            out += "; most frequent: " + ", ".join(f"{v!r} {n}×" for v, n in self.values.most_common(3))
        return out


def main():
    p = argparse.ArgumentParser(description="Describes the columns of a CSV or TSV file.")
    p.add_argument("file")
    p.add_argument("--delimiter", help="default: what the first lines use")
    a = p.parse_args()
    try:
        with open(a.file, encoding="utf-8-sig", newline="") as f:
            sample = f.read(64 << 10)
            f.seek(0)
            delimiter = a.delimiter or max(",\t;|", key=sample.partition("\n")[0].count)
            rows = csv.reader(f, delimiter=delimiter)
            columns = [Column(name or f"column {i}") for i, name in enumerate(next(rows, []), 1)]
            count, uneven = 0, 0
            for row in rows:
                if not row:
                    continue
                count += 1
                uneven += len(row) != len(columns)
                for column, text in zip(columns, row + [""] * (len(columns) - len(row))):
                    column.add(text)
    except (OSError, UnicodeDecodeError, csv.Error) as e:
        sys.exit(f"{a.file}: {e}")
    print(f"{count} rows, {len(columns)} columns, separated by {delimiter!r}")
    if uneven:
        print(f"{uneven} rows have more or fewer cells than the header")
    for column in columns:
        print(column.line())


main()
