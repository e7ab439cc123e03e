//! A rule as it stands in a file: what to read, what to expect, and the sentences that a person needs.

use serde::Deserialize;

use crate::facts::{CpuSet, Facts};
use crate::kernel;
use crate::outcome::Severity;
use crate::read::Reader;

/// One `[[rule]]` record.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Rule {
    /// Stable identifier; never reused for another rule.
    pub id: String,
    /// How much a failure matters.
    pub severity: Severity,
    /// What holds when the rule passes, as one line.
    pub title: String,
    /// Where the observed value comes from.
    pub(crate) read: Reader,
    /// What the observed value must be.
    pub(crate) expect: Expect,
    /// What a failure costs.
    pub why: String,
    /// What to do about a failure.
    pub fix: String,
    /// What `horus doctor --fix` writes into each file that is not as expected; a set of CPUs in braces becomes its list or mask.
    pub(crate) set: Option<String>,
    /// What to do about a failure on a machine with one CPU, where the remedy is another: nothing can be isolated there.
    pub fix_with_one_cpu: Option<String>,
    /// Where the rule comes from.
    pub reference: Option<String>,
    /// Machines that the rule is for; all where it is left out.
    #[serde(default)]
    pub(crate) applies: Applies,
    /// Names (patterns) that a scan leaves out of its findings.
    #[serde(default)]
    pub(crate) ignore: Vec<String>,
    /// The knobs in `conf` that this rule proves, as `cmdline:NAME`, `sysctl:NAME`, `tmpfiles:PATH`, …; a test compares them.
    #[serde(default)]
    pub proves: Vec<String>,
}

impl Rule {
    /// What to do about a failure on the machine of `facts`.
    pub(crate) fn fix_for(&self, facts: &Facts) -> &str {
        let has_one_cpu = facts.cpus(CpuSet::Online).is_ok_and(|online| online.len() == 1);
        self.fix_with_one_cpu.as_deref().filter(|_| has_one_cpu).unwrap_or(&self.fix)
    }

    /// Whether reading it takes so little that it can be read every few seconds.
    pub fn is_quick(&self) -> bool {
        self.read.is_quick()
    }

    /// The kernel parameters, by name, that the rule proves or else reads.
    pub(crate) fn kernel_parameters(&self) -> Vec<String> {
        let proven = self.proves.iter().filter_map(|knob| knob.strip_prefix("cmdline:"));
        match (&self.read, proven.map(str::to_owned).collect::<Vec<_>>()) {
            (Reader::Cmdline(name), proven) if proven.is_empty() => vec![name.clone()],
            (_, proven) => proven,
        }
    }
}

/// What an observed value must be; every value, where several are read.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expect {
    /// The same text or number.
    Equals(Scalar),
    /// One of these texts or numbers.
    OneOf(Vec<Scalar>),
    /// A number not below this one.
    AtLeast(i64),
    /// A number not above this one.
    AtMost(i64),
    /// A number from the first to the second, both included.
    Between(i64, i64),
    /// A text that matches one of these patterns.
    Matches(Vec<String>),
    /// A text that matches none of these patterns.
    NotMatches(Vec<String>),
    /// There, whatever its value.
    Present,
    /// Not there.
    Absent,
    /// A scan or list that found nothing.
    Nothing,
    /// A CPU list that is not empty.
    SomeCpus,
    /// A CPU list that is empty.
    NoCpus,
    /// A CPU list that holds no CPU outside this set.
    CpusWithin(CpuSet),
    /// A CPU list that holds every CPU of this set.
    CpusCover(CpuSet),
    /// Exactly this set.
    CpusEqual(CpuSet),
}

/// A text or a number in a rule file; `0` and `"0"` mean the same.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Scalar {
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
}

impl std::fmt::Display for Scalar {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(out, "{number}"),
            Self::Text(text) => write!(out, "{text}"),
        }
    }
}

/// Machines that a rule is for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Applies {
    /// Machine names as `uname -m` prints them; any where empty.
    #[serde(default)]
    pub arch: Vec<String>,
    /// Only virtual (`true`) or only real (`false`) machines.
    #[serde(rename = "virtual")]
    pub is_virtual: Option<bool>,
    /// The first kernel that has the setting, such as `6.12`.
    pub kernel_since: Option<String>,
}

impl Applies {
    /// Why the rule is not for the machine of `facts`; `None` when it is.
    pub fn refusal(&self, facts: &Facts) -> Option<String> {
        let arch = facts.arch.unwrap_or("unknown");
        if !self.arch.is_empty() && !self.arch.iter().any(|wanted| wanted == arch) {
            return Some(format!("only for {}, this machine is {arch}", self.arch.join(", ")));
        }
        match (self.is_virtual, facts.is_virtual) {
            (Some(_), None) => return Some("/proc/cpuinfo does not tell whether this is a virtual machine".to_owned()),
            (Some(false), Some(true)) => return Some("not for virtual machines".to_owned()),
            (Some(true), Some(false)) => return Some("only for virtual machines".to_owned()),
            _ => {}
        }
        let since = self.kernel_since.as_ref()?;
        match facts.release.as_ref().and_then(|release| kernel::at_least(release, since)) {
            Some(true) => None,
            Some(false) => Some(format!("kernels before {since} do not have this setting")),
            None => Some(format!("the kernel release is not known, and the setting came with {since}")),
        }
    }
}
