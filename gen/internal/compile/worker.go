package compile

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

// worker is one running driver. It is not safe for concurrent use.
type worker struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *os.File
	source string // the last that it was asked about, which it has imported
	hello  hello  // once it has greeted
}

// hello is the driver's first answer.
type hello struct {
	Triton       string   `json:"triton"`
	Distribution string   `json:"distribution"`
	Options      []string `json:"options"`
}

// failure is an answer that says what the user can mend.
type failure struct {
	Message string   `json:"message"`
	Known   []string `json:"known"`
	Target  bool     `json:"target"` // it is about the target, whatever the kernel
	Python  string   `json:"python"`
	noise   string   // what was printed meanwhile
}

func (f *failure) Error() string { return f.Message }

// startWorker starts the driver at path with python, for sources below root, and
// does not wait for its greeting. It may fill work, an empty folder.
func startWorker(ctx context.Context, python, path, root, work string) (*worker, error) {
	stderr, err := os.OpenFile(work+".stderr", os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	w := &worker{stderr: stderr, cmd: exec.CommandContext(ctx, python, path, root, work)}
	w.cmd.Env = environment()
	w.cmd.Stderr = stderr
	w.cmd.WaitDelay = 5 * time.Second
	ownGroup(w.cmd)
	stdin, err := w.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.in, w.out = stdin, bufio.NewReader(stdout)
	if err := w.cmd.Start(); err != nil {
		stderr.Close()
		return nil, diag.Errorf("", "Python %s cannot be run: %v", python, diag.Bare(err))
	}
	return w, nil
}

// greet waits until the driver says which Triton it has.
func (w *worker) greet() error {
	if w.hello.Triton != "" {
		return nil
	}
	python := w.cmd.Path
	err := w.answer(&w.hello)
	var f *failure
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f):
		err = diag.Errorf("", "Python %s (%s): %s", python, f.Python, f.Message).
			Fix("kernels need Triton %s or later: pip install triton there, or name another interpreter with --python or KERNGEN_PYTHON", oldest)
	default:
		err = diag.Errorf("", "Python %s: %v", python, err)
	}
	w.close()
	return err
}

// ask sends a request and reads its answer into result. An error is a *failure,
// or says how the process ended.
func (w *worker) ask(r request, result any) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	w.source = r.Source
	if err := w.stderr.Truncate(0); err != nil {
		return err
	}
	if _, err := w.in.Write(append(line, '\n')); err != nil {
		return w.died()
	}
	return w.answer(result)
}

func (w *worker) answer(result any) error {
	line, err := w.out.ReadBytes('\n')
	if err != nil {
		return w.died()
	}
	var a struct {
		Result json.RawMessage
		Error  *failure
	}
	if err := json.Unmarshal(line, &a); err != nil {
		return fmt.Errorf("its answer is not JSON: %w", err)
	}
	if a.Error != nil {
		a.Error.noise = w.noise()
		return a.Error
	}
	return json.Unmarshal(a.Result, result)
}

// errDied is a worker that ended without an answer.
var errDied = errors.New("the process ended without an answer")

func (w *worker) died() error {
	w.in.Close()
	err := w.cmd.Wait()
	how := "it exited"
	if err != nil {
		how = err.Error()
	}
	text := w.noise()
	if text != "" {
		text = "\n" + text
	}
	return fmt.Errorf("%w: %s%s", errDied, how, text)
}

// noise is the end of what the process has printed since the last request.
func (w *worker) noise() string {
	const most = 4000
	info, err := w.stderr.Stat()
	if err != nil {
		return ""
	}
	from := max(0, info.Size()-most)
	data := make([]byte, info.Size()-from)
	n, _ := w.stderr.ReadAt(data, from)
	return strings.TrimSpace(strings.ToValidUTF8(string(data[:n]), "?"))
}

// close ends the process, which has nothing to finish: its answers have been
// read. How it ends does not matter.
func (w *worker) close() {
	w.cmd.Cancel()
	w.cmd.Wait()
	w.stderr.Close()
}

// pool runs requests on as many workers as are wanted.
type pool struct {
	python, root string
	temp         string // folder of the driver and the workers' own
	most         int
	idle         []*worker
	started      int
}

// newPool prepares a pool of at most most workers; close removes what it leaves.
func newPool(python, root string, most int) (*pool, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp("", "kerngen-")
	if err != nil {
		return nil, diag.File(os.TempDir(), err)
	}
	p := &pool{python: python, root: root, temp: temp, most: most}
	if err := os.WriteFile(p.driver(), driver, 0o600); err != nil {
		p.close()
		return nil, diag.File(p.driver(), err)
	}
	return p, nil
}

func (p *pool) driver() string { return filepath.Join(p.temp, "driver.py") }

func (p *pool) close() {
	for _, w := range p.idle {
		w.close()
	}
	os.RemoveAll(p.temp)
}

// start adds a worker.
func (p *pool) start(ctx context.Context) (*worker, error) {
	work := filepath.Join(p.temp, fmt.Sprint("worker", p.started))
	p.started++
	if err := os.Mkdir(work, 0o700); err != nil {
		return nil, diag.File(work, err)
	}
	return startWorker(ctx, p.python, p.driver(), p.root, work)
}

// first starts as many of the pool's workers as there are tasks to come, all at
// once, since each has Triton to import, and returns what the first says of its
// Triton.
func (p *pool) first(ctx context.Context, tasks int) (hello, error) {
	for range min(p.most, max(1, tasks)) {
		w, err := p.start(ctx)
		if err != nil {
			return hello{}, err
		}
		p.idle = append(p.idle, w)
	}
	w := p.idle[len(p.idle)-1] // the next that gets a task
	if err := w.greet(); err != nil {
		p.idle = p.idle[:len(p.idle)-1]
		return hello{}, err
	}
	return w.hello, nil
}

// task is a request, and what to do with its answer.
type task struct {
	request request
	result  any
	done    func(error) // called by one goroutine at a time
}

// run runs all tasks and returns when all are done, or an error that keeps the
// rest from being started: no worker can be, or ctx is done. A worker prefers
// tasks of the source that it has imported.
func (p *pool) run(ctx context.Context, tasks []task) error {
	var fatal error
	type finished struct {
		w   *worker
		t   *task
		err error
	}
	answers := make(chan finished)
	busy := 0
	give := func(w *worker, t task) {
		busy++
		go func() {
			if err := w.greet(); err != nil {
				answers <- finished{nil, &t, err}
				return
			}
			answers <- finished{w, &t, w.ask(t.request, t.result)}
		}()
	}
	dispatch := func() {
		for len(tasks) > 0 && fatal == nil && ctx.Err() == nil && busy < p.most {
			var t task
			if n := len(p.idle); n > 0 {
				w := p.idle[n-1]
				p.idle = p.idle[:n-1]
				t, tasks = take(tasks, w.source)
				give(w, t)
				continue
			}
			w, err := p.start(ctx)
			if err != nil {
				fatal = err
				break
			}
			t, tasks = take(tasks, "")
			give(w, t)
		}
	}
	for dispatch(); busy > 0; dispatch() {
		f := <-answers
		busy--
		switch {
		case f.w == nil:
			fatal = f.err
			continue
		case errors.Is(f.err, errDied):
			f.w.stderr.Close()
		default:
			p.idle = append(p.idle, f.w)
		}
		if ctx.Err() == nil {
			f.t.done(f.err)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fatal
}

// take removes a task from tasks: the first of that source, else the first.
func take(tasks []task, source string) (task, []task) {
	i := 0
	for j, t := range tasks {
		if t.request.Source == source {
			i = j
			break
		}
	}
	t := tasks[i]
	return t, append(tasks[:i:i], tasks[i+1:]...)
}
