// The processes that send and receive.

using System;
using System.Diagnostics;
using System.Globalization;
using System.Text;

internal static class Ends
{
    /// <summary>Messages between two looks at the clock.</summary>
    private const int Look = 16;
    private static readonly CultureInfo Plain = CultureInfo.InvariantCulture;

    /// <summary>Sends until it is killed.</summary>
    internal static int Send(string way, string name, int bytes)
    {
        using ISender sender = Transports.Sender(way, name, bytes);
        for (ulong number = 0; ; number++) sender.Send(number);
    }

    /// <summary>Receives: <c>receive WAY TOPIC BYTES WARM_UP WINDOWS DURATION</c>; says how many bytes of objects it made, and each window.</summary>
    internal static int Receive(string[] told)
    {
        using IReceiver receiver = Transports.Receiver(told[1], told[2], int.Parse(told[3], Plain));
        var windows = new (ulong Messages, double Seconds)[int.Parse(told[5], Plain)];
        double duration = double.Parse(told[6], Plain);
        Say("ready");
        ulong number = 0;
        receiver.Receive(number++);
        For(receiver, ref number, double.Parse(told[4], Plain));
        Say("begin");
        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int window = 0; window < windows.Length; window++)
        {
            ulong first = number;
            double seconds = For(receiver, ref number, duration);
            windows[window] = (number - first, seconds);
        }
        long made = GC.GetAllocatedBytesForCurrentThread() - before;
        var end = new StringBuilder($"end {made}");
        foreach (var (messages, seconds) in windows) end.Append(' ').Append(messages).Append(' ').Append(seconds.ToString(Plain));
        Say(end.ToString());
        Console.In.ReadToEnd(); // so that its CPU time can be read
        return 0;
    }

    private static double For(IReceiver receiver, ref ulong number, double seconds)
    {
        long from = Stopwatch.GetTimestamp(), span = (long)(seconds * Stopwatch.Frequency), passed;
        do
        {
            for (int i = 0; i < Look; i++) receiver.Receive(number++);
            passed = Stopwatch.GetTimestamp() - from;
        }
        while (passed < span);
        return (double)passed / Stopwatch.Frequency;
    }

    private static void Say(string line)
    {
        Console.WriteLine(line);
        Console.Out.Flush();
    }
}
