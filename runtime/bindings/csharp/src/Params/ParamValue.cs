// What a parameter can be.

using System;
using System.Globalization;
using Horus.Net.Native;

namespace Horus.Net
{
    /// <summary>Which of them.</summary>
    public enum ParamKind
    {
        /// <summary>None.</summary>
        None = 0,
        /// <summary>A truth value.</summary>
        Bool = 1,
        /// <summary>A whole number of 64 bits with sign.</summary>
        Whole = 2,
        /// <summary>A finite number.</summary>
        Number = 3,
        /// <summary>A text of at most 64 bytes.</summary>
        Text = 4,
    }

    /// <summary>The value of a parameter: a truth value, a whole number, a number or a text. Each of them becomes one by itself.</summary>
    public struct ParamValue : IEquatable<ParamValue>
    {
        private readonly long whole;
        private readonly double number;
        private readonly string text;

        private ParamValue(ParamKind kind, long whole, double number, string text)
        {
            Kind = kind;
            this.whole = whole;
            this.number = number;
            this.text = text;
        }

        /// <summary>Which of them it is.</summary>
        public ParamKind Kind { get; }

        /// <summary>A truth value.</summary>
        public static implicit operator ParamValue(bool value) => new ParamValue(ParamKind.Bool, value ? 1 : 0, 0, null);

        /// <summary>A whole number.</summary>
        public static implicit operator ParamValue(long value) => new ParamValue(ParamKind.Whole, value, 0, null);

        /// <summary>A number.</summary>
        public static implicit operator ParamValue(double value) => new ParamValue(ParamKind.Number, 0, value, null);

        /// <summary>A text.</summary>
        public static implicit operator ParamValue(string value)
        {
            if (value == null) throw new ArgumentNullException(nameof(value));
            return new ParamValue(ParamKind.Text, 0, 0, value);
        }

        /// <summary>A truth value.</summary>
        public static explicit operator bool(ParamValue value) => value.Is(ParamKind.Bool).whole != 0;

        /// <summary>A whole number.</summary>
        public static explicit operator long(ParamValue value) => value.Is(ParamKind.Whole).whole;

        /// <summary>A number, whole or not.</summary>
        public static explicit operator double(ParamValue value)
            => value.Kind == ParamKind.Whole ? value.whole : value.Is(ParamKind.Number).number;

        /// <summary>A text.</summary>
        public static explicit operator string(ParamValue value) => value.Is(ParamKind.Text).text;

        private ParamValue Is(ParamKind kind)
        {
            if (Kind != kind) throw new InvalidCastException($"this value is of kind {Kind}, and not {kind}");
            return this;
        }

        /// <summary>Whether both are of one kind and the same.</summary>
        public bool Equals(ParamValue other)
            => Kind == other.Kind && whole == other.whole && number.Equals(other.number) && text == other.text;

        /// <inheritdoc/>
        public override bool Equals(object other) => other is ParamValue value && Equals(value);

        /// <inheritdoc/>
        public override int GetHashCode() => ((int)Kind * 397) ^ whole.GetHashCode() ^ number.GetHashCode() ^ (text ?? "").GetHashCode();

        /// <inheritdoc/>
        public override string ToString()
        {
            switch (Kind)
            {
                case ParamKind.Bool: return whole != 0 ? "true" : "false";
                case ParamKind.Whole: return whole.ToString(CultureInfo.InvariantCulture);
                case ParamKind.Number: return number.ToString("R", CultureInfo.InvariantCulture);
                case ParamKind.Text: return text;
                default: return "";
            }
        }

        internal unsafe NativeValue ToNative()
        {
            var native = new NativeValue { Kind = (uint)Kind, IsTrue = Kind == ParamKind.Bool && whole != 0 ? 1u : 0u, Whole = whole, Number = number };
            if (Kind != ParamKind.Text) return native;
            byte[] bytes = Text.ToNative(text, "value");
            if (bytes.Length > NativeValue.TextBytes) throw new ArgumentException("the text of a parameter has at most 64 bytes", "value");
            for (int at = 0; at < bytes.Length; at++) native.Text[at] = bytes[at];
            return native;
        }

        internal static unsafe ParamValue Of(in NativeValue native)
        {
            switch ((ParamKind)native.Kind)
            {
                case ParamKind.Bool: return native.IsTrue != 0;
                case ParamKind.Whole: return native.Whole;
                case ParamKind.Number: return native.Number;
                case ParamKind.Text: fixed (byte* text = native.Text) return Text.FromNative(text);
                default: return default;
            }
        }
    }
}
