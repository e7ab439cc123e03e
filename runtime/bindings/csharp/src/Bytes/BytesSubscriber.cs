// A subscribing end of a topic of bytes.

using System;
using System.Runtime.CompilerServices;
using Horus.Net.Native;

namespace Horus.Net
{
    /// <summary>A subscribing end of a topic of bytes. One thread at a time uses it. Receiving makes no object.</summary>
    public sealed unsafe class BytesSubscriber : AnySubscriber
    {
        private long lent, lends;

        /// <summary>Joins a topic of messages of up to <paramref name="maximum"/> bytes, as many as its publishers say.</summary>
        /// <exception cref="HorusException">It is refused; the sentence says why.</exception>
        public BytesSubscriber(string topic, int maximum, Options options = null) : base(Open(topic, maximum, options)) { }

        private static IntPtr Open(string topic, int maximum, Options options)
        {
            if (maximum < 0) throw new ArgumentOutOfRangeException(nameof(maximum));
            Library.Load();
            fixed (byte* name = Text.ToNative(topic, nameof(topic)))
            {
                byte* at = name;
                return Status.Made(Options.Lend(options, given => TopicFunctions.horus_bytes_subscriber_open(at, (ulong)maximum, given)));
            }
        }

        /// <summary>Receives the next message; false when none was sent yet. There has to be room for the longest one. Wait-free.</summary>
        public bool TryRecv(Span<byte> message, out int length)
        {
            IntPtr subscriber = Enter();
            byte none;
            ulong bytes = 0;
            int status;
            fixed (byte* place = message)
                status = TopicFunctions.horus_bytes_subscriber_try_recv(
                    subscriber, place == null ? &none : place, (ulong)message.Length, &bytes, null);
            Leave();
            length = (int)bytes;
            return status == Status.Ok || Status.IsDone(status);
        }

        /// <summary>Waits for the next message; false when none came in time.</summary>
        public bool Recv(Span<byte> message, out int length, TimeSpan limit)
        {
            IntPtr subscriber = Enter();
            long left = Limit.Nanoseconds(limit);
            byte none;
            ulong bytes = 0;
            int status;
            fixed (byte* place = message)
                do status = TopicFunctions.horus_bytes_subscriber_recv(
                    subscriber, place == null ? &none : place, (ulong)message.Length, &bytes, null, Limit.Slice(ref left));
                while (status == Status.Empty && left != 0);
            Leave();
            length = (int)bytes;
            return status == Status.Ok || Status.IsDone(status);
        }

        /// <summary>The next message where it lies in shared memory; empty when none was sent yet. It holds its place until it is disposed.</summary>
        public BytesSample Borrow()
        {
            IntPtr subscriber = Enter();
            void* message = null;
            ulong bytes = 0;
            Received about;
            int status = TopicFunctions.horus_bytes_subscriber_borrow(subscriber, &message, &bytes, &about);
            Leave();
            if (status != Status.Ok && !Status.IsDone(status)) return default;
            lent = ++lends;
            return new BytesSample(this, (byte*)message, (int)bytes, lent, about);
        }

        /// <summary>How many messages were overwritten before this subscriber got to them.</summary>
        public long Missed
        {
            get
            {
                if (lent != 0) throw new InvalidOperationException("a message of this subscriber is lent: dispose it first");
                ulong missed = TopicFunctions.horus_bytes_subscriber_missed(Enter());
                Leave();
                return (long)missed;
            }
        }

        internal bool IsLent(long sample) => lent == sample && !IsClosed;

        internal void Release(long sample)
        {
            if (!IsLent(sample)) return;
            TopicFunctions.horus_bytes_subscriber_release(Enter());
            lent = 0;
            Leave();
        }

        [MethodImpl(Calls.Cold)]
        private protected override void Close(IntPtr ended) => TopicFunctions.horus_bytes_subscriber_close(ended);
    }

    /// <summary>A message of bytes in its place, which it holds until it is disposed.</summary>
    public readonly unsafe ref struct BytesSample
    {
        private readonly BytesSubscriber subscriber;
        private readonly byte* message;
        private readonly int length;
        private readonly long number;

        internal BytesSample(BytesSubscriber subscriber, byte* message, int length, long number, Received about)
        {
            this.subscriber = subscriber;
            this.message = message;
            this.length = length;
            this.number = number;
            About = about;
        }

        /// <summary>Whether there was no message.</summary>
        public bool IsEmpty => subscriber == null;

        /// <summary>What is known beside the message.</summary>
        public Received About { get; }

        /// <summary>The bytes, to be read.</summary>
        public ReadOnlySpan<byte> Bytes
        {
            get
            {
                if (IsEmpty || !subscriber.IsLent(number)) throw Ended.Sample();
                return new ReadOnlySpan<byte>(message, length);
            }
        }

        /// <summary>Gives the message back.</summary>
        public void Dispose()
        {
            if (!IsEmpty) subscriber.Release(number);
        }
    }
}
