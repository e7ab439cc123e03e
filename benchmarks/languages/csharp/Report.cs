// What was measured: as a table with the targets, as CSV, and as JSON.

using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;
using System.Text;

/// <summary>A span in which messages were counted.</summary>
internal struct Window
{
    internal double Messages, Seconds;

    internal double PerSecond => Messages / Seconds;
}

/// <summary>One round of one way.</summary>
internal sealed class Row
{
    internal string Way;
    internal int Bytes, Round;
    internal List<Window> Windows;
    internal double CpuSeconds, Allocated;

    internal double Seconds => Windows.Sum(window => window.Seconds);
    internal double Messages => Windows.Sum(window => window.Messages);
}

internal sealed class Report
{
    private const int Small = 8, Large = 65536;
    private const double OverPipesSmall = 10, OverPipesLarge = 50, OfRust = 0.4;
    private static readonly CultureInfo Plain = CultureInfo.InvariantCulture;

    private readonly List<Row> rows;

    internal Report(List<Row> rows)
    {
        this.rows = rows;
    }

    internal string Table()
    {
        var text = new StringBuilder("BYTES    WAY             MESSAGES/s    MEDIAN/s  CPU %   CPU ns   x PIPES   x RUST  x FLOOR\n");
        foreach (var group in rows.GroupBy(row => (row.Bytes, row.Way)))
        {
            (int bytes, string way) = group.Key;
            double[] windows = group.SelectMany(row => row.Windows).Select(window => window.PerSecond).OrderBy(rate => rate).ToArray();
            double cpu = group.Sum(row => row.CpuSeconds);
            // One line for each message is the least where a message is not more; where it is, all of its lines change sides.
            string floor = bytes == Small ? "rust line" : "rust memory";
            text.Append(string.Format(
                Plain, "{0,-8} {1,-14} {2,11:F0} {3,11:F0} {4,6:F0} {5,8:F0} {6,9} {7,8} {8,8}\n", bytes, way, windows.Last(), windows[windows.Length / 2],
                100 * cpu / group.Sum(row => row.Seconds), 1e9 * cpu / group.Sum(row => row.Messages), Ratio(bytes, way, "pipes"),
                Ratio(bytes, way, "rust " + way), way.EndsWith(Transports.Untouched) ? "" : Ratio(bytes, way, floor)));
        }
        return text.Append(Explanation).Append(Targets()).ToString();
    }

    private const string Explanation =
        "MESSAGES/s: the fastest window; CPU: of sender and receiver together, over all windows.\n"
        + "copy, place: HORUS, between processes as the pipes; untouched: in place, 8 bytes of it written and read.\n"
        + "channels: references to arrays inside of one process. rust line: one cache line thrown to and fro, nothing else.\n"
        + "rust memory: the payload written by one thread and read by another, handed over as it lies, without any message.\n";

    private string Targets()
    {
        var text = new StringBuilder();
        Target(text, "8 B by copy, over named pipes", Times(Small, "copy", "pipes"), OverPipesSmall);
        Target(text, "64 KiB in place, over named pipes", Times(Large, "untouched", "pipes"), OverPipesLarge);
        foreach (int bytes in rows.Select(row => row.Bytes).Distinct())
            foreach (string way in new[] { "copy", "place", "untouched" })
                Target(text, $"{bytes} B, {way}, over Rust", Times(bytes, way, "rust " + way), OfRust);
        double most = Times(Large, "rust memory", "pipes"), own = Times(Large, "place", "pipes");
        if (most > 0) text.Append(string.Format(
            Plain, "64 KiB in place, written and read in full: {0:F1} times named pipes, where the machine allows {1:F1}\n", own, most));
        return text.ToString();
    }

    private static void Target(StringBuilder text, string what, double times, double wanted)
    {
        if (times == 0) return; // the other one was not measured
        text.Append(string.Format(Plain, "{0}: {1:F2} times, target {2}: {3}\n", what, times, wanted, times >= wanted ? "met" : "not met"));
    }

    private string Ratio(int bytes, string way, string other)
    {
        double times = Times(bytes, way, other);
        return times == 0 ? "" : times.ToString("F2", Plain);
    }

    /// <summary>How many times as many messages one way carries as another; 0 when one of them was not measured.</summary>
    private double Times(int bytes, string way, string other)
    {
        double own = Fastest(bytes, way), than = Fastest(bytes, other);
        return than == 0 ? 0 : own / than;
    }

    private double Fastest(int bytes, string way)
    {
        var rates = rows.Where(row => row.Bytes == bytes && row.Way == way).SelectMany(row => row.Windows).Select(window => window.PerSecond);
        return rates.DefaultIfEmpty(0).Max();
    }

    internal string Csv()
    {
        var text = new StringBuilder("bytes,way,round,window,messages,seconds,round_cpu_seconds,round_seconds\n");
        foreach (Row row in rows)
            for (int i = 0; i < row.Windows.Count; i++)
                text.Append(string.Format(
                    Plain, "{0},{1},{2},{3},{4:F0},{5:F6},{6:F2},{7:F6}\n", row.Bytes, row.Way, row.Round, i, row.Windows[i].Messages,
                    row.Windows[i].Seconds, row.CpuSeconds, row.Seconds));
        return text.ToString();
    }

    internal string Json()
    {
        string cpu = File.ReadLines("/proc/cpuinfo").FirstOrDefault(line => line.StartsWith("model name"))?.Split(':')[1].Trim() ?? "unknown";
        string head = string.Format(
            Plain, "\"cpu\": \"{0}\", \"cpus\": {1}, \"kernel\": \"{2}\", \"runtime\": \"{3}\"", Escaped(cpu), Environment.ProcessorCount,
            Escaped(RuntimeInformation.OSDescription), Escaped(RuntimeInformation.FrameworkDescription));
        return "{" + head + ", \"rows\": [\n  " + string.Join(",\n  ", rows.Select(Json)) + "\n]}\n";
    }

    private static string Json(Row row)
    {
        IEnumerable<string> windows = row.Windows.Select(window => string.Format(Plain, "[{0:F0}, {1:F6}]", window.Messages, window.Seconds));
        return string.Format(
            Plain, "{{\"bytes\": {0}, \"way\": \"{1}\", \"round\": {2}, \"cpu_seconds\": {3:F2}, \"receiver_allocated_bytes\": {4:F0}, \"windows\": [{5}]}}",
            row.Bytes, row.Way, row.Round, row.CpuSeconds, row.Allocated, string.Join(", ", windows));
    }

    private static string Escaped(string text) => text.Replace("\\", "\\\\").Replace("\"", "\\\"");
}
