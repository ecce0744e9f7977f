package artefact

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/diag"
	"github.com/kerngen/kerngen/gen/internal/generated"
)

// kernel is where the files of one kernel are.
type kernel struct {
	stem string // for the operating system
	path string // for messages; as Image.Path
	seen string // the extension of a file that is there
	id   string // the same however the files were reached

	// Where its folder was searched: the extensions of all its files, of which
	// none is missing and all are regular.
	searched bool
	exts     []string
}

// mayHave reports whether k may have a file that ends in ext.
func (k kernel) mayHave(ext string) bool { return !k.searched || slices.Contains(k.exts, ext) }

// extensions are those of the files that make a kernel. One that ends in
// another comes before it.
var extensions = []string{".kerngen.json", ".json", ".ttir", ".source", ".ptx", ".cubin", ".launch_metadata", hsaco}

// hsaco is AMD's cubin. No more is read of it than that NAME.json says so.
const hsaco = ".hsaco"

// split takes a file's name apart; ext is "" for a file that is none of ours.
func split(name string) (stem, ext string) {
	// __grp__NAME.json lists the files of a cache entry, with paths of the
	// machine that wrote it.
	if strings.HasPrefix(name, "__grp__") {
		return name, ""
	}
	for _, ext := range extensions {
		if stem, ok := strings.CutSuffix(name, ext); ok && stem != "" {
			return stem, ext
		}
	}
	return name, ""
}

// find lists the kernels that paths reach, each once, and the folders searched.
func find(paths []string, faults *diag.List) (kernels []kernel, folders []string) {
	seen := make(map[string]bool)
	for _, arg := range paths {
		found, searched := findIn(arg, faults)
		folders = append(folders, searched...)
		for _, k := range found {
			if !seen[k.id] {
				seen[k.id] = true
				kernels = append(kernels, k)
			}
		}
	}
	return kernels, folders
}

// realPath is the same for one folder however it was reached.
func realPath(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	return dir
}

// findIn lists the kernels of one argument and the folders searched for it.
func findIn(arg string, faults *diag.List) ([]kernel, []string) {
	pos := filepath.ToSlash(filepath.Clean(arg))
	if arg == "" {
		faults.Add(diag.Errorf("", "an empty path").Fix("name a folder, or a file of a kernel"))
		return nil, nil
	}
	info, err := os.Stat(arg)
	if err != nil {
		fault := diag.Errorf(pos, "cannot be read: %v", diag.Bare(err))
		if errors.Is(err, fs.ErrNotExist) {
			fault = diag.Errorf(pos, "does not exist")
		}
		faults.Add(fault.Fix("name a folder with NAME.json and NAME.cubin or NAME.ptx in it, or one of these files"))
		return nil, nil
	}
	if info.IsDir() {
		w := walk{faults: faults, visited: make(map[string]bool)}
		w.folders(filepath.Clean(arg))
		if len(w.kernels) == 0 && !w.failed {
			faults.Add(diag.Errorf(pos, "no kernel in this folder or below it").
				Fix("looked for NAME.json with NAME.cubin, NAME.ptx or NAME.ttir beside it"))
		}
		return w.kernels, w.searched
	}
	dir, name := filepath.Split(filepath.Clean(arg))
	stem, ext := split(name)
	if ext == "" {
		faults.Add(diag.Errorf(pos, "not a file that makes a kernel").
			Fix("a kernel's files are NAME.json, NAME.cubin, NAME.ptx, NAME.ttir, NAME.source and NAME.kerngen.json"))
		return nil, nil
	}
	return []kernel{newKernel(dir, realPath(dir), stem, ext)}, nil
}

func newKernel(dir, realDir, name, seen string) kernel {
	stem := filepath.Join(dir, name)
	return kernel{stem: stem, path: filepath.ToSlash(stem), seen: seen, id: filepath.Join(realDir, name)}
}

// walk searches a folder. A folder that symbolic links reach again is searched
// once, so that links cannot loop.
type walk struct {
	faults   *diag.List
	failed   bool
	visited  map[string]bool // by real path
	links    []string        // to folders, still to be searched
	kernels  []kernel
	searched []string // folders, slash-separated
}

// folders searches root and all below it. Real folders come before links, so
// that what can be reached both ways gets its real path.
func (w *walk) folders(root string) {
	w.folder(root, realPath(root))
	for len(w.links) > 0 {
		next := w.links[0]
		w.links = w.links[1:]
		w.folder(next, realPath(next))
	}
	slices.SortFunc(w.kernels, func(a, b kernel) int { return strings.Compare(a.path, b.path) })
}

// folder searches dir, whose real path is id.
func (w *walk) folder(dir, id string) {
	if w.visited[id] {
		return
	}
	w.visited[id] = true
	w.searched = append(w.searched, filepath.ToSlash(dir))
	entries, err := os.ReadDir(dir)
	if err != nil {
		w.failed = true
		w.faults.Add(diag.Errorf(filepath.ToSlash(dir), "cannot be read: %v", diag.Bare(err)).Fix("give the right to, or name other folders"))
		return
	}
	output := generatedIn(dir, entries)
	files := make(map[string][]string) // extensions by stem
	odd := make(map[string]bool)       // stems with files that are not regular
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if e.IsDir() {
			w.folder(name, filepath.Join(id, e.Name()))
			if stem, ext := split(e.Name()); ext != "" {
				odd[stem] = true // in the place of a file, if there are others
			}
			continue
		}
		if e.Type()&os.ModeSymlink != 0 {
			if info, err := os.Stat(name); err == nil && info.IsDir() {
				w.links = append(w.links, name)
				continue
			}
		}
		if stem, ext := split(e.Name()); ext != "" {
			files[stem] = append(files[stem], ext)
			odd[stem] = odd[stem] || !e.Type().IsRegular()
		}
	}
	for stem, exts := range files {
		if ext := witness(exts); ext != "" && !output[stem+ext] {
			k := newKernel(dir, id, stem, ext)
			if !odd[stem] {
				k.searched, k.exts = true, exts
			}
			w.kernels = append(w.kernels, k)
		}
	}
}

// witness picks the file that shows exts, found by searching, to be a kernel's:
// "" where nothing does. An image or our own JSON alone does, so that a lost
// NAME.json is noticed; other programs write .json and .source files too.
func witness(exts []string) string {
	for _, ext := range []string{".cubin", ".ptx", hsaco, ".kerngen.json"} {
		if slices.Contains(exts, ext) {
			return ext
		}
	}
	if slices.Contains(exts, ".json") && slices.Contains(exts, ".ttir") {
		return ".ttir"
	}
	return ""
}

// generatedIn are the images that generated files among entries embed. Those
// are what generate wrote in a folder within its input, and no kernels.
func generatedIn(dir string, entries []os.DirEntry) map[string]bool {
	var images map[string]bool
	for _, e := range entries {
		if !e.Type().IsRegular() || !strings.HasSuffix(e.Name(), generated.GoSuffix) {
			continue
		}
		content, err := readFile(filepath.Join(dir, e.Name()), maxText, true)
		if err != nil || !generated.IsOwn(e.Name(), content) {
			continue
		}
		for _, name := range generated.Embedded(content) {
			if images == nil {
				images = make(map[string]bool)
			}
			images[name] = true
		}
	}
	for _, e := range entries {
		if stem, ok := strings.CutSuffix(e.Name(), ".json"); ok {
			delete(images, stem+".cubin") // Triton's
			delete(images, stem+".ptx")
		}
	}
	return images
}
