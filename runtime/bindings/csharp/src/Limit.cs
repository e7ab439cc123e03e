// Spans of time as C takes them.

using System;
using System.Threading;

namespace Horus.Net
{
    /// <summary>How long a call may wait.</summary>
    public static class Limit
    {
        private const long NanosecondsPerTick = 100;

        /// <summary>As long as it takes.</summary>
        public static readonly TimeSpan Forever = Timeout.InfiniteTimeSpan;

        /// <summary>A limit: less than 0 is for ever in C. What is left of a time that is over is no time.</summary>
        internal static long Nanoseconds(TimeSpan limit)
        {
            if (limit == Timeout.InfiniteTimeSpan || limit.Ticks > long.MaxValue / NanosecondsPerTick) return -1;
            return limit.Ticks < 0 ? 0 : limit.Ticks * NanosecondsPerTick;
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
}
