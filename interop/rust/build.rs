use std::env::var;
use std::fs::read_to_string;
use std::process::Command;

/// Tells the program what it is made of: neither the provider nor the runtime does.
fn main() {
    let lock = read_to_string("Cargo.lock").expect("cargo writes Cargo.lock before it builds");
    let provider = lock
        .split("\n\n")
        .find(|entry| entry.contains("name = \"open-feature-ofrep\""))
        .and_then(|entry| entry.lines().find_map(|line| line.strip_prefix("version = ")))
        .expect("Cargo.lock names the provider")
        .trim_matches('"')
        .to_string();
    let rustc = Command::new(var("RUSTC").expect("cargo sets RUSTC")).arg("--version").output();
    let version = String::from_utf8(rustc.expect("rustc runs").stdout).expect("rustc writes text");
    let runtime = version.split(' ').nth(1).unwrap_or_default().to_string();
    println!("cargo::rerun-if-changed=Cargo.lock");
    println!("cargo::rustc-env=PROVIDER={provider}");
    println!("cargo::rustc-env=RUNTIME=Rust {runtime}");
}
