//! The size and style rules of the sources, as a test: what a machine can check, no reviewer has to.
//!
//! Files at most 500 lines (a file whose first lines say "generated table" excepted), lines at most 128 columns,
//! functions at most 70 lines, at most 4 levels of control flow in a function; no leftovers, no machine paths.

use std::fs;
use std::path::{Path, PathBuf};

const FILE_LINES_MAX: usize = 500;
const FUNCTION_LINES_MAX: usize = 70;
/// The formatter breaks code at 120; a comment may run a little over.
const COLUMNS_MAX: usize = 128;
const DEPTH_MAX: usize = 4;

#[test]
fn sources_keep_the_rules() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for dir in [
        "src",
        "reference/src",
        "archive",
        "tests",
        "benches",
        "examples",
        "cuda",
        "fuzz/fuzz_targets",
        "go",
        "scripts",
    ] {
        collect(&root.join(dir), &mut files);
    }
    files.push(root.join("build.rs"));
    assert!(files.len() > 20, "found only {} sources below {}", files.len(), root.display());
    let findings: Vec<String> = files.iter().flat_map(|file| check(root, file)).collect();
    assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings.join("\n"));
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
        if path.ends_with("cuzk.h") {
            continue; // generated from src/ffi
        }
        if path.is_dir() {
            collect(&path, files);
        } else if ["rs", "cu", "cuh", "h", "hpp", "cpp", "go", "sh"].contains(&extension) {
            files.push(path);
        }
    }
}

fn check(root: &Path, file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let name = file.strip_prefix(root).unwrap_or(file).display().to_string();
    let lines: Vec<&str> = text.lines().collect();
    let generated = lines.iter().take(5).any(|line| line.contains("generated table"));
    let mut found = Vec::new();
    if lines.len() > FILE_LINES_MAX && !generated {
        found.push(format!("{name}: {} lines, at most {FILE_LINES_MAX}", lines.len()));
    }
    for (i, line) in lines.iter().enumerate() {
        let columns = line.chars().count();
        if columns > COLUMNS_MAX && !generated {
            found.push(format!("{name}:{}: {columns} columns, at most {COLUMNS_MAX}", i + 1));
        }
        if let Some(word) = leftovers().into_iter().find(|word| line.contains(word.as_str())) {
            found.push(format!("{name}:{}: {word}", i + 1));
        }
    }
    found.extend(long_functions(&name, &lines));
    found
}

/// Spelled in pieces, so that this file passes its own check.
fn leftovers() -> Vec<String> {
    [("TO", "DO"), ("FIX", "ME"), ("XX", "X:"), ("todo", "!("), ("unimplemented", "!("), ("/ro", "ot/"), ("/wo", "rk/")]
        .iter()
        .map(|(a, b)| format!("{a}{b}"))
        .collect()
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn starts_function(name: &str, line: &str) -> bool {
    let text = line.trim_start();
    if name.ends_with(".go") {
        return line.starts_with("func ");
    }
    if !name.ends_with(".rs") {
        let opens = line.ends_with('{') || line.ends_with('(') || line.ends_with(',');
        let skipped = ["namespace", "extern", "struct", "enum", "//", "#", "}", "template", "union", "static_assert"];
        return indent(line) == 0 && opens && line.contains('(') && !skipped.iter().any(|word| text.starts_with(word));
    }
    let words = ["pub ", "pub(crate) ", "pub(super) ", "const ", "unsafe ", "extern \"C\" "];
    let mut rest = text;
    while let Some(next) = words.iter().find_map(|word| rest.strip_prefix(word)) {
        rest = next;
    }
    rest.starts_with("fn ")
}

/// Functions that are too long or too deep. Relies on the formatter: a function ends at a `}` in its own column.
fn long_functions(name: &str, lines: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate().filter(|(_, line)| starts_function(name, line)) {
        let column = indent(line);
        let closes = |line: &&str| {
            indent(line) == column && (line.trim_start().starts_with('}') || line.trim_end().ends_with(';'))
        };
        let Some(length) = lines[start..].iter().position(closes) else { continue };
        if length + 1 > FUNCTION_LINES_MAX {
            found.push(format!("{name}:{}: function of {} lines, at most {FUNCTION_LINES_MAX}", start + 1, length + 1));
        }
        let depth = control_depth(&lines[start + 1..start + length.max(1)]);
        if depth > DEPTH_MAX {
            found.push(format!("{name}:{}: control flow {depth} deep, at most {DEPTH_MAX}", start + 1));
        }
    }
    found
}

/// The deepest nesting of if, for, while, loop and match, told by indentation.
fn control_depth(body: &[&str]) -> usize {
    let mut open: Vec<usize> = Vec::new();
    let mut deepest = 0;
    for line in body.iter().filter(|line| !line.trim().is_empty()) {
        let column = indent(line);
        while open.last().is_some_and(|&outer| column <= outer) {
            open.pop();
        }
        let text = line.trim_start().trim_start_matches("} ").trim_start_matches("else ");
        let control = ["if ", "for ", "while ", "loop ", "match ", "switch ", "select "];
        let assigned = [" = match ", " = if ", " = loop "].iter().any(|word| text.contains(word));
        if line.trim_end().ends_with('{') && (assigned || control.iter().any(|word| text.starts_with(word))) {
            open.push(column);
            deepest = deepest.max(open.len());
        }
    }
    deepest
}
