// Services whose requests or answers are bytes: a span cannot be a type argument, so what depends on a length stands here.

using System;

namespace Horus.Net
{
    /// <summary>What servers and clients of bytes do: a message is a span, and has a length of its own.</summary>
    public static unsafe class ServiceBytes
    {
        /// <summary>Takes the next request to a span, which has room for the longest; gives its length, or -1 when there is none.</summary>
        public static int TryNext<A>(this Server<byte, A> server, Span<byte> room, out Ticket ticket, TimeSpan limit = default) where A : unmanaged
        {
            byte none;
            fixed (byte* place = room)
                return server.NextAt(place == null ? &none : place, (ulong)room.Length, out int length, out ticket, limit) ? length : -1;
        }

        /// <summary>Answers, and is over; false when the client has no room.</summary>
        public static bool Answer<Q>(this Server<Q, byte> server, Ticket ticket, ReadOnlySpan<byte> answer) where Q : unmanaged
        {
            fixed (byte* place = answer) return server.AnswerAt(ticket, place, (ulong)answer.Length);
        }

        /// <summary>Sends a part of the answer, and more may follow; false when the client has no room.</summary>
        public static bool Part<Q>(this Server<Q, byte> server, Ticket ticket, ReadOnlySpan<byte> part) where Q : unmanaged
        {
            fixed (byte* place = part) return server.PartAt(ticket, place, (ulong)part.Length);
        }

        /// <summary>Asks, and does not wait.</summary>
        public static Pending Ask<A>(this Client<byte, A> client, ReadOnlySpan<byte> request) where A : unmanaged
        {
            fixed (byte* place = request) return client.AskAt(place, (ulong)request.Length);
        }

        /// <summary>The answer to a call, in a span with room for the longest; gives its length, or -1 as long as there is none.</summary>
        public static int TryAnswer<Q>(this Client<Q, byte> client, Pending call, Span<byte> room) where Q : unmanaged
        {
            byte none;
            fixed (byte* place = room)
                return client.AnswerAt(call, place == null ? &none : place, (ulong)room.Length, out int length) ? length : -1;
        }

        /// <summary>The next message of an answer that has several.</summary>
        public static Part TryPart<Q>(this Client<Q, byte> client, Pending call, Span<byte> room, out int length) where Q : unmanaged
        {
            byte none;
            fixed (byte* place = room) return client.PartAt(call, place == null ? &none : place, (ulong)room.Length, out length);
        }

        /// <summary>Asks with bytes, and waits for the answer at most so long.</summary>
        public static A Call<A>(this Client<byte, A> client, ReadOnlySpan<byte> request, TimeSpan limit) where A : unmanaged
        {
            A answer = default;
            fixed (byte* asked = request) client.CallAt(asked, (ulong)request.Length, &answer, (ulong)sizeof(A), limit);
            return answer;
        }

        /// <summary>Asks, and waits for an answer of bytes at most so long; gives its length.</summary>
        public static int Call<Q>(this Client<Q, byte> client, in Q request, Span<byte> room, TimeSpan limit) where Q : unmanaged
        {
            byte none;
            fixed (Q* asked = &request)
            fixed (byte* place = room)
                return client.CallAt(asked, (ulong)sizeof(Q), place == null ? &none : place, (ulong)room.Length, limit);
        }

        /// <summary>Asks with bytes, and waits for an answer of bytes at most so long; gives its length.</summary>
        public static int Call(this Client<byte, byte> client, ReadOnlySpan<byte> request, Span<byte> room, TimeSpan limit)
        {
            byte none;
            fixed (byte* asked = request)
            fixed (byte* place = room)
                return client.CallAt(asked, (ulong)request.Length, place == null ? &none : place, (ulong)room.Length, limit);
        }
    }
}
