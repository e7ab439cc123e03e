// A parameter that a node declares.

using System;
using Horus.Net.Native;

namespace Horus.Net
{
    /// <summary>What is said of a parameter beside its name and its default.</summary>
    public sealed class ParamOptions
    {
        /// <summary>Its unit, such as "1/s": at most 16 bytes.</summary>
        public string Unit { get; set; }

        /// <summary>What it is for, as a sentence without its end: at most 200 bytes.</summary>
        public string About { get; set; }

        /// <summary>The least value, of the kind of the default; beside the greatest one.</summary>
        public ParamValue? Least { get; set; }

        /// <summary>The greatest value.</summary>
        public ParamValue? Greatest { get; set; }

        /// <summary>Whether it changes at the program's start alone.</summary>
        public bool ReadOnly { get; set; }
    }

    /// <summary>
    /// A parameter of a node: of <c>bool</c>, <c>long</c>, <c>double</c> or <c>string</c>. Its steps read it; other programs set it meanwhile, and all that
    /// a step reads of its parameters is of one set.
    /// </summary>
    public sealed unsafe class Param<T> : Owned
    {
        // One for each type, so that a value is never put in a box.
        private static readonly Func<IntPtr, T> Read = (Func<IntPtr, T>)Reader();

        internal Param(IntPtr handle) : base(handle) { }

        /// <summary>Its value in this cycle. A text is a new string each time.</summary>
        public T Value
        {
            get
            {
                IntPtr param = Enter();
                try
                {
                    return Read(param);
                }
                finally
                {
                    Leave();
                }
            }
        }

        private static object Reader()
        {
            if (typeof(T) == typeof(double)) return (Func<IntPtr, double>)ParamFunctions.horus_param_number;
            if (typeof(T) == typeof(long)) return (Func<IntPtr, long>)ParamFunctions.horus_param_whole;
            if (typeof(T) == typeof(bool)) return (Func<IntPtr, bool>)(param => ParamFunctions.horus_param_is_true(param) != 0);
            return (Func<IntPtr, string>)ReadText;
        }

        private static string ReadText(IntPtr param)
        {
            byte* text = stackalloc byte[NativeValue.TextBytes];
            Status.IsDone(ParamFunctions.horus_param_text(param, text, NativeValue.TextBytes));
            return Text.FromNative(text);
        }

        private protected override void Close(IntPtr ended) => ParamFunctions.horus_param_close(ended);
    }
}
