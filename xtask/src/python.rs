//! Builds the wheel of the Python package, installs it into a separate environment and runs its
//! tests there.

use crate::commands::{self, TestVariables, call, cargo, target};
use crate::skipped_tests::SkippedTests;
use crate::stages::{self, Stages, TestCounts};
use crate::without::{HIDDEN_MODULES, PYTHON_ENVIRONMENT};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The list of packages that the tests need.
const REQUIREMENTS: &str = "python/requirements-test.txt";

/// The lists of packages that only the tests on clusters need.
const CLUSTER_REQUIREMENTS: [&str; 2] =
    ["python/requirements-spark.txt", "python/requirements-ray.txt"];
/// Other versions of Spark: the folder of the environment in the target folder, and
/// the list of packages.
const OTHER_SPARKS: [(&str, &str); 2] = [
    ("spark-3.5-venv", "python/requirements-spark-3.5.txt"),
    ("spark-newest-venv", "python/requirements-spark-newest.txt"),
];
/// The tests that `cargo x test` runs on other versions of Spark.
const SPARK_CORE_TESTS: &str = "python/tests/clusters/test_spark_core.py";
/// The tests that need a Spark cluster. They are a separate stage.
const SPARK_TESTS: [&str; 7] = [
    "python/tests/clusters/test_spark.py",
    "python/tests/clusters/test_spark_audit.py",
    "python/tests/clusters/test_spark_inputs.py",
    "python/tests/clusters/test_spark_submit.py",
    "python/tests/clusters/test_extract.py",
    "python/tests/clusters/test_cluster_guide.py",
    SPARK_CORE_TESTS,
];
/// The tests that need a Ray cluster.
const RAY_TESTS: &str = "python/tests/clusters/test_ray.py";
/// The stage that waits for tests on clusters. They run in parallel with other tests, because a
/// cluster leaves processors idle while it starts and between its stages.
const CLUSTERS: &str = "wait for clusters";
/// The folder of all tests.
const ALL_TESTS: &str = "python/tests";

/// The arguments for Python that run pytest with a line for each skipped test.
const PYTEST: [&str; 5] = ["-m", "pytest", "-rs", "--no-fold-skipped", "--quiet"];

/// The arguments for running as many test files at once as there are processors. The tests of a
/// file run in one process, because they may depend on their order in the file.
const PARALLEL: [&str; 4] = ["--numprocesses", "auto", "--dist", "loadfile"];

/// The arguments for ignoring modules of the package that a module of datasketch
/// replaces on import. pytest cannot collect such a module, because the imported module
/// comes from a different file.
const BORROWED_STUBS: [&str; 5] = [
    "--ignore-glob=*/datasketch/AsyncMinHashLSH.py",
    "--ignore-glob=*/datasketch/HNSW",
    "--ignore-glob=*/datasketch/aio",
    "--ignore-glob=*/datasketch/experimental",
    "--ignore-glob=*/datasketch/hnsw.py",
];

/// A virtual environment for the package and its tests.
pub(crate) struct PythonEnvironment {
    root: PathBuf,
    python: PathBuf,
    /// Environment variables that set the size of the tests.
    variables: TestVariables,
}

/// Builds, installs and tests the package.
///
/// # Errors
/// If the environment cannot be created, or a step fails.
pub(crate) fn run(root: &Path, stages: &mut Stages) -> Result<(), String> {
    let environment = stages.run("packages for Python", |_| PythonEnvironment::new(root, &[]))?;
    environment.install_checked(stages)?;
    environment.next_to_clusters(stages, |stages| environment.test(stages))
}

/// Creates the environment with the packages of the tests. If this fails, counts the tests of the
/// package as skipped and returns `None`.
pub(crate) fn create_if_possible(
    root: &Path,
    stages: &mut Stages,
    variables: TestVariables,
) -> Option<PythonEnvironment> {
    match stages.run("packages for Python", |_| PythonEnvironment::new(root, variables)) {
        Ok(environment) => Some(environment),
        Err(reason) => {
            let reason = format!("the package for Python is not tested: {reason}");
            stages.counts.say_skipped(&reason);
            let all = [ALL_TESTS, RAY_TESTS].into_iter().chain(SPARK_TESTS);
            stages.skipped_tests.python.extend(all.map(str::to_owned));
            None
        }
    }
}

/// Builds and installs the package, and runs the tests of the package that an earlier command
/// skipped. The tests on clusters run in parallel with `other_stages`.
///
/// # Errors
/// If a step or `other_stages` fails.
pub(crate) fn test_skipped(
    root: &Path,
    stages: &mut Stages,
    variables: TestVariables,
    skipped: &SkippedTests,
    other_stages: impl FnOnce(&mut Stages) -> Result<(), String>,
) -> Result<(), String> {
    if skipped.python.is_empty() {
        return other_stages(stages);
    }
    let environment =
        stages.run("packages for Python", |_| PythonEnvironment::new(root, variables))?;
    environment.install(stages)?;
    let is_on_cluster = |test: &&str| {
        let file = test.split("::").next().unwrap_or(test);
        file == RAY_TESTS || SPARK_TESTS.contains(&file)
    };
    let (on_clusters, alone): (Vec<&str>, Vec<&str>) =
        skipped.python.iter().map(String::as_str).partition(is_on_cluster);
    let clusters = |stages: &mut Stages| {
        if on_clusters.is_empty() {
            return Ok(());
        }
        let arguments = [&PARALLEL[..], &on_clusters].concat();
        environment.pytest_stage("Spark and Ray", &arguments, stages)
    };
    stages.run_next_to(CLUSTERS, clusters, |stages| {
        other_stages(stages)?;
        if alone.is_empty() {
            return Ok(());
        }
        let arguments = [&PARALLEL[..], &ignored(), &alone].concat();
        environment.pytest_stage("skipped pytest", &arguments, stages)
    })
}

/// Builds and installs the package, and runs pytest with these arguments.
///
/// # Errors
/// If the environment cannot be created, or a step fails.
pub(crate) fn run_pytest(root: &Path, arguments: &[&str]) -> Result<(), String> {
    let environment = PythonEnvironment::new(root, &[])?;
    environment.build_wheel()?;
    environment.install_wheel()?;
    call(&mut environment.pytest(arguments)?)
}

/// Installs the package, Spark and Ray, and runs the tests on clusters.
///
/// # Errors
/// If the environment cannot be created, or a step fails.
pub(crate) fn run_spark(
    root: &Path,
    stages: &mut Stages,
    variables: TestVariables,
) -> Result<(), String> {
    let environment =
        stages.run("packages for Python", |_| PythonEnvironment::new(root, variables))?;
    stages.run("packages for clusters", |_| environment.install_clusters())?;
    environment.install(stages)?;
    environment.test_spark(stages)?;
    environment.pytest_stage("Ray", &[RAY_TESTS], stages)?;
    for (folder, _) in OTHER_SPARKS {
        environment.test_other_spark(folder, &SPARK_TESTS, stages)?;
    }
    Ok(())
}

/// Installs Spark and Ray. If this fails, reports it as skipped.
///
/// # Errors
/// Never fails. The tests on clusters report missing packages, and are skipped.
pub(crate) fn install_clusters_if_possible(root: &Path, stages: &mut Stages) -> Result<(), String> {
    let install = |_: &mut TestCounts| {
        let environment = PythonEnvironment::new(root, &[]);
        Ok(environment.and_then(|environment| environment.install_clusters()))
    };
    if let Err(reason) = stages.run("packages for clusters", install)? {
        stages.counts.say_skipped(&format!("Spark or Ray is not installed: {reason}"));
    }
    Ok(())
}

/// Returns the options of pytest that exclude the tests on clusters.
fn ignored() -> Vec<&'static str> {
    SPARK_TESTS.iter().chain([&RAY_TESTS]).flat_map(|test| ["--ignore", test]).collect()
}

impl PythonEnvironment {
    /// Tests the package on clusters while `other_stages` runs.
    ///
    /// # Errors
    /// If a test on a cluster or `other_stages` fails.
    pub(crate) fn next_to_clusters(
        &self,
        stages: &mut Stages,
        other_stages: impl FnOnce(&mut Stages) -> Result<(), String>,
    ) -> Result<(), String> {
        stages.run_next_to(CLUSTERS, |stages| self.test_on_clusters(stages), other_stages)
    }

    /// Runs the tests on each installed version of Spark, and on Ray.
    fn test_on_clusters(&self, stages: &mut Stages) -> Result<(), String> {
        let spark = self.test_spark(stages);
        spark.and(self.pytest_stage("Ray", &[RAY_TESTS], stages))?;
        for (folder, requirements) in OTHER_SPARKS {
            if self.other(folder)?.missing_for_spark().is_none() {
                self.test_other_spark(folder, &[SPARK_CORE_TESTS], stages)?;
            } else {
                let reason = format!("{requirements} is not installed; `cargo x spark` does it");
                stages.counts.say_skipped(&reason);
            }
        }
        Ok(())
    }

    /// Runs the tests on a Spark cluster. Counts them as skipped if a part is missing.
    fn test_spark(&self, stages: &mut Stages) -> Result<(), String> {
        if let Some(reason) = self.missing_for_spark() {
            let reason = format!("lookalike.spark is not tested on a cluster: {reason}");
            stages.counts.say_skipped(&reason);
            stages.skipped_tests.python.extend(SPARK_TESTS.map(str::to_owned));
            return Ok(());
        }
        self.pytest_stage("Spark", &[&PARALLEL[..], &SPARK_TESTS].concat(), stages)
    }

    /// Runs tests on another version of Spark.
    fn test_other_spark(
        &self,
        folder: &str,
        tests: &[&str],
        stages: &mut Stages,
    ) -> Result<(), String> {
        let other = self.other(folder)?;
        other.install_wheel()?;
        other.pytest_stage(folder, tests, stages)
    }

    /// Runs the tests that need no cluster, the examples of the docstrings, and the check of the
    /// extension's stubs.
    ///
    /// # Errors
    /// If a test fails.
    pub(crate) fn test(&self, stages: &mut Stages) -> Result<(), String> {
        let arguments = [&PARALLEL[..], &ignored(), &[ALL_TESTS]].concat();
        let tested = self.pytest_stage("pytest", &arguments, stages);
        tested.and(self.test_documentation(stages))
    }

    fn test_documentation(&self, stages: &mut Stages) -> Result<(), String> {
        let package = ["--doctest-modules", "--pyargs", "lookalike"];
        let doctests = [&BORROWED_STUBS[..], &package].concat();
        stages.run("doctest", |counts| self.count_tests(&doctests, counts))?;
        let stubtest = ["-m", "mypy.stubtest", "--allowlist", "python/stubtest.txt"];
        let modules = ["lookalike._engine", "lookalike.datasketch._native"];
        stages.run("stubtest", |_| self.run(&[&stubtest[..], &modules].concat()))
    }

    /// Runs pytest as a stage, and collects the names of skipped tests.
    fn pytest_stage(
        &self,
        name: &str,
        arguments: &[&str],
        stages: &mut Stages,
    ) -> Result<(), String> {
        let names = stages.run(name, |counts| {
            let mut counted = TestCounts::default();
            let result = self.count_tests(arguments, &mut counted);
            let names = counted.take_skipped_names();
            counts.add(counted);
            result.map(|()| names)
        })?;
        stages.skipped_tests.python.extend(names.into_iter().flatten());
        Ok(())
    }

    fn count_tests(&self, arguments: &[&str], counts: &mut TestCounts) -> Result<(), String> {
        stages::count_pytest(&mut self.pytest(arguments)?, &mut std::io::stdout(), counts)
    }

    /// Creates a command that runs pytest. The variable `LOOKALIKE_PROGRAM` names the program with
    /// which tests compare the package.
    fn pytest(&self, arguments: &[&str]) -> Result<Command, String> {
        let program = target()?.join("debug").join(program("lookalike"));
        let mut command = self.command(&self.root, &[&PYTEST[..], arguments].concat());
        command.env("LOOKALIKE_PROGRAM", program).envs(self.variables.iter().copied());
        Ok(command)
    }

    /// Builds and installs the package, and checks its types in parallel. Each check uses one
    /// processor, and the build leaves a processor idle most of the time.
    ///
    /// # Errors
    /// If a step fails.
    pub(crate) fn install_checked(&self, stages: &mut Stages) -> Result<(), String> {
        stages.run_next_to(
            "wait for the checks of types",
            |stages| self.check_types(stages),
            |stages| self.install(stages),
        )
    }

    /// Builds and installs the package.
    fn install(&self, stages: &mut Stages) -> Result<(), String> {
        stages.run("wheel", |_| self.build_wheel())?;
        stages.run("installation of the wheel", |_| self.install_wheel())
    }

    /// Checks the types of the package.
    fn check_types(&self, stages: &mut Stages) -> Result<(), String> {
        let sources = self.root.join("python");
        let mypy = ["-m", "mypy", "--strict", "lookalike"];
        stages.run("mypy", |_| call(&mut self.command(&sources, &mypy)))?;
        if !commands::succeeds("node", &["--version"]) {
            let reason = "pyright is not run: it needs Node, which is not installed";
            stages.counts.say_skipped(reason);
            return Ok(());
        }
        let pyright = ["-m", "pyright", "lookalike"];
        stages.run("pyright", |_| call(&mut self.command(&sources, &pyright)))
    }

    /// Builds the wheel, and the program with which tests compare it.
    fn build_wheel(&self) -> Result<(), String> {
        // Build both at once, so that their dependencies have the same features as in the tests.
        let packages = ["--package", "lookalike-cli", "--package", "lookalike-python"];
        let build = [&["build", "--all-features"][..], &packages, &["--bin", "lookalike"]].concat();
        cargo(&self.root, &build, &[])?;
        let folder = wheel_folder()?;
        // Remove the wheels of earlier versions.
        let _ = std::fs::remove_dir_all(&folder);
        let build = ["-m", "maturin", "build", "--profile", "dev", "--features"];
        let manifest = ["test-dependencies", "--manifest-path", "python/Cargo.toml"];
        let out = ["--out", &*folder.to_string_lossy()];
        let interpreter = ["--interpreter", &*self.python.to_string_lossy()];
        self.run(&[&build[..], &manifest, &out, &interpreter].concat())
    }

    /// Installs the wheel of [`build_wheel`](Self::build_wheel).
    fn install_wheel(&self) -> Result<(), String> {
        let folder = wheel_folder()?;
        let files = std::fs::read_dir(&folder)
            .map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
        let wheel = files
            .filter_map(|file| Some(file.ok()?.path()))
            .find(|path| path.extension().is_some_and(|extension| extension == "whl"))
            .ok_or_else(|| format!("maturin left no wheel in {}", folder.display()))?;
        let install = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-index"];
        self.run(&[&install[..], &["--force-reinstall", &*wheel.to_string_lossy()]].concat())
    }

    /// Returns the environment in the folder of [`PYTHON_ENVIRONMENT`], by default in the target
    /// folder. Creates it if it is absent, and installs the packages of the tests. Does not use an
    /// active environment of the shell, because it belongs to the user.
    fn new(root: &Path, variables: TestVariables) -> Result<Self, String> {
        let folder = match commands::variable(PYTHON_ENVIRONMENT) {
            Some(folder) => PathBuf::from(folder),
            None => target()?.join("python-venv"),
        };
        let environment = Self::in_folder(root, &folder, variables);
        environment.create(&folder)?;
        let old = "import sys; sys.exit(sys.version_info < (3, 10))";
        environment
            .run(&["-c", old])
            .map_err(|_| format!("{} is older than Python 3.10", environment.python.display()))?;
        environment.install_requirements(&folder.join("lookalike-requirements.txt"))?;
        Ok(environment)
    }

    /// Returns the environment in a folder. The folder may not exist yet.
    fn in_folder(root: &Path, folder: &Path, variables: TestVariables) -> Self {
        let inside = if cfg!(windows) { "Scripts" } else { "bin" };
        let python = folder.join(inside).join(program("python"));
        Self { root: root.to_owned(), python, variables }
    }

    /// Returns the environment of another version of Spark.
    fn other(&self, folder: &str) -> Result<Self, String> {
        Ok(Self::in_folder(&self.root, &target()?.join(folder), self.variables))
    }

    /// Creates the environment if it is absent.
    fn create(&self, folder: &Path) -> Result<(), String> {
        if self.python.exists() {
            return Ok(());
        }
        let create = ["-m", "venv", &*folder.to_string_lossy()];
        call(Command::new("python3").args(create).current_dir(&self.root))
    }

    /// Installs the packages that the tests need, unless the file `installed`
    /// contains the same list.
    fn install_requirements(&self, installed: &Path) -> Result<(), String> {
        let required = std::fs::read_to_string(self.root.join(REQUIREMENTS))
            .map_err(|e| format!("cannot read {REQUIREMENTS}: {e}"))?;
        if std::fs::read_to_string(installed).is_ok_and(|installed| installed == required) {
            return Ok(());
        }
        self.install_packages(REQUIREMENTS).map_err(|error| {
            format!("{error}; the packages of {REQUIREMENTS} are needed, and come by network")
        })?;
        std::fs::write(installed, required)
            .map_err(|e| format!("cannot write {}: {e}", installed.display()))
    }

    /// Installs Spark and Ray, and each other version of Spark in its own environment.
    fn install_clusters(&self) -> Result<(), String> {
        for requirements in CLUSTER_REQUIREMENTS {
            self.install_packages(requirements)?;
        }
        for (folder, requirements) in OTHER_SPARKS {
            let other = self.other(folder)?;
            other.create(&target()?.join(folder))?;
            other.install_packages(requirements)?;
        }
        Ok(())
    }

    /// Installs the packages that a file names.
    fn install_packages(&self, requirements: &str) -> Result<(), String> {
        let install = ["-m", "pip", "install", "--quiet", "--no-compile", "--requirement"];
        self.run(&[&install[..], &[requirements]].concat())
    }

    /// Returns the reason why a Spark cluster cannot start, or `None` if it can.
    fn missing_for_spark(&self) -> Option<String> {
        if !commands::succeeds("java", &["-version"]) {
            return Some("Java is missing; install default-jre-headless".to_owned());
        }
        let import = self.run(&["-c", "import pyspark"]);
        import.is_err().then(|| "pyspark is missing; `cargo x spark` installs it".to_owned())
    }

    /// Runs Python in the root of the repository.
    fn run(&self, arguments: &[&str]) -> Result<(), String> {
        call(&mut self.command(&self.root, arguments))
    }

    fn command(&self, folder: &Path, arguments: &[&str]) -> Command {
        let mut command = commands::program(&self.python);
        // Python must import the installed package, not the sources.
        command.env_remove("PYTHONPATH").env_remove("CONDA_PREFIX").env_remove("VIRTUAL_ENV");
        if let Some(folder) = commands::variable(HIDDEN_MODULES) {
            command.env("PYTHONPATH", folder);
        }
        command.args(arguments).current_dir(folder);
        command
    }
}

/// The folder that receives the wheel.
fn wheel_folder() -> Result<PathBuf, String> {
    Ok(target()?.join("python-wheel"))
}

fn program(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}
