package cuzk

import (
	"context"
	"log/slog"
	"time"
)

// The native library behind this package: native_cgo.go calls it, native_none.go says that there is none. Both have
// nativeOpen, nativeClose, nativeSubmit, nativeNext, nativeCancel, nativePreload, nativeEvict, nativeTrim, nativeStats,
// nativeCost and nativeVerify.

// job is a request on its way into the engine.
type job struct {
	tag      uint64
	request  Request
	deadline time.Time
}

// milliseconds until a deadline as the header wants them: at least 1, and 0 for none.
func milliseconds(deadline time.Time) uint64 {
	if deadline.IsZero() {
		return 0
	}
	return uint64(max(time.Until(deadline).Milliseconds(), 1))
}

// levels of the log in the header, from the most detailed on.
var levels = []struct {
	number uint32
	level  slog.Level
}{
	{5, slog.LevelDebug - 4},
	{4, slog.LevelDebug},
	{3, slog.LevelInfo},
	{2, slog.LevelWarn},
	{1, slog.LevelError},
}

// logLevel is the most detailed level that the logger takes; without a logger, errors alone.
func logLevel(logger *slog.Logger) uint32 {
	if logger != nil {
		for _, l := range levels {
			if logger.Enabled(context.Background(), l.level) {
				return l.number
			}
		}
	}
	return 1
}

func slogLevel(number uint32) slog.Level {
	for _, l := range levels {
		if l.number == number {
			return l.level
		}
	}
	return slog.LevelError
}
