// A subscribing end of a topic.

using System;
using System.Runtime.CompilerServices;
using Horus.Net.Native;

namespace Horus.Net
{
    /// <summary>A subscribing end, of messages or of bytes, that <see cref="WaitSet"/> waits for.</summary>
    public abstract class AnySubscriber : Owned
    {
        private protected AnySubscriber(IntPtr handle) : base(handle) { }

        internal IntPtr EnterToWait() => Enter();
        internal void LeaveWaiting() => Leave();
    }

    /// <summary>A subscribing end of a topic. One thread at a time uses it. Receiving makes no object.</summary>
    /// <typeparam name="T">A struct with <see cref="MessageAttribute"/>, or <c>byte</c> for messages of any length: see <see cref="Bytes"/>.</typeparam>
    public sealed unsafe class Subscriber<T> : AnySubscriber where T : unmanaged
    {
        private long lent, lends;

        /// <summary>Joins a topic; it may come before its publisher.</summary>
        /// <exception cref="HorusException">It is refused; the sentence says why, and names a field that differs.</exception>
        public Subscriber(string topic, Options options = null) : base(Opening.OfMessages<T>(Open, topic, options)) { }

        /// <summary>Joins a topic of messages of up to <paramref name="maximum"/> bytes, as many as its publishers say: of a
        /// <c>Subscriber&lt;byte&gt;</c> alone.</summary>
        /// <exception cref="HorusException">It is refused; the sentence says why.</exception>
        public Subscriber(string topic, int maximum, Options options = null) : base(Opening.OfBytes<T>(Open, topic, maximum, options)) { }

        private static IntPtr Open(byte* topic, IntPtr layout, NativeOptions* options)
        {
            return TopicFunctions.horus_subscriber_open(topic, layout, options);
        }

        /// <summary>Receives the next message; false when none was sent yet. Wait-free.</summary>
        [MethodImpl(Calls.Hot)]
        public bool TryRecv(out T message) => TryRecv(out message, null);

        /// <summary>As <see cref="TryRecv(out T)"/>, with what is known beside the message.</summary>
        public bool TryRecv(out T message, out Received about)
        {
            Received told;
            bool came = TryRecv(out message, &told);
            about = came ? told : default;
            return came;
        }

        [MethodImpl(Calls.Hot)]
        private bool TryRecv(out T message, Received* about)
        {
            message = default;
            fixed (T* place = &message)
                if (TryRecvAt(place, (ulong)sizeof(T), about)) return true;
            message = default; // what stands there is perhaps no message that was sent
            return false;
        }

        [MethodImpl(Calls.Hot)]
        internal bool TryRecvAt(void* message, ulong bytes, Received* about)
        {
            IntPtr subscriber = Enter();
            int status = TopicFunctions.horus_subscriber_try_recv(subscriber, message, bytes, about);
            Leave();
            return status == Status.Ok || Status.IsDone(status);
        }

        /// <summary>Waits for the next message.</summary>
        public T Recv()
        {
            Recv(out T message, Limit.Forever);
            return message;
        }

        /// <summary>Waits for the next message; false when none came in time.</summary>
        public bool Recv(out T message, TimeSpan limit) => Recv(out message, null, limit);

        /// <summary>As <see cref="Recv(out T, TimeSpan)"/>, with what is known beside the message.</summary>
        public bool Recv(out T message, out Received about, TimeSpan limit)
        {
            Received told;
            bool came = Recv(out message, &told, limit);
            about = came ? told : default;
            return came;
        }

        private bool Recv(out T message, Received* about, TimeSpan limit)
        {
            message = default;
            fixed (T* place = &message)
                if (RecvAt(place, (ulong)sizeof(T), about, limit)) return true;
            message = default;
            return false;
        }

        internal bool RecvAt(void* message, ulong bytes, Received* about, TimeSpan limit)
        {
            IntPtr subscriber = Enter();
            long left = Limit.Nanoseconds(limit);
            int status;
            do status = TopicFunctions.horus_subscriber_recv(subscriber, message, bytes, about, Limit.Slice(ref left));
            while (status == Status.Empty && left != 0);
            Leave();
            return status == Status.Ok || Status.IsDone(status);
        }

        /// <summary>The next message where it lies in shared memory; empty when none was sent yet. It holds its place until it is disposed.</summary>
        public Sample<T> Borrow()
        {
            IntPtr subscriber = Enter();
            void* message = null;
            Received about;
            int status = TopicFunctions.horus_subscriber_borrow(subscriber, &message, &about);
            Leave();
            if (status != Status.Ok && !Status.IsDone(status)) return default;
            lent = ++lends;
            return new Sample<T>(this, (T*)message, lent, about);
        }

        /// <summary>How many messages were overwritten before this subscriber got to them.</summary>
        public long Missed
        {
            get
            {
                if (lent != 0) throw new InvalidOperationException("a message of this subscriber is lent: dispose it first");
                ulong missed = TopicFunctions.horus_subscriber_missed(Enter());
                Leave();
                return (long)missed;
            }
        }

        /// <summary>Whether a living process publishes the topic. Makes system calls.</summary>
        public bool IsPublished
        {
            [MethodImpl(Calls.Cold)]
            get
            {
                int status = TopicFunctions.horus_subscriber_is_published(Enter());
                Leave();
                return Status.IsDone(status);
            }
        }

        /// <summary>Whether messages can come from who publishes from now on: throws when the topic's file was removed.</summary>
        [MethodImpl(Calls.Cold)]
        public void Check()
        {
            int status = TopicFunctions.horus_subscriber_check(Enter());
            Leave();
            Status.IsDone(status);
        }

        /// <summary>Every message as it comes: <c>foreach (var speed in subscriber.Messages())</c>. It waits for each.</summary>
        public Messages<T> Messages() => new Messages<T>(this, Limit.Forever);

        /// <summary>As <see cref="Messages()"/>; it ends when none came for so long.</summary>
        public Messages<T> Messages(TimeSpan limit) => new Messages<T>(this, limit);

        internal bool IsLent(long sample) => lent == sample && !IsClosed;

        internal void Release(long sample)
        {
            if (!IsLent(sample)) return;
            TopicFunctions.horus_subscriber_release(Enter());
            lent = 0;
            Leave();
        }

        [MethodImpl(Calls.Cold)]
        private protected override void Close(IntPtr ended) => TopicFunctions.horus_subscriber_close(ended);
    }
}
