using System.Runtime.InteropServices;

namespace Horus.Net
{
    /// <summary>What is known of a message beside what it says.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct Received
    {
        /// <summary>Its number among its publisher's.</summary>
        public ulong Sequence;
        /// <summary>When it was sent, in nanoseconds on CLOCK_MONOTONIC; 0 when its publisher stamps none.</summary>
        public ulong SentNs;
        /// <summary>Number of the publisher that sent it.</summary>
        public ulong Publisher;
        /// <summary>How many bytes it has.</summary>
        public ulong Bytes;
    }
}
