// What a node reads and writes. Both belong to one node: only its steps use them, and no thread after the program has ended.

using System;
using System.Runtime.CompilerServices;
using Horus.Net.Native;

namespace Horus.Net
{
    /// <summary>What a node reads.</summary>
    /// <typeparam name="T">A struct with <see cref="MessageAttribute"/>, or <c>byte</c> for messages of any length: see <see cref="Bytes"/>.</typeparam>
    public sealed unsafe class Input<T> where T : unmanaged
    {
        private readonly IntPtr input;
        private readonly Life life;

        internal Input(IntPtr input, Life life)
        {
            this.input = input;
            this.life = life;
        }

        /// <summary>The newest message, however old it is by now; false before the first.</summary>
        public bool TryLatest(out T message) => TryLatest(out message, out _);

        /// <summary>As above, with what is known beside the message.</summary>
        public bool TryLatest(out T message, out Received about)
        {
            message = default;
            about = default;
            fixed (T* place = &message)
            fixed (Received* told = &about) return TryLatestAt(place, (ulong)sizeof(T), told);
        }

        /// <summary>The newest message, if it came since the last look.</summary>
        public bool TryFresh(out T message)
        {
            message = default;
            fixed (T* place = &message) return TryFreshAt(place, (ulong)sizeof(T), null);
        }

        /// <summary>The oldest message that came and was not read yet: each once, in the order of each publisher.</summary>
        public bool TryNext(out T message) => TryNext(out message, out _);

        /// <summary>As above, with what is known beside the message.</summary>
        public bool TryNext(out T message, out Received about)
        {
            message = default;
            about = default;
            fixed (T* place = &message)
            fixed (Received* told = &about) return TryNextAt(place, (ulong)sizeof(T), told);
        }

        internal bool TryLatestAt(void* message, ulong bytes, Received* about)
        {
            int status = NodeFunctions.horus_input_latest(Alive(), message, bytes, about);
            return status == Status.Ok || Status.IsDone(status);
        }

        internal bool TryFreshAt(void* message, ulong bytes, Received* about)
        {
            int status = NodeFunctions.horus_input_fresh(Alive(), message, bytes, about);
            return status == Status.Ok || Status.IsDone(status);
        }

        internal bool TryNextAt(void* message, ulong bytes, Received* about)
        {
            int status = NodeFunctions.horus_input_next(Alive(), message, bytes, about);
            return status == Status.Ok || Status.IsDone(status);
        }

        /// <summary>How many messages were overwritten before they were read.</summary>
        public long Missed
        {
            [MethodImpl(Calls.Cold)]
            get => (long)NodeFunctions.horus_input_missed(Alive());
        }

        private IntPtr Alive()
        {
            if (life.IsOver) throw new ObjectDisposedException("Input", "the program that this input belongs to has ended");
            return input;
        }
    }

    /// <summary>What a node writes.</summary>
    /// <typeparam name="T">A struct with <see cref="MessageAttribute"/>, or <c>byte</c> for messages of any length: see <see cref="Bytes"/>.</typeparam>
    public sealed unsafe class Output<T> where T : unmanaged
    {
        private readonly IntPtr output;
        private readonly Life life;

        internal Output(IntPtr output, Life life)
        {
            this.output = output;
            this.life = life;
        }

        /// <summary>
        /// Publishes the message when the step returns, after what the step set before; false when it is not taken, because there is no room for it:
        /// a subscriber of a reliable topic has yet to read, or the step has set as many messages as the topic holds. Those before it stay, and
        /// <see cref="Lost"/> counts this one.
        /// </summary>
        public bool Set(in T message)
        {
            fixed (T* place = &message) return SetAt(place, (ulong)sizeof(T));
        }

        internal bool SetAt(void* message, ulong bytes)
        {
            if (life.IsOver) throw new ObjectDisposedException("Output", "the program that this output belongs to has ended");
            int status = NodeFunctions.horus_output_set(output, message, bytes);
            return status == Status.Ok || Status.IsDone(status);
        }

        /// <summary>What was set on this output and not published, by its cause, since the program began. To be asked in a step of its node.</summary>
        public Lost Lost
        {
            [MethodImpl(Calls.Cold)]
            get
            {
                if (life.IsOver) throw new ObjectDisposedException("Output", "the program that this output belongs to has ended");
                Lost lost;
                Status.IsDone(NodeFunctions.horus_output_lost(output, &lost));
                return lost;
            }
        }
    }
}
