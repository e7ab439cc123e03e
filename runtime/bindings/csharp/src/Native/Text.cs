// Texts on their way to C and back: UTF-8 that ends with a zero byte.

using System;
using System.Text;

namespace Horus.Net.Native
{
    internal static unsafe class Text
    {
        /// <summary>The bytes of a text with the zero byte behind them.</summary>
        internal static byte[] ToNative(string text, string parameter)
        {
            if (text == null) throw new ArgumentNullException(parameter);
            if (text.IndexOf('\0') >= 0) throw new ArgumentException("the text has a zero character inside, where C would end it", parameter);
            var bytes = new byte[Encoding.UTF8.GetByteCount(text) + 1];
            Encoding.UTF8.GetBytes(text, 0, text.Length, bytes, 0);
            return bytes;
        }

        /// <summary>As <see cref="ToNative"/> for what may be missing, and for what may hold any character.</summary>
        internal static byte[] Reason(string text)
        {
            return ToNative((text ?? "without a reason").Replace('\0', '?'), nameof(text));
        }

        /// <summary>A text of C's.</summary>
        internal static string FromNative(byte* text)
        {
            int length = 0;
            while (text[length] != 0) length++; // every text of libhorus ends with a zero byte
            return Encoding.UTF8.GetString(text, length);
        }
    }
}
