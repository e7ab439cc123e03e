//! Where a machine's kernel command line stands, and how our parameters get into it and out again.
//!
//! Every place that is found gets them: which one the firmware really starts from cannot be told from a running system. GRUB as
//! Debian and Ubuntu ship it gets a file of its own; in all other places lines are changed. Of a parameter that stands twice
//! some kernels take the first (`isolcpus`) and some the last, so one that stands there under the name of one of ours goes.

use std::collections::BTreeSet;

use super::conf::name_of;
use crate::root::Root;

/// Our file for GRUB; behind those of cloud images, which set the variables anew.
pub const GRUB_DROP_IN: &str = "/etc/default/grub.d/99-horus-rt.cfg";
/// Files that are one command line. The second is the first's older place.
const LINES: [&str; 3] = ["/boot/firmware/cmdline.txt", "/boot/cmdline.txt", "/etc/kernel/cmdline"];
/// U-Boot's menu, of a Jetson for example.
const EXTLINUX: &str = "/boot/extlinux/extlinux.conf";
/// Directories of the Boot Loader Specification, one file an entry.
const ENTRIES: [&str; 3] = ["/boot/loader/entries", "/efi/loader/entries", "/boot/efi/loader/entries"];
/// More entries than any menu shows.
const MAX_ENTRIES: usize = 256;

/// The files whose lines hold kernel parameters, each once.
pub fn files(root: &Root) -> Vec<String> {
    let mut found: Vec<String> = LINES.iter().chain([&EXTLINUX]).filter_map(|path| root.followed(path)).collect();
    for directory in ENTRIES {
        let Ok(entries) = root.place(directory).and_then(std::fs::read_dir) else { continue };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).take(MAX_ENTRIES);
        let mut paths: Vec<String> =
            names.filter(|name| name.ends_with(".conf")).map(|name| format!("{directory}/{name}")).collect();
        paths.sort();
        found.extend(paths.iter().filter_map(|path| root.followed(path)));
    }
    let mut seen = BTreeSet::new();
    found.retain(|path| seen.insert(path.clone()));
    found
}

/// Whether GRUB here reads files beside its own.
pub fn has_grub_directory(root: &Root) -> bool {
    root.exists("/etc/default/grub.d") && root.exists("/etc/default/grub")
}

/// The word in front of the parameters in a file of this name; none where the file is one command line.
fn keyword(path: &str) -> Option<&'static str> {
    match path {
        path if path.ends_with("cmdline.txt") || path.ends_with("/cmdline") => None,
        path if path.ends_with("extlinux.conf") => Some("append"),
        _ => Some("options"),
    }
}

/// `text` of the file `path` without the parameters `earlier` and with `parameters`.
pub fn edited(path: &str, text: &str, earlier: &[String], parameters: &[String]) -> String {
    let keyword = keyword(path);
    let mut is_done = false;
    let lines = text.split_inclusive('\n').map(|whole| {
        let line = whole.trim_end_matches(['\n', '\r']);
        let start = line.trim_start();
        let first = start.split_whitespace().next().unwrap_or_default();
        let taken = match keyword {
            Some(keyword) => first.eq_ignore_ascii_case(keyword).then_some(first),
            None => (!is_done && !start.is_empty() && !start.starts_with('#')).then_some(""),
        };
        let Some(taken) = taken else { return whole.to_owned() };
        is_done = true;
        let (indent, end) = (&line[..line.len() - start.len()], &whole[line.len()..]);
        let gap = if taken.is_empty() { "" } else { " " };
        format!("{indent}{taken}{gap}{}{end}", edited_words(&start[taken.len()..], earlier, parameters))
    });
    lines.collect()
}

/// One command line, changed.
fn edited_words(line: &str, earlier: &[String], parameters: &[String]) -> String {
    let ours: BTreeSet<String> = parameters.iter().map(|word| spelled(name_of(word))).collect();
    let is_foreign = |word: &&str| !earlier.iter().any(|ours| ours == word) && !ours.contains(&spelled(name_of(word)));
    let mut kept: Vec<&str> = words(line).into_iter().filter(is_foreign).collect();
    let end = kept.iter().position(|word| *word == "--").unwrap_or(kept.len()); // what follows is for init
    kept.splice(end..end, parameters.iter().map(String::as_str));
    kept.join(" ")
}

/// The kernel takes `-` and `_` in a name for the same.
fn spelled(name: &str) -> String {
    name.replace('-', "_")
}

/// The words of a command line; white space within double quotes separates none.
fn words(line: &str) -> Vec<&str> {
    let mut quoted = false;
    let words = line.split(|character: char| {
        quoted ^= character == '"';
        character.is_whitespace() && !quoted
    });
    words.filter(|word| !word.is_empty()).collect()
}

/// Our file for GRUB. It is shell, which `grub-mkconfig` reads after `/etc/default/grub`.
pub fn grub_drop_in(parameters: &[String]) -> String {
    let names: BTreeSet<&str> = parameters.iter().map(|word| name_of(word)).collect();
    let mut patterns: Vec<String> = Vec::new();
    for name in names {
        let spellings = BTreeSet::from([name.to_owned(), name.replace('_', "-"), name.replace('-', "_")]);
        patterns.extend(spellings.iter().map(|name| format!("{name} | {name}=*")));
    }
    format!(
        r#"# Written by 'horus tune apply', removed by 'horus tune revert'. update-grub reads it behind /etc/default/grub.

# Takes parameters out that stand below: of two with one name some kernels use the first and some the last.
horus_without_ours() (
    set -f
    kept=
    for word in $1; do
        case $word in
            {}) ;;
            *) kept="$kept $word" ;;
        esac
    done
    printf '%s' "${{kept# }}"
)
GRUB_CMDLINE_LINUX=$(horus_without_ours "$GRUB_CMDLINE_LINUX")
GRUB_CMDLINE_LINUX_DEFAULT="$(horus_without_ours "$GRUB_CMDLINE_LINUX_DEFAULT") {}"
"#,
        patterns.join(" | "),
        parameters.join(" ")
    )
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn ours(words: &str) -> Vec<String> {
        words.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_parameter_of_our_name_is_replaced_and_all_else_stays() {
        let text = "console=tty1 root=UUID=1 isolcpus=3 opt=\"two words\" rcu-nocbs=3 -- single\n";
        let want = "console=tty1 root=UUID=1 opt=\"two words\" isolcpus=1 rcu_nocbs=1 -- single\n";
        assert_eq!(edited("/boot/firmware/cmdline.txt", text, &[], &ours("isolcpus=1 rcu_nocbs=1")), want);
    }

    #[test]
    fn a_second_edit_changes_nothing_and_one_without_parameters_takes_ours_out() {
        let text = "label a\n\tAPPEND root=/dev/sda1 rw\nlabel b\n  append quiet x=1";
        let ours = ours("isolcpus=1 nosmt");
        let once = edited(EXTLINUX, text, &[], &ours);
        assert_eq!(
            once,
            "label a\n\tAPPEND root=/dev/sda1 rw isolcpus=1 nosmt\nlabel b\n  append quiet x=1 isolcpus=1 nosmt"
        );
        assert_eq!(edited(EXTLINUX, &once, &ours, &ours), once);
        assert_eq!(edited(EXTLINUX, &once, &ours, &[]), text);
    }

    #[test]
    fn only_the_options_of_an_entry_and_the_first_line_of_a_command_line_change() {
        let entry = "title A\nlinux /vmlinuz\noptions root=a\n";
        assert_eq!(
            edited("/boot/loader/entries/a.conf", entry, &[], &ours("b=1")),
            "title A\nlinux /vmlinuz\noptions root=a b=1\n"
        );
        assert_eq!(edited("/etc/kernel/cmdline", "# why\nroot=a\n\n", &[], &ours("b=1")), "# why\nroot=a b=1\n\n");
    }

    #[test]
    fn grubs_shell_gets_each_parameter_once() {
        let script = format!(
            "set -e\nGRUB_CMDLINE_LINUX='rcu-nocbs=7 net=* quiet'\nGRUB_CMDLINE_LINUX_DEFAULT='isolcpus=7 splash'\n{}\n\
             echo \"$GRUB_CMDLINE_LINUX|$GRUB_CMDLINE_LINUX_DEFAULT\"",
            grub_drop_in(&ours("isolcpus=managed_irq,domain,1-3 rcu_nocbs=1-3 quiet"))
        );
        let output = Command::new("sh").args(["-c", &script]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(text, "net=*|splash isolcpus=managed_irq,domain,1-3 rcu_nocbs=1-3 quiet\n");
    }
}
