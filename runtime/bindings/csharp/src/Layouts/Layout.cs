// The layout of a struct, made once and kept for the process: every topic of this struct uses it, from any thread.

using System;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.CompilerServices;
using Horus.Net.Native;

namespace Horus.Net
{
    /// <summary>The layout of the messages of type <typeparamref name="T"/>, which two programs compare before they exchange any.</summary>
    /// <typeparam name="T">A struct with <see cref="MessageAttribute"/>.</typeparam>
    public static class Layout<T> where T : unmanaged
    {
        private static readonly object Gate = new object();
        private static volatile Made made;

        /// <summary>Its text, as docs/layout-hash.md has it.</summary>
        /// <exception cref="HorusException">The struct is no message; the sentence names the field.</exception>
        public static string Text => Make().Text;

        /// <summary>The hash of the layout.</summary>
        public static ulong Hash => TopicFunctions.horus_layout_hash(Make().Handle);

        /// <summary>Bytes of a message.</summary>
        public static int Bytes => (int)TopicFunctions.horus_layout_bytes(Make().Handle);

        internal static IntPtr Handle => Make().Handle;

        private static Made Make()
        {
            if (made != null) return made;
            Library.Load();
            try
            {
                lock (Gate) return made ?? (made = Described());
            }
            catch (TypeLoadException error)
            {
                throw Description.Refused($"this runtime cannot have the message as a struct ({error.Message}): use a topic of bytes, or .NET 8");
            }
        }

        [MethodImpl(Calls.Cold)]
        private static unsafe Made Described()
        {
            string text = Description.Of(typeof(T));
            string generated = typeof(T).GetCustomAttribute<MessageAttribute>().Layout;
            if (generated != null) Compare(generated, text);
            IntPtr handle = LayoutText.Parse(text, typeof(T).Name);
            ulong bytes = TopicFunctions.horus_layout_bytes(handle);
            if (bytes == (ulong)sizeof(T)) return new Made(handle, text);
            TopicFunctions.horus_layout_close(handle);
            throw Description.Refused($"{typeof(T).Name} has {sizeof(T)} bytes here, and its fields have {bytes}: leave Pack and Size of its StructLayout out");
        }

        /// <summary>A generated struct has the fields that it was generated with; messages inside of it may stand in any order.</summary>
        private static void Compare(string generated, string text)
        {
            Dictionary<string, List<string>> wanted = LayoutText.Messages(generated), found = LayoutText.Messages(text);
            foreach (KeyValuePair<string, List<string>> message in found)
            {
                if (!wanted.TryGetValue(message.Key, out List<string> fields)) fields = new List<string>();
                for (int field = 0; field < Math.Max(fields.Count, message.Value.Count); field++)
                {
                    string want = field < fields.Count ? fields[field] : "nothing";
                    string has = field < message.Value.Count ? message.Value[field] : "nothing";
                    if (want != has)
                        throw Description.Refused($"{typeof(T).Name} was generated with `{want}` in {message.Key}, and has `{has}` there: generate it anew");
                }
            }
        }

        private sealed class Made
        {
            internal readonly IntPtr Handle;
            internal readonly string Text;

            internal Made(IntPtr handle, string text)
            {
                Handle = handle;
                Text = text;
            }
        }
    }

    /// <summary>Layouts from their texts, for programs that have no struct of them.</summary>
    public static class LayoutText
    {
        /// <summary>The hash and the bytes of what a text describes.</summary>
        /// <exception cref="HorusException">It describes nothing; the sentence says which line.</exception>
        public static ulong HashOf(string text, out int bytes)
        {
            Library.Load();
            return Looked(text, out bytes);
        }

        [MethodImpl(Calls.Cold)]
        private static ulong Looked(string text, out int bytes)
        {
            IntPtr layout = Parse(text, null);
            ulong hash = TopicFunctions.horus_layout_hash(layout);
            bytes = (int)TopicFunctions.horus_layout_bytes(layout);
            TopicFunctions.horus_layout_close(layout);
            return hash;
        }

        /// <summary>A handle, which is never null.</summary>
        internal static unsafe IntPtr Parse(string text, string of)
        {
            fixed (byte* bytes = Native.Text.ToNative(text, nameof(text)))
            {
                IntPtr layout = TopicFunctions.horus_layout_parse(bytes);
                if (layout != IntPtr.Zero) return layout;
            }
            HorusException said = HorusException.Last((int)HorusStatus.Misuse);
            throw of == null ? said : new HorusException(said.Status, $"the struct {of}: {said.Message}");
        }

        /// <summary>The lines of each message's fields, by its name.</summary>
        internal static Dictionary<string, List<string>> Messages(string text)
        {
            var messages = new Dictionary<string, List<string>>();
            List<string> fields = null;
            foreach (string line in text.Split('\n'))
            {
                if (line.StartsWith("message ", StringComparison.Ordinal)) messages[line] = fields = new List<string>();
                else fields?.Add(line.Trim());
            }
            return messages;
        }
    }
}
