// What a node asks for; node.toml has the last word.

using System;
using System.Runtime.CompilerServices;
using Horus.Net.Native;

namespace Horus.Net
{
    /// <summary>What a miss leads to.</summary>
    public enum Reaction
    {
        /// <summary>It is counted.</summary>
        Count = 0,
        /// <summary>It is counted, and told in the journal: so it is unless said otherwise.</summary>
        Warn = 1,
        /// <summary>The next release is left out, so that others catch up.</summary>
        Skip = 2,
        /// <summary>From then on the node's safe state is called in place of its step.</summary>
        SafeState = 3,
        /// <summary>The program ends, with a failure.</summary>
        Stop = 4,
    }

    /// <summary>A node of a program that is declared. What is refused here, the program says when it is run.</summary>
    public sealed unsafe class Node
    {
        private readonly IntPtr node;
        private readonly Steps steps;
        private readonly App app;

        internal Node(IntPtr node, Steps steps, App app)
        {
            this.node = node;
            this.steps = steps;
            this.app = app;
        }

        /// <summary>Releases it once a period, on the grid that all nodes of the machine with this period share.</summary>
        [MethodImpl(Calls.Cold)]
        public Node Period(TimeSpan span) => Noted(NodeFunctions.horus_node_period_ns(Open(), Limit.Span(span)));

        /// <summary>Moves its grid by so much against that of other nodes.</summary>
        [MethodImpl(Calls.Cold)]
        public Node Phase(TimeSpan span) => Noted(NodeFunctions.horus_node_phase_ns(Open(), Limit.Span(span)));

        /// <summary>The minimum inter-arrival time: the shortest between two releases by events. An event that comes sooner is served at its end.</summary>
        [MethodImpl(Calls.Cold)]
        public Node MinInterArrival(TimeSpan span) => Noted(NodeFunctions.horus_node_min_inter_arrival_ns(Open(), Limit.Span(span)));

        /// <summary>The CPU time that a cycle may take.</summary>
        [MethodImpl(Calls.Cold)]
        public Node Budget(TimeSpan span) => Noted(NodeFunctions.horus_node_budget_ns(Open(), Limit.Span(span)));

        /// <summary>The time from release to completion that counts as in time; the period if not said otherwise.</summary>
        [MethodImpl(Calls.Cold)]
        public Node Deadline(TimeSpan span) => Noted(NodeFunctions.horus_node_deadline_ns(Open(), Limit.Span(span)));

        /// <summary>How long nothing may come on an input until it is stale, and the journal says so.</summary>
        [MethodImpl(Calls.Cold)]
        public Node StaleAfter(TimeSpan span) => Noted(NodeFunctions.horus_node_stale_after_ns(Open(), Limit.Span(span)));

        /// <summary>As <see cref="StaleAfter"/>, for the input of one topic; the others keep theirs.</summary>
        public Node StaleAfterOf(string topic, TimeSpan span)
        {
            fixed (byte* text = Text.ToNative(topic, nameof(topic)))
            {
                return Noted(NodeFunctions.horus_node_stale_after_of_ns(Open(), text, Limit.Span(span)));
            }
        }

        /// <summary>
        /// How long after its release a cycle may be under way before the monitor publishes what is safe: from the deadline to 100 periods, or 1 s where
        /// that is longer. A period and the budget, or a tenth of the period if that is longer, if not said otherwise. The node has a period and reacts
        /// by its safe state, or its program does not run.
        /// </summary>
        [MethodImpl(Calls.Cold)]
        public Node MonitorLimit(TimeSpan span) => Noted(NodeFunctions.horus_node_monitor_limit_ns(Open(), Limit.Span(span)));

        /// <summary>Releases it when a message comes on this topic, which is one of its inputs.</summary>
        public Node On(string topic)
        {
            fixed (byte* text = Text.ToNative(topic, nameof(topic))) return Noted(NodeFunctions.horus_node_on(Open(), text));
        }

        /// <summary>The CPU that it runs on: <c>isolated</c>, <c>isolated:1</c>, <c>housekeeping</c>, <c>2</c>, <c>2-3</c>.</summary>
        public Node Cpu(string which)
        {
            fixed (byte* text = Text.ToNative(which, nameof(which))) return Noted(NodeFunctions.horus_node_cpu(Open(), text));
        }

        /// <summary>The scheduling policy by which the kernel chooses it: <c>fifo:80</c>, <c>rr:80</c>, <c>deadline</c>, <c>other</c>.</summary>
        public Node SchedulingPolicy(string which)
        {
            fixed (byte* text = Text.ToNative(which, nameof(which))) return Noted(NodeFunctions.horus_node_scheduling_policy(Open(), text));
        }

        /// <summary>What becomes of misses, from the <paramref name="after"/>-th one within so many releases; 0 for all of them in a row.</summary>
        public Node OnMiss(Reaction reaction, int after = 1, int within = 0)
        {
            return Noted(NodeFunctions.horus_node_on_miss(Open(), (uint)reaction, unchecked((uint)after), unchecked((uint)within)));
        }

        /// <summary>As <see cref="OnMiss"/>: from then on, one release of <paramref name="every"/> is served.</summary>
        public Node Degrade(int every, int after = 1, int within = 0)
        {
            return Noted(NodeFunctions.horus_node_degrade(Open(), unchecked((uint)every), unchecked((uint)after), unchecked((uint)within)));
        }

        /// <summary>
        /// Sets what keeps the robot safe, in place of a step, after misses that <see cref="OnMiss"/> names. It is called once before the first
        /// release, so it sets the same each time, and waits for nothing.
        /// </summary>
        public Node SafeState(Step safeState)
        {
            if (safeState == null) throw new ArgumentNullException(nameof(safeState));
            IntPtr open = Open();
            System.Runtime.CompilerServices.RuntimeHelpers.PrepareDelegate(safeState);
            if (steps.SafeState == null) steps.SafeState = safeState;
            return Noted(NodeFunctions.horus_node_safe_state(open, Steps.RunSafeFunction));
        }

        /// <summary>As above, for one that needs nothing of its cycle.</summary>
        public Node SafeState(Action safeState)
        {
            if (safeState == null) throw new ArgumentNullException(nameof(safeState));
            return SafeState((in Cycle cycle) => safeState());
        }

        /// <summary>Logical execution time: its inputs are those of its release, and its outputs are those of its deadline.</summary>
        [MethodImpl(Calls.Cold)]
        public Node LogicalExecutionTime() => Noted(NodeFunctions.horus_node_logical_execution_time(Open()));

        private IntPtr Open()
        {
            app.ThrowIfNotDeclared();
            return node;
        }

        private Node Noted(int status) => this;
    }
}
