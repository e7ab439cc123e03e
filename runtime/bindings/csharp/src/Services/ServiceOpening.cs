// How the ends of a service are opened: each of requests and answers is a struct, or bytes up to a maximum.

using System;
using System.Runtime.CompilerServices;
using Horus.Net.Native;

namespace Horus.Net
{
    internal static unsafe class ServiceOpening
    {
        /// <summary>A function of C that opens an end.</summary>
        internal delegate IntPtr Function(byte* service, IntPtr request, IntPtr answer, NativeOptions* options);

        /// <summary>Opens an end of structs; the maximum of bytes would be missing.</summary>
        internal static IntPtr OfStructs<Q, A>(Function open, string service, Options options) where Q : unmanaged where A : unmanaged
        {
            if (typeof(Q) == typeof(byte) || typeof(A) == typeof(byte))
                throw new ArgumentException("a service of bytes is opened with the most that each may have: (service, request, answer)", nameof(service));
            return Opened<Q, A>(open, service, 0, 0, options);
        }

        /// <summary>Opens an end; a maximum is that of bytes, and 0 for a struct.</summary>
        [MethodImpl(Calls.Cold)]
        internal static IntPtr Opened<Q, A>(Function open, string service, int request, int answer, Options options)
            where Q : unmanaged where A : unmanaged
        {
            Check<Q>(request, nameof(request));
            Check<A>(answer, nameof(answer));
            IntPtr opened = IntPtr.Zero;
            WithLayout<Q>(request, ofRequests => WithLayout<A>(answer, ofAnswers =>
            {
                fixed (byte* name = Text.ToNative(service, nameof(service)))
                {
                    byte* at = name;
                    opened = Options.Lend(options, given => open(at, ofRequests, ofAnswers, given));
                }
            }));
            return opened;
        }

        private static void Check<T>(int maximum, string parameter) where T : unmanaged
        {
            bool isBytes = typeof(T) == typeof(byte);
            if (maximum < 0 || !isBytes && maximum > 0)
                throw new ArgumentOutOfRangeException(parameter, $"{typeof(T).Name} has its size, and only bytes have a maximum: give 0");
        }

        private static void WithLayout<T>(int maximum, Action<IntPtr> work) where T : unmanaged
        {
            Library.Load();
            if (typeof(T) == typeof(byte)) Opening.WithLayout(maximum, work);
            else work(Layout<T>.Handle);
        }
    }
}
