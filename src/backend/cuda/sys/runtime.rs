//! cuda/exports/runtime.h: devices, memory, streams and events, with owners that free them.

use super::{CudaError, Status};
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};

#[repr(C)]
struct RawDevice {
    name: [u8; 256],
    uuid: [u8; 16],
    major: i32,
    minor: i32,
    multiprocessors: i32,
    integrated: i32,
    memory_bytes: u64,
    l2_bytes: u64,
    shared_bytes_per_block: u64,
}

extern "C" {
    fn czk_driver_version(driver: *mut i32, runtime: *mut i32) -> Status;
    fn czk_device_count(count: *mut i32) -> Status;
    fn czk_device_info(ordinal: i32, device: *mut RawDevice) -> Status;
    fn czk_device_use(ordinal: i32) -> Status;
    fn czk_device_memory(free_bytes: *mut u64, total_bytes: *mut u64) -> Status;
    fn czk_device_alloc(bytes: u64, pointer: *mut *mut c_void) -> Status;
    fn czk_device_free(pointer: *mut c_void) -> Status;
    fn czk_pinned_alloc(bytes: u64, pointer: *mut *mut c_void) -> Status;
    fn czk_pinned_free(pointer: *mut c_void) -> Status;
    fn czk_copy(to: *mut c_void, from: *const c_void, bytes: u64, stream: *mut c_void) -> Status;
    fn czk_fill(pointer: *mut c_void, byte: i32, bytes: u64, stream: *mut c_void) -> Status;
    fn czk_stream_create(stream: *mut *mut c_void) -> Status;
    fn czk_stream_destroy(stream: *mut c_void) -> Status;
    fn czk_stream_wait(stream: *mut c_void) -> Status;
    fn czk_stream_wait_event(stream: *mut c_void, event: *mut c_void) -> Status;
    fn czk_event_create(timing: i32, event: *mut *mut c_void) -> Status;
    fn czk_event_destroy(event: *mut c_void) -> Status;
    fn czk_event_record(event: *mut c_void, stream: *mut c_void) -> Status;
    fn czk_event_wait(event: *mut c_void) -> Status;
    fn czk_event_done(event: *mut c_void, done: *mut i32) -> Status;
    fn czk_event_ms(start: *mut c_void, stop: *mut c_void, ms: *mut f32) -> Status;
}

static DEVICE_ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static PINNED_ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static STREAMS: AtomicU64 = AtomicU64::new(0);
static EVENTS: AtomicU64 = AtomicU64::new(0);

/// Calls of this process that take memory or handles from the driver; nothing here registers memory of others. A prover
/// that is warm makes none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// cudaMalloc.
    pub device_allocations: u64,
    /// cudaHostAlloc.
    pub pinned_allocations: u64,
    /// cudaStreamCreate.
    pub streams: u64,
    /// cudaEventCreate.
    pub events: u64,
}

/// How often they were called so far, refused calls included.
pub fn calls() -> Calls {
    Calls {
        device_allocations: DEVICE_ALLOCATIONS.load(Ordering::Relaxed),
        pinned_allocations: PINNED_ALLOCATIONS.load(Ordering::Relaxed),
        streams: STREAMS.load(Ordering::Relaxed),
        events: EVENTS.load(Ordering::Relaxed),
    }
}

/// Launches a copy of `bytes` bytes; kinds follow from the pointers. From or to memory that isn't pinned it is complete
/// on the host's side when this returns.
///
/// # Safety
/// Both ranges stay valid until the stream gets there, and pinned memory unchanged.
pub unsafe fn copy(to: *mut c_void, from: *const c_void, bytes: u64, stream: &Stream) -> Result<(), CudaError> {
    czk_copy(to, from, bytes, stream.0).ok()
}

/// Launches the filling of device memory.
///
/// # Safety
/// The range stays valid until the stream gets there.
pub unsafe fn fill(to: *mut c_void, byte: u8, bytes: u64, stream: &Stream) -> Result<(), CudaError> {
    czk_fill(to, byte.into(), bytes, stream.0).ok()
}

/// What of a device decides layouts, window sizes and the choice of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Marketing name.
    pub name: String,
    /// The 16 bytes of its UUID.
    pub uuid: [u8; 16],
    /// Compute capability.
    pub capability: (u32, u32),
    /// Number of streaming multiprocessors.
    pub multiprocessors: u32,
    /// Shares the host's memory.
    pub integrated: bool,
    /// Device memory.
    pub memory_bytes: u64,
    /// Second-level cache.
    pub l2_bytes: u64,
    /// Shared memory that one block can opt in to.
    pub shared_bytes_per_block: u64,
}

/// Versions of the driver and of the runtime in this binary, as 1000 major + 10 minor. A missing driver is 0.
pub fn driver_version() -> Result<(i32, i32), CudaError> {
    let (mut driver, mut runtime) = (0, 0);
    // SAFETY: both pointers are valid for the call.
    unsafe { czk_driver_version(&mut driver, &mut runtime) }.ok()?;
    Ok((driver, runtime))
}

/// Number of visible devices; without a driver or card an error that says which.
pub fn device_count() -> Result<u32, CudaError> {
    let mut count = 0;
    // SAFETY: the pointer is valid for the call.
    unsafe { czk_device_count(&mut count) }.ok()?;
    Ok(count as u32)
}

/// Properties of device `ordinal`.
pub fn device_info(ordinal: u32) -> Result<DeviceInfo, CudaError> {
    let mut raw = std::mem::MaybeUninit::<RawDevice>::uninit();
    // SAFETY: the call fills the whole struct when it succeeds, and only then it is read.
    let raw = unsafe {
        czk_device_info(ordinal as i32, raw.as_mut_ptr()).ok()?;
        raw.assume_init()
    };
    let end = raw.name.iter().position(|&byte| byte == 0).unwrap_or(raw.name.len());
    Ok(DeviceInfo {
        name: String::from_utf8_lossy(&raw.name[..end]).into_owned(),
        uuid: raw.uuid,
        capability: (raw.major as u32, raw.minor as u32),
        multiprocessors: raw.multiprocessors as u32,
        integrated: raw.integrated != 0,
        memory_bytes: raw.memory_bytes,
        l2_bytes: raw.l2_bytes,
        shared_bytes_per_block: raw.shared_bytes_per_block,
    })
}

/// Makes device `ordinal` current for the calling thread.
pub fn use_device(ordinal: u32) -> Result<(), CudaError> {
    // SAFETY: no pointers.
    unsafe { czk_device_use(ordinal as i32) }.ok()
}

/// Free and total bytes of the current device.
pub fn device_memory() -> Result<(u64, u64), CudaError> {
    let (mut free, mut total) = (0, 0);
    // SAFETY: both pointers are valid for the call.
    unsafe { czk_device_memory(&mut free, &mut total) }.ok()?;
    Ok((free, total))
}

/// A CUDA stream without implicit order with the default stream; destroyed when dropped.
pub struct Stream(*mut c_void);

impl Stream {
    /// On the current device.
    pub fn new() -> Result<Self, CudaError> {
        STREAMS.fetch_add(1, Ordering::Relaxed);
        let mut stream = null_mut();
        // SAFETY: the pointer is valid for the call.
        unsafe { czk_stream_create(&mut stream) }.ok()?;
        Ok(Self(stream))
    }

    /// Waits until all that was launched on it has run.
    pub fn wait(&self) -> Result<(), CudaError> {
        // SAFETY: the stream lives as long as self.
        unsafe { czk_stream_wait(self.0) }.ok()
    }

    /// What is launched from now on starts after `event`.
    pub fn wait_event(&self, event: &Event) -> Result<(), CudaError> {
        // SAFETY: both live for the call; CUDA keeps what it needs of the event.
        unsafe { czk_stream_wait_event(self.0, event.0) }.ok()
    }

    /// For the kernels' entry points.
    pub fn as_ptr(&self) -> *mut c_void {
        self.0
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: created by new, destroyed once. A failure has nobody to go to and frees nothing else.
        let _ = unsafe { czk_stream_destroy(self.0) }.ok();
    }
}

/// A CUDA event; destroyed when dropped.
pub struct Event(*mut c_void);

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Event({:p})", self.0)
    }
}

// SAFETY: CUDA's event handles may be used from any thread; the calls that take one are thread-safe.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    /// Without times: cheaper to record.
    pub fn new() -> Result<Self, CudaError> {
        Self::create(0)
    }

    /// For [`Event::ms_since`].
    pub fn timing() -> Result<Self, CudaError> {
        Self::create(1)
    }

    fn create(timing: i32) -> Result<Self, CudaError> {
        EVENTS.fetch_add(1, Ordering::Relaxed);
        let mut event = null_mut();
        // SAFETY: the pointer is valid for the call.
        unsafe { czk_event_create(timing, &mut event) }.ok()?;
        Ok(Self(event))
    }

    /// Fires when all that was launched on `stream` before has run.
    pub fn record(&self, stream: &Stream) -> Result<(), CudaError> {
        // SAFETY: both live for the call.
        unsafe { czk_event_record(self.0, stream.0) }.ok()
    }

    /// Sleeps until it has fired.
    pub fn wait(&self) -> Result<(), CudaError> {
        // SAFETY: the event lives as long as self.
        unsafe { czk_event_wait(self.0) }.ok()
    }

    /// Whether it has fired.
    pub fn is_done(&self) -> Result<bool, CudaError> {
        let mut done = 0;
        // SAFETY: the event lives as long as self.
        unsafe { czk_event_done(self.0, &mut done) }.ok()?;
        Ok(done != 0)
    }

    /// Milliseconds between two events with times that have fired.
    pub fn ms_since(&self, start: &Event) -> Result<f32, CudaError> {
        let mut ms = 0.0;
        // SAFETY: both live for the call.
        unsafe { czk_event_ms(start.0, self.0, &mut ms) }.ok()?;
        Ok(ms)
    }

    /// For [`super::Poll::events`].
    pub fn as_ptr(&self) -> *mut c_void {
        self.0
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: created by create, destroyed once. A failure has nobody to go to and frees nothing else.
        let _ = unsafe { czk_event_destroy(self.0) }.ok();
    }
}

/// `len` values of a plain type in device memory; freed when dropped.
pub struct DeviceBuffer<T: Copy> {
    pointer: *mut c_void,
    len: usize,
    of: PhantomData<T>,
}

impl<T: Copy> DeviceBuffer<T> {
    /// Uninitialised. An empty buffer has a null pointer.
    pub fn new(len: usize) -> Result<Self, CudaError> {
        let mut pointer = null_mut();
        if len > 0 {
            DEVICE_ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
            // SAFETY: the pointer is valid for the call.
            unsafe { czk_device_alloc((len * size_of::<T>()) as u64, &mut pointer) }.ok()?;
        }
        Ok(Self { pointer, len, of: PhantomData })
    }

    /// A copy of `values`, complete when this returns.
    pub fn from_slice(values: &[T], stream: &Stream) -> Result<Self, CudaError> {
        let mut buffer = Self::new(values.len())?;
        buffer.write(values, stream)?;
        Ok(buffer)
    }

    /// Copies `values` to its start and waits for the stream.
    pub fn write(&mut self, values: &[T], stream: &Stream) -> Result<(), CudaError> {
        assert!(values.len() <= self.len);
        // SAFETY: both ranges are valid for the bytes copied, and the stream is waited for before either can go away.
        unsafe { czk_copy(self.pointer, values.as_ptr().cast(), size_of_val(values) as u64, stream.0) }.ok()?;
        stream.wait()
    }

    /// Copies `values` to index `place` on and waits for the stream.
    pub fn write_at(&mut self, place: usize, values: &[T], stream: &Stream) -> Result<(), CudaError> {
        assert!(place <= self.len && values.len() <= self.len - place);
        // SAFETY: the range written is inside the buffer, and the stream is waited for before either can go away.
        unsafe {
            let to = self.pointer.cast::<T>().add(place);
            czk_copy(to.cast(), values.as_ptr().cast(), size_of_val(values) as u64, stream.0).ok()?;
        }
        stream.wait()
    }

    /// The value at index `place`. T must be valid for whatever bytes a kernel left.
    pub fn read_at(&self, place: usize, stream: &Stream) -> Result<T, CudaError> {
        assert!(place < self.len);
        let mut value = std::mem::MaybeUninit::<T>::uninit();
        // SAFETY: the index is inside the buffer, and the value is whole when the stream has been waited for.
        unsafe {
            let from = self.pointer.cast::<T>().add(place);
            czk_copy(value.as_mut_ptr().cast(), from.cast(), size_of::<T>() as u64, stream.0).ok()?;
            stream.wait()?;
            Ok(value.assume_init())
        }
    }

    /// A copy of all values on the host, complete when this returns. T must be valid for whatever bytes a kernel left.
    pub fn to_vec(&self, stream: &Stream) -> Result<Vec<T>, CudaError> {
        let mut values = Vec::with_capacity(self.len);
        // SAFETY: the vector's capacity takes `len` values, and they are written before set_len.
        unsafe {
            czk_copy(values.as_mut_ptr() as *mut c_void, self.pointer, self.bytes(), stream.0).ok()?;
            stream.wait()?;
            values.set_len(self.len);
        }
        Ok(values)
    }

    /// Sets every byte, on the stream: the tests poison outputs with it.
    pub fn fill(&mut self, byte: u8, stream: &Stream) -> Result<(), CudaError> {
        // SAFETY: the range is this buffer's.
        unsafe { czk_fill(self.pointer, byte.into(), self.bytes(), stream.0) }.ok()
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Size in bytes.
    pub fn bytes(&self) -> u64 {
        (self.len * size_of::<T>()) as u64
    }

    /// For the kernels' entry points.
    pub fn as_ptr(&self) -> *mut c_void {
        self.pointer
    }
}

impl<T: Copy> Drop for DeviceBuffer<T> {
    fn drop(&mut self) {
        if !self.pointer.is_null() {
            // SAFETY: allocated by new, freed once. A failure (a lost device) leaves nothing to free.
            let _ = unsafe { czk_device_free(self.pointer) }.ok();
        }
    }
}

/// `len` values of a plain type in page-locked host memory, all bytes zero at first; freed when dropped.
pub struct PinnedBuffer<T: Copy> {
    pointer: *mut T,
    len: usize,
}

impl<T: Copy> PinnedBuffer<T> {
    /// T must be valid as all-zero bytes.
    pub fn zeroed(len: usize) -> Result<Self, CudaError> {
        let mut pointer = null_mut();
        let bytes = (len * size_of::<T>()).max(1);
        PINNED_ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the pointer is valid for the call, and the memory it returns is `bytes` long.
        unsafe {
            czk_pinned_alloc(bytes as u64, &mut pointer).ok()?;
            pointer.cast::<u8>().write_bytes(0, bytes);
        }
        Ok(Self { pointer: pointer.cast(), len })
    }
}

// SAFETY: it owns plain memory, as a Box does.
unsafe impl<T: Copy + Send> Send for PinnedBuffer<T> {}
// SAFETY: as above.
unsafe impl<T: Copy + Sync> Sync for PinnedBuffer<T> {}

impl<T: Copy> std::ops::Deref for PinnedBuffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the allocation holds `len` initialised values and lives as long as self.
        unsafe { std::slice::from_raw_parts(self.pointer, self.len) }
    }
}

impl<T: Copy> std::ops::DerefMut for PinnedBuffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as for deref, and self is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.pointer, self.len) }
    }
}

impl<T: Copy> Drop for PinnedBuffer<T> {
    fn drop(&mut self) {
        // SAFETY: allocated by zeroed, freed once.
        let _ = unsafe { czk_pinned_free(self.pointer.cast()) }.ok();
    }
}
