// What owns a handle of C: it is closed once, by Dispose or by the garbage collector, and never while a call is inside.
//
// A SafeHandle does the same with two atomic operations a call, which would be a third of a send. A handle is used by one thread at a time,
// so plain reads and writes of one field do here. Two threads that break this rule are told so mostly, not always.

using System;
using System.Threading;

namespace Horus.Net
{
    /// <summary>Something of the library's that ends with <see cref="Dispose"/>. One thread at a time uses it.</summary>
    public abstract class Owned : IDisposable
    {
        private const int Free = 0, Used = 1, Closed = 2;

        private IntPtr handle;
        private int state;

        private protected Owned(IntPtr handle)
        {
            this.handle = handle;
        }

        /// <summary>Closes what was not disposed.</summary>
        ~Owned()
        {
            // The collector runs this when no thread can call any more, so no call is inside.
            if (state != Closed && handle != IntPtr.Zero) Close(handle);
        }

        /// <summary>Ends it. To end it twice does nothing more.</summary>
        /// <exception cref="InvalidOperationException">Another thread is inside a call: end that one first.</exception>
        public void Dispose()
        {
            switch (Interlocked.CompareExchange(ref state, Closed, Free))
            {
                case Used:
                    // Mono ends the threads that are left inside of their calls; the kernel takes what they had.
                    if (Environment.HasShutdownStarted) return;
                    throw new InvalidOperationException($"this {GetType().Name} is in use: dispose it when the call has returned, or give the call a limit");
                case Closed:
                    return;
            }
            IntPtr ended = handle;
            handle = IntPtr.Zero;
            GC.SuppressFinalize(this);
            if (ended != IntPtr.Zero) Close(ended);
        }

        private protected abstract void Close(IntPtr ended);

        /// <summary>The handle for a call, which ends with <see cref="Leave"/>.</summary>
        private protected IntPtr Enter()
        {
            if (state != Free) Refuse();
            state = Used;
            return handle;
        }

        /// <summary>The call has returned. Up to here this object is reachable, so the collector does not close it.</summary>
        private protected void Leave()
        {
            Volatile.Write(ref state, Free);
        }

        /// <summary>What the handle is, when it was ended by a call that takes it.</summary>
        private protected void Forget()
        {
            handle = IntPtr.Zero;
            Volatile.Write(ref state, Closed);
            GC.SuppressFinalize(this);
        }

        internal bool IsClosed => Volatile.Read(ref state) == Closed;

        private void Refuse()
        {
            if (IsClosed) throw new ObjectDisposedException(GetType().Name);
            throw new InvalidOperationException($"this {GetType().Name} is in use: one thread at a time may call it");
        }
    }
}
