// How the ends of a topic are opened: with the layout of a struct, or with the most that a message of bytes may have.

using System;
using System.Runtime.CompilerServices;
using Horus.Net.Native;

namespace Horus.Net
{
    internal static unsafe class Opening
    {
        /// <summary>A function of C that opens an end, called in a method of its own, which is compiled when the library was found.</summary>
        internal delegate IntPtr Function(byte* topic, IntPtr layout, NativeOptions* options);

        internal static IntPtr OfMessages<T>(Function open, string topic, Options options) where T : unmanaged
        {
            ThrowIfBytes<T>();
            return Opened(open, topic, Layout<T>.Handle, options);
        }

        internal static IntPtr OfBytes<T>(Function open, string topic, int maximum, Options options) where T : unmanaged
        {
            ThrowUnlessBytes<T>(maximum);
            Library.Load();
            IntPtr opened = IntPtr.Zero;
            WithLayout(maximum, layout => opened = Opened(open, topic, layout, options));
            return opened;
        }

        /// <summary>Refuses bytes, of which nothing says the maximum.</summary>
        internal static void ThrowIfBytes<T>() where T : unmanaged
        {
            if (typeof(T) == typeof(byte))
                throw new ArgumentException("a topic of bytes is opened with the most that a message may have: (topic, maximum)", "topic");
        }

        /// <summary>Refuses structs, whose size is their own, and what is no maximum.</summary>
        internal static void ThrowUnlessBytes<T>(int maximum) where T : unmanaged
        {
            if (typeof(T) != typeof(byte))
                throw new ArgumentException($"{typeof(T).Name} has its size, and only bytes have a maximum: leave it out", nameof(maximum));
            if (maximum < 0) throw new ArgumentOutOfRangeException(nameof(maximum));
        }

        /// <summary>Does something with the layout of bytes.</summary>
        [MethodImpl(Calls.Cold)]
        internal static void WithLayout(int maximum, Action<IntPtr> work)
        {
            IntPtr layout = TopicFunctions.horus_layout_of_bytes((ulong)maximum);
            try
            {
                work(layout);
            }
            finally
            {
                TopicFunctions.horus_layout_close(layout);
            }
        }

        private static IntPtr Opened(Function open, string topic, IntPtr layout, Options options)
        {
            fixed (byte* name = Text.ToNative(topic, nameof(topic)))
            {
                byte* at = name;
                return Status.Made(Options.Lend(options, given => open(at, layout, given)));
            }
        }
    }
}
