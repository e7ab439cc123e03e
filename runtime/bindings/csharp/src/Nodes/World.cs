// The nodes of a program in virtual time, for its tests.

using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Horus.Net.Native;

namespace Horus.Net
{
    /// <summary>The nodes of a program in virtual time: step by step, faster than real time, the same each time. One thread at a time uses it.</summary>
    public sealed unsafe class World : Owned
    {
        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate int NativeDeclare(IntPtr app, IntPtr context);

        private static readonly NativeDeclare DeclareDelegate = Declare; // kept as long as the process, as C may call it
        private static readonly IntPtr DeclareFunction = Marshal.GetFunctionPointerForDelegate(DeclareDelegate);

        private readonly Life life;

        /// <summary>Builds the nodes that a function declares. No time has passed.</summary>
        /// <exception cref="HorusException">They are refused; the sentence says why.</exception>
        public World(Action<App> declare) : this(null, declare, new Life()) { }

        /// <summary>As above, with the settings of a node.toml.</summary>
        public World(string settingsFile, Action<App> declare)
            : this(Text.ToNative(settingsFile, nameof(settingsFile)), declare, new Life()) { }

        private World(byte[] settings, Action<App> declare, Life life) : base(Build(settings, declare, life))
        {
            this.life = life;
        }

        private static IntPtr Build(byte[] settings, Action<App> declare, Life life)
        {
            if (declare == null) throw new ArgumentNullException(nameof(declare));
            Library.Load();
            return Built(settings, declare, life);
        }

        [MethodImpl(Calls.Cold)]
        private static IntPtr Built(byte[] settings, Action<App> declare, Life life)
        {
            GCHandle declaring = GCHandle.Alloc(new Declaring { Function = declare, Life = life });
            try
            {
                IntPtr context = GCHandle.ToIntPtr(declaring);
                IntPtr world;
                fixed (byte* file = settings)
                    world = file == null
                        ? NodeFunctions.horus_world_new(DeclareFunction, context)
                        : NodeFunctions.horus_world_with_settings(file, DeclareFunction, context);
                if (world != IntPtr.Zero) return world;
                HorusException why = HorusException.Last((int)HorusStatus.Failed);
                life.End();
                throw why;
            }
            finally
            {
                declaring.Free();
            }
        }

        private static int Declare(IntPtr raw, IntPtr context)
        {
            var declaring = (Declaring)GCHandle.FromIntPtr(context).Target;
            var app = new App(raw, declaring.Life);
            app.Declare(declaring.Function); // which throws nothing: no exception may pass C's frames
            app.GiveBack();
            return Status.Ok;
        }

        private sealed class Declaring
        {
            internal Action<App> Function;
            internal Life Life;
        }

        /// <summary>The time that has passed.</summary>
        public TimeSpan Now
        {
            [MethodImpl(Calls.Cold)]
            get
            {
                ulong now = NodeFunctions.horus_world_now_ns(Enter());
                Leave();
                return Limit.Time(now);
            }
        }

        /// <summary>Lets time pass, and the nodes run.</summary>
        /// <exception cref="HorusException">A step failed; the sentence has its reason.</exception>
        [MethodImpl(Calls.Cold)]
        public void RunFor(TimeSpan span) => Done(NodeFunctions.horus_world_run_for(Enter(), Limit.Span(span)));

        /// <summary>Publishes a message, as another program would.</summary>
        public void Publish<T>(string topic, in T message) where T : unmanaged
        {
            Opening.ThrowIfBytes<T>();
            IntPtr layout = Layout<T>.Handle;
            fixed (byte* name = Text.ToNative(topic, nameof(topic)))
            fixed (T* place = &message) Done(NodeFunctions.horus_world_publish(Enter(), name, layout, place, (ulong)sizeof(T)));
        }

        /// <summary>Publishes a message of a topic of bytes, of up to <paramref name="maximum"/> in a message.</summary>
        public void Publish(string topic, int maximum, ReadOnlySpan<byte> message)
        {
            Opening.ThrowUnlessBytes<byte>(maximum);
            fixed (byte* name = Text.ToNative(topic, nameof(topic)))
            fixed (byte* place = message)
            {
                byte* at = name, from = place;
                ulong length = (ulong)message.Length;
                Opening.WithLayout(maximum, layout => Done(NodeFunctions.horus_world_publish(Enter(), at, layout, from, length)));
            }
        }

        /// <summary>The newest message of a topic; null while there is none.</summary>
        public T? Last<T>(string topic) where T : unmanaged
        {
            Opening.ThrowIfBytes<T>();
            IntPtr layout = Layout<T>.Handle;
            T message = default;
            fixed (byte* name = Text.ToNative(topic, nameof(topic)))
                return Done(NodeFunctions.horus_world_last(Enter(), name, layout, &message, (ulong)sizeof(T), null)) ? message : default(T?);
        }

        /// <summary>The newest message of a topic of bytes, of up to <paramref name="maximum"/> in a message; null while there is none.</summary>
        public byte[] Last(string topic, int maximum)
        {
            Opening.ThrowUnlessBytes<byte>(maximum);
            var room = new byte[Math.Max(maximum, 1)];
            Received about = default;
            bool isThere = false;
            fixed (byte* name = Text.ToNative(topic, nameof(topic)))
            fixed (byte* place = room)
            {
                byte* at = name, to = place;
                Received* told = &about;
                ulong bytes = (ulong)room.Length;
                Opening.WithLayout(maximum, layout => isThere = Done(NodeFunctions.horus_world_last(Enter(), at, layout, to, bytes, told)));
            }
            if (!isThere) return null;
            Array.Resize(ref room, (int)about.Bytes);
            return room;
        }

        /// <summary>Sets a parameter of a node, as <c>horus param set</c> does; the node has it from its next step on.</summary>
        /// <exception cref="HorusException">There is none of this name, or it may not have this value; nothing changes.</exception>
        public void SetParam(string node, string name, ParamValue value)
        {
            NativeValue native = value.ToNative();
            fixed (byte* of = Text.ToNative(node, nameof(node)))
            fixed (byte* text = Text.ToNative(name, nameof(name)))
                Done(ParamFunctions.horus_world_set_param(Enter(), of, text, &native));
        }

        /// <summary>Has a node wake up so much after its releases, for so many cycles; 0 for ever.</summary>
        public void Delay(string node, TimeSpan span, int cycles = 0)
        {
            fixed (byte* name = Text.ToNative(node, nameof(node)))
                Done(NodeFunctions.horus_world_delay(Enter(), name, Limit.Span(span), (ulong)Math.Max(0, cycles)));
        }

        /// <summary>Has a node's steps take so long, for so many cycles; 0 for ever.</summary>
        public void Takes(string node, TimeSpan span, int cycles = 0)
        {
            fixed (byte* name = Text.ToNative(node, nameof(node)))
                Done(NodeFunctions.horus_world_takes(Enter(), name, Limit.Span(span), (ulong)Math.Max(0, cycles)));
        }

        /// <summary>Has the next messages of a topic never come to the inputs of the program.</summary>
        public void Lose(string topic, int messages)
        {
            fixed (byte* name = Text.ToNative(topic, nameof(topic)))
                Done(NodeFunctions.horus_world_lose(Enter(), name, (ulong)Math.Max(0, messages)));
        }

        /// <summary>The account of a node.</summary>
        public Tally Tally(string node)
        {
            Tally tally = default;
            fixed (byte* name = Text.ToNative(node, nameof(node))) Done(NodeFunctions.horus_world_tally(Enter(), name, &tally));
            return tally;
        }

        /// <summary>What the journal would say.</summary>
        public IReadOnlyList<string> Journal()
        {
            var entries = new List<string>();
            IntPtr world = Enter();
            byte* entry;
            while ((entry = NodeFunctions.horus_world_journal(world, (ulong)entries.Count)) != null) entries.Add(Text.FromNative(entry));
            Leave();
            return entries;
        }

        private bool Done(int status)
        {
            Leave();
            return Status.IsDone(status);
        }

        private protected override void Close(IntPtr ended)
        {
            NodeFunctions.horus_world_close(ended);
            life?.End();
        }
    }
}
