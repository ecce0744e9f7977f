package cuda

// Pool attributes (CUmemPool_attribute), in bytes.
const (
	PoolReleaseThreshold = 4 // what a synchronisation leaves reserved
	PoolReserved         = 5 // taken from the device
	PoolReservedHigh     = 6 // the most since it was set to 0
	PoolUsed             = 7 // allocated
	PoolUsedHigh         = 8
)
