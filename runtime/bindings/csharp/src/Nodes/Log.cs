// What a step says: a text and values, which are copied to the ring of its node without an object being made.

using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using Horus.Net.Native;

namespace Horus.Net
{
    /// <summary>How serious a line of a node is.</summary>
    public enum Level : uint
    {
        /// <summary>For finding a mistake.</summary>
        Debug = 0,
        /// <summary>The normal course of things.</summary>
        Info = 1,
        /// <summary>Worth a look.</summary>
        Warn = 2,
        /// <summary>Failed: a person has to act.</summary>
        Error = 3,
    }

    /// <summary>A value of a line: integers, floats, doubles, truth values and texts become one by themselves.</summary>
    public readonly struct LogValue
    {
        internal readonly uint Kind;
        internal readonly ulong Bits;
        internal readonly string Text;

        private LogValue(uint kind, ulong bits, string text = null)
        {
            Kind = kind;
            Bits = bits;
            Text = text;
        }

        /// <summary>An integer.</summary>
        public static implicit operator LogValue(long value) => new LogValue(NativeLogValue.Signed, (ulong)value);
        /// <summary>An integer.</summary>
        public static implicit operator LogValue(int value) => new LogValue(NativeLogValue.Signed, (ulong)(long)value);
        /// <summary>An integer that is not negative.</summary>
        public static implicit operator LogValue(ulong value) => new LogValue(NativeLogValue.Unsigned, value);
        /// <summary>An integer that is not negative.</summary>
        public static implicit operator LogValue(uint value) => new LogValue(NativeLogValue.Unsigned, value);
        /// <summary>A number.</summary>
        public static unsafe implicit operator LogValue(double value) => new LogValue(NativeLogValue.Double, *(ulong*)&value);
        /// <summary>A number, which is written with its own digits.</summary>
        public static unsafe implicit operator LogValue(float value) => new LogValue(NativeLogValue.Float, *(uint*)&value);
        /// <summary>True or false.</summary>
        public static implicit operator LogValue(bool value) => new LogValue(NativeLogValue.Bool, value ? 1UL : 0UL);
        /// <summary>A text, of which up to 64 bytes are written.</summary>
        public static implicit operator LogValue(string value) => new LogValue(NativeLogValue.Utf8, 0, value ?? "(null)");
    }

    /// <summary>A line on its way to C, in memory of the stack.</summary>
    internal static unsafe class LogLine
    {
        /// <summary>The most bytes of a text, and of one among the values; room for a letter more tells C that there are more.</summary>
        internal const int TextBytes = 124, ValueBytes = 68, MostValues = 8;

        /// <summary>Writes a text as UTF-8; gives its bytes, of which there are at most so many.</summary>
        internal static int Put(string text, byte* to, int room)
        {
            int used = 0;
            fixed (char* from = text)
            {
                for (int at = 0; at < text.Length;)
                {
                    int letters = char.IsHighSurrogate(from[at]) && at + 1 < text.Length && char.IsLowSurrogate(from[at + 1]) ? 2 : 1;
                    if (used + Encoding.UTF8.GetByteCount(from + at, letters) > room) break;
                    used += Encoding.UTF8.GetBytes(from + at, letters, to + used, room - used);
                    at += letters;
                }
            }
            return used;
        }

        /// <summary>Fills in a value, whose text is put to <paramref name="room"/>.</summary>
        internal static void Put(in LogValue value, NativeLogValue* to, byte* room)
        {
            to->Kind = value.Kind;
            to->Spare = 0;
            to->Bits = value.Bits;
            to->Text = null;
            if (value.Text == null) return;
            to->Bits = (ulong)Put(value.Text, room, ValueBytes);
            to->Text = room;
        }

        [MethodImpl(Calls.Cold)]
        internal static void Log(Cycle* cycle, Level level, string text, NativeLogValue* values, int count)
        {
            byte* bytes = stackalloc byte[TextBytes + 1];
            bytes[Put((text ?? "(null)").Replace('\0', '?'), bytes, TextBytes)] = 0;
            // A text that does not fit its values is told in the journal: a robot does not stop for a line.
            NodeFunctions.horus_cycle_log(cycle, (uint)level, bytes, values, (ulong)count);
        }
    }
}
