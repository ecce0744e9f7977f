package artefact

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

// Sizes beyond which a file is not what its name says. They bound what a wrong
// path can cost.
const (
	maxJSON  = 16 << 20
	maxText  = 64 << 20
	maxCubin = 256 << 20
)

// maxReaders bounds the files that are read at once.
const maxReaders = 8

// Read reads the kernels that paths name. A path is one file of a kernel, which
// brings its siblings along, or a folder that is searched with all below it.
// Images come in the order of paths, those of a folder sorted by path; one that
// is reached twice is read once.
//
// On any fault Read returns no image, and an error that lists all of them.
func Read(paths []string) ([]*Image, error) {
	images, _, err := ReadFrom(paths)
	return images, err
}

// ReadFrom is Read that also returns the folders it searched: a new file in one
// of them may be a new kernel.
func ReadFrom(paths []string) (images []*Image, folders []string, err error) {
	var faults diag.List
	kernels, folders := find(paths, &faults)

	images = make([]*Image, len(kernels))
	found := make([]diag.List, len(kernels))
	var group errgroup.Group
	group.SetLimit(min(maxReaders, runtime.GOMAXPROCS(0)))
	for i, k := range kernels {
		group.Go(func() error {
			images[i] = k.read(&found[i])
			return nil
		})
	}
	group.Wait() // the faults are in found

	for i := range found {
		faults.Add(found[i].Err())
	}
	if err := faults.Err(); err != nil {
		return nil, nil, err
	}
	return images, folders, nil
}

// Files are the paths of the files that the image was read from.
func (im *Image) Files() []string {
	var files []string
	for _, f := range []struct {
		ext  string
		read bool
	}{
		{".json", im.Meta != nil && !im.Meta.InPTX},
		{".ttir", im.TTIR != nil},
		{".source", im.Source != nil},
		{".ptx", im.PTX != nil},
		{".cubin", im.Cubin != nil},
		{".kerngen.json", im.Sidecar != nil},
		{".launch_metadata", im.Launch != nil},
	} {
		if f.read {
			files = append(files, im.Path+f.ext)
		}
	}
	return files
}

// read reads the files of one kernel.
func (k kernel) read(faults *diag.List) *Image {
	image := &Image{Path: k.path}
	var found bool
	image.Meta, found = load(k, ".json", maxJSON, faults, parseMeta)
	image.TTIR, _ = load(k, ".ttir", maxText, faults, parseTTIR)
	image.Source, _ = load(k, ".source", maxText, faults, parseTTIR)
	image.PTX, _ = load(k, ".ptx", maxText, faults, parsePTX)
	image.Cubin, _ = load(k, ".cubin", maxCubin, faults, parseCubin)
	image.Sidecar, _ = load(k, ".kerngen.json", maxJSON, faults, parseSidecar)
	image.Launch, _ = load(k, ".launch_metadata", maxJSON, faults, parseLaunchMeta)
	if !found && image.PTX != nil {
		var err error
		image.Meta, found, err = ptxMeta(k.path+".ptx", image.PTX)
		faults.Add(err)
	}
	if !found {
		faults.Add(diag.Errorf(k.path+k.seen, "%s.json is missing beside it", path.Base(k.path)).
			Fix("name Triton's cache folder where this is one of its dumps, which lack it, or copy it from there; a launch needs its metadata"))
	}
	return image
}

// load reads and parses one file of k; found is false where there is none.
func load[T any](k kernel, ext string, limit int64, faults *diag.List, parse func(pos string, data []byte) (*T, error)) (content *T, found bool) {
	pos := k.path + ext
	if !k.mayHave(ext) {
		return nil, false
	}
	data, err := readFile(k.stem+ext, limit, k.searched)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false
	}
	if err != nil {
		faults.Add(diag.Errorf(pos, "cannot be read: %v", err).Fix("put the file that Triton's compiler wrote in its place"))
		return nil, true
	}
	content, err = parse(pos, data)
	faults.Add(err)
	return content, true
}

// readFile reads a regular file of at most limit bytes; regular says that it is
// known to be one. Its errors do not name the file.
func readFile(name string, limit int64, regular bool) ([]byte, error) {
	if !regular { // a named pipe would block the open
		info, err := os.Stat(name)
		if err != nil {
			if _, lerr := os.Lstat(name); lerr == nil {
				return nil, fmt.Errorf("it is a symbolic link to nothing")
			}
			return nil, diag.Bare(err)
		}
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("it is not a regular file")
		}
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, diag.Bare(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, diag.Bare(err)
	}
	tooLarge := fmt.Errorf("it is larger than %d MiB", limit>>20)
	if info.Size() > limit {
		return nil, tooLarge
	}
	data := make([]byte, 0, info.Size()+1)
	for int64(len(data)) <= limit {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == io.EOF || n > 0 && int64(len(data)) == info.Size() {
			return data, nil
		}
		if err != nil {
			return nil, diag.Bare(err)
		}
	}
	return nil, tooLarge
}
