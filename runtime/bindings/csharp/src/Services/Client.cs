// The asking end of a service.

using System;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using Horus.Net.Native;

namespace Horus.Net
{
    /// <summary>A call that is on its way: <see cref="Client{Q, A}.TryAnswer"/> looks for its answer, or <see cref="Client{Q, A}.GiveUp"/> gives it up.</summary>
    public readonly struct Pending
    {
        internal readonly ulong Number;

        internal Pending(ulong number)
        {
            Number = number;
        }
    }

    /// <summary>What there is of an answer that has several messages.</summary>
    public enum Part
    {
        /// <summary>Nothing new yet.</summary>
        Nothing,
        /// <summary>The next message.</summary>
        Next,
        /// <summary>All of them were told, and the call is over.</summary>
        End,
    }

    /// <summary>
    /// The asking end of a service, which may come before its server. One thread at a time uses it; one that
    /// <see cref="App.Client{Q, A}(string, Options)"/> made belongs to its program, and only the step of its node uses it.
    /// </summary>
    /// <typeparam name="Q">Requests: a struct with <see cref="MessageAttribute"/>, or <c>byte</c>.</typeparam>
    /// <typeparam name="A">Answers: a struct with <see cref="MessageAttribute"/>, or <c>byte</c>.</typeparam>
    public sealed unsafe class Client<Q, A> : Owned where Q : unmanaged where A : unmanaged
    {
        private const int EndStatus = 3;
        // How often a caller that waits asks the kernel whether the server lives.
        private const long LookNs = 10000000;

        private readonly Life life;
        private readonly string service;

        /// <summary>Becomes a client.</summary>
        /// <exception cref="HorusException">It is refused: the types are others, or the service has room for no more clients.</exception>
        public Client(string service, Options options = null)
            : base(Status.Made(ServiceOpening.OfStructs<Q, A>(Open, service, options)))
        {
            this.service = service;
        }

        /// <summary>As above, with the most bytes of a request and of an answer, where one of them is <c>byte</c>; 0 for a struct.</summary>
        public Client(string service, int request, int answer, Options options = null)
            : base(Status.Made(ServiceOpening.Opened<Q, A>(Open, service, request, answer, options)))
        {
            this.service = service;
        }

        /// <summary>One of a node.</summary>
        internal Client(IntPtr client, string service, Life life) : base(client)
        {
            this.service = service;
            this.life = life;
        }

        private static IntPtr Open(byte* service, IntPtr request, IntPtr answer, NativeOptions* options)
        {
            return ServiceFunctions.horus_client_open(service, request, answer, options);
        }

        /// <summary>Asks, and waits for the answer at most so long; of an answer of several messages it is the first one.</summary>
        /// <exception cref="HorusException">There is none: its status says why, as <see cref="HorusStatus.NotServed"/>.</exception>
        public A Call(in Q request, TimeSpan limit)
        {
            A answer = default;
            fixed (Q* asked = &request) CallAt(asked, (ulong)sizeof(Q), &answer, (ulong)sizeof(A), limit);
            return answer;
        }

        internal int CallAt(void* request, ulong bytes, void* answer, ulong room, TimeSpan limit)
        {
            if (!IsServed) throw new HorusException(HorusStatus.NotServed, $"service {service} has no server: start the program that serves it, or wait for it");
            Pending pending = AskAt(request, bytes);
            var clock = Stopwatch.StartNew();
            int length;
            bool isEndless = Limit.Nanoseconds(limit) < 0;
            try
            {
                while (!AnswerAt(pending, answer, room, out length))
                {
                    // In slices, so that the death of a server is seen, and Mono can end the process.
                    long left = isEndless ? LookNs : Math.Min(LookNs, Limit.Nanoseconds(limit - clock.Elapsed));
                    if (left <= 0) throw new HorusException(HorusStatus.TimedOut, $"the server of {service} lives and did not answer within {limit}: give it longer, or look what holds it up (horus top)");
                    if (!WaitAt(left)) CheckServer();
                }
            }
            catch
            {
                // Also one that has too little room for an answer. The first reason is the one that counts.
                try { GiveUp(pending); }
                catch (HorusException) { }
                catch (InvalidOperationException) { }
                throw;
            }
            return length;
        }

        /// <summary>Asks, and does not wait: <see cref="TryAnswer"/> or <see cref="TryPart"/> look for the answer later.</summary>
        /// <exception cref="HorusException"><see cref="HorusStatus.TooMany"/> or <see cref="HorusStatus.CallFull"/>: 16 calls are on their way, or the
        /// server has not taken the last 16 requests.</exception>
        public Pending Ask(in Q request)
        {
            fixed (Q* asked = &request) return AskAt(asked, (ulong)sizeof(Q));
        }

        [MethodImpl(Calls.Cold)]
        internal Pending AskAt(void* request, ulong bytes)
        {
            ulong call = 0;
            Done(ServiceFunctions.horus_client_ask(Begin(), request, bytes, &call));
            return new Pending(call);
        }

        /// <summary>The answer to a call, which is over then; false as long as there is none.</summary>
        /// <exception cref="HorusException">There will be none, or the call is over; the status says which.</exception>
        public bool TryAnswer(Pending call, out A answer)
        {
            answer = default;
            fixed (A* place = &answer) return AnswerAt(call, place, (ulong)sizeof(A), out _);
        }

        [MethodImpl(Calls.Cold)]
        internal bool AnswerAt(Pending call, void* answer, ulong room, out int length)
        {
            ulong came = 0;
            bool isThere = Done(ServiceFunctions.horus_client_answer(Begin(), call.Number, answer, room, &came));
            length = (int)came;
            return isThere;
        }

        /// <summary>The next message of an answer that has several. One that breaks off throws the reason, behind the parts that came.</summary>
        public Part TryPart(Pending call, out A part)
        {
            part = default;
            fixed (A* place = &part) return PartAt(call, place, (ulong)sizeof(A), out _);
        }

        [MethodImpl(Calls.Cold)]
        internal Part PartAt(Pending call, void* part, ulong room, out int length)
        {
            ulong came = 0;
            int status = ServiceFunctions.horus_client_part(Begin(), call.Number, part, room, &came);
            Leave();
            length = (int)came;
            if (status == EndStatus) return Part.End;
            return Status.IsDone(status) ? Part.Next : Part.Nothing;
        }

        /// <summary>Gives a call up: what comes of its answer is dropped and counted.</summary>
        [MethodImpl(Calls.Cold)]
        public void GiveUp(Pending call) => Done(ServiceFunctions.horus_client_give_up(Begin(), call.Number));

        /// <summary>Waits for a message from the server, at most so long; which call it is for, looking says.</summary>
        public bool Wait(TimeSpan limit)
        {
            long left = Limit.Nanoseconds(limit);
            do
            {
                if (WaitAt(Limit.Slice(ref left))) return true;
            }
            while (left != 0);
            return false;
        }

        [MethodImpl(Calls.Cold)]
        private bool WaitAt(long nanoseconds) => Done(ServiceFunctions.horus_client_wait(Begin(), nanoseconds));

        /// <summary>Whether the server lives; if not, all calls on their way end. Makes system calls.</summary>
        [MethodImpl(Calls.Cold)]
        public bool CheckServer() => Done(ServiceFunctions.horus_client_check_server(Begin()));

        /// <summary>Whether a living program serves it. Makes system calls.</summary>
        public bool IsServed
        {
            [MethodImpl(Calls.Cold)]
            get => Done(ServiceFunctions.horus_client_is_served(Begin()));
        }

        /// <summary>Waits, at most so long, until a living program serves it.</summary>
        public bool WaitUntilServed(TimeSpan limit)
        {
            var clock = Stopwatch.StartNew();
            while (!IsServed)
            {
                if (limit != Limit.Forever && clock.Elapsed >= limit) return false;
                System.Threading.Thread.Sleep(1);
            }
            return true;
        }

        /// <summary>Messages for calls that were given up, so far.</summary>
        public long Late
        {
            [MethodImpl(Calls.Cold)]
            get
            {
                ulong late = ServiceFunctions.horus_client_late(Begin());
                Leave();
                return (long)late;
            }
        }

        /// <summary>Calls that are unanswered.</summary>
        public int Unanswered
        {
            [MethodImpl(Calls.Cold)]
            get
            {
                ulong unanswered = ServiceFunctions.horus_client_unanswered(Begin());
                Leave();
                return (int)unanswered;
            }
        }

        private IntPtr Begin()
        {
            if (life != null && life.IsOver) throw new ObjectDisposedException("Client", "the program that this client belongs to has ended");
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
            if (life == null) ServiceFunctions.horus_client_close(ended); // that of a node its program ends
        }
    }
}
