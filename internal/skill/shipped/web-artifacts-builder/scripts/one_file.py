"""Makes one HTML file of a page and its files: style sheets, scripts, images, fonts. Usage: one_file.py PAGE.html OUT.html

Only files below the page's folder are taken in. What refers to another place is named, and then no file is written: the result has to
work without a network.
"""
import base64
import html
import html.parser
import mimetypes
import os
import re
import sys
import urllib.parse

REMOTE = re.compile(r"(?i)(https?:)?//")
CSS_URL = re.compile(r"url\(\s*(['\"]?)([^'\")]+)\1\s*\)")
TAKEN = {"img": "src", "source": "src", "video": "src", "audio": "src"}


class Page(html.parser.HTMLParser):
    def __init__(self, folder):
        super().__init__(convert_charrefs=False)
        self.folder, self.out, self.faults, self.dropping = folder, [], [], False

    def read(self, reference, folder):
        """The content of a file and its path; None if it is not one of the page's files."""
        path = urllib.parse.unquote(urllib.parse.urlsplit(reference).path)
        name = os.path.realpath(os.path.join(folder, path))
        inside = os.path.commonpath([name, self.folder]) == self.folder
        if REMOTE.match(reference) or not path or not inside or not os.path.isfile(name):
            self.faults.append(reference)
            return None, ""
        with open(name, "rb") as f:
            return f.read(), name

    def data_url(self, reference, folder):
        if reference.startswith(("data:", "#")):
            return reference
        data, name = self.read(reference, folder)
        if data is None:
            return reference
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        return f"data:{kind};base64,{base64.b64encode(data).decode()}"

    def css(self, text, folder):
        if "@import" in text:
            self.faults.append("@import in a style sheet")
        return CSS_URL.sub(lambda m: f'url("{self.data_url(m.group(2), folder)}")', text)

    def tag(self, name, attrs, end=">"):
        written = "".join(f" {k}" if v is None else f' {k}="{html.escape(v)}"' for k, v in attrs)
        self.out.append(f"<{name}{written}{end}")

    def handle_starttag(self, name, attrs, end=">"):
        values = dict(attrs)
        if name == "link" and "stylesheet" in (values.get("rel") or "").lower().split():
            data, path = self.read(values.get("href") or "", self.folder)
            if data is not None:
                text = self.css(data.decode("utf-8"), os.path.dirname(path))
                self.out.append(f"<style>\n{text.replace('</style', '<' + chr(92) + '/style')}\n</style>")
            return
        if name == "link" and values.get("rel") == "icon":
            attrs = [(k, self.data_url(v or "", self.folder) if k == "href" else v) for k, v in attrs]
        if name == "script" and "src" in values:
            data, _ = self.read(values["src"] or "", self.folder)
            if data is not None:
                self.tag(name, [(k, v) for k, v in attrs if k not in ("src", "integrity", "crossorigin")])
                self.out.append("\n" + re.sub(r"(?i)</(script)", r"<\\/\1", data.decode("utf-8")) + "\n")
                self.dropping = True
                return
        key = TAKEN.get(name)
        attrs = [(k, self.data_url(v, self.folder) if k == key and v else self.css(v, self.folder) if k == "style" and v else v)
                 for k, v in attrs]
        if "srcset" in values:
            self.faults.append("srcset of <" + name + ">")
        self.tag(name, attrs, end)

    def handle_startendtag(self, name, attrs):
        self.handle_starttag(name, attrs, " />")

    def handle_endtag(self, name):
        self.dropping = False
        self.out.append(f"</{name}>")

    def handle_data(self, data):
        if not self.dropping:
            self.out.append(self.css(data, self.folder) if self.lasttag == "style" and self.cdata_elem == "style" else data)

    def handle_entityref(self, name):
        self.out.append(f"&{name};")

    def handle_charref(self, name):
        self.out.append(f"&#{name};")

    def handle_comment(self, data):
        self.out.append(f"<!--{data}-->")

    def handle_decl(self, decl):
        self.out.append(f"<!{decl}>")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, out = sys.argv[1:]
    try:
        page = Page(os.path.dirname(os.path.realpath(source)))
        with open(source, encoding="utf-8") as f:
            page.feed(f.read())
        page.close()
        if page.faults:
            sys.exit("not taken in, so nothing is written: " + ", ".join(dict.fromkeys(page.faults)))
        text = "".join(page.out)
        with open(out, "w", encoding="utf-8") as f:
            f.write(text)
    except (OSError, UnicodeDecodeError) as e:
        sys.exit(str(e))
    print(f"{out}: {len(text.encode())} bytes, no reference to another file")


main()
