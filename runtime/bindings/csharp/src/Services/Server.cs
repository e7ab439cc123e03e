// The answering end of a service.

using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Horus.Net.Native;

namespace Horus.Net
{
    /// <summary>Who asked what: a request is answered with the ticket that came with it, at once or later.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly struct Ticket
    {
        /// <summary>Which client.</summary>
        public readonly ulong Client;
        /// <summary>Which of its requests.</summary>
        public readonly ulong Number;
    }

    /// <summary>
    /// The answering end of a service. There is one at a time. One thread at a time uses it; one that <see cref="App.Server{Q, A}(string, Options)"/> made
    /// belongs to its program, and only the step of its node uses it.
    /// </summary>
    /// <typeparam name="Q">Requests: a struct with <see cref="MessageAttribute"/>, or <c>byte</c>.</typeparam>
    /// <typeparam name="A">Answers: a struct with <see cref="MessageAttribute"/>, or <c>byte</c>.</typeparam>
    public sealed unsafe class Server<Q, A> : Owned where Q : unmanaged where A : unmanaged
    {
        private readonly Life life;

        /// <summary>What answers a request: by the ticket, at once or later.</summary>
        public delegate void Handler(in Q request, Ticket ticket);

        /// <summary>Becomes the server. It gets the requests that are sent from then on.</summary>
        /// <exception cref="HorusException">It is refused: another server lives, or the types are others.</exception>
        public Server(string service, Options options = null)
            : base(Status.Made(ServiceOpening.OfStructs<Q, A>(Open, service, options))) { }

        /// <summary>As above, with the most bytes of a request and of an answer, where one of them is <c>byte</c>; 0 for a struct.</summary>
        public Server(string service, int request, int answer, Options options = null)
            : base(Status.Made(ServiceOpening.Opened<Q, A>(Open, service, request, answer, options))) { }

        /// <summary>One of a node.</summary>
        internal Server(IntPtr server, Life life) : base(server)
        {
            this.life = life;
        }

        private static IntPtr Open(byte* service, IntPtr request, IntPtr answer, NativeOptions* options)
        {
            return ServiceFunctions.horus_server_open(service, request, answer, options);
        }

        /// <summary>Takes the next request, and answers it by what the handler returns. Waits at most so long, and not in a node; false when there was none.</summary>
        public bool Serve(Func<Q, A> handler, TimeSpan limit = default)
        {
            if (handler == null) throw new ArgumentNullException(nameof(handler));
            return Serve((in Q request, Ticket ticket) => Answer(ticket, handler(request)), limit);
        }

        /// <summary>Takes the next request, and hands it to the handler, which answers it by the ticket. A handler that throws refuses the request.</summary>
        public bool Serve(Handler handler, TimeSpan limit = default)
        {
            if (handler == null) throw new ArgumentNullException(nameof(handler));
            if (!TryNext(out Q request, out Ticket ticket, limit)) return false;
            bool isDone = false;
            try
            {
                handler(in request, ticket);
                isDone = true;
            }
            finally
            {
                if (!isDone) Refuse(ticket);
            }
            return true;
        }

        /// <summary>Takes the next request, which is to be answered by the ticket, now or later, or refused.</summary>
        public bool TryNext(out Q request, out Ticket ticket, TimeSpan limit = default)
        {
            request = default;
            fixed (Q* place = &request) return NextAt(place, (ulong)sizeof(Q), out _, out ticket, limit);
        }

        [MethodImpl(Calls.Cold)]
        internal bool NextAt(void* request, ulong bytes, out int length, out Ticket ticket, TimeSpan limit)
        {
            IntPtr server = Begin();
            Ticket of = default;
            ulong came = 0;
            long left = Limit.Nanoseconds(limit);
            int status;
            do status = ServiceFunctions.horus_server_next(server, request, bytes, &came, &of, Limit.Slice(ref left));
            while (status == Status.Empty && left != 0 && life == null);
            Leave();
            (ticket, length) = (of, (int)came);
            return Status.IsDone(status);
        }

        /// <summary>Answers, and is over; false when the client has no room, because it does not look: then it is dropped and counted.</summary>
        public bool Answer(Ticket ticket, in A answer)
        {
            fixed (A* place = &answer) return AnswerAt(ticket, place, (ulong)sizeof(A));
        }

        /// <summary>Sends a part of the answer, and more may follow; false when the client has no room: it may be sent again later.</summary>
        public bool Part(Ticket ticket, in A part)
        {
            fixed (A* place = &part) return PartAt(ticket, place, (ulong)sizeof(A));
        }

        [MethodImpl(Calls.Cold)]
        internal bool AnswerAt(Ticket ticket, void* answer, ulong bytes)
        {
            return Done(ServiceFunctions.horus_server_answer(Begin(), &ticket, answer, bytes));
        }

        [MethodImpl(Calls.Cold)]
        internal bool PartAt(Ticket ticket, void* part, ulong bytes)
        {
            return Done(ServiceFunctions.horus_server_part(Begin(), &ticket, part, bytes));
        }

        /// <summary>Says that all parts were sent.</summary>
        [MethodImpl(Calls.Cold)]
        public void End(Ticket ticket) => Done(ServiceFunctions.horus_server_end(Begin(), &ticket));

        /// <summary>Says that the request gets no answer: its client has <see cref="HorusStatus.Unanswered"/>.</summary>
        [MethodImpl(Calls.Cold)]
        public void Refuse(Ticket ticket) => Done(ServiceFunctions.horus_server_refuse(Begin(), &ticket));

        /// <summary>Messages that had no room, because their client did not look.</summary>
        public long Undelivered
        {
            [MethodImpl(Calls.Cold)]
            get
            {
                ulong undelivered = ServiceFunctions.horus_server_undelivered(Begin());
                Leave();
                return (long)undelivered;
            }
        }

        private IntPtr Begin()
        {
            if (life != null && life.IsOver) throw new ObjectDisposedException("Server", "the program that this server belongs to has ended");
            return Enter();
        }

        private bool Done(int status)
        {
            Leave();
            return Status.IsDone(status);
        }

        [MethodImpl(Calls.Cold)]
        private protected override void Close(IntPtr ended)
        {
            if (life == null) ServiceFunctions.horus_server_close(ended); // that of a node its program ends
        }
    }
}
