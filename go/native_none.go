//go:build !linux || !amd64 || !cgo || nocuzk

package cuzk

func nativeOpen(*Config) (uint64, error)          { return 0, ErrNotBuilt }
func nativeClose(uint64) error                    { return ErrNotBuilt }
func nativeNext(uint64) (event, error)            { return event{}, ErrNotBuilt }
func nativeCancel(uint64, uint64) error           { return ErrNotBuilt }
func nativePreload(uint64, Circuit, uint64) error { return ErrNotBuilt }
func nativeEvict(uint64, Circuit, uint64) error   { return ErrNotBuilt }
func nativeTrim(uint64, uint64) error             { return ErrNotBuilt }
func nativeStats(uint64) (Stats, error)           { return Stats{}, ErrNotBuilt }
func nativeCost(uint64, Circuit) (Cost, error)    { return Cost{}, ErrNotBuilt }
func nativeVerify(Claim, []byte, *Config) error   { return ErrNotBuilt }

func nativeSubmit(_ uint64, jobs []job) []error {
	errs := make([]error, len(jobs))
	for i := range errs {
		errs[i] = ErrNotBuilt
	}
	return errs
}
