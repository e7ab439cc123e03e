// Spans of time as C takes them.

using System;
using System.Threading;

namespace Horus.Net
{
    /// <summary>How long a call may wait.</summary>
    public static class Limit
    {
        private const long NanosecondsPerTick = 100;
#if !NETCOREAPP
        private const long LongestNs = 100000000;
#endif

        /// <summary>As long as it takes.</summary>
        public static readonly TimeSpan Forever = Timeout.InfiniteTimeSpan;

        /// <summary>A limit: less than 0 is for ever in C. What is left of a time that is over is no time.</summary>
        internal static long Nanoseconds(TimeSpan limit)
        {
            if (limit == Timeout.InfiniteTimeSpan || limit.Ticks > long.MaxValue / NanosecondsPerTick) return -1;
            return limit.Ticks < 0 ? 0 : limit.Ticks * NanosecondsPerTick;
        }

        /// <summary>How long the next call waits, which leaves the rest in <paramref name="left"/>: 0 when nothing is left to wait for.</summary>
        internal static long Slice(ref long left)
        {
#if NETCOREAPP
            long slice = left;
            left = 0;
#else
            // Mono ends a process when its threads are out of their calls, so none stays inside for ever.
            long slice = left < 0 || left > LongestNs ? LongestNs : left;
            if (left > 0) left -= slice;
#endif
            return slice;
        }

        /// <summary>A span of a node's; a negative one is none, which the library refuses where it makes no sense.</summary>
        internal static ulong Span(TimeSpan span)
        {
            if (span.Ticks < 0) return 0;
            return span.Ticks > long.MaxValue / NanosecondsPerTick ? long.MaxValue : (ulong)(span.Ticks * NanosecondsPerTick);
        }

        internal static TimeSpan Time(ulong nanoseconds)
        {
            return TimeSpan.FromTicks((long)(nanoseconds / (ulong)NanosecondsPerTick));
        }
    }

    /// <summary>Spans of time by name: <c>using static Horus.Net.Times;</c>, then <c>Period(Ms(1)).Deadline(Us(800))</c>.</summary>
    public static class Times
    {
        private const long TicksPerMicrosecond = 10;

        /// <summary>Microseconds. <see cref="TimeSpan.FromMilliseconds"/> rounds to whole milliseconds on Mono.</summary>
        public static TimeSpan Us(long microseconds) => TimeSpan.FromTicks(checked(microseconds * TicksPerMicrosecond));

        /// <summary>Milliseconds.</summary>
        public static TimeSpan Ms(long milliseconds) => TimeSpan.FromTicks(checked(milliseconds * TimeSpan.TicksPerMillisecond));
    }
}
