// The end of an action that sends goals.

using System;
using System.Runtime.CompilerServices;
using Horus.Net.Native;

namespace Horus.Net
{
    /// <summary>
    /// The end of an action that sends goals, which may come before its server. One thread at a time uses it; one that
    /// <see cref="App.ActionClient{G, F, R}"/> made belongs to its program, and only the step of its node uses it.
    /// </summary>
    /// <typeparam name="G">Goals: a struct with <see cref="MessageAttribute"/>.</typeparam>
    /// <typeparam name="F">Feedbacks: a struct with <see cref="MessageAttribute"/>.</typeparam>
    /// <typeparam name="R">Results: a struct with <see cref="MessageAttribute"/>.</typeparam>
    public sealed unsafe class ActionClient<G, F, R> : Owned where G : unmanaged where F : unmanaged where R : unmanaged
    {
        private readonly Life life;

        /// <summary>Becomes a client.</summary>
        /// <exception cref="HorusException">It is refused: the types are others, or the action has room for no more clients.</exception>
        public ActionClient(string action, Options options = null)
            : base(Status.Made(ActionOpening.Opened<G, F, R>(Open, action, options))) { }

        /// <summary>One of a node.</summary>
        internal ActionClient(IntPtr client, Life life) : base(client)
        {
            this.life = life;
        }

        private static IntPtr Open(byte* action, IntPtr goal, IntPtr feedback, IntPtr result, NativeOptions* options)
        {
            return ActionFunctions.horus_action_client_open(action, goal, feedback, result, options);
        }

        /// <summary>Sends a goal, and does not wait: <see cref="Look"/> asks what becomes of it.</summary>
        /// <exception cref="HorusException"><see cref="HorusStatus.TooMany"/> or <see cref="HorusStatus.CallFull"/>: 16 goals are not over, or the server
        /// has not taken the last ones.</exception>
        [MethodImpl(Calls.Cold)]
        public GoalId Send(in G goal)
        {
            GoalId id = default;
            fixed (G* place = &goal) Done(ActionFunctions.horus_action_client_send(Begin(), place, (ulong)sizeof(G), &id));
            return id;
        }

        /// <summary>
        /// What there is to tell of a goal, without waiting: first that it was accepted, then its feedbacks in order, at last its outcome, with which it is
        /// over.
        /// </summary>
        /// <exception cref="HorusException">There will be no outcome: <see cref="HorusStatus.Rejected"/>, or one of a call's reasons.</exception>
        [MethodImpl(Calls.Cold)]
        public Progress<F, R> Look(GoalId id)
        {
            Progress<F, R> progress = default;
            NativeProgress told = default;
            F feedback = default;
            R result = default;
            int status = ActionFunctions.horus_action_client_look(Begin(), &id, &feedback, (ulong)sizeof(F), &result, (ulong)sizeof(R), &told);
            if (!Done(status)) return progress;
            progress.News = (News)told.News;
            if (progress.News == News.Feedback) progress.Feedback = feedback;
            if (progress.News != News.Ended) return progress;
            progress.Status = (GoalStatus)told.Status;
            progress.Cause = (GoalCause)told.Cause;
            progress.HasResult = told.HasResult != 0;
            progress.Reason = Text.FromNative(told.Reason);
            if (progress.HasResult) progress.Result = result;
            return progress;
        }

        /// <summary>Asks for a goal to be canceled, any client's: its outcome says what became of it.</summary>
        [MethodImpl(Calls.Cold)]
        public void Cancel(GoalId id) => Done(ActionFunctions.horus_action_client_cancel(Begin(), &id));

        /// <summary>Waits for news of goals, at most so long.</summary>
        [MethodImpl(Calls.Cold)]
        public bool Wait(TimeSpan limit)
        {
            IntPtr client = Begin();
            long left = Limit.Nanoseconds(limit);
            int status;
            do status = ActionFunctions.horus_action_client_wait(client, Limit.Slice(ref left));
            while (status == Status.Empty && left != 0);
            return Done(status);
        }

        /// <summary>Whether the server lives; if not, all goals that are not over end. Makes system calls.</summary>
        [MethodImpl(Calls.Cold)]
        public bool CheckServer() => Done(ActionFunctions.horus_action_client_check_server(Begin()));

        /// <summary>Waits, at most so long, until a living program serves it.</summary>
        [MethodImpl(Calls.Cold)]
        public bool WaitUntilServed(TimeSpan limit)
        {
            IntPtr client = Begin();
            long left = Limit.Nanoseconds(limit);
            int status;
            do status = ActionFunctions.horus_action_client_wait_until_served(client, Limit.Slice(ref left));
            while (status == Status.Empty && left != 0);
            return Done(status);
        }

        private IntPtr Begin()
        {
            if (life != null && life.IsOver) throw new ObjectDisposedException("ActionClient", "the program that this client belongs to has ended");
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
            if (life == null) ActionFunctions.horus_action_client_close(ended); // that of a node its program ends
        }
    }
}
