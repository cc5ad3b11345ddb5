package code

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mycelium/internal/lazy"
)

var (
	pythonFrom    = lazy.Regexp(`(?m)(?:^|[;:])[ \t]*from[ \t]+(\.*)[ \t]*([A-Za-z0-9_.]*)[ \t]+import[ \t]*(\([^)]*\)|[^\n#;]*)`)
	pythonImport  = lazy.Regexp(`(?m)(?:^|[;:])[ \t]*import[ \t]+([A-Za-z0-9_., \t]+)`)
	pythonComment = lazy.Regexp(`#[^\n]*|\\`)
	// pythonLibrary is the names of the modules that come with Python: sys.stdlib_module_names of 3.11, without those that begin with __.
	pythonLibrary = sync.OnceValue(func() map[string]bool {
		names := map[string]bool{}
		for name := range strings.FieldsSeq(libraryNames) {
			names[name] = true
		}
		return names
	})
)

// python looks for modules beside the file, and in the folder of the script that loads it. Those that are not there are noted too: a file
// of that name would take the place of a module of the library.
func (r *reader) python(s source) {
	dir := filepath.Dir(s.path)
	if r.root = s.root; r.root == "" {
		r.root = dir
		r.shadows(dir)
	}
	defer func() { r.root = "" }()
	r.matches(s, pythonImport(), func(names string) {
		for _, name := range importedNames(names) {
			r.module(dir, name)
			r.module(r.root, name)
		}
	})
	for _, m := range pythonFrom().FindAllStringSubmatch(s.text, -1) {
		places := []string{dir, r.root}
		if m[1] != "" {
			up := dir
			for range len(m[1]) - 1 {
				up = filepath.Dir(up)
			}
			places = []string{up}
		}
		for _, at := range slices.Compact(places) {
			r.module(at, m[2])
			at = filepath.Join(at, strings.ReplaceAll(m[2], ".", "/"))
			if _, here := stat(at); here && (m[1] != "" || m[2] != "") {
				for _, name := range importedNames(m[3]) {
					r.module(at, name)
				}
			}
		}
	}
}

// importedNames returns the names of an import statement, without those that it gives them.
func importedNames(list string) (names []string) {
	list = strings.Trim(pythonComment().ReplaceAllLiteralString(list, ""), "() \t\n")
	for one := range strings.SplitSeq(list, ",") {
		if words := strings.Fields(one); len(words) > 0 && !strings.Contains(words[0], "*") {
			names = append(names, words[0])
		}
	}
	return names
}

// module adds the files of a module below a folder, and those of the packages that it is in.
func (r *reader) module(dir, name string) {
	at := dir
	for part := range strings.SplitSeq(name, ".") {
		if part == "" {
			return
		}
		at = filepath.Join(at, part)
		r.file(at+".py", python)
		r.file(filepath.Join(at, "__init__.py"), python)
	}
}

// shadows adds what lies in the folder of a script in the place of a module of the library, which the library itself may load, and the
// compiled modules there.
func (r *reader) shadows(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		stem, _, _ := strings.Cut(e.Name(), ".")
		path := filepath.Join(dir, e.Name())
		switch ext := filepath.Ext(path); {
		case ext == ".so" || ext == ".pyc" || ext == ".pyd":
			r.file(path, opaque)
		case pythonLibrary()[stem] && ext == ".py":
			r.file(path, python)
		case pythonLibrary()[stem] && ext == "":
			if _, there := stat(filepath.Join(path, "__init__.py")); there {
				r.file(filepath.Join(path, "__init__.py"), python)
			}
		}
	}
}

const libraryNames = "_abc _aix_support _ast _asyncio _bisect _blake2 _bootsubprocess _bz2 _codecs _codecs_cn _codecs_hk _codecs_iso2022 " +
	"_codecs_jp _codecs_kr _codecs_tw _collections _collections_abc _compat_pickle _compression _contextvars _crypt _csv " +
	"_ctypes _curses _curses_panel _datetime _dbm _decimal _elementtree _frozen_importlib _frozen_importlib_external " +
	"_functools _gdbm _hashlib _heapq _imp _io _json _locale _lsprof _lzma _markupbase _md5 _msi _multibytecodec " +
	"_multiprocessing _opcode _operator _osx_support _overlapped _pickle _posixshmem _posixsubprocess _py_abc _pydecimal " +
	"_pyio _queue _random _scproxy _sha1 _sha256 _sha3 _sha512 _signal _sitebuiltins _socket _sqlite3 _sre _ssl _stat " +
	"_statistics _string _strptime _struct _symtable _thread _threading_local _tkinter _tokenize _tracemalloc _typing _uuid " +
	"_warnings _weakref _weakrefset _winapi _zoneinfo abc aifc antigravity argparse array ast asynchat asyncio asyncore " +
	"atexit audioop base64 bdb binascii bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop " +
	"collections colorsys compileall concurrent configparser contextlib contextvars copy copyreg crypt csv ctypes curses " +
	"dataclasses datetime dbm decimal difflib dis distutils doctest email encodings ensurepip enum errno faulthandler fcntl " +
	"filecmp fileinput fnmatch fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip " +
	"hashlib heapq hmac html http idlelib imaplib imghdr imp importlib inspect io ipaddress itertools json keyword lib2to3 " +
	"linecache locale logging lzma mailbox mailcap marshal math mimetypes mmap modulefinder msilib msvcrt multiprocessing " +
	"netrc nis nntplib nt ntpath nturl2path numbers opcode operator optparse os ossaudiodev pathlib pdb pickle pickletools " +
	"pipes pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data " +
	"pyexpat queue quopri random re readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex " +
	"shutil signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat " +
	"statistics string stringprep struct subprocess sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile " +
	"termios textwrap this threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle " +
	"turtledemo types typing unicodedata unittest urllib uu uuid venv warnings wave weakref webbrowser winreg winsound " +
	"wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo"
