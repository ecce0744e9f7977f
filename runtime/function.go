package kernrt

import (
	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

const (
	defaultShared   = 48 << 10 // bytes a CTA may have without asking for more
	portableCluster = 8        // CTAs; larger clusters must be asked for
)

// loadedFunction is an image's kernel in the driver's hands, to be compared
// with what the image says of it.
type loadedFunction struct {
	dev      *Device
	function cuda.Function
	image    *Image
}

// checkParams compares the parameters that the driver sees with those that
// will be passed. Drivers before CUDA 12.4 cannot tell.
func (f loadedFunction) checkParams(sizes []int) error {
	for i := range len(sizes) + 1 {
		size, known, status := f.dev.ctx.ParamSize(f.function, i)
		switch {
		case !known:
			return nil
		case status.Result() == cuda.InvalidValue && i < len(sizes):
			return faultf(ErrMalformed, "the image takes %d parameters, but %d would be passed; generate the package again", i, len(sizes))
		case status.Result() == cuda.InvalidValue:
			return nil
		case status != cuda.OK:
			return driverError(status)
		case i == len(sizes):
			return faultf(ErrMalformed, "the image takes more than the %d parameters that would be passed; generate the package again", len(sizes))
		case size != sizes[i]:
			return faultf(ErrMalformed, "the image's parameter %d has %d bytes, but %d would be passed; generate the package again", i, size, sizes[i])
		}
	}
	return nil
}

func (f loadedFunction) attribute(attribute int) (int, error) {
	v, status := f.dev.ctx.Attribute(f.function, attribute)
	return v, driverError(status)
}

func (f loadedFunction) set(attribute, value int) error {
	return driverError(f.dev.ctx.SetAttribute(f.function, attribute, value))
}

// checkThreads refuses a CTA that the device cannot run, for its registers say.
func (f loadedFunction) checkThreads() error {
	most, err := f.attribute(cuda.FuncMaxThreads)
	if err != nil {
		return err
	}
	if f.image.threads() > most {
		return faultf(ErrLimit, "a CTA has %d threads, but %v runs at most %d of this kernel; compile it with fewer warps", f.image.threads(), f.dev, most)
	}
	return nil
}

// allowShared asks for the dynamic shared memory that the image needs, where it
// is more than a CTA gets unasked.
func (f loadedFunction) allowShared() error {
	static, err := f.attribute(cuda.FuncStaticShared)
	if err != nil {
		return err
	}
	if f.image.Shared <= defaultShared-static {
		return nil
	}
	if most := f.dev.info.SharedPerBlockOptin; f.image.Shared > most-static {
		return faultf(ErrLimit, "a CTA needs %d + %d bytes of dynamic and static shared memory, but %v has %d; compile the kernel with smaller blocks or fewer stages",
			f.image.Shared, static, f.dev, most)
	}
	return f.set(cuda.FuncMaxDynamicShared, f.image.Shared)
}

// allowCluster asks for a cluster larger than every device can run, and refuses
// one that this device cannot.
func (f loadedFunction) allowCluster() error {
	c := f.image.cluster()
	size := c[0] * c[1] * c[2]
	if size == 1 {
		return nil
	}
	if size > portableCluster {
		if err := f.set(cuda.FuncNonPortableCluster, 1); err != nil {
			return err
		}
	}
	most, status := f.dev.ctx.ClusterLimit(f.function, c, f.image.threads(), f.image.Shared)
	if status != cuda.OK {
		return driverError(status)
	}
	if size > most {
		return faultf(ErrLimit, "a cluster has %d CTAs, but %v runs at most %d of this kernel; compile it with fewer", size, f.dev, most)
	}
	return nil
}
