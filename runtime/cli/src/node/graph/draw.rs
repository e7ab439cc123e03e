//! A graph in the languages of Graphviz and of Mermaid.

use std::fmt::Write;

use super::{Graph, Place};

/// For Graphviz.
pub fn dot(graph: &Graph) -> String {
    let mut text = "digraph robot {\n  rankdir=LR;\n  node [shape=box];\n".to_owned();
    let label = |lines: &[String]| {
        let lines: Vec<_> = lines.iter().map(|line| line.replace('\\', "\\\\").replace('"', "\\\"")).collect();
        format!("\"{}\"", lines.join("\\n"))
    };
    for (number, program) in graph.programs.iter().enumerate() {
        let nodes = program.nodes.iter().map(|Place { id, lines }| format!("{id} [label={}];", label(lines)));
        if program.name.is_empty() {
            nodes.for_each(|node| _ = writeln!(text, "  {node}"));
            continue;
        }
        let _ =
            writeln!(text, "  subgraph cluster_{number} {{\n    label={};", label(std::slice::from_ref(&program.name)));
        nodes.for_each(|node| _ = writeln!(text, "    {node}"));
        text += "  }\n";
    }
    for Place { id, lines } in &graph.topics {
        let _ = writeln!(text, "  {id} [shape=ellipse, label={}];", label(lines));
    }
    for arrow in &graph.arrows {
        let releases = if arrow.releases { " [label=\"releases\"]" } else { "" };
        let _ = writeln!(text, "  {} -> {}{releases};", arrow.from, arrow.to);
    }
    if !graph.chains.is_empty() {
        let _ = writeln!(text, "  label={};", label(&graph.chains));
    }
    text + "}\n"
}

/// For Mermaid.
pub fn mermaid(graph: &Graph) -> String {
    let mut text = "flowchart LR\n".to_owned();
    let label = |lines: &[String]| {
        // `#` begins an entity, and the others are HTML.
        let plain = |line: &String| {
            ["#", "&", "<", ">", "\""]
                .iter()
                .zip(["#35;", "#amp;", "#lt;", "#gt;", "#quot;"])
                .fold(line.clone(), |line, (from, to)| line.replace(from, to))
        };
        format!("\"{}\"", lines.iter().map(plain).collect::<Vec<_>>().join("<br/>"))
    };
    for (number, program) in graph.programs.iter().enumerate() {
        let nodes = program.nodes.iter().map(|Place { id, lines }| format!("{id}[{}]", label(lines)));
        if program.name.is_empty() {
            nodes.for_each(|node| _ = writeln!(text, "  {node}"));
            continue;
        }
        let _ = writeln!(text, "  subgraph g{number}[{}]", label(std::slice::from_ref(&program.name)));
        nodes.for_each(|node| _ = writeln!(text, "    {node}"));
        text += "  end\n";
    }
    for Place { id, lines } in &graph.topics {
        let _ = writeln!(text, "  {id}([{}])", label(lines));
    }
    for arrow in &graph.arrows {
        let line = if arrow.releases { "-- releases -->" } else { "-->" };
        let _ = writeln!(text, "  {} {line} {}", arrow.from, arrow.to);
    }
    for chain in &graph.chains {
        let _ = writeln!(text, "  %% {chain}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::{Arrow, Program};
    use super::*;

    fn graph() -> Graph {
        let place = |id: &str, lines: &[&str]| Place {
            id: id.to_owned(),
            lines: lines.iter().map(|line| (*line).to_owned()).collect(),
        };
        let arrow = |from: &str, to: &str, releases| Arrow { from: from.to_owned(), to: to.to_owned(), releases };
        Graph {
            schema: "",
            programs: vec![
                Program { name: "nav".to_owned(), nodes: vec![place("n0", &["drive", "on odom, deadline 1 ms"])] },
                Program { name: String::new(), nodes: vec![place("p0", &["a \"b\" <c> #1 \\"])] },
            ],
            topics: vec![place("t0", &["odom", "100 /s"])],
            arrows: vec![arrow("p0", "t0", false), arrow("t0", "n0", true)],
            chains: vec!["admitted: the chain".to_owned()],
        }
    }

    #[test]
    fn names_are_quoted_as_graphviz_reads_them() {
        let text = dot(&graph());
        for line in [
            "  subgraph cluster_0 {\n    label=\"nav\";\n    n0 [label=\"drive\\non odom, deadline 1 ms\"];\n  }\n",
            "  p0 [label=\"a \\\"b\\\" <c> #1 \\\\\"];\n",
            "  t0 [shape=ellipse, label=\"odom\\n100 /s\"];\n  p0 -> t0;\n  t0 -> n0 [label=\"releases\"];\n",
            "  label=\"admitted: the chain\";\n}\n",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }

    #[test]
    fn names_are_quoted_as_mermaid_reads_them() {
        let text = mermaid(&graph());
        for line in [
            "flowchart LR\n  subgraph g0[\"nav\"]\n    n0[\"drive<br/>on odom, deadline 1 ms\"]\n  end\n",
            "  p0[\"a #quot;b#quot; #lt;c#gt; #35;1 \\\"]\n",
            "  t0([\"odom<br/>100 /s\"])\n  p0 --> t0\n  t0 -- releases --> n0\n",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }
}
