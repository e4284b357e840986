//! What this process may use of the host: memory and CPUs, by cgroup v2, cgroup v1 and the machine.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Limits of the host as this process meets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostLimits {
    /// The smallest of the machine's memory and every memory limit from this process's cgroup up to the root.
    pub memory_bytes: u64,
    /// The smallest of the CPUs it may run on and every CPU quota, rounded up, at least 1.
    pub cpus: u32,
}

impl HostLimits {
    /// Reads /proc and the mounted cgroup hierarchies.
    /// Errors: INTERNAL if /proc/meminfo can't be read.
    pub fn read() -> Result<Self> {
        let cpus = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
        Self::read_below(Path::new("/"), cpus)
    }

    /// [`Self::read`] from a copy of the files below `root`; `cpus` are those that the scheduler allows.
    fn read_below(root: &Path, cpus: u32) -> Result<Self> {
        let mut limits = HostLimits { memory_bytes: total_memory(root)?, cpus: cpus.max(1) };
        let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
        let mounts = fs::read_to_string(root.join("proc/self/mountinfo")).unwrap_or_default();
        for mount in mounts.lines().filter_map(Mount::parse) {
            let Some(group) = mount.group(&groups) else { continue };
            mount.visit(root, &group, &mut |dir| limits.tighten(&mount, dir));
        }
        Ok(limits)
    }

    /// The default budget: four fifths of the memory, so that the daemon around us and the page cache have the rest.
    pub fn default_budget_bytes(&self) -> u64 {
        self.memory_bytes / 5 * 4
    }

    fn tighten(&mut self, mount: &Mount, dir: &Path) {
        let number = |file: &str| fs::read_to_string(dir.join(file)).ok()?.trim().parse::<u64>().ok();
        let memory = number(if mount.v2 { "memory.max" } else { "memory.limit_in_bytes" });
        self.memory_bytes = memory.map_or(self.memory_bytes, |bytes| bytes.min(self.memory_bytes));
        let quota = if mount.v2 {
            let text = fs::read_to_string(dir.join("cpu.max")).unwrap_or_default();
            let mut words = text.split_whitespace().map(|word| word.parse::<u64>().ok());
            words.next().flatten().zip(words.next().flatten())
        } else {
            number("cpu.cfs_quota_us").zip(number("cpu.cfs_period_us")) // −1, no limit, isn't a u64
        };
        if let Some((quota, period)) = quota.filter(|(_, period)| *period > 0) {
            let cpus = u32::try_from(quota.div_ceil(period)).unwrap_or(u32::MAX).max(1);
            self.cpus = self.cpus.min(cpus);
        }
    }
}

fn total_memory(root: &Path) -> Result<u64> {
    let file = root.join("proc/meminfo");
    let text = fs::read_to_string(&file).map_err(|error| Error::Internal(format!("{}: {error}", file.display())))?;
    let kib =
        text.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix("kB")?.trim().parse().ok());
    kib.map(|kib: u64| kib * 1024).ok_or_else(|| Error::Internal(format!("{}: no MemTotal", file.display())))
}

/// A mounted cgroup hierarchy.
#[derive(Debug)]
struct Mount {
    v2: bool,
    /// Group that is visible at `point`.
    root: PathBuf,
    point: PathBuf,
    /// Controllers of a v1 hierarchy.
    controllers: Vec<String>,
}

impl Mount {
    /// One line of mountinfo: `id parent dev root point options … - type source super-options`.
    fn parse(line: &str) -> Option<Self> {
        let (left, right) = line.split_once(" - ")?;
        let mut left = left.split(' ').skip(3);
        let (root, point) = (left.next()?, left.next()?);
        let mut right = right.split(' ');
        let kind = right.next()?;
        let options = right.nth(1).unwrap_or("");
        let v2 = kind == "cgroup2";
        (v2 || kind == "cgroup").then(|| Mount {
            v2,
            root: root.into(),
            point: point.into(),
            controllers: options.split(',').map(str::to_owned).collect(),
        })
    }

    /// This process's group in this hierarchy, from /proc/self/cgroup, relative to the mount.
    fn group(&self, groups: &str) -> Option<PathBuf> {
        let line = groups.lines().find_map(|line| {
            let mut fields = line.splitn(3, ':');
            let (id, controllers, group) = (fields.next()?, fields.next()?, fields.next()?);
            let ours = if self.v2 {
                id == "0" && controllers.is_empty()
            } else {
                controllers.split(',').any(|name| !name.is_empty() && self.controllers.iter().any(|c| c == name))
            };
            ours.then_some(group)
        })?;
        // Inside a container the group's path may lie outside of what is mounted; the mount itself is then our group.
        Some(Path::new(line).strip_prefix(&self.root).unwrap_or(Path::new("")).to_owned())
    }

    /// Calls `f` with the folder of `group` and of each of its ancestors up to the mount.
    fn visit(&self, root: &Path, group: &Path, f: &mut dyn FnMut(&Path)) {
        let point = root.join(self.point.strip_prefix("/").unwrap_or(&self.point));
        let mut dir = point.join(group.strip_prefix("/").unwrap_or(group));
        f(&dir);
        while dir != point && dir.pop() {
            f(&dir);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Host(tempfile::TempDir);

    impl Host {
        fn new(cgroup: &str, mountinfo: &str) -> Self {
            let host = Host(tempfile::tempdir().unwrap());
            host.file("proc/meminfo", "MemTotal:       16777216 kB\nMemFree:        1 kB\n");
            host.file("proc/self/cgroup", cgroup);
            host.file("proc/self/mountinfo", mountinfo);
            host
        }

        fn file(&self, name: &str, text: &str) {
            let path = self.0.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn limits(&self) -> HostLimits {
            HostLimits::read_below(self.0.path(), 8).unwrap()
        }
    }

    const GIB: u64 = 1 << 30;
    const V2: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";
    const V1: &str = "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                      32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n";

    #[test]
    fn without_cgroups_the_machine_counts() {
        let limits = Host::new("", "").limits();
        assert_eq!(limits, HostLimits { memory_bytes: 16 * GIB, cpus: 8 });
        assert_eq!(limits.default_budget_bytes(), 16 * GIB / 5 * 4);
    }

    #[test]
    fn v2_takes_the_smallest_limit_up_to_the_root() {
        let host = Host::new("0::/user.slice/curio.service\n", V2);
        host.file("sys/fs/cgroup/user.slice/curio.service/memory.max", "max\n");
        host.file("sys/fs/cgroup/user.slice/curio.service/cpu.max", "250000 100000\n");
        host.file("sys/fs/cgroup/user.slice/memory.max", "4294967296\n");
        host.file("sys/fs/cgroup/user.slice/cpu.max", "max 100000\n");
        assert_eq!(host.limits(), HostLimits { memory_bytes: 4 * GIB, cpus: 3 });
    }

    #[test]
    fn v1_reads_both_hierarchies() {
        let host = Host::new("4:memory:/docker/abc\n1:cpu,cpuacct:/docker/abc\n0::/\n", V1);
        host.file("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "2147483648\n");
        host.file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        host.file("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "200000\n");
        host.file("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000\n");
        host.file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
        host.file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
        assert_eq!(host.limits(), HostLimits { memory_bytes: 2 * GIB, cpus: 2 });
    }

    #[test]
    fn a_container_sees_its_group_at_the_mount() {
        let mount = "30 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
        for group in ["0::/docker/abc\n", "0::/\n", "0::/../../elsewhere\n"] {
            let host = Host::new(group, mount);
            host.file("sys/fs/cgroup/memory.max", "1073741824\n");
            assert_eq!(host.limits().memory_bytes, GIB, "{group}");
        }
    }

    #[test]
    fn nonsense_limits_nothing_and_a_tiny_quota_leaves_one_cpu() {
        let host = Host::new("0::/a\n", V2);
        host.file("sys/fs/cgroup/a/memory.max", "lots\n");
        host.file("sys/fs/cgroup/a/cpu.max", "1000 100000\n");
        assert_eq!(host.limits(), HostLimits { memory_bytes: 16 * GIB, cpus: 1 });
        host.file("sys/fs/cgroup/a/cpu.max", "5 0\n");
        assert_eq!(host.limits().cpus, 8);
    }

    #[test]
    fn this_machine_has_limits() {
        let limits = HostLimits::read().unwrap();
        assert!(limits.memory_bytes > 0 && limits.cpus >= 1);
    }
}
