// Messages a second and CPU time of HORUS in C# beside named pipes and Channels of .NET, beside the same loops in Rust, and beside the machine.
//
//   PerformanceComparison [--quick] [--rounds N] [--windows N] [--duration SECONDS] [--warm-up SECONDS] [--bytes N]
//       [--cpus A,B] [--rust PROGRAM] [--csv FILE] [--json FILE]
//
// Sender and receiver are processes of their own, each on its CPU. Channels and the machine's own rows have one process on both CPUs. Every
// message is written and read in full, and verified; of the row "untouched" only the first number, as in the benchmark of iceoryx2 that this one
// is named after. The ways take turns in each round. A round warms up, then counts in windows one after the other; a figure is the fastest window of all
// rounds, because whatever else runs on the machine can only make one slower. The files have every window.
//
// `./benchmarks/languages/csharp/run` builds and runs it. iceoryx2's C# comes by NuGet's registry only, which nothing here asks, so it is not measured.

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Linq;

internal static class PerformanceComparison
{
    private static readonly int[] Sizes = { 8, 1024, 65536, 524288 };
    // Those of HORUS alternate with Rust's, so that both have the same machine.
    private static readonly string[] Ways =
    {
        "rust line", "rust memory", "pipes", "channels", "copy", "rust copy", "place", "rust place", "untouched", "rust untouched",
    };
    private const string OfRust = "rust ";
    // These are two threads of one process, and have no sender to start.
    private static readonly string[] OfOneProcess = { "channels", "line", "memory" };
    private static readonly CultureInfo Plain = CultureInfo.InvariantCulture;

    private static int Main(string[] arguments)
    {
        if (arguments.Length == 4 && arguments[0] == "send") return Ends.Send(arguments[1], arguments[2], int.Parse(arguments[3], Plain));
        if (arguments.Length == 7 && arguments[0] == "receive") return Ends.Receive(arguments);
        var plan = new Plan();
        var told = new Dictionary<string, string> { { "--rust", "" }, { "--csv", "" }, { "--json", "" } };
        for (int i = 0; i < arguments.Length; i++)
        {
            string option = arguments[i];
            if (option == "--quick") plan.BeQuick();
            else if (i + 1 == arguments.Length || !plan.Take(option, arguments[i + 1]) && !told.ContainsKey(option))
            {
                Console.Error.WriteLine($"'{option}' is no option, or has no value: --quick, --rounds, --windows, --duration, --warm-up, --bytes, --cpus, {string.Join(", ", told.Keys)}");
                return 2;
            }
            else if (told.ContainsKey(option)) told[option] = arguments[++i];
            else i++;
        }
        var report = new Report(Measure(plan, told["--rust"]));
        Console.Write(report.Table());
        if (told["--csv"] != "") File.WriteAllText(told["--csv"], report.Csv());
        if (told["--json"] != "") File.WriteAllText(told["--json"], report.Json());
        return 0;
    }

    /// <summary>How long it is measured: about eleven minutes, or one and a half.</summary>
    private sealed class Plan
    {
        internal int Rounds = 3, Windows = 20;
        internal double Duration = 0.25, WarmUp = 1;
        internal int[] Sizes = PerformanceComparison.Sizes;
        internal string Cpus = TwoCpus();

        internal void BeQuick()
        {
            (Rounds, Windows, Duration, WarmUp) = (3, 6, 0.04, 0.2);
        }

        internal bool Take(string option, string value)
        {
            switch (option)
            {
                case "--rounds": Rounds = int.Parse(value, Plain); return true;
                case "--windows": Windows = int.Parse(value, Plain); return true;
                case "--duration": Duration = double.Parse(value, Plain); return true;
                case "--warm-up": WarmUp = double.Parse(value, Plain); return true;
                case "--bytes": Sizes = new[] { int.Parse(value, Plain) }; return true;
                case "--cpus": Cpus = value; return true;
                default: return false;
            }
        }
    }

    /// <summary>The first two CPUs that this process may run on, or the only one.</summary>
    private static string TwoCpus()
    {
        const string key = "Cpus_allowed_list:";
        string list = File.ReadLines("/proc/self/status").First(line => line.StartsWith(key)).Substring(key.Length);
        IEnumerable<int> cpus = list.Split(',').SelectMany(range =>
        {
            int[] ends = range.Split('-').Select(end => int.Parse(end, Plain)).ToArray();
            return Enumerable.Range(ends[0], ends[ends.Length - 1] - ends[0] + 1);
        });
        return string.Join(",", cpus.Take(2));
    }

    private static List<Row> Measure(Plan plan, string rust)
    {
        var rows = new List<Row>();
        for (int round = 0; round < plan.Rounds; round++)
            foreach (int bytes in plan.Sizes)
            {
                foreach (string name in Ways)
                {
                    bool isRust = name.StartsWith(OfRust);
                    string way = isRust ? name.Substring(OfRust.Length) : name;
                    if (!Differs(way, bytes) || isRust && rust == "") continue;
                    rows.Add(Round(isRust ? new[] { rust } : Own(), way, name, bytes, round, plan));
                }
            }
        return rows;
    }

    /// <summary>Whether a way is another one at this size: the line has one size, and of 8 bytes none are left untouched.</summary>
    private static bool Differs(string way, int bytes) => way == "line" ? bytes == Sizes[0] : way != "untouched" || bytes > sizeof(ulong);

    private static Row Round(string[] program, string way, string name, int bytes, int round, Plan plan)
    {
        string topic = $"comparison.{Process.GetCurrentProcess().Id}.{Guid.NewGuid():N}";
        string[] times = { plan.WarmUp.ToString(Plain), plan.Windows.ToString(Plain), plan.Duration.ToString(Plain) };
        bool isOne = OfOneProcess.Contains(way);
        using var receiver = Start(isOne ? plan.Cpus : plan.Cpus.Split(',')[0], program, new[] { "receive", way, topic, bytes.ToString(Plain) }.Concat(times));
        Expect(receiver, "ready");
        using Process sender = isOne ? null : Start(plan.Cpus.Split(',').Last(), program, new[] { "send", way, topic, bytes.ToString(Plain) });
        try
        {
            Expect(receiver, "begin");
            double before = CpuSeconds(receiver) + CpuSeconds(sender);
            double[] end = Expect(receiver, "end").Split(' ').Skip(1).Select(number => double.Parse(number, Plain)).ToArray();
            double used = CpuSeconds(receiver) + CpuSeconds(sender) - before;
            receiver.StandardInput.Close();
            var windows = new List<Window>();
            for (int i = 1; i + 1 < end.Length; i += 2) windows.Add(new Window { Messages = end[i], Seconds = end[i + 1] });
            return new Row { Way = name, Bytes = bytes, Round = round, Windows = windows, CpuSeconds = used, Allocated = end[0] };
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

    /// <summary>The command that this program was started by, without its own arguments.</summary>
    private static string[] Own()
    {
        string[] command = File.ReadAllText("/proc/self/cmdline").TrimEnd('\0').Split('\0');
        return command.Take(command.Length - (Environment.GetCommandLineArgs().Length - 1)).ToArray();
    }

    private static Process Start(string cpus, string[] program, IEnumerable<string> arguments)
    {
        var start = new ProcessStartInfo("taskset") { RedirectStandardOutput = true, RedirectStandardInput = true };
        foreach (string argument in new[] { "-c", cpus }.Concat(program).Concat(arguments)) start.ArgumentList.Add(argument);
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
}
