// What differs for bytes, whose messages have lengths of their own: they are sent from spans, and received into spans.

using System;
using System.Runtime.CompilerServices;
using Horus.Net.Native;

namespace Horus.Net
{
    /// <summary>
    /// Messages of any length up to a maximum: <c>Publisher&lt;byte&gt;</c> and <c>Subscriber&lt;byte&gt;</c>, and in a node <c>Input&lt;byte&gt;</c> and
    /// <c>Output&lt;byte&gt;</c>. What depends on a message's length is here, and everything else is theirs. <c>foreach</c> and
    /// <see cref="Listener{T}"/> give values of a struct, so bytes have none.
    /// </summary>
    public static unsafe class Bytes
    {
        /// <summary>Sends a message; false when there is no room. Wait-free.</summary>
        [MethodImpl(Calls.Hot)]
        public static bool TrySend(this Publisher<byte> publisher, ReadOnlySpan<byte> message)
        {
            fixed (byte* place = message) return publisher.TrySendAt(place, (ulong)message.Length);
        }

        /// <summary>Sends a message; waits for room on a reliable topic, and gives false when there was none in time.</summary>
        public static bool Send(this Publisher<byte> publisher, ReadOnlySpan<byte> message, TimeSpan limit)
        {
            fixed (byte* place = message) return publisher.SendAt(place, (ulong)message.Length, limit);
        }

        /// <summary>Sends a message; waits for room on a reliable topic.</summary>
        public static void Send(this Publisher<byte> publisher, ReadOnlySpan<byte> message) => publisher.Send(message, Limit.Forever);

        /// <summary>Lends the place of the next message, of so many bytes; empty when there is no room.</summary>
        public static Loan<byte> Loan(this Publisher<byte> publisher, int bytes)
        {
            if (bytes < 0) throw new ArgumentOutOfRangeException(nameof(bytes));
            return publisher.Lend(bytes);
        }

        /// <summary>Sends the first bytes of a place.</summary>
        public static void Publish(this in Loan<byte> loan, int bytes)
        {
            if (bytes < 0) throw new ArgumentOutOfRangeException(nameof(bytes));
            loan.PublishFirst(bytes);
        }

        /// <summary>Receives the next message; false when none was sent yet. There has to be room for the longest one. Wait-free.</summary>
        [MethodImpl(Calls.Hot)]
        public static bool TryRecv(this Subscriber<byte> subscriber, Span<byte> message, out int length)
        {
            return TryRecv(subscriber, message, out length, out _);
        }

        /// <summary>As <see cref="TryRecv(Subscriber{byte}, Span{byte}, out int)"/>, with what is known of the message.</summary>
        [MethodImpl(Calls.Hot)]
        public static bool TryRecv(this Subscriber<byte> subscriber, Span<byte> message, out int length, out Received about)
        {
            byte none;
            Received told = default;
            bool came;
            fixed (byte* place = message) came = subscriber.TryRecvAt(place == null ? &none : place, (ulong)message.Length, &told);
            about = told;
            length = (int)told.Bytes;
            return came;
        }

        /// <summary>Waits for the next message; false when none came in time.</summary>
        public static bool Recv(this Subscriber<byte> subscriber, Span<byte> message, out int length, TimeSpan limit)
        {
            return Recv(subscriber, message, out length, out _, limit);
        }

        /// <summary>As <see cref="Recv(Subscriber{byte}, Span{byte}, out int, TimeSpan)"/>, with what is known of the message.</summary>
        public static bool Recv(this Subscriber<byte> subscriber, Span<byte> message, out int length, out Received about, TimeSpan limit)
        {
            byte none;
            Received told = default;
            bool came;
            fixed (byte* place = message) came = subscriber.RecvAt(place == null ? &none : place, (ulong)message.Length, &told, limit);
            about = told;
            length = (int)told.Bytes;
            return came;
        }

        /// <summary>Copies the newest message, however old it is by now; false before the first. There has to be room for the longest one.</summary>
        public static bool TryLatest(this Input<byte> input, Span<byte> message, out int length) => TryLatest(input, message, out length, out _);

        /// <summary>As <see cref="TryLatest(Input{byte}, Span{byte}, out int)"/>, with what is known of the message.</summary>
        public static bool TryLatest(this Input<byte> input, Span<byte> message, out int length, out Received about)
        {
            byte none;
            Received told = default;
            bool came;
            fixed (byte* place = message) came = input.TryLatestAt(place == null ? &none : place, (ulong)message.Length, &told);
            about = told;
            length = (int)told.Bytes;
            return came;
        }

        /// <summary>Copies the newest message, if it came since the last look.</summary>
        public static bool TryFresh(this Input<byte> input, Span<byte> message, out int length) => TryFresh(input, message, out length, out _);

        /// <summary>As <see cref="TryFresh(Input{byte}, Span{byte}, out int)"/>, with what is known of the message.</summary>
        public static bool TryFresh(this Input<byte> input, Span<byte> message, out int length, out Received about)
        {
            byte none;
            Received told = default;
            bool came;
            fixed (byte* place = message) came = input.TryFreshAt(place == null ? &none : place, (ulong)message.Length, &told);
            about = told;
            length = (int)told.Bytes;
            return came;
        }

        /// <summary>Copies the oldest message that came and was not read yet: each once, in the order of each publisher.</summary>
        public static bool TryNext(this Input<byte> input, Span<byte> message, out int length) => TryNext(input, message, out length, out _);

        /// <summary>As <see cref="TryNext(Input{byte}, Span{byte}, out int)"/>, with what is known of the message.</summary>
        public static bool TryNext(this Input<byte> input, Span<byte> message, out int length, out Received about)
        {
            byte none;
            Received told = default;
            bool came;
            fixed (byte* place = message) came = input.TryNextAt(place == null ? &none : place, (ulong)message.Length, &told);
            about = told;
            length = (int)told.Bytes;
            return came;
        }

        /// <summary>Publishes a message when the step returns, as <see cref="Output{T}.Set"/>.</summary>
        public static bool Set(this Output<byte> output, ReadOnlySpan<byte> message)
        {
            fixed (byte* place = message) return output.SetAt(place, (ulong)message.Length);
        }
    }
}
