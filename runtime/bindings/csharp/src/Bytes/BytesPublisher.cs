// The publishing end of a topic of bytes: messages of any length up to a maximum.

using System;
using System.Runtime.CompilerServices;
using Horus.Net.Native;

namespace Horus.Net
{
    /// <summary>The publishing end of a topic of bytes. One thread at a time uses it. Sending makes no object.</summary>
    public sealed unsafe class BytesPublisher : Owned
    {
        private long lent, lends;

        /// <summary>Opens a topic of messages of up to <paramref name="maximum"/> bytes.</summary>
        /// <exception cref="HorusException">It is refused; the sentence says why.</exception>
        public BytesPublisher(string topic, int maximum, Options options = null) : base(Open(topic, maximum, options)) { }

        private static IntPtr Open(string topic, int maximum, Options options)
        {
            if (maximum < 0) throw new ArgumentOutOfRangeException(nameof(maximum));
            Library.Load();
            fixed (byte* name = Text.ToNative(topic, nameof(topic)))
            {
                byte* at = name;
                return Status.Made(Options.Lend(options, given => TopicFunctions.horus_bytes_publisher_open(at, (ulong)maximum, given)));
            }
        }

        /// <summary>Sends a message; false when there is no room. Wait-free.</summary>
        public bool TrySend(ReadOnlySpan<byte> message)
        {
            IntPtr publisher = Enter();
            byte none;
            int status;
            fixed (byte* place = message)
                status = TopicFunctions.horus_bytes_publisher_try_send(publisher, place == null ? &none : place, (ulong)message.Length);
            Leave();
            return status == Status.Ok || Status.IsDone(status);
        }

        /// <summary>Sends a message; waits for room on a reliable topic, and gives false when there was none in time.</summary>
        public bool Send(ReadOnlySpan<byte> message, TimeSpan limit)
        {
            IntPtr publisher = Enter();
            long left = Limit.Nanoseconds(limit);
            byte none;
            int status;
            fixed (byte* place = message)
                do status = TopicFunctions.horus_bytes_publisher_send(
                    publisher, place == null ? &none : place, (ulong)message.Length, Limit.Slice(ref left));
                while (status == Status.Full && left != 0);
            Leave();
            return status == Status.Ok || Status.IsDone(status);
        }

        /// <summary>Sends a message; waits for room on a reliable topic.</summary>
        public void Send(ReadOnlySpan<byte> message) => Send(message, Limit.Forever);

        /// <summary>Lends the place of the next message, of so many bytes; empty when there is no room.</summary>
        public BytesLoan Loan(int bytes)
        {
            if (bytes < 0) throw new ArgumentOutOfRangeException(nameof(bytes));
            IntPtr publisher = Enter();
            void* place = null;
            int status = TopicFunctions.horus_bytes_publisher_loan(publisher, (ulong)bytes, &place);
            Leave();
            if (status != Status.Ok && !Status.IsDone(status)) return default;
            lent = ++lends;
            return new BytesLoan(this, (byte*)place, bytes, lent);
        }

        /// <summary>How many living subscribers the topic has; 0 when that cannot be known. Makes system calls.</summary>
        public int Subscribers
        {
            [MethodImpl(Calls.Cold)]
            get
            {
                ulong answer = TopicFunctions.horus_bytes_publisher_subscribers(Enter());
                Leave();
                return (int)answer;
            }
        }

        internal bool IsLent(long loan) => lent == loan && !IsClosed;

        internal void Publish(long loan, int bytes)
        {
            if (!IsLent(loan)) throw Ended.Loan();
            if (bytes < 0) throw new ArgumentOutOfRangeException(nameof(bytes));
            int status = TopicFunctions.horus_bytes_publisher_publish(Enter(), (ulong)bytes);
            if (status == Status.Ok) lent = 0;
            Leave();
            Status.IsDone(status);
        }

        internal void Discard(long loan)
        {
            if (!IsLent(loan)) return;
            TopicFunctions.horus_bytes_publisher_discard(Enter());
            lent = 0;
            Leave();
        }

        [MethodImpl(Calls.Cold)]
        private protected override void Close(IntPtr ended) => TopicFunctions.horus_bytes_publisher_close(ended);
    }

    /// <summary>The place of the next message, in shared memory. What is not published was never sent.</summary>
    public readonly unsafe ref struct BytesLoan
    {
        private readonly BytesPublisher publisher;
        private readonly byte* place;
        private readonly int length;
        private readonly long number;

        internal BytesLoan(BytesPublisher publisher, byte* place, int length, long number)
        {
            this.publisher = publisher;
            this.place = place;
            this.length = length;
            this.number = number;
        }

        /// <summary>Whether there was no room.</summary>
        public bool IsEmpty => publisher == null;

        /// <summary>The bytes, to be written. What stands there is of some older message, or zeros.</summary>
        public Span<byte> Bytes
        {
            get
            {
                if (IsEmpty || !publisher.IsLent(number)) throw Ended.Loan();
                return new Span<byte>(place, length);
            }
        }

        /// <summary>Sends all of it.</summary>
        public void Publish() => Publish(length);

        /// <summary>Sends the first bytes of it.</summary>
        public void Publish(int bytes)
        {
            if (IsEmpty) throw Ended.Loan();
            publisher.Publish(number, bytes);
        }

        /// <summary>Gives the place back, unless it was published.</summary>
        public void Dispose()
        {
            if (!IsEmpty) publisher.Discard(number);
        }
    }
}
