//! The package for Python: its wheel is built next to the tests of the workspace, put into an
//! environment of its own, and tested there as a user has it.

use crate::commands::{self, TestVariables, call, cargo, target};
use crate::skipped_tests::SkippedTests;
use crate::stages::{self, Stages, TestCounts};
use crate::without::{HIDDEN_MODULES, PYTHON_ENVIRONMENT};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

/// Packages that the tests need.
const REQUIREMENTS: &str = "python/requirements-test.txt";

/// Packages that the tests on clusters need in addition.
const SPARK_REQUIREMENTS: [&str; 2] =
    ["python/requirements-spark.txt", "python/requirements-ray.txt"];
/// Other versions of Spark, each in an environment of its own in the target folder.
const OTHER_SPARKS: [(&str, &str); 2] = [
    ("spark-3.5-venv", "python/requirements-spark-3.5.txt"),
    ("spark-newest-venv", "python/requirements-spark-newest.txt"),
];
/// The tests of these where time is short, which compare what all of them have.
const SPARK_CORE_TESTS: &str = "python/tests/clusters/test_spark_core.py";
/// The tests that need a cluster of Spark, which are a stage of their own.
const SPARK_TESTS: [&str; 7] = [
    "python/tests/clusters/test_spark.py",
    "python/tests/clusters/test_spark_audit.py",
    "python/tests/clusters/test_spark_inputs.py",
    "python/tests/clusters/test_spark_submit.py",
    "python/tests/clusters/test_extract.py",
    "python/tests/clusters/test_cluster_guide.py",
    SPARK_CORE_TESTS,
];
/// The folder of all tests.
const ALL_TESTS: &str = "python/tests";

/// The tests that need a cluster of Ray.
const RAY_TESTS: &str = "python/tests/clusters/test_ray.py";

/// An environment of Python with what the tests need.
struct Environment {
    python: PathBuf,
}

/// How pytest is started: it reports each skipped test by its name.
const PYTEST: [&str; 5] = ["-m", "pytest", "-rs", "--no-fold-skipped", "--quiet"];

/// As many files of tests at once as there are processors; tests of one file may need its order.
const PARALLEL: [&str; 4] = ["--numprocesses", "auto", "--dist", "loadfile"];

/// Stubs of the package that Python replaces by modules of datasketch; pytest collects no module
/// that comes from another file.
const BORROWED_STUBS: [&str; 5] = [
    "--ignore-glob=*/datasketch/AsyncMinHashLSH.py",
    "--ignore-glob=*/datasketch/HNSW",
    "--ignore-glob=*/datasketch/aio",
    "--ignore-glob=*/datasketch/experimental",
    "--ignore-glob=*/datasketch/hnsw.py",
];

/// The package in its environment, and the wheel that it came from.
pub(crate) struct InstalledPackage {
    environment: Environment,
    wheel: PathBuf,
}

/// Builds, installs and tests the package.
///
/// # Errors
/// There is no environment, or a step fails.
pub(crate) fn run(root: &Path, stages: &mut Stages) -> Result<(), String> {
    let environment = stages.run("packages for Python", |_| Environment::new(root))?;
    let package = install(root, environment, stages)?;
    package.next_to_clusters(root, stages, &[], |stages| package.test(root, stages, &[]))
}

/// Builds and installs the package; `None`, and a word about it, where Python or its packages are
/// absent.
///
/// # Errors
/// A step fails.
pub(crate) fn install_if_possible(
    root: &Path,
    stages: &mut Stages,
) -> Result<Option<InstalledPackage>, String> {
    // An environment that cannot be made is no failure of the stage.
    match stages.run("packages for Python", |_| Ok(Environment::new(root)))? {
        Ok(environment) => install(root, environment, stages).map(Some),
        Err(reason) => {
            let reason = format!("the package for Python is not tested: {reason}");
            stages.counts.say_skipped(&reason);
            let all = [ALL_TESTS, RAY_TESTS].into_iter().chain(SPARK_TESTS);
            stages.skipped_tests.python.extend(all.map(str::to_owned));
            Ok(None)
        }
    }
}

/// Builds and installs the package, and checks its types.
fn install(
    root: &Path,
    environment: Environment,
    stages: &mut Stages,
) -> Result<InstalledPackage, String> {
    let wheel = thread::scope(|scope| {
        // The checks take one processor each, and wait for nothing; the wheel leaves a processor
        // idle most of the time.
        let types =
            scope.spawn(|| Stages::run_parallel(|stages| types(root, &environment, stages)));
        let wheel = stages.run("wheel", |_| wheel(root, &environment))?;
        stages.run("installation of the wheel", |_| environment.install(root, &wheel))?;
        stages.wait("wait for the checks of types", [types])?;
        Ok::<_, String>(wheel)
    })?;
    Ok(InstalledPackage { environment, wheel })
}

/// Builds and installs the package, and runs the tests of it that were skipped: those on clusters
/// next to `others`.
///
/// # Errors
/// A step or `others` fails.
pub(crate) fn test_skipped(
    root: &Path,
    stages: &mut Stages,
    variables: TestVariables,
    skipped: &SkippedTests,
    others: impl FnOnce(&mut Stages) -> Result<(), String>,
) -> Result<(), String> {
    if skipped.python.is_empty() {
        return others(stages);
    }
    let environment = stages.run("packages for Python", |_| Environment::new(root))?;
    let wheel = stages.run("wheel", |_| wheel(root, &environment))?;
    stages.run("installation of the wheel", |_| environment.install(root, &wheel))?;
    let is_on_cluster = |test: &&str| {
        let file = test.split("::").next().unwrap_or(test);
        file == RAY_TESTS || SPARK_TESTS.contains(&file)
    };
    let (on_clusters, alone): (Vec<&str>, Vec<&str>) =
        skipped.python.iter().map(String::as_str).partition(is_on_cluster);
    let for_tests = variables_of_tests(variables)?;
    thread::scope(|scope| {
        let clusters = scope.spawn(|| {
            Stages::run_parallel(|stages| {
                let arguments = [&PYTEST[..], &on_clusters].concat();
                if on_clusters.is_empty() {
                    return Ok(());
                }
                run_tests("Spark and Ray", root, &environment, &arguments, &for_tests, stages)
            })
        });
        let tested = others(stages).and_then(|()| {
            let arguments = [&PYTEST[..], &PARALLEL, &ignored(), &alone].concat();
            if alone.is_empty() {
                return Ok(());
            }
            run_tests("skipped pytest", root, &environment, &arguments, &for_tests, stages)
        });
        let waited = stages.wait("wait for clusters", [clusters]);
        tested.and(waited)
    })
}

/// Runs pytest as a stage, and collects the names of skipped tests.
fn run_tests(
    name: &str,
    root: &Path,
    environment: &Environment,
    arguments: &[&str],
    variables: &[(&str, String)],
    stages: &mut Stages,
) -> Result<(), String> {
    let result = stages.run(name, |counts| {
        let mut counted = TestCounts::default();
        let result = environment.tests(root, arguments, variables, &mut counted);
        let names = counted.take_skipped_names();
        counts.add(counted);
        result.map(|()| names)
    })?;
    stages.skipped_tests.python.extend(result.into_iter().flatten());
    Ok(())
}

/// Builds and installs the package, and runs pytest with these arguments.
///
/// # Errors
/// There is no environment, or a step fails.
pub(crate) fn run_pytest(root: &Path, arguments: &[&str]) -> Result<(), String> {
    let environment = Environment::new(root)?;
    environment.install(root, &wheel(root, &environment)?)?;
    environment.python(root, &[&PYTEST[..], arguments].concat(), &[program_variable()?])
}

/// Builds and installs the package, and tests it on a cluster of Spark, whose packages are
/// installed as well.
///
/// # Errors
/// There is no environment, or a step fails.
pub(crate) fn run_spark(
    root: &Path,
    stages: &mut Stages,
    variables: TestVariables,
) -> Result<(), String> {
    let environment = stages.run("packages for Python", |_| Environment::new(root))?;
    stages.run("packages for clusters", |_| install_clusters(root, &environment))?;
    let wheel = stages.run("wheel", |_| wheel(root, &environment))?;
    stages.run("installation of the wheel", |_| environment.install(root, &wheel))?;
    spark_tests(root, &environment, stages, variables)?;
    ray_tests(root, &environment, stages, variables)?;
    for (folder, _) in OTHER_SPARKS {
        let other = Environment { python: interpreter(&target()?.join(folder)) };
        other_spark_tests(root, &other, &wheel, &SPARK_TESTS, stages, variables)?;
    }
    Ok(())
}

/// Installs Spark and Ray, and says so where they do not come.
///
/// # Errors
/// None: without them the tests on clusters say so, too, and are skipped.
pub(crate) fn install_clusters_if_possible(root: &Path, stages: &mut Stages) -> Result<(), String> {
    let install = |_: &mut TestCounts| {
        Ok(Environment::new(root).and_then(|environment| install_clusters(root, &environment)))
    };
    if let Err(reason) = stages.run("packages for clusters", install)? {
        stages.counts.say_skipped(&format!("Spark or Ray is not installed: {reason}"));
    }
    Ok(())
}

/// Installs Spark and Ray, and each other version of Spark in an environment of its own.
fn install_clusters(root: &Path, environment: &Environment) -> Result<(), String> {
    for requirements in SPARK_REQUIREMENTS {
        environment.install_packages(root, requirements)?;
    }
    for (folder, requirements) in OTHER_SPARKS {
        let other = Environment::in_folder(root, &target()?.join(folder))?;
        other.install_packages(root, requirements)?;
    }
    Ok(())
}

/// Runs tests on another version of Spark.
fn other_spark_tests(
    root: &Path,
    other: &Environment,
    wheel: &Path,
    tests: &[&str],
    stages: &mut Stages,
    variables: TestVariables,
) -> Result<(), String> {
    other.install(root, wheel)?;
    let folder = other.python.ancestors().nth(2).and_then(Path::file_name).unwrap_or_default();
    let arguments = [&PYTEST[..], tests].concat();
    let for_tests = variables_of_tests(variables)?;
    run_tests(&folder.to_string_lossy(), root, other, &arguments, &for_tests, stages)
}

/// Runs the tests on a cluster, and says so where there can be none.
fn spark_tests(
    root: &Path,
    environment: &Environment,
    stages: &mut Stages,
    variables: TestVariables,
) -> Result<(), String> {
    if let Some(reason) = environment.missing_for_spark(root) {
        let reason = format!("lookalike.spark is not tested on a cluster: {reason}");
        stages.counts.say_skipped(&reason);
        stages.skipped_tests.python.extend(SPARK_TESTS.map(str::to_owned));
        return Ok(());
    }
    let tests = [&PYTEST[..], &SPARK_TESTS].concat();
    let for_tests = variables_of_tests(variables)?;
    run_tests("Spark", root, environment, &tests, &for_tests, stages)
}

/// Runs the tests on a cluster of Ray; without Ray they say so and skip.
fn ray_tests(
    root: &Path,
    environment: &Environment,
    stages: &mut Stages,
    variables: TestVariables,
) -> Result<(), String> {
    let tests = [&PYTEST[..], &[RAY_TESTS]].concat();
    let for_tests = variables_of_tests(variables)?;
    run_tests("Ray", root, environment, &tests, &for_tests, stages)
}

/// Where the tests find the program that the package is compared with.
fn program_variable() -> Result<(&'static str, String), String> {
    let program = target()?.join("debug").join(program("lookalike"));
    Ok(("LOOKALIKE_PROGRAM", program.to_string_lossy().into_owned()))
}

fn variables_of_tests(variables: TestVariables) -> Result<Vec<(&'static str, String)>, String> {
    let mut all = vec![program_variable()?];
    all.extend(variables.iter().map(|(name, value)| (*name, (*value).to_owned())));
    Ok(all)
}

impl InstalledPackage {
    /// Tests the package on clusters while `others` runs: a cluster leaves processors idle while it
    /// starts and between its stages.
    ///
    /// # Errors
    /// Those of `others`, or a test on a cluster fails.
    pub(crate) fn next_to_clusters(
        &self,
        root: &Path,
        stages: &mut Stages,
        variables: TestVariables,
        others: impl FnOnce(&mut Stages) -> Result<(), String>,
    ) -> Result<(), String> {
        thread::scope(|scope| {
            let clusters = scope.spawn(|| {
                Stages::run_parallel(|stages| self.test_on_clusters(root, stages, variables))
            });
            let tested = others(stages);
            let waited = stages.wait("wait for clusters", [clusters]);
            tested.and(waited)
        })
    }

    /// Runs the tests that need a cluster: each version of Spark that is installed, and Ray.
    fn test_on_clusters(
        &self,
        root: &Path,
        stages: &mut Stages,
        variables: TestVariables,
    ) -> Result<(), String> {
        let spark = spark_tests(root, &self.environment, stages, variables);
        spark.and(ray_tests(root, &self.environment, stages, variables))?;
        other_sparks(root, &self.wheel, stages, variables)
    }

    /// Runs the tests that need no cluster.
    ///
    /// # Errors
    /// A test fails.
    pub(crate) fn test(
        &self,
        root: &Path,
        stages: &mut Stages,
        variables: TestVariables,
    ) -> Result<(), String> {
        let tested = pytest(root, &self.environment, stages, variables);
        tested.and(package(root, &self.environment, stages))
    }
}

/// Runs the tests that need no cluster.
fn pytest(
    root: &Path,
    environment: &Environment,
    stages: &mut Stages,
    variables: TestVariables,
) -> Result<(), String> {
    let tests = [&PYTEST[..], &PARALLEL, &ignored(), &[ALL_TESTS]].concat();
    let for_tests = variables_of_tests(variables)?;
    run_tests("pytest", root, environment, &tests, &for_tests, stages)
}

/// Options that leave out the tests on clusters.
fn ignored() -> Vec<&'static str> {
    SPARK_TESTS.iter().chain([&RAY_TESTS]).flat_map(|test| ["--ignore", test]).collect()
}

/// Runs the core tests on the other versions of Spark that are installed.
fn other_sparks(
    root: &Path,
    wheel: &Path,
    stages: &mut Stages,
    variables: TestVariables,
) -> Result<(), String> {
    for (folder, requirements) in OTHER_SPARKS {
        let other = Environment { python: interpreter(&target()?.join(folder)) };
        if other.missing_for_spark(root).is_none() {
            other_spark_tests(root, &other, wheel, &[SPARK_CORE_TESTS], stages, variables)?;
        } else {
            let reason = format!("{requirements} is not installed; `cargo x spark` does it");
            stages.counts.say_skipped(&reason);
        }
    }
    Ok(())
}

/// Checks the types of the package.
fn types(root: &Path, environment: &Environment, stages: &mut Stages) -> Result<(), String> {
    let sources = root.join("python");
    let mypy = ["-m", "mypy", "--strict", "lookalike"];
    stages.run("mypy", |_| environment.python(&sources, &mypy, &[]))?;
    if call(commands::program("node").arg("--version").stdout(Stdio::null())).is_err() {
        stages.counts.say_skipped("pyright is not run: it needs Node, which is not installed");
        return Ok(());
    }
    let pyright = ["-m", "pyright", "lookalike"];
    stages.run("pyright", |_| environment.python(&sources, &pyright, &[]))
}

/// Checks the installed package: its examples, and the stubs of its extension.
fn package(root: &Path, environment: &Environment, stages: &mut Stages) -> Result<(), String> {
    let doctests = ["--doctest-modules", "--pyargs", "lookalike"];
    let doctests = [&PYTEST[..], &BORROWED_STUBS, &doctests].concat();
    stages.run("doctest", |counts| environment.tests(root, &doctests, &[], counts))?;
    let stubtest = ["-m", "mypy.stubtest", "--allowlist", "python/stubtest.txt"];
    let stubtest = [&stubtest[..], &["lookalike._engine", "lookalike.datasketch._native"]].concat();
    stages.run("stubtest", |_| environment.python(root, &stubtest, &[]))
}

/// Builds the wheel, and the program that it is compared with.
fn wheel(root: &Path, environment: &Environment) -> Result<PathBuf, String> {
    // Both at once, since what is compiled depends on what else is asked for: so they have the
    // same dependencies with the same features as in the tests.
    let packages = ["--package", "lookalike-cli", "--package", "lookalike-python"];
    let program = [&["build", "--all-features"][..], &packages, &["--bin", "lookalike"]].concat();
    cargo(root, &program, &[])?;
    let folder = target()?.join("python-wheel");
    // What an earlier version left is not to be found below.
    let _ = std::fs::remove_dir_all(&folder);
    let out = folder.to_string_lossy();
    let build = ["-m", "maturin", "build", "--profile", "dev", "--features", "test-dependencies"];
    let how = ["--manifest-path", "python/Cargo.toml", "--out", &*out];
    let interpreter = environment.python.to_string_lossy();
    environment.python(
        root,
        &[&build[..], &how, &["--interpreter", &*interpreter]].concat(),
        &[],
    )?;
    let files = std::fs::read_dir(&folder).map_err(|e| format!("cannot read {out}: {e}"))?;
    files
        .filter_map(|file| Some(file.ok()?.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .ok_or_else(|| format!("maturin left no wheel in {out}"))
}

impl Environment {
    /// An environment in the target folder, created if it is absent. An active environment of
    /// the shell belongs to the user and is not modified.
    fn new(root: &Path) -> Result<Self, String> {
        let folder = match commands::variable(PYTHON_ENVIRONMENT) {
            Some(folder) => PathBuf::from(folder),
            None => target()?.join("python-venv"),
        };
        let environment = Self::in_folder(root, &folder)?;
        let old = "import sys; sys.exit(sys.version_info < (3, 10))";
        environment
            .python(root, &["-c", old], &[])
            .map_err(|_| format!("{} is older than Python 3.10", environment.python.display()))?;
        environment.require(root, &folder.join("lookalike-requirements.txt"))?;
        Ok(environment)
    }

    /// The environment in a folder, which is made when it is absent.
    fn in_folder(root: &Path, folder: &Path) -> Result<Self, String> {
        let environment = Self { python: interpreter(folder) };
        if !environment.python.exists() {
            let make = ["-m", "venv", &*folder.to_string_lossy()];
            call(Command::new("python3").args(make).current_dir(root))?;
        }
        Ok(environment)
    }

    /// Installs what the tests need, unless `done` says that it has been.
    fn require(&self, root: &Path, done: &Path) -> Result<(), String> {
        let wanted = std::fs::read_to_string(root.join(REQUIREMENTS))
            .map_err(|e| format!("cannot read {REQUIREMENTS}: {e}"))?;
        if std::fs::read_to_string(done).is_ok_and(|there| there == wanted) {
            return Ok(());
        }
        self.install_packages(root, REQUIREMENTS).map_err(|error| {
            format!("{error}; the packages of {REQUIREMENTS} are needed, and come by network")
        })?;
        std::fs::write(done, wanted).map_err(|e| format!("cannot write {}: {e}", done.display()))
    }

    /// Installs the packages that a file names.
    fn install_packages(&self, root: &Path, requirements: &str) -> Result<(), String> {
        let install = ["-m", "pip", "install", "--quiet", "--no-compile", "--requirement"];
        self.python(root, &[&install[..], &[requirements]].concat(), &[])
    }

    /// Why there can be no cluster of Spark, if that is so.
    fn missing_for_spark(&self, root: &Path) -> Option<String> {
        if call(Command::new("java").arg("-version").stderr(Stdio::null())).is_err() {
            return Some("there is no Java; install default-jre-headless".to_owned());
        }
        let import = self.python(root, &["-c", "import pyspark"], &[]);
        import.is_err().then(|| "there is no pyspark; `cargo x spark` installs it".to_owned())
    }

    fn install(&self, root: &Path, wheel: &Path) -> Result<(), String> {
        let install = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-index"];
        let wheel = wheel.to_string_lossy();
        self.python(root, &[&install[..], &["--force-reinstall", &*wheel]].concat(), &[])
    }

    fn python(
        &self,
        folder: &Path,
        arguments: &[&str],
        environment: &[(&str, String)],
    ) -> Result<(), String> {
        call(&mut self.command(folder, arguments, environment))
    }

    /// Runs tests and counts them.
    fn tests(
        &self,
        folder: &Path,
        arguments: &[&str],
        environment: &[(&str, String)],
        counts: &mut TestCounts,
    ) -> Result<(), String> {
        let mut command = self.command(folder, arguments, environment);
        stages::count_pytest(&mut command, &mut std::io::stdout(), counts)
    }

    fn command(
        &self,
        folder: &Path,
        arguments: &[&str],
        environment: &[(&str, String)],
    ) -> Command {
        let mut command = commands::program(&self.python);
        // The package is to be found where it is installed, not in the repository.
        command.env_remove("PYTHONPATH").env_remove("CONDA_PREFIX").env_remove("VIRTUAL_ENV");
        if let Some(folder) = commands::variable(HIDDEN_MODULES) {
            command.env("PYTHONPATH", folder);
        }
        let environment = environment.iter().map(|(name, value)| (name, value));
        command.args(arguments).envs(environment).current_dir(folder);
        command
    }
}

/// Python in an environment.
fn interpreter(folder: &Path) -> PathBuf {
    let inside = if cfg!(windows) { "Scripts" } else { "bin" };
    folder.join(inside).join(program("python"))
}

fn program(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}
