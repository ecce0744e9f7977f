//go:build unix

package main

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

//go:embed interpreter.py
var script []byte

// interpreter is Triton's, in a process of its own.
type interpreter struct {
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	folder  string
}

func startInterpreter(python, kernels, folder string) (*interpreter, error) {
	file := filepath.Join(folder, "interpreter.py")
	if err := os.WriteFile(file, script, 0o600); err != nil {
		return nil, err
	}
	p := exec.Command(python, file, kernels, folder)
	p.Env = append(os.Environ(), "TRITON_INTERPRET=1")
	p.Stderr = os.Stderr
	in, err := p.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &interpreter{p, in, bufio.NewReader(out), folder}, p.Start()
}

func (i *interpreter) launch(c *kernelCase) (cost, error) {
	if _, err := fmt.Fprintln(i.in, c.name); err != nil {
		return cost{}, fmt.Errorf("the interpreter has ended: %w", err)
	}
	var wall, cpu int64 // nanoseconds
	if _, err := fmt.Fscanln(i.out, &wall, &cpu); err != nil {
		return cost{}, fmt.Errorf("the interpreter says no times: %w", err)
	}
	return cost{time.Duration(wall), time.Duration(cpu)}, nil
}

func (i *interpreter) output(c *kernelCase) ([]byte, error) {
	return os.ReadFile(filepath.Join(i.folder, c.name+".out"))
}

// close ends the process, which reads until its input ends.
func (i *interpreter) close() {
	i.in.Close()
	i.process.Wait()
}
