// A message where it lies in the topic.

using System;

namespace Horus.Net
{
    /// <summary>
    /// A message in its place, which it holds until it is disposed. A copy of it, or one that has ended, throws; a <c>ref readonly</c> or a span
    /// that was taken before must not be used after its end.
    /// </summary>
    public readonly unsafe ref struct Sample<T> where T : unmanaged
    {
        private readonly Subscriber<T> subscriber;
        private readonly T* message;
        private readonly long number;

        internal Sample(Subscriber<T> subscriber, T* message, long number, Received about)
        {
            this.subscriber = subscriber;
            this.message = message;
            this.number = number;
            About = about;
        }

        /// <summary>Whether there was no message.</summary>
        public bool IsEmpty => subscriber == null;

        /// <summary>What is known of the message.</summary>
        public Received About { get; }

        /// <summary>The message, to be read; of bytes the first one.</summary>
        public ref readonly T Value
        {
            get
            {
                if (IsEmpty || About.Bytes == 0 || !subscriber.IsLent(number)) throw Ended.Sample();
                return ref *message;
            }
        }

        /// <summary>The message as bytes, to be read.</summary>
        public ReadOnlySpan<byte> Bytes
        {
            get
            {
                if (IsEmpty || !subscriber.IsLent(number)) throw Ended.Sample();
                return new ReadOnlySpan<byte>(message, (int)About.Bytes);
            }
        }

        /// <summary>Gives the message back.</summary>
        public void Dispose()
        {
            if (!IsEmpty) subscriber.Release(number);
        }
    }
}
