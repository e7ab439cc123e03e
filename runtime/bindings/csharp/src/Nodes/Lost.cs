using System.Runtime.InteropServices;

namespace Horus.Net
{
    /// <summary>Messages that an output did not publish, by their cause.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct Lost
    {
        /// <summary>They found the topic full: a subscriber of a reliable one has yet to read, or subscribers hold what stands in their place.</summary>
        public ulong Full;
        /// <summary>They were more than the topic holds in one step.</summary>
        public ulong Beyond;
        /// <summary>Of a step whose outcome was discarded: it failed, or a monitor took its place.</summary>
        public ulong Discarded;
        /// <summary>They were set while no step could.</summary>
        public ulong Outside;
        /// <summary>They were no messages of the topic: bytes, and more than its maximum.</summary>
        public ulong Invalid;
    }
}
