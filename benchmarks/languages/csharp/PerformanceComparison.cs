// Messages a second and CPU time of HORUS in C# beside named pipes and Channels of .NET, and beside the same loops in Rust.
//
//   PerformanceComparison [--duration SECONDS] [--rounds N] [--rust PROGRAM] [--csv FILE] [--json FILE]
//
// Sender and receiver are processes of their own, except for Channels, which have one process. Every message is written and read in full, and
// verified; of the row "untouched" only the first number, as in the benchmark of iceoryx2 that this one is named after. A round warms up for 2 s, then counts for the duration. The ways take turns in each round; a figure is the median of its rounds.
// `./benchmarks/languages/csharp/run` builds and runs it. iceoryx2's C# is on NuGet only, so it is not measured here.

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Text;

internal static class PerformanceComparison
{
    private const double WarmUpSeconds = 2;
    private static readonly int[] Sizes = { 8, 1024, 65536, 524288 };
    private static readonly string[] Ways = { "pipes", "channels", "copy", "place", "untouched" };
    private static readonly CultureInfo Plain = CultureInfo.InvariantCulture;

    private static int Main(string[] arguments)
    {
        if (arguments.Length > 0 && arguments[0] == "send") return Send(arguments[1], arguments[2], int.Parse(arguments[3], Plain));
        if (arguments.Length > 0 && arguments[0] == "receive")
            return Receive(arguments[1], arguments[2], int.Parse(arguments[3], Plain), double.Parse(arguments[4], Plain), double.Parse(arguments[5], Plain));
        var told = new Dictionary<string, string> { { "--duration", "10" }, { "--rounds", "3" }, { "--rust", "" }, { "--csv", "" }, { "--json", "" } };
        for (int i = 0; i + 1 < arguments.Length; i += 2)
        {
            if (!told.ContainsKey(arguments[i]))
            {
                Console.Error.WriteLine($"there is no option '{arguments[i]}': {string.Join(", ", told.Keys)}");
                return 2;
            }
            told[arguments[i]] = arguments[i + 1];
        }
        List<Row> rows = Measure(double.Parse(told["--duration"], Plain), int.Parse(told["--rounds"], Plain), told["--rust"]);
        Print(rows);
        if (told["--csv"] != "") File.WriteAllText(told["--csv"], Csv(rows));
        if (told["--json"] != "") File.WriteAllText(told["--json"], Json(rows));
        return 0;
    }

    /// <summary>One round of one way.</summary>
    private sealed class Row
    {
        internal string Way;
        internal int Bytes, Round;
        internal double PerSecond, Cpu;
    }

    private static List<Row> Measure(double duration, int rounds, string rust)
    {
        var rows = new List<Row>();
        for (int round = 0; round < rounds; round++)
            foreach (int bytes in Sizes)
            {
                foreach (string way in Ways) rows.Add(Round(Own(), way, way, bytes, round, duration));
                if (rust == "") continue;
                foreach (string way in new[] { "copy", "place", "untouched" }) rows.Add(Round(new[] { rust }, way, "rust " + way, bytes, round, duration));
            }
        return rows;
    }

    private static Row Round(string[] program, string way, string name, int bytes, int round, double duration)
    {
        string topic = $"comparison.{Process.GetCurrentProcess().Id}.{Guid.NewGuid():N}";
        using var receiver = Start(program, "receive", way, topic, bytes.ToString(Plain), WarmUpSeconds.ToString(Plain), duration.ToString(Plain));
        Expect(receiver, "ready");
        using Process sender = way == "channels" ? null : Start(program, "send", way, topic, bytes.ToString(Plain));
        try
        {
            Expect(receiver, "begin");
            double before = CpuSeconds(receiver) + CpuSeconds(sender);
            string[] end = Expect(receiver, "end").Split(' ');
            double after = CpuSeconds(receiver) + CpuSeconds(sender);
            receiver.StandardInput.Close();
            double seconds = double.Parse(end[2], Plain);
            return new Row { Way = name, Bytes = bytes, Round = round, PerSecond = double.Parse(end[1], Plain) / seconds, Cpu = (after - before) / seconds };
        }
        finally
        {
            foreach (Process process in new[] { sender, receiver })
            {
                if (process == null) continue;
                process.Kill();
                process.WaitForExit();
            }
        }
    }

    private static int Send(string way, string name, int bytes)
    {
        using ISender sender = Transports.Sender(way, name, bytes);
        for (ulong number = 0; ; number++) sender.Send(number); // until it is killed
    }

    private static int Receive(string way, string name, int bytes, double warmUp, double duration)
    {
        using IReceiver receiver = Transports.Receiver(way, name, bytes);
        Say("ready");
        ulong number = 0;
        receiver.Receive(number++);
        For(receiver, ref number, warmUp);
        Say("begin");
        ulong first = number;
        double seconds = For(receiver, ref number, duration);
        Say($"end {number - first} {seconds.ToString(Plain)}");
        Console.In.ReadToEnd(); // so that its CPU time can be read
        return 0;
    }

    private static double For(IReceiver receiver, ref ulong number, double seconds)
    {
        const int look = 64; // messages between two looks at the clock
        var clock = Stopwatch.StartNew();
        while (clock.Elapsed.TotalSeconds < seconds)
            for (int i = 0; i < look; i++) receiver.Receive(number++);
        return clock.Elapsed.TotalSeconds;
    }

    private static void Say(string line)
    {
        Console.WriteLine(line);
        Console.Out.Flush();
    }

    /// <summary>The command that this program was started by, without its own arguments.</summary>
    private static string[] Own()
    {
        string[] command = File.ReadAllText("/proc/self/cmdline").TrimEnd('\0').Split('\0');
        return command.Take(command.Length - (Environment.GetCommandLineArgs().Length - 1)).ToArray();
    }

    private static Process Start(string[] program, params string[] arguments)
    {
        var start = new ProcessStartInfo(program[0]) { RedirectStandardOutput = true, RedirectStandardInput = true };
        foreach (string argument in program.Skip(1).Concat(arguments)) start.ArgumentList.Add(argument);
        return Process.Start(start);
    }

    private static string Expect(Process process, string word)
    {
        string line = process.StandardOutput.ReadLine();
        if (line == null || !line.StartsWith(word)) throw new InvalidDataException($"'{word}' was expected, and '{line}' came");
        return line;
    }

    private static double CpuSeconds(Process process)
    {
        if (process == null) return 0;
        process.Refresh();
        return process.TotalProcessorTime.TotalSeconds;
    }

    private static double Median(IEnumerable<double> values)
    {
        double[] sorted = values.OrderBy(value => value).ToArray();
        return sorted[sorted.Length / 2];
    }

    private static void Print(List<Row> rows)
    {
        Console.WriteLine("BYTES    WAY           MESSAGES/s   CPU %   x PIPES   x RUST");
        foreach (var group in rows.GroupBy(row => (row.Bytes, row.Way)))
        {
            double own = Median(group.Select(row => row.PerSecond)), rust = MedianOf(rows, group.Key.Bytes, "rust " + group.Key.Way);
            string overPipes = (own / MedianOf(rows, group.Key.Bytes, "pipes")).ToString("F2", Plain);
            string overRust = rust > 0 ? (own / rust).ToString("F2", Plain) : "";
            Console.WriteLine(string.Format(
                Plain, "{0,-8} {1,-12} {2,11:F0} {3,7:F0} {4,9} {5,8}", group.Key.Bytes, group.Key.Way, own, 100 * Median(group.Select(row => row.Cpu)),
                overPipes, overRust));
        }
        Console.WriteLine("channels: references inside of one process; copy, place: HORUS, between processes as the pipes; untouched: in place, 8 bytes of it written and read");
    }

    private static double MedianOf(List<Row> rows, int bytes, string way)
    {
        double[] rates = rows.Where(row => row.Bytes == bytes && row.Way == way).Select(row => row.PerSecond).ToArray();
        return rates.Length == 0 ? 0 : Median(rates);
    }

    private static string Csv(List<Row> rows)
    {
        var text = new StringBuilder("bytes,way,round,messages_per_second,cpu\n");
        foreach (Row row in rows) text.Append(string.Format(Plain, "{0},{1},{2},{3:F1},{4:F3}\n", row.Bytes, row.Way, row.Round, row.PerSecond, row.Cpu));
        return text.ToString();
    }

    private static string Json(List<Row> rows)
    {
        IEnumerable<string> all = rows.Select(row => string.Format(
            Plain, "{{\"bytes\": {0}, \"way\": \"{1}\", \"round\": {2}, \"messages_per_second\": {3:F1}, \"cpu\": {4:F3}}}", row.Bytes, row.Way, row.Round,
            row.PerSecond, row.Cpu));
        return "[\n  " + string.Join(",\n  ", all) + "\n]\n";
    }
}
