// The elements of an array inside of a message. An array is a struct whose first field is its first element; the others stand behind it.
//
// C# has no safe way to these before C# 12, so the pointers are here, behind a check of the index, and generated code needs no `unsafe`.

using System;
using System.ComponentModel;
using System.Runtime.InteropServices;
using System.Text;

namespace Horus.Net
{
    /// <summary>For the arrays of generated messages: use their indexer, <c>AsSpan</c> and <c>CopyFrom</c>.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public static unsafe class Elements
    {
        /// <summary>An element.</summary>
        public static T Get<T>(in T first, int index, int length) where T : unmanaged
        {
            if ((uint)index >= (uint)length) throw Outside(index, length);
            fixed (T* elements = &first) return elements[index];
        }

        /// <summary>Replaces an element.</summary>
        public static void Set<T>(ref T first, int index, int length, in T value) where T : unmanaged
        {
            if ((uint)index >= (uint)length) throw Outside(index, length);
            fixed (T* elements = &first) elements[index] = value;
        }

        /// <summary>Replaces the first elements.</summary>
        public static void CopyFrom<T>(ref T first, int length, ReadOnlySpan<T> values) where T : unmanaged
        {
            fixed (T* elements = &first) values.CopyTo(new Span<T>(elements, length));
        }

        /// <summary>Copies all of them.</summary>
        public static void CopyTo<T>(in T first, int length, Span<T> place) where T : unmanaged
        {
            fixed (T* elements = &first) new ReadOnlySpan<T>(elements, length).CopyTo(place);
        }

        /// <summary>The text up to the first zero byte.</summary>
        public static string GetText(in byte first, int length)
        {
            fixed (byte* bytes = &first)
            {
                int end = new ReadOnlySpan<byte>(bytes, length).IndexOf((byte)0);
                return Encoding.UTF8.GetString(bytes, end < 0 ? length : end);
            }
        }

        /// <summary>Replaces the text; zero bytes follow it.</summary>
        public static void SetText(ref byte first, int length, string text)
        {
            byte[] bytes = Encoding.UTF8.GetBytes(text ?? throw new ArgumentNullException(nameof(text)));
            if (bytes.Length > length) throw new ArgumentException($"the text has {bytes.Length} bytes, and there is room for {length}", nameof(text));
            fixed (byte* place = &first)
            {
                var room = new Span<byte>(place, length);
                bytes.AsSpan().CopyTo(room);
                room.Slice(bytes.Length).Clear();
            }
        }

#if NETCOREAPP
        /// <summary>All elements, in their place.</summary>
        public static Span<T> Span<T>(ref T first, int length) where T : unmanaged
        {
            return MemoryMarshal.CreateSpan(ref first, length);
        }

        /// <summary>All elements, in their place, to be read.</summary>
        public static ReadOnlySpan<T> ReadOnlySpan<T>(in T first, int length) where T : unmanaged
        {
            fixed (T* here = &first) return MemoryMarshal.CreateReadOnlySpan(ref *here, length);
        }
#endif

        private static IndexOutOfRangeException Outside(int index, int length)
        {
            return new IndexOutOfRangeException($"there is no element {index}: the array has {length}");
        }
    }
}
