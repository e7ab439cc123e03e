// Errors of the library: the same sentence as in every other language.

using System;
using Horus.Net.Native;

namespace Horus.Net
{
    /// <summary>What a call came to, where that is an error.</summary>
    public enum HorusStatus
    {
        /// <summary>The arguments make no sense.</summary>
        Misuse = -1,
        /// <summary>The system or another program is in the way.</summary>
        Failed = -2,
        /// <summary>A defect of HORUS.</summary>
        Panicked = -3,
        /// <summary>A call: no living program serves the service. The request was not sent.</summary>
        NotServed = -10,
        /// <summary>A call: the server was killed, crashed or was replaced, and may have done what it was asked to.</summary>
        Died = -11,
        /// <summary>A call: the server ended in order before it answered.</summary>
        Stopped = -12,
        /// <summary>A call: the server took the request, and gives no answer.</summary>
        Unanswered = -13,
        /// <summary>A call: the server lives, and did not answer within the limit.</summary>
        TimedOut = -14,
        /// <summary>A call: 16 calls of this client are unanswered.</summary>
        TooMany = -15,
        /// <summary>A call: the server has not taken the last 16 requests of this client.</summary>
        CallFull = -16,
        /// <summary>A call: it has been answered, or belongs to another client.</summary>
        Over = -17,
        /// <summary>A goal: the server does not take it.</summary>
        Rejected = -18,
    }

    /// <summary>An error of HORUS; its message says why, and what to do.</summary>
    public sealed class HorusException : Exception
    {
        /// <summary>An error with its sentence.</summary>
        public HorusException(HorusStatus status, string message) : base(message)
        {
            Status = status;
        }

        /// <summary>What kind of error it is.</summary>
        public HorusStatus Status { get; }

        /// <summary>The error that the library remembers for this thread.</summary>
        internal static unsafe HorusException Last(int status)
        {
            return new HorusException((HorusStatus)status, Text.FromNative(TopicFunctions.horus_error()));
        }
    }

    /// <summary>What the numbers that calls return mean.</summary>
    internal static class Status
    {
        internal const int Ok = 0, Empty = 1, Full = 2;

        /// <summary>Whether it was done; false is "nothing there" or "no room", and less than that an exception.</summary>
        internal static bool IsDone(int status)
        {
            if (status < Ok) throw HorusException.Last(status);
            return status == Ok;
        }

        /// <summary>The handle that was made, or an exception.</summary>
        internal static IntPtr Made(IntPtr handle)
        {
            if (handle == IntPtr.Zero) throw HorusException.Last((int)HorusStatus.Failed);
            return handle;
        }
    }
}
