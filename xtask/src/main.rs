//! The commands for developers of lookalike, which continuous integration also runs. `cargo x`
//! lists them. Each command stops at the first error and prints the remedy.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool")]

mod budgets;
mod commands;
mod cpu_time;
mod deny;
mod docs;
mod links;
mod measure;
mod members;
mod msrv;
mod page;
mod promises;
mod prose;
mod python;
mod quick;
mod ruff;
mod signals;
mod skipped_tests;
mod source;
mod stages;
mod test_programs;
mod tidy;
mod type_names;
mod unicode;
mod wheel_features;
mod without;

use commands::{FULL_SIZE, TestVariables, cargo};
use members::WorkspaceCrate;
use skipped_tests::{AllowedSkips, SkippedTests};
use stages::{CommandRole, Stages, TestCounts};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

const HELP: &str = "\
Between two edits:
cargo x quick [BASE]    tidy, then format, clippy and tests of the changed crates
cargo x tidy [--lower]  sizes, order of the stages, import cycles, names, prose, links, promises;
                        --lower first lowers xtask/budgets.txt
cargo x page [PORT]     serves the web page from its folder, with mock data.
                        --check: format, lints and types of its JavaScript.
cargo x measure         lines, lengths of functions and files, import cycles, packed tuples

Before a change is ready:
cargo x lint            format, clippy, documentation, tidy, web page, dependencies, Unicode table
cargo x check           clippy of every crate without features, and with each feature alone
cargo x test [ARG…]     all tests of Rust and Python; with arguments, only `cargo test`
cargo x test --without NAME…   all tests, while optional parts of this machine are hidden:
                        python node ray pyspark java redis postgresql browser schemathesis data
                        network root
cargo x test --skipped [--allow FILE]   the tests that the last `cargo x test` skipped; with a
                        file of allowed reasons, any other skip is a failure
cargo x python [ARG…]   builds, installs and tests the wheel; with arguments, only pytest

Rarely:
cargo x soak            `check`, then all tests at full size; also installs Spark and Ray
cargo x spark           tests Spark and Ray on clusters; installs both (1.5 GB), needs Java
cargo x bench [ARG…]    measures on a generated corpus; arguments go to the benchmark
cargo x docs            builds the site of the documentation; needs MkDocs
cargo x deny            licences, versions and advisories of the dependencies, by cargo-deny
cargo x msrv            compiles the workspace with the minimum Rust version
cargo x unicode         writes the Unicode table; with --check only compares it
";

/// Property tests try the same cases in each run. Only `soak` tries other cases.
const SAME_CASES: TestVariables = &[("PROPTEST_RNG_SEED", "2026")];

/// Lint, documentation and tests use the same features, so that cargo compiles dependencies once.
const FEATURES: [&str; 2] = ["--workspace", "--all-features"];

fn main() -> ExitCode {
    signals::restore_defaults();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match run(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")), &args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("cargo x: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(root: &Path, args: &[&str]) -> Result<(), String> {
    match args {
        [] | ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            Ok(())
        }
        ["quick"] => in_stages(CommandRole::Last, |stages| quick::run(root, None, stages)),
        ["quick", base] => {
            in_stages(CommandRole::Last, |stages| quick::run(root, Some(base), stages))
        }
        ["lint"] => in_stages(CommandRole::Checks, |stages| lint(root, stages)),
        ["check"] => check(root),
        ["test", rest @ ..] if rest.iter().any(|arg| ["-p", "--package"].contains(arg)) => {
            cargo(root, &[&["test"], rest].concat(), &[])
        }
        ["test"] => in_stages(CommandRole::Tests, |stages| test(root, stages, SAME_CASES)),
        ["test", "--without", names @ ..] => without::run(&without::parts(names)?, &["test"]),
        ["test", "--skipped"] => {
            in_stages(CommandRole::Last, |stages| test_skipped(root, stages, SAME_CASES))
        }
        ["test", "--skipped", "--allow", file] => in_stages(CommandRole::Last, |stages| {
            let allowed = AllowedSkips::read(Path::new(file))?;
            test_skipped(root, stages, SAME_CASES)?;
            allowed.check(stages.counts.skip_reasons())
        }),
        ["soak"] => in_stages(CommandRole::Last, |stages| {
            stages.run("every feature alone", |_| check(root))?;
            python::install_clusters_if_possible(root, stages)?;
            test(root, stages, FULL_SIZE)
        }),
        ["test", rest @ ..] => cargo(root, &[&["test"][..], &FEATURES, rest].concat(), &[]),
        ["python"] => in_stages(CommandRole::Last, |stages| python::run(root, stages)),
        ["python", rest @ ..] => python::run_pytest(root, rest),
        ["spark"] => {
            in_stages(CommandRole::Last, |stages| python::run_spark(root, stages, FULL_SIZE))
        }
        ["bench", rest @ ..] => {
            // The benchmark measures the program in its own folder.
            let build = ["build", "--release", "--package", "lookalike-cli"];
            cargo(root, &build, &[])?;
            let bench = ["run", "--release", "--package", "lookalike-bench", "--"];
            cargo(root, &[&bench, rest].concat(), &[])
        }
        ["tidy"] => tidy::run(root, false, &mut TestCounts::default()),
        ["tidy", "--lower"] => tidy::run(root, true, &mut TestCounts::default()),
        ["deny"] => in_stages(CommandRole::Last, |stages| {
            stages.run("dependencies", |counts| deny::run(root, counts))
        }),
        ["msrv"] => in_stages(CommandRole::Last, |stages| {
            stages.run("minimum Rust version", |counts| msrv::run(root, counts))
        }),
        ["docs"] => in_stages(CommandRole::Last, |stages| {
            stages.run("documentation site", |counts| docs::run(root, counts))
        }),
        ["page", "--check"] => in_stages(CommandRole::Last, |stages| {
            stages.run("page", |counts| page::lint(root, counts))
        }),
        ["page", arguments @ ..] => page::serve(root, arguments),
        ["measure"] => measure::run(root),
        ["unicode"] => unicode::run(root, false),
        ["unicode", "--check"] => unicode::run(root, true),
        _ => Err(format!("unknown command `{}`; the commands are:\n{HELP}", args.join(" "))),
    }
}

/// Runs a command, and prints its stages with their times unless a later command prints them.
fn in_stages(
    role: CommandRole,
    command: impl FnOnce(&mut Stages) -> Result<(), String>,
) -> Result<(), String> {
    let mut stages = Stages::new();
    let result = command(&mut stages);
    stages.finish(role, &result);
    result
}

fn lint(root: &Path, stages: &mut Stages) -> Result<(), String> {
    stages.run("format", |_| cargo(root, &["fmt", "--all", "--check"], &[]))?;
    let clippy =
        [&["clippy", "--all-targets"][..], &FEATURES, &["--", "--deny", "warnings"]].concat();
    stages.run("clippy", |_| cargo(root, &clippy, &[]))?;
    let doc = [&["doc", "--no-deps"][..], &FEATURES].concat();
    stages.run("documentation", |_| cargo(root, &doc, &[("RUSTDOCFLAGS", "-D warnings")]))?;
    stages.run("Python files", |counts| ruff::run(root, counts))?;
    stages.run("tidy", |counts| tidy::run(root, false, counts))?;
    stages.run("page", |counts| page::lint(root, counts))?;
    stages.run("documentation site", |counts| docs::run(root, counts))?;
    stages.run("features of the wheel", |_| wheel_features::run(root))?;
    stages.run("minimum Rust version", |counts| msrv::run_after_clippy(root, counts))?;
    stages.run("dependencies", |counts| deny::run(root, counts))?;
    stages.run("Unicode table", |_| unicode::run(root, true))
}

/// Runs all tests, and writes the names of the skipped tests for [`test_skipped`]. `variables` set
/// the size of the tests.
fn test(root: &Path, stages: &mut Stages, variables: TestVariables) -> Result<(), String> {
    // Compilation is a separate stage, so that the time of the stage `tests` excludes it. The
    // packages for Python are downloaded in parallel.
    let mut package = None;
    let create_package = |stages: &mut Stages| {
        package = python::create_if_possible(root, stages, variables);
        Ok(())
    };
    let programs =
        stages.run_next_to("wait for packages for Python", create_package, |stages| {
            stages.run("build of the tests", |_| test_programs::build(root, &FEATURES))
        })?;
    let tests = |stages: &mut Stages| {
        let skipped = stages.run("tests", |counts| {
            test_programs::run(programs, variables, counts, &mut std::io::stdout())
        })?;
        stages.skipped_tests.programs.extend(skipped.programs);
        let examples = [&["test", "--doc"][..], &FEATURES].concat();
        stages.run("examples", |counts| stages::count_cargo(root, &examples, counts))
    };
    match package {
        None => tests(stages)?,
        Some(package) => {
            package.install_checked(stages)?;
            package.next_to_clusters(stages, |stages| {
                tests(stages)?;
                package.test(stages)
            })?;
        }
    }
    stages.skipped_tests.write()
}

/// Runs the tests that the last `cargo x test` skipped, because packages may have been installed
/// since.
fn test_skipped(root: &Path, stages: &mut Stages, variables: TestVariables) -> Result<(), String> {
    let skipped = SkippedTests::read()?;
    let build = |_: &mut TestCounts| test_programs::build(root, &FEATURES);
    let mut programs = stages.run("build of skipped tests", build)?;
    test_programs::retain_skipped(&mut programs, &skipped);
    let tests = |stages: &mut Stages| {
        let run = |counts: &mut TestCounts| {
            test_programs::run(programs, variables, counts, &mut std::io::stdout())
        };
        stages.run("skipped tests", run).map(drop)
    };
    python::test_skipped(root, stages, variables, &skipped, tests)
}

/// Runs clippy on every crate: once without features, and once with each single feature. `lint`
/// uses all features, so it does not find code that is unused or missing without some of them.
fn check(root: &Path) -> Result<(), String> {
    let has_default = |member: &WorkspaceCrate| member.features.contains_key("default");
    // A feature of a crate turns on the feature of that name in its dependencies, so all crates
    // with a default are checked at once. Together, the other crates would turn on every feature,
    // so each of them is checked separately.
    let (divided, other_crates) =
        members::of(root)?.into_iter().partition::<Vec<_>, _>(has_default);
    for members in std::iter::once(&divided[..]).chain(other_crates.chunks(1)) {
        let base = ["clippy", "--all-targets", "--no-default-features"];
        let packages = members.iter().flat_map(|member| ["--package", &member.name]);
        let base: Vec<&str> = base.into_iter().chain(packages).collect();
        let features = members.iter().flat_map(|member| member.features.keys());
        let alone: BTreeSet<&str> = features.map(String::as_str).collect();
        let deny = &["--", "--deny", "warnings"][..];
        cargo(root, &[&base[..], deny].concat(), &[])?;
        for feature in alone.into_iter().filter(|feature| *feature != "default") {
            cargo(root, &[&base[..], &["--features", feature][..], deny].concat(), &[])?;
        }
    }
    Ok(())
}
