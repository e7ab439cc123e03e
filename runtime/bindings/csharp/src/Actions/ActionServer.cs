// The end of an action that works on goals.

using System;
using System.Runtime.CompilerServices;
using Horus.Net.Native;

namespace Horus.Net
{
    /// <summary>
    /// The end of an action that works on goals, tells feedbacks, and ends each goal with a result. There is one at a time. One thread at a time uses it;
    /// one that <see cref="App.Action{G, F, R}"/> made belongs to its program, and only the step of its node uses it.
    /// </summary>
    /// <typeparam name="G">Goals: a struct with <see cref="MessageAttribute"/>.</typeparam>
    /// <typeparam name="F">Feedbacks: a struct with <see cref="MessageAttribute"/>.</typeparam>
    /// <typeparam name="R">Results: a struct with <see cref="MessageAttribute"/>.</typeparam>
    public sealed unsafe class ActionServer<G, F, R> : Owned where G : unmanaged where F : unmanaged where R : unmanaged
    {
        private readonly Life life;

        /// <summary>Becomes the server. It gets the goals that are sent from then on.</summary>
        /// <exception cref="HorusException">It is refused: another server lives, or the types are others.</exception>
        public ActionServer(string action, Preemption preemption = Preemption.Refuse, Options options = null)
            : base(Status.Made(ActionOpening.Opened<G, F, R>((name, goal, feedback, result, given) =>
                ActionFunctions.horus_action_server_open(name, goal, feedback, result, (uint)preemption, given), action, options))) { }

        /// <summary>One of a node.</summary>
        internal ActionServer(IntPtr server, Life life) : base(server)
        {
            this.life = life;
        }

        /// <summary>Takes in what came, and gives the goal that runs; false when none does. Waits for one at most so long, and not in a node.</summary>
        [MethodImpl(Calls.Cold)]
        public bool TryGoal(out Goal<G> goal, TimeSpan limit = default)
        {
            IntPtr server = Begin();
            G value = default;
            NativeGoal about = default;
            long left = Limit.Nanoseconds(limit);
            int status;
            do status = ActionFunctions.horus_action_server_goal(server, &value, (ulong)sizeof(G), &about, Limit.Slice(ref left));
            while (status == Status.Empty && left != 0 && life == null);
            goal = new Goal<G>(about, value);
            return Done(status);
        }

        /// <summary>Tells how far a goal is.</summary>
        [MethodImpl(Calls.Cold)]
        public void Feedback(GoalId id, in F feedback)
        {
            fixed (F* place = &feedback) Done(ActionFunctions.horus_action_server_feedback(Begin(), &id, place, (ulong)sizeof(F)));
        }

        /// <summary>Ends a goal: it was reached. False when its client was not told, because it does not look.</summary>
        [MethodImpl(Calls.Cold)]
        public bool Succeed(GoalId id, in R result)
        {
            fixed (R* place = &result) return Done(ActionFunctions.horus_action_server_succeed(Begin(), &id, place, (ulong)sizeof(R)));
        }

        /// <summary>Ends a goal that is to be canceled: it was.</summary>
        [MethodImpl(Calls.Cold)]
        public bool Canceled(GoalId id) => Done(ActionFunctions.horus_action_server_canceled(Begin(), &id, null, 0));

        /// <summary>As above, with what was reached by then.</summary>
        [MethodImpl(Calls.Cold)]
        public bool Canceled(GoalId id, in R result)
        {
            fixed (R* place = &result) return Done(ActionFunctions.horus_action_server_canceled(Begin(), &id, place, (ulong)sizeof(R)));
        }

        /// <summary>Ends a goal: the program gives it up, for a reason of up to 92 bytes.</summary>
        [MethodImpl(Calls.Cold)]
        public bool Abort(GoalId id, string why)
        {
            fixed (byte* text = Text.Reason(why)) return Done(ActionFunctions.horus_action_server_abort(Begin(), &id, null, 0, text));
        }

        /// <summary>As above, with what was reached by then.</summary>
        [MethodImpl(Calls.Cold)]
        public bool Abort(GoalId id, string why, in R result)
        {
            fixed (byte* text = Text.Reason(why))
            fixed (R* place = &result) return Done(ActionFunctions.horus_action_server_abort(Begin(), &id, place, (ulong)sizeof(R), text));
        }

        private IntPtr Begin()
        {
            if (life != null && life.IsOver) throw new ObjectDisposedException("ActionServer", "the program that this server belongs to has ended");
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
            if (life == null) ActionFunctions.horus_action_server_close(ended); // that of a node its program ends
        }
    }

    /// <summary>How the ends of an action are opened.</summary>
    internal static unsafe class ActionOpening
    {
        /// <summary>A function of C that opens an end.</summary>
        internal delegate IntPtr Function(byte* action, IntPtr goal, IntPtr feedback, IntPtr result, NativeOptions* options);

        [MethodImpl(Calls.Cold)]
        internal static IntPtr Opened<G, F, R>(Function open, string action, Options options) where G : unmanaged where F : unmanaged where R : unmanaged
        {
            Opening.ThrowIfBytes<G>();
            Opening.ThrowIfBytes<F>();
            Opening.ThrowIfBytes<R>();
            IntPtr goal = Layout<G>.Handle, feedback = Layout<F>.Handle, result = Layout<R>.Handle;
            fixed (byte* name = Text.ToNative(action, nameof(action)))
            {
                byte* at = name;
                return Options.Lend(options, given => open(at, goal, feedback, result, given));
            }
        }
    }
}
