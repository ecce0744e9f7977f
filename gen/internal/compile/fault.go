package compile

import (
	"context"
	"errors"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/config"
	"github.com/kerngen/kerngen/gen/internal/diag"
)

// inspected is the driver's answer about a source.
type inspected struct {
	Files   []sourceFile        `json:"files"`
	Kernels map[string]*kernel  `json:"kernels"`
	Faults  map[string]*failure `json:"faults"`
}

// fault is what is wrong with the kernels that were asked for.
func (in *inspected) fault(a *asked) error {
	var faults diag.List
	for _, name := range a.request.Kernels {
		if f := in.Faults[name]; f != nil {
			faults.Add(config.Suggest(diag.Errorf(a.pos, "source %q %s", a.request.Source, f.Message), name, f.Known))
		}
	}
	return faults.Err()
}

func sourceFault(a *asked, err error) error {
	return diag.Errorf(a.pos, "source %q %s", a.request.Source, told(err))
}

func kernelFault(pos, kernel string, err error) error {
	return diag.Errorf(pos, "kernel %q: %s", kernel, told(err))
}

// imageFault is an error about one image, or about its target and so about all
// images for that.
func (r *run) imageFault(j *job, err error) error {
	var f *failure
	if target := config.Target(j.request.Arch); errors.As(err, &f) && f.Target {
		return diag.Errorf(r.plan.conf.TargetsOf(j.conf).Pos[target], "target %q: %s", target, f.Message).Fix("remove it, or compile with a Triton that knows it")
	}
	return diag.Errorf(j.conf.Pos, "%s: %s", j, told(err))
}

// told is an error of the driver's with what was printed, indented below it.
func told(err error) string {
	text := err.Error()
	var f *failure
	if errors.As(err, &f) && f.noise != "" {
		text += "\nprinted meanwhile:\n" + f.noise
	}
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ")
}

// reason is ctx's error where that is why err came about.
func reason(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
