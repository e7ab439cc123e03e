// A parameter of a program that runs, at one moment.

using System;
using Horus.Net.Native;

namespace Horus.Net
{
    /// <summary>Where the value of a parameter came from.</summary>
    public enum ParamSource
    {
        /// <summary>The program's own declaration.</summary>
        Program = 0,
        /// <summary>A node.toml, which <see cref="Parameter.Settings"/> names.</summary>
        Settings = 1,
        /// <summary>A command, or a program.</summary>
        Command = 2,
        /// <summary>It was saved before the program started, or loaded since.</summary>
        Saved = 3,
    }

    /// <summary>A parameter of a program that runs, at one moment.</summary>
    public sealed class Parameter
    {
        internal unsafe Parameter(in NativeParameter native)
        {
            fixed (NativeParameter* at = &native)
            {
                Node = Text.FromNative(at->Node);
                Name = Text.FromNative(at->Name);
                Unit = Text.FromNative(at->Unit);
                About = Text.FromNative(at->About);
                Settings = Text.FromNative(at->Settings);
            }
            Value = ParamValue.Of(native.Value);
            Default = ParamValue.Of(native.Default);
            Least = ParamValue.Of(native.Least);
            Greatest = ParamValue.Of(native.Greatest);
            IsReadOnly = native.ReadOnly != 0;
            Source = (ParamSource)native.From;
            User = native.User == uint.MaxValue ? default(uint?) : native.User;
            SetAt = Time(native.SetAt);
            SavedAt = Time(native.SavedAt);
        }

        /// <summary>The node that it belongs to.</summary>
        public string Node { get; }

        /// <summary>Its name.</summary>
        public string Name { get; }

        /// <summary>Its value.</summary>
        public ParamValue Value { get; }

        /// <summary>The program's own value.</summary>
        public ParamValue Default { get; }

        /// <summary>The least value; of no kind where all are possible.</summary>
        public ParamValue Least { get; }

        /// <summary>The greatest value; of no kind where all are possible.</summary>
        public ParamValue Greatest { get; }

        /// <summary>Its unit; empty where it has none.</summary>
        public string Unit { get; }

        /// <summary>What it is for; empty where the program does not say.</summary>
        public string About { get; }

        /// <summary>Whether it changes at the program's start alone.</summary>
        public bool IsReadOnly { get; }

        /// <summary>Where the value came from.</summary>
        public ParamSource Source { get; }

        /// <summary>The node.toml that it came from; else empty.</summary>
        public string Settings { get; }

        /// <summary>The number of the user that set it; null where that was none.</summary>
        public uint? User { get; }

        /// <summary>When it was set; null where it came from the program or node.toml.</summary>
        public DateTimeOffset? SetAt { get; }

        /// <summary>When the value was set that the program has saved; null where it has saved none.</summary>
        public DateTimeOffset? SavedAt { get; }

        private static DateTimeOffset? Time(ulong seconds)
            => seconds == 0 ? default(DateTimeOffset?) : DateTimeOffset.FromUnixTimeSeconds((long)Math.Min(seconds, 253402300799UL));
    }

    /// <summary>A parameter that has another value than before.</summary>
    public sealed class ParamChange
    {
        internal ParamChange(ParamValue before, Parameter now)
        {
            Before = before;
            Now = now;
        }

        /// <summary>What the value was.</summary>
        public ParamValue Before { get; }

        /// <summary>What it is, and where that came from.</summary>
        public Parameter Now { get; }
    }
}
