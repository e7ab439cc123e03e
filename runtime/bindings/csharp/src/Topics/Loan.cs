// A message that is being written where it will be sent from.

using System;

namespace Horus.Net
{
    /// <summary>
    /// The place of the next message, in shared memory. What is not published was never sent. A copy of it, or one that has ended, throws; a
    /// <c>ref</c> or a span that was taken before must not be used after its end.
    /// </summary>
    public readonly unsafe ref struct Loan<T> where T : unmanaged
    {
        private readonly Publisher<T> publisher;
        private readonly T* place;
        private readonly int length;
        private readonly long number;

        internal Loan(Publisher<T> publisher, T* place, int length, long number)
        {
            this.publisher = publisher;
            this.place = place;
            this.length = length;
            this.number = number;
        }

        /// <summary>Whether there was no room.</summary>
        public bool IsEmpty => publisher == null;

        /// <summary>The message, to be written; of bytes the first one.</summary>
        public ref T Value
        {
            get
            {
                if (IsEmpty || length == 0 || !publisher.IsLent(number)) throw Ended.Loan();
                return ref *place;
            }
        }

        /// <summary>The message as bytes, to be written.</summary>
        public Span<byte> Bytes
        {
            get
            {
                if (IsEmpty || !publisher.IsLent(number)) throw Ended.Loan();
                return new Span<byte>(place, length);
            }
        }

        /// <summary>Sends it.</summary>
        public void Publish() => PublishFirst(length);

        internal void PublishFirst(int bytes)
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
