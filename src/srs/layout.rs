//! Where the sections of an SRS stand, found from its six counts alone and compared with its size.

use std::path::Path;

use super::source::ReadAt;
use super::{fault, read_error, Section};
use crate::error::Result;

/// Bytes of the six points in front of the sections: three in G1, three in G2.
pub const VK_POINTS_BYTES: u64 = 3 * G1_BYTES + 3 * G2_BYTES;
/// Bytes of a G1 point in the file.
pub const G1_BYTES: u64 = 96;
/// Bytes of a G2 point in the file.
pub const G2_BYTES: u64 = 192;

const COUNT_BYTES: u64 = 4;

const _: () = assert!(VK_POINTS_BYTES == 864);

/// Offsets and counts of the sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Offset of each section's first point.
    offsets: [u64; Section::ALL.len()],
    counts: [u64; Section::ALL.len()],
}

impl Layout {
    /// Reads the six counts and nothing else. The file must be exactly as long as they say, and they must be those of
    /// an SRS: at least one input, every input in A, one domain less a point in H, as many points of B in G2 as in G1.
    pub(crate) fn read(source: &dyn ReadAt, size: u64, file: &Path) -> Result<Self> {
        let mut layout = Layout { offsets: [0; 6], counts: [0; 6] };
        let mut end = VK_POINTS_BYTES;
        for section in Section::ALL {
            let first = end + COUNT_BYTES;
            if size < first {
                return Err(too_short(file, section, first, size));
            }
            let mut count = [0; COUNT_BYTES as usize];
            source.read_exact_at(&mut count, end).map_err(|error| read_error(file, section.name(), None, &error))?;
            let count = u64::from(u32::from_be_bytes(count));
            // Six sections of 2^32 points of 192 bytes stay far below 2^64.
            end = first + count * section.point_bytes();
            if size < end {
                return Err(too_short(file, section, end, size));
            }
            layout.offsets[section as usize] = first;
            layout.counts[section as usize] = count;
        }
        if size > end {
            return Err(fault(file, "", None, bytes(end), bytes(size)));
        }
        layout.check_counts(file)?;
        Ok(layout)
    }

    /// Points in `section`.
    pub(crate) fn count(&self, section: Section) -> u64 {
        self.counts[section as usize]
    }

    /// Offset in the file of point `index` of `section`.
    pub(crate) fn offset(&self, section: Section, index: u64) -> u64 {
        self.offsets[section as usize] + index * section.point_bytes()
    }

    fn check_counts(&self, file: &Path) -> Result<()> {
        let [ic, h, _, a, b_g1, b_g2] = self.counts;
        let refuse = |section: Section, expected: String, count: u64| {
            Err(fault(file, section.name(), None, expected, format!("{count} points")))
        };
        if ic == 0 {
            return refuse(Section::Ic, "at least 1 point".into(), ic);
        }
        if !(h + 1).is_power_of_two() {
            return refuse(Section::H, "one point less than a power of two".into(), h);
        }
        if a < ic {
            return refuse(Section::A, format!("at least {ic} points, one per input"), a);
        }
        if b_g2 != b_g1 {
            return refuse(Section::BG2, format!("{b_g1} points, as in b_g1"), b_g2);
        }
        Ok(())
    }
}

fn too_short(file: &Path, section: Section, needed: u64, size: u64) -> crate::Error {
    fault(file, section.name(), None, format!("at least {needed} bytes"), bytes(size))
}

fn bytes(count: u64) -> String {
    format!("{count} bytes")
}
