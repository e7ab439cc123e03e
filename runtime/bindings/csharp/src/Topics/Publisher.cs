// The publishing end of a topic.

using System;
using System.Runtime.CompilerServices;
using Horus.Net.Native;

namespace Horus.Net
{
    /// <summary>The publishing end of a topic. One thread at a time uses it. Sending makes no object.</summary>
    /// <typeparam name="T">A struct with <see cref="MessageAttribute"/>, or <c>byte</c> for messages of any length: see <see cref="Bytes"/>.</typeparam>
    public sealed unsafe class Publisher<T> : Owned where T : unmanaged
    {
        private long lent, lends;

        /// <summary>Opens a topic for publishing, and makes it unless a living peer uses it.</summary>
        /// <exception cref="HorusException">It is refused; the sentence says why.</exception>
        public Publisher(string topic, Options options = null) : base(Opening.OfMessages<T>(Open, topic, options)) { }

        /// <summary>Opens a topic of messages of up to <paramref name="maximum"/> bytes, of a <c>Publisher&lt;byte&gt;</c> alone.</summary>
        /// <exception cref="HorusException">It is refused; the sentence says why.</exception>
        public Publisher(string topic, int maximum, Options options = null) : base(Opening.OfBytes<T>(Open, topic, maximum, options)) { }

        private static IntPtr Open(byte* topic, IntPtr layout, NativeOptions* options)
        {
            return TopicFunctions.horus_publisher_open(topic, layout, options);
        }

        /// <summary>Sends a message; false when there is no room. Wait-free.</summary>
        [MethodImpl(Calls.Hot)]
        public bool TrySend(in T message)
        {
            fixed (T* place = &message) return TrySendAt(place, (ulong)sizeof(T));
        }

        [MethodImpl(Calls.Hot)]
        internal bool TrySendAt(void* message, ulong bytes)
        {
            IntPtr publisher = Enter();
            int status = TopicFunctions.horus_publisher_try_send(publisher, message, bytes);
            Leave();
            return status == Status.Ok || Status.IsDone(status);
        }

        /// <summary>Sends a message; waits for room on a reliable topic.</summary>
        public void Send(in T message) => Send(in message, Limit.Forever);

        /// <summary>Sends a message; waits for room on a reliable topic, and gives false when there was none in time.</summary>
        public bool Send(in T message, TimeSpan limit)
        {
            fixed (T* place = &message) return SendAt(place, (ulong)sizeof(T), limit);
        }

        internal bool SendAt(void* message, ulong bytes, TimeSpan limit)
        {
            IntPtr publisher = Enter();
            long left = Limit.Nanoseconds(limit);
            int status;
            do status = TopicFunctions.horus_publisher_send(publisher, message, bytes, Limit.Slice(ref left));
            while (status == Status.Full && left != 0);
            Leave();
            return status == Status.Ok || Status.IsDone(status);
        }

        /// <summary>
        /// Lends the place of the next message in shared memory, to be filled and published; empty when there is no room. What stands there is
        /// some older message, or zeros.
        /// </summary>
        public Loan<T> Loan() => Lend(sizeof(T));

        internal Loan<T> Lend(int bytes)
        {
            IntPtr publisher = Enter();
            void* place = null;
            int status = TopicFunctions.horus_publisher_loan(publisher, (ulong)bytes, &place);
            Leave();
            if (status != Status.Ok && !Status.IsDone(status)) return default;
            lent = ++lends;
            return new Loan<T>(this, (T*)place, bytes, lent);
        }

        /// <summary>How many living subscribers the topic has; 0 when that cannot be known. Makes system calls.</summary>
        public int Subscribers
        {
            [MethodImpl(Calls.Cold)]
            get
            {
                ulong answer = TopicFunctions.horus_publisher_subscribers(Enter());
                Leave();
                return (int)answer;
            }
        }

        /// <summary>Takes dead subscribers off the topic; gives how many. Makes system calls: for callers of TrySend, outside of their loop.</summary>
        [MethodImpl(Calls.Cold)]
        public int Reap()
        {
            ulong reaped = TopicFunctions.horus_publisher_reap(Enter());
            Leave();
            return (int)reaped;
        }

        /// <summary>Whether what is sent here can reach who joins from now on: throws when the topic's file was removed.</summary>
        [MethodImpl(Calls.Cold)]
        public void Check()
        {
            int status = TopicFunctions.horus_publisher_check(Enter());
            Leave();
            Status.IsDone(status);
        }

        internal bool IsLent(long loan) => lent == loan && !IsClosed;

        internal void Publish(long loan, int bytes)
        {
            if (!IsLent(loan)) throw Ended.Loan();
            int status = TopicFunctions.horus_publisher_publish(Enter(), (ulong)bytes);
            if (status == Status.Ok) lent = 0;
            Leave();
            Status.IsDone(status);
        }

        internal void Discard(long loan)
        {
            if (!IsLent(loan)) return;
            TopicFunctions.horus_publisher_discard(Enter());
            lent = 0;
            Leave();
        }

        [MethodImpl(Calls.Cold)]
        private protected override void Close(IntPtr ended) => TopicFunctions.horus_publisher_close(ended);
    }

    /// <summary>Errors of what was lent and is used after its end.</summary>
    internal static class Ended
    {
        internal static InvalidOperationException Loan()
        {
            return new InvalidOperationException("this loan is empty, or has ended: it was published, disposed, or its publisher was");
        }

        internal static InvalidOperationException Sample()
        {
            return new InvalidOperationException("this sample is empty, or has ended: it was disposed, or its subscriber was");
        }
    }
}
