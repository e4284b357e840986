//! What a caller may choose.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// Configuration of [`super::open`].
#[derive(Clone, Debug)]
pub struct CudaConfig {
    /// Devices to open, in this order. Default: none, which means all that are visible.
    pub devices: Vec<Uuid>,
    /// Bytes that one device's arena may hold; the driver's own context, about 0.5 GiB, comes on top. Default: none, which
    /// means what is free on the device when it is opened, less 1 GiB.
    pub device_memory_bytes: Option<u64>,
    /// Bytes of each arena that only an urgent proof may use: one that interrupts another. Default: 1 GiB, enough for a
    /// WinningPoSt's working memory.
    pub device_reserve_bytes: u64,
    /// Bytes of pinned host memory of all devices together. Default: 1 GiB.
    pub pinned_memory_bytes: u64,
    /// Whether a refusal to pin memory is an error. Default: no; ordinary memory is used instead, with one warning.
    pub strict_pinning: bool,
    /// Whether pinned buffers are overwritten with zeros when they are given back. Default: no.
    pub wipe_buffers: bool,
    /// Threads that read an SRS file. Default: 8.
    pub readers: usize,
    /// Longest silence of a device before it is quarantined. Default: 2 s; kernels take minutes under a checker.
    #[cfg(feature = "testing")]
    pub patience: std::time::Duration,
    /// Whether [`Sums::b_g1`](crate::backend::Sums::b_g1) is computed. Default: yes.
    #[cfg(feature = "testing")]
    pub b_g1: bool,
}

impl Default for CudaConfig {
    fn default() -> Self {
        CudaConfig {
            devices: Vec::new(),
            device_memory_bytes: None,
            device_reserve_bytes: 1 << 30,
            pinned_memory_bytes: 1 << 30,
            strict_pinning: false,
            wipe_buffers: false,
            readers: 8,
            #[cfg(feature = "testing")]
            patience: super::PATIENCE,
            #[cfg(feature = "testing")]
            b_g1: true,
        }
    }
}

/// A device's UUID, written as nvidia-smi does: `GPU-` and 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Uuid(pub [u8; 16]);

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = hex::encode(self.0);
        let (a, b, c, d, e) = (&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]);
        write!(f, "GPU-{a}-{b}-{c}-{d}-{e}")
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Uuid {
    type Err = Error;

    /// Errors: INVALID.
    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || Error::invalid("devices", format!("{text:?} is no device's UUID (GPU-xxxxxxxx-…)"));
        let digits = text.strip_prefix("GPU-").ok_or_else(wrong)?;
        let groups: Vec<&str> = digits.split('-').collect();
        let bytes = hex::decode(groups.concat()).map_err(|_| wrong())?;
        match groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12]) {
            true => Ok(Uuid(bytes.try_into().map_err(|_| wrong())?)),
            false => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids_are_written_as_nvidia_smi_does() {
        let text = "GPU-00112233-4455-6677-8899-aabbccddeeff";
        let uuid: Uuid = text.parse().unwrap();
        assert_eq!(uuid.0[..4], [0, 0x11, 0x22, 0x33]);
        assert_eq!(uuid.to_string(), text);
        for wrong in ["", "GPU-", "0", &text[4..], &text[..39], "GPU-00112233445566778899aabbccddeeff", "MIG-1"] {
            assert!(matches!(wrong.parse::<Uuid>(), Err(Error::Invalid { field: "devices", .. })), "{wrong}");
        }
    }
}
