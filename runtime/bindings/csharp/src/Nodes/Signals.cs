// SIGTERM and SIGINT belong to the nodes while they run.
//
// .NET's own handlers end the process at once, with the nodes in the middle of a cycle. The library's handler calls the one that was there
// before it; so the default goes there first, which the library knows how to follow.

using System;
using System.Runtime.InteropServices;

namespace Horus.Net
{
    internal static class Signals
    {
        private const int Interrupt = 2, Terminate = 15;

        [DllImport("libc.so.6")] private static extern IntPtr signal(int number, IntPtr handler);

        /// <summary>Takes .NET's handlers away. They do not come back: the process ends soon after its nodes.</summary>
        internal static void LeaveToTheLibrary()
        {
            signal(Interrupt, IntPtr.Zero);
            signal(Terminate, IntPtr.Zero);
#if !NETCOREAPP
            AppDomain.CurrentDomain.ProcessExit += EndNodes;
#endif
        }

        /// <summary>The nodes have ended.</summary>
        internal static void NodesHaveEnded()
        {
#if !NETCOREAPP
            AppDomain.CurrentDomain.ProcessExit -= EndNodes;
#endif
        }

#if !NETCOREAPP
        [DllImport("libc.so.6")] private static extern int raise(int number);

        /// <summary>Main has returned: Mono ends the process when its threads are out of their calls, so the nodes are told to end.</summary>
        private static void EndNodes(object sender, EventArgs none) => raise(Terminate);
#endif
    }
}
