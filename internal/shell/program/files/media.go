package files

import (
	"path"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// MediaRows are programs for documents, images, sound and films, sorted by name. Each names all options of its manual that do no harm; an
// option that is missing asks.
var MediaRows = []program.Row{
	{Name: "afinfo", Plain: "h b r i x", Operands: "r*"},
	{Name: "chktex", Options: "l|localrc=r o|output=w", Plain: "q quiet n=v nowarn=v w=v warnon=v e=v v=? verbosity=? f=v format=v I=? " +
		"inputfiles=? H=? headererr=? W version h help", Operands: "r*"},
	{Name: "circo", Same: "dot"},
	{Name: "convert", Style: program.Single, Plain: plainImage, Operands: "r*w", Handle: images},
	{Name: "dot", Options: "o=w", Plain: "T=v K=v G=v N=v E=v v V q=? x y s=? n=?", Operands: "r*"},
	{Name: "exiftool", Style: program.Single, Plain: plainExif, Operands: "r*", Handle: imageTags},
	{Name: "fdp", Same: "dot"},
	{Name: "ffmpeg", Style: program.Single, Options: "i=r vf|filter:v|af|filter:a=v f=v", Plain: plainFilm, Operands: "w*", Handle: film},
	{Name: "ffprobe", Style: program.Single, Options: "i=r", Plain: "v=v loglevel=v show_entries=v of=v print_format=v output_format=v " +
		"show_format show_streams show_packets show_frames show_chapters show_programs select_streams=v hide_banner pretty count_frames " +
		"count_packets read_intervals=v unit prefix sexagesimal version h", Operands: "r*", Handle: film},
	{Name: "identify", Style: program.Single, Plain: "format=v verbose ping quiet units=v version", Operands: "r*", Handle: images},
	{Name: "magick", Plain: "version", Style: program.SingleFirst, Other: otherImage, Subs: []program.Row{
		{Name: "identify", Style: program.Single, Plain: "format=v verbose ping quiet units=v", Operands: "r*", Handle: images},
	}},
	{Name: "mediainfo", Plain: "f full version help", Operands: "r*"},
	{Name: "mogrify", Style: program.Single, Plain: plainImage, Operands: "b*", Handle: images},
	{Name: "neato", Same: "dot"},
	{Name: "optipng", Style: program.Single, Options: "out=w dir=w log=w", Plain: "simulate quiet v o0 o1 o2 o3 o4 o5 o6 o7 keep " +
		"preserve fix",
		Operands: "b*"},
	{Name: "pandoc", Options: "o|output=w t|to|w|write=v f|from|r|read=v data-dir=e template=r H|include-in-header=r " +
		"B|include-before-body=r A|include-after-body=r metadata-file=r bibliography=r extract-media=w log=w F|filter=x L|lua-filter=x " +
		"pdf-engine=x", Plain: "s standalone toc table-of-contents toc-depth=v N number-sections wrap=v columns=v M=v metadata=v V=v " +
		"variable=v markdown-headings=v shift-heading-level-by=v list-input-formats list-output-formats list-extensions=? verbose quiet " +
		"mathjax=? mathml strip-comments tab-stop=v no-highlight reference-links section-divs ascii eol=v v version h help",
		Operands: "u*", Handle: documents},
	{Name: "pdffonts", Style: program.Single, Plain: "f=v l=v subst v h", Operands: "r"},
	{Name: "pdfinfo", Style: program.Single, Plain: "f=v l=v box meta js struct struct-text url isodates rawdates dests custom enc=v " +
		"listenc " +
		"v h", Operands: "r"},
	{Name: "pdftotext", Style: program.Single, Plain: "f=v l=v r=v x=v y=v W=v H=v layout raw nodiag htmlmeta bbox bbox-layout tsv nopgbrk " +
		"cropbox colspacing=v fixed=v enc=v eol=v listenc q v h", Operands: "rw", Handle: besides},
	{Name: "qpdf", Listed: true,
		Plain:    "check show-npages requires-password is-encrypted show-encryption linearize no-warn warning-exit-0 version help",
		Operands: "rw"},
	{Name: "soxi", Plain: "r c s d D b B p e a T t V", Operands: "r*"},
	{Name: "textutil", Style: program.Single, Options: "output=w outputdir=w", Plain: "convert=v info stdout format=v encoding=v " +
		"inputencoding=v font=v fontsize=v title=v author=v subject=v keywords=v comment=v nostore strip extension=v noload help",
		Operands: "r*", Handle: besides},
	{Name: "twopi", Same: "dot"},
}

const (
	plainImage = "resize=v crop=v rotate=v quality=v strip thumbnail=v gravity=v extent=v flatten density=v colorspace=v depth=v trim " +
		"border=v bordercolor=v blur=v sharpen=v gray monochrome negate flip flop scale=v sample=v auto-orient alpha=v colors=v quiet " +
		"verbose " +
		"unsharp=v interlace=v filter=v geometry=v version"
	plainExif = "G=? G0 G1 g=? s S s1 s2 s3 n q f r json j T t b ver a e m u FileName Directory ImageSize CreateDate ModifyDate " +
		"DateTimeOriginal " +
		"Model Make GPSLatitude GPSLongitude GPSPosition ImageWidth ImageHeight Orientation FileType MIMEType Duration Title Author " +
		"PageCount " +
		"XResolution YResolution ColorSpace BitDepth ISO ExposureTime FNumber FocalLength LensModel FileSize FileModifyDate"
	plainFilm = "y n v=v loglevel=v hide_banner nostdin nostats stats c=v c:v=v c:a=v c:s=v codec=v codec:v=v codec:a=v vcodec=v acodec=v " +
		"b:v=v b:a=v r=v s=v ss=v sseof=v t=v to=v an vn sn dn crf=v preset=v pix_fmt=v movflags=v q:v=v q:a=v ar=v ac=v vframes=v " +
		"frames:v=v " +
		"threads=v map=v aspect=v g=v tune=v profile:v=v level=v shortest loop=v framerate=v bitexact version formats codecs encoders " +
		"decoders " +
		"filters"
)

// images takes only files that are images by their names: ImageMagick takes NAME: and @ before a file for something else to do, and some
// files for programs of its own.
func images(c *program.Call) {
	for _, w := range c.Operands {
		end := strings.ToLower(path.Ext(w.Text))
		if w.Unknown || strings.ContainsAny(w.Text, ":@|%") ||
			!program.Named(".png|.jpg|.jpeg|.gif|.webp|.bmp|.tif|.tiff|.ico|.heic|.avif", end) {
			c.Unclear("what ImageMagick does with this operand is not known")
		}
	}
	for _, w := range c.Words {
		if strings.HasPrefix(w.Text, "@") {
			c.Unclear("ImageMagick reads the file behind @")
		}
	}
}

// otherImage handles magick without a tool: it converts.
func otherImage(c *program.Call, words []program.Word) { c.Apply(c.Shell.Find("convert"), words) }

// imageTags looks for tags that exiftool writes.
func imageTags(c *program.Call) {
	for _, w := range c.Words[1:] {
		if strings.HasPrefix(w.Text, "-") && strings.ContainsAny(w.Text, "=<>") {
			c.Unclear("exiftool writes a tag")
		}
	}
}

// filmFilters are filters of ffmpeg that open no file.
const filmFilters = "scale|fps|crop|transpose|format|setpts|asetpts|pad|trim|atrim|hflip|vflip|rotate|eq|fade|afade|volume|atempo|" +
	"palettegen|setsar|setdar|yadif|unsharp|hue|loudnorm|aresample|highpass|lowpass|reverse|areverse|thumbnail|select|tile|null|anull"

// film takes only files, formats that are files, and filters that open none. A colon in a name may be a protocol.
func film(c *program.Call) {
	files := c.Operands
	for _, o := range c.Options {
		switch o.Name {
		case "i":
			files = append(files[:len(files):len(files)], o.Value)
		case "f":
			if o.Value.Unknown || !program.Named("null|mp4|mp3|wav|image2|gif|webm|matroska|mov|ogg|flac|adts|md5", o.Value.Text) {
				c.Unclear("what this format of ffmpeg opens is not known")
			}
		case "vf":
			for one := range strings.FieldsFuncSeq(o.Value.Text, func(r rune) bool { return r == ',' || r == ';' }) {
				if name, _, _ := strings.Cut(one, "="); o.Value.Unknown || !program.Named(filmFilters, strings.TrimSpace(name)) {
					c.Unclear("what this filter of ffmpeg opens is not known")
				}
			}
		}
	}
	for _, w := range files {
		if c.Address(w) {
			c.Does |= effect.Upload
		} else if w.Unknown || strings.ContainsAny(w.Text, ":|") {
			c.Unclear("what ffmpeg opens under this name is not known")
		}
		if strings.Contains(w.Text, "%") && c.Part.Program == "ffmpeg" { // frame_%03d.png
			c.File(policy.Write, program.Word{Text: path.Dir(w.Text) + "/*", Pattern: true})
		}
	}
}

// documents handles pandoc: a format may be a program in Lua, and some documents take pictures from elsewhere.
func documents(c *program.Call) {
	for _, name := range [...]string{"t", "f"} {
		if v, ok := c.Value(name); ok && strings.ContainsAny(v.Text, "./") {
			c.Role('x', v)
		}
	}
	to, _ := c.Value("t")
	out, _ := c.Value("o")
	if program.Named("docx|odt|epub|epub2|epub3|pptx|pdf", to.Text) ||
		program.Named(".docx|.odt|.epub|.pptx|.pdf", strings.ToLower(path.Ext(out.Text))) {
		c.Does |= effect.Network
	}
}

// besides handles programs that write their result beside what they read, unless they are told where.
func besides(c *program.Call) {
	name := c.Part.Program
	if name == "textutil" {
		for _, w := range c.Operands {
			if !program.Named(".rtf|.rtfd|.doc|.docx|.odt|.txt|.wordml", strings.ToLower(path.Ext(w.Text))) {
				c.Unclear("textutil may fetch what this document names")
			}
		}
	}
	if name == "pdftotext" && len(c.Operands) != 1 || name == "textutil" && (c.HasAny("output", "outputdir") ||
		program.ContainsText(c.Words, "-stdout") || program.ContainsText(c.Words, "-info")) {
		return
	}
	for _, w := range c.Operands {
		w.Text = strings.TrimSuffix(w.Text, path.Ext(w.Text)) + program.AnyText
		w.Pattern = true
		c.File(policy.Write, w)
	}
}
