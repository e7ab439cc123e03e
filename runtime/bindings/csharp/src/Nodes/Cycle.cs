// What a step is told, as C lays it out.

using System;
using System.Runtime.InteropServices;
using Horus.Net.Native;

namespace Horus.Net
{
    /// <summary>What a step is told about the cycle that it is in. Times are those of CLOCK_MONOTONIC, in nanoseconds.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly struct Cycle
    {
        /// <summary>Counts the releases; one that was skipped uses up its number.</summary>
        public readonly ulong Number;
        /// <summary>The point of the grid, or the time of the event: what control laws use.</summary>
        public readonly ulong ReleaseNs;
        /// <summary>When the loop was running again.</summary>
        public readonly ulong WakeNs;
        /// <summary>When the work must be done.</summary>
        public readonly ulong DeadlineNs;
        private readonly IntPtr inner;

        /// <summary>
        /// The node cannot go on: its program ends with this reason when the step returns. An exception does the same. Only for the step that was
        /// given this cycle, as long as it runs.
        /// </summary>
        public unsafe void Fail(string why)
        {
            fixed (Cycle* here = &this)
            fixed (byte* text = Text.Reason(why)) NodeFunctions.horus_cycle_fail(here, text);
        }

        /// <summary>
        /// Has a line written to the journal by a thread beside the loop: <c>cycle.Log(Level.Warn, "wheel {} slips by {:.2} m", wheel, slip)</c>. Text and
        /// values are copied alone: no object is made. A line that finds no room is counted and told. So is a text that does not fit its values: an error in
        /// the journal, in place of the line. Only for the step that was given this cycle, as long as it runs.
        /// </summary>
        public unsafe void Log(Level level, string text)
        {
            fixed (Cycle* here = &this) LogLine.Log(here, level, text, null, 0);
        }

        /// <summary>As above, with a value.</summary>
        public unsafe void Log(Level level, string text, in LogValue a)
        {
            NativeLogValue value;
            byte* room = stackalloc byte[LogLine.ValueBytes];
            LogLine.Put(a, &value, room);
            fixed (Cycle* here = &this) LogLine.Log(here, level, text, &value, 1);
        }

        /// <summary>As above, with two values.</summary>
        public unsafe void Log(Level level, string text, in LogValue a, in LogValue b)
        {
            NativeLogValue* values = stackalloc NativeLogValue[2];
            byte* room = stackalloc byte[2 * LogLine.ValueBytes];
            LogLine.Put(a, values, room);
            LogLine.Put(b, values + 1, room + LogLine.ValueBytes);
            fixed (Cycle* here = &this) LogLine.Log(here, level, text, values, 2);
        }

        /// <summary>As above, with three values.</summary>
        public unsafe void Log(Level level, string text, in LogValue a, in LogValue b, in LogValue c)
        {
            NativeLogValue* values = stackalloc NativeLogValue[3];
            byte* room = stackalloc byte[3 * LogLine.ValueBytes];
            LogLine.Put(a, values, room);
            LogLine.Put(b, values + 1, room + LogLine.ValueBytes);
            LogLine.Put(c, values + 2, room + 2 * LogLine.ValueBytes);
            fixed (Cycle* here = &this) LogLine.Log(here, level, text, values, 3);
        }

        /// <summary>As above, with four values and more, up to 8: they make an array.</summary>
        public unsafe void Log(Level level, string text, params LogValue[] given)
        {
            const int most = LogLine.MostValues + 1; // so that too many are told as such
            NativeLogValue* values = stackalloc NativeLogValue[most];
            byte* room = stackalloc byte[most * LogLine.ValueBytes];
            int count = Math.Min(given.Length, most);
            for (int index = 0; index < count; index++) LogLine.Put(given[index], values + index, room + index * LogLine.ValueBytes);
            fixed (Cycle* here = &this) LogLine.Log(here, level, text, values, count);
        }
    }

    /// <summary>The work of a node, called once a cycle.</summary>
    public delegate void Step(in Cycle cycle);

    /// <summary>What a node does.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly struct Tally
    {
        /// <summary>Cycles that ran to completion.</summary>
        public readonly ulong Cycles;
        /// <summary>Cycles that completed late, and skipped releases.</summary>
        public readonly ulong Misses;
        /// <summary>Releases that were skipped; contained in the misses.</summary>
        public readonly ulong Skipped;
        /// <summary>The longest run of consecutive releases that were missed.</summary>
        public readonly ulong MaxConsecutive;
        /// <summary>The longest response time.</summary>
        public readonly ulong MaxResponseNs;
        /// <summary>The largest release jitter.</summary>
        public readonly ulong MaxJitterNs;
        private readonly uint isSafe, hasStopped;

        /// <summary>Whether it is in its safe state.</summary>
        public bool IsSafe => isSafe != 0;
        /// <summary>Whether it ended its program, after misses.</summary>
        public bool HasStopped => hasStopped != 0;
    }
}
