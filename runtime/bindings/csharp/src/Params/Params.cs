// The parameters of a program that runs, seen from another one.

using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using Horus.Net.Native;

namespace Horus.Net
{
    /// <summary>The parameters of a program that runs. One thread at a time uses it.</summary>
    public sealed unsafe class Params : Owned
    {
        private delegate int Asking(IntPtr all, byte** names, ulong count);

        /// <summary>Those of a program, "nav", or of one of its nodes, "nav/drive".</summary>
        /// <exception cref="HorusException">There are none, or this user may not read them.</exception>
        public Params(string name) : base(Open(name)) { }

        private static IntPtr Open(string name)
        {
            Library.Load();
            return Opened(name);
        }

        [MethodImpl(Calls.Cold)]
        private static IntPtr Opened(string name)
        {
            fixed (byte* text = Text.ToNative(name, nameof(name))) return Status.Made(ParamFunctions.horus_params_open(text));
        }

        /// <summary>All of them at one moment.</summary>
        public IReadOnlyList<Parameter> List()
        {
            var found = new List<Parameter>();
            NativeParameter about;
            while (Done(ParamFunctions.horus_params_list(Enter(), (ulong)found.Count, &about))) found.Add(new Parameter(about));
            return found;
        }

        /// <summary>One of them: "gain", or "drive.gain" where several nodes have it.</summary>
        public Parameter Get(string name)
        {
            NativeParameter about;
            fixed (byte* text = Text.ToNative(name, nameof(name))) Done(ParamFunctions.horus_params_get(Enter(), text, &about));
            return new Parameter(about);
        }

        /// <summary>The value of one of them. Setting it does what <see cref="Set(string, ParamValue)"/> does.</summary>
        public ParamValue this[string name]
        {
            get => Get(name).Value;
            set => Set(name, value);
        }

        /// <summary>Sets one.</summary>
        /// <exception cref="HorusException">It may not have this value; the sentence says what it may be, and nothing changes.</exception>
        public void Set(string name, ParamValue value) => Set(new Dictionary<string, ParamValue> { [name] = value });

        /// <summary>Sets several, all of them or none.</summary>
        /// <exception cref="HorusException">One of them may not have its value; nothing changes.</exception>
        public void Set(IReadOnlyDictionary<string, ParamValue> values)
        {
            if (values == null) throw new ArgumentNullException(nameof(values));
            var wanted = new NativeAssignment[values.Count];
            var ends = new int[values.Count];
            int count = 0;
            foreach (KeyValuePair<string, ParamValue> each in values) wanted[count++].Value = each.Value.ToNative();
            byte[] texts = Texts(values.Keys, ends);
            fixed (byte* all = texts)
            fixed (NativeAssignment* first = wanted)
            {
                for (int each = 0; each < count; each++) first[each].Name = all + (each == 0 ? 0 : ends[each - 1]);
                Done(ParamFunctions.horus_params_set(Enter(), first, (ulong)count));
            }
        }

        /// <summary>Waits for a change at most so long; null when none came. The first call begins to watch.</summary>
        /// <exception cref="HorusException">The program has ended.</exception>
        public ParamChange Watch(TimeSpan limit)
        {
            NativeValue before;
            NativeParameter now;
            IntPtr watched = Enter();
            long left = Limit.Nanoseconds(limit);
            int status;
            do status = ParamFunctions.horus_params_watch(watched, Limit.Slice(ref left), &before, &now);
            while (status == Status.Empty && left != 0);
            return Done(status)
                ? new ParamChange(ParamValue.Of(before), new Parameter(now))
                : null;
        }

        /// <summary>Has the program save these, so that it begins with them when it starts again; without names those that were set.</summary>
        public void Save(params string[] names) => Ask(ParamFunctions.horus_params_save, names);

        /// <summary>Has the program set these to what is saved, all of them or none; without names all.</summary>
        public void Load(params string[] names) => Ask(ParamFunctions.horus_params_load, names);

        /// <summary>Has the program drop what is saved of these; without names all. Their values stay until it ends.</summary>
        public void Forget(params string[] names) => Ask(ParamFunctions.horus_params_forget, names);

        private void Ask(Asking ask, string[] names)
        {
            if (names == null) throw new ArgumentNullException(nameof(names));
            var ends = new int[names.Length];
            byte[] texts = Texts(names, ends);
            byte*[] places = new byte*[names.Length];
            fixed (byte* all = texts)
            fixed (byte** pointers = places)
            {
                for (int each = 0; each < names.Length; each++) pointers[each] = all + (each == 0 ? 0 : ends[each - 1]);
                Done(ask(Enter(), pointers, (ulong)names.Length));
            }
        }

        /// <summary>One text behind the other, and where each ends.</summary>
        private static byte[] Texts(IEnumerable<string> names, int[] ends)
        {
            var bytes = new List<byte>();
            int count = 0;
            foreach (string name in names)
            {
                bytes.AddRange(Text.ToNative(name, nameof(names)));
                ends[count++] = bytes.Count;
            }
            return bytes.ToArray();
        }

        private bool Done(int status)
        {
            Leave();
            return Status.IsDone(status);
        }

        private protected override void Close(IntPtr ended) => ParamFunctions.horus_params_close(ended);
    }
}
