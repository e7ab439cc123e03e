// The messages of a topic for `foreach` and, where the framework has it, for `await foreach`.

using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace Horus.Net
{
    /// <summary>The messages of a subscriber, one after the other. It makes no object.</summary>
    public struct Messages<T> where T : unmanaged
    {
        private readonly Subscriber<T> subscriber;
        private readonly TimeSpan limit;
        private T current;

        internal Messages(Subscriber<T> subscriber, TimeSpan limit)
        {
            this.subscriber = subscriber;
            this.limit = limit;
            current = default;
        }

        /// <summary>For <c>foreach</c>.</summary>
        public Messages<T> GetEnumerator() => this;

        /// <summary>The message.</summary>
        public T Current => current;

        /// <summary>Waits for the next message; false when none came in time.</summary>
        public bool MoveNext() => subscriber.Recv(out current, limit);
    }

    /// <summary>Waiting without a thread of one's own. It makes objects when it has to wait, so it is not for a control loop.</summary>
    public static class AsyncMessages
    {
        // The library waits in a thread of the pool, which looks at the token in between.
        private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(50);

        /// <summary>Ends when there is a message to receive. The subscriber belongs to this call meanwhile.</summary>
        public static Task WaitAsync(this AnySubscriber subscriber, CancellationToken token = default)
        {
            var set = new WaitSet(subscriber);
            return Task.Run(() =>
            {
                do token.ThrowIfCancellationRequested();
                while (set.Wait(Look) < 0);
            }, token);
        }

        /// <summary>
        /// Receives the next message of bytes into memory, where a span cannot be; gives its length. There has to be room for the longest one.
        /// </summary>
        public static async Task<int> RecvAsync(this Subscriber<byte> subscriber, Memory<byte> message, CancellationToken token = default)
        {
            int length;
            while (!subscriber.TryRecv(message.Span, out length)) await subscriber.WaitAsync(token).ConfigureAwait(false);
            return length;
        }

#if NETCOREAPP
        /// <summary>Every message as it comes: <c>await foreach (var speed in subscriber.MessagesAsync(token))</c>.</summary>
        public static async IAsyncEnumerable<T> MessagesAsync<T>(
            this Subscriber<T> subscriber, [System.Runtime.CompilerServices.EnumeratorCancellation] CancellationToken token = default) where T : unmanaged
        {
            while (true)
            {
                while (subscriber.TryRecv(out T message)) yield return message;
                await subscriber.WaitAsync(token).ConfigureAwait(false);
            }
        }
#endif
    }
}
