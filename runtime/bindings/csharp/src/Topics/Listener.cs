// Messages as an event: for programs that are made of events, and where there is no `await foreach`.

using System;
using System.Threading;

namespace Horus.Net
{
    /// <summary>A subscribing end with a thread of its own, which raises an event for every message, until it is disposed. It makes no object for a
    /// message.</summary>
    /// <typeparam name="T">A struct with <see cref="MessageAttribute"/>.</typeparam>
    public sealed class Listener<T> : IDisposable where T : unmanaged
    {
        /// <summary>What is called for every message.</summary>
        public delegate void Handler(in T message);

        // How long the end of the listener may go unnoticed.
        private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(50);

        private readonly Subscriber<T> subscriber;
        private readonly Thread thread;
        private int state;
        private const int Made = 0, Started = 1, Over = 2;

        /// <summary>Joins a topic. Messages are kept for it from here on, as many as the topic holds.</summary>
        /// <exception cref="HorusException">It is refused; the sentence says why.</exception>
        public Listener(string topic, Options options = null)
        {
            subscriber = new Subscriber<T>(topic, options);
            thread = new Thread(Run) { IsBackground = true, Name = "horus listener" };
        }

        /// <summary>A message came. The listener's thread calls this; while it does, later messages wait.</summary>
        public event Handler Message;

        /// <summary>A handler of <see cref="Message"/> threw; the listener has ended. Where no handler takes this, the exception
        /// ends the process.</summary>
        public event Action<Exception> Failed;

        /// <summary>Begins to raise events, when all handlers are there.</summary>
        public void Start()
        {
            int before = Interlocked.CompareExchange(ref state, Started, Made);
            if (before == Over) throw new ObjectDisposedException(GetType().Name);
            if (before == Started) throw new InvalidOperationException("this listener was started before");
            thread.Start();
        }

        /// <summary>Ends it, and waits until the last handler has returned. A handler may call this; to end it twice does nothing more.</summary>
        public void Dispose()
        {
            switch (Interlocked.Exchange(ref state, Over))
            {
                case Made: subscriber.Dispose(); break;
                case Started when Thread.CurrentThread != thread: thread.Join(); break;
            }
        }

        private void Run()
        {
            using (subscriber)
            {
                try
                {
                    while (Volatile.Read(ref state) != Over)
                        if (subscriber.Recv(out T message, Look)) Message?.Invoke(in message);
                }
                catch (Exception error) when (Failed != null)
                {
                    Failed(error);
                }
            }
        }
    }
}
