// Arrays of 1 to 16 elements for the fields of a user's own messages: `public Array3<double> Gains;`. They nest, for a matrix.
//
// They are written out, because C# has no number as a type's parameter, and its own fixed buffers ask for `unsafe`. Longer arrays are
// generated: `horus message generate --lang csharp`.

#pragma warning disable 0169 // the elements behind the first are read by its address

namespace Horus.Net
{
    /// <summary>1 element of type <typeparamref name="T"/>.</summary>
    [Elements(1)]
    public struct Array1<T> where T : unmanaged
    {
        private T e0;

        /// <summary>An element.</summary>
        public T this[int index]
        {
            readonly get => Elements.Get(in e0, index, 1);
            set => Elements.Set(ref e0, index, 1, value);
        }
    }

    /// <summary>2 elements of type <typeparamref name="T"/>.</summary>
    [Elements(2)]
    public struct Array2<T> where T : unmanaged
    {
        private T e0, e1;

        /// <summary>An element.</summary>
        public T this[int index]
        {
            readonly get => Elements.Get(in e0, index, 2);
            set => Elements.Set(ref e0, index, 2, value);
        }
    }

    /// <summary>3 elements of type <typeparamref name="T"/>.</summary>
    [Elements(3)]
    public struct Array3<T> where T : unmanaged
    {
        private T e0, e1, e2;

        /// <summary>An element.</summary>
        public T this[int index]
        {
            readonly get => Elements.Get(in e0, index, 3);
            set => Elements.Set(ref e0, index, 3, value);
        }
    }

    /// <summary>4 elements of type <typeparamref name="T"/>.</summary>
    [Elements(4)]
    public struct Array4<T> where T : unmanaged
    {
        private T e0, e1, e2, e3;

        /// <summary>An element.</summary>
        public T this[int index]
        {
            readonly get => Elements.Get(in e0, index, 4);
            set => Elements.Set(ref e0, index, 4, value);
        }
    }

    /// <summary>5 elements of type <typeparamref name="T"/>.</summary>
    [Elements(5)]
    public struct Array5<T> where T : unmanaged
    {
        private T e0, e1, e2, e3, e4;

        /// <summary>An element.</summary>
        public T this[int index]
        {
            readonly get => Elements.Get(in e0, index, 5);
            set => Elements.Set(ref e0, index, 5, value);
        }
    }

    /// <summary>6 elements of type <typeparamref name="T"/>.</summary>
    [Elements(6)]
    public struct Array6<T> where T : unmanaged
    {
        private T e0, e1, e2, e3, e4, e5;

        /// <summary>An element.</summary>
        public T this[int index]
        {
            readonly get => Elements.Get(in e0, index, 6);
            set => Elements.Set(ref e0, index, 6, value);
        }
    }

    /// <summary>7 elements of type <typeparamref name="T"/>.</summary>
    [Elements(7)]
    public struct Array7<T> where T : unmanaged
    {
        private T e0, e1, e2, e3, e4, e5, e6;

        /// <summary>An element.</summary>
        public T this[int index]
        {
            readonly get => Elements.Get(in e0, index, 7);
            set => Elements.Set(ref e0, index, 7, value);
        }
    }

    /// <summary>8 elements of type <typeparamref name="T"/>.</summary>
    [Elements(8)]
    public struct Array8<T> where T : unmanaged
    {
        private T e0, e1, e2, e3, e4, e5, e6, e7;

        /// <summary>An element.</summary>
        public T this[int index]
        {
            readonly get => Elements.Get(in e0, index, 8);
            set => Elements.Set(ref e0, index, 8, value);
        }
    }

    /// <summary>9 elements of type <typeparamref name="T"/>.</summary>
    [Elements(9)]
    public struct Array9<T> where T : unmanaged
    {
        private T e0, e1, e2, e3, e4, e5, e6, e7, e8;

        /// <summary>An element.</summary>
        public T this[int index]
        {
            readonly get => Elements.Get(in e0, index, 9);
            set => Elements.Set(ref e0, index, 9, value);
        }
    }

    /// <summary>10 elements of type <typeparamref name="T"/>.</summary>
    [Elements(10)]
    public struct Array10<T> where T : unmanaged
    {
        private T e0, e1, e2, e3, e4, e5, e6, e7, e8, e9;

        /// <summary>An element.</summary>
        public T this[int index]
        {
            readonly get => Elements.Get(in e0, index, 10);
            set => Elements.Set(ref e0, index, 10, value);
        }
    }

    /// <summary>11 elements of type <typeparamref name="T"/>.</summary>
    [Elements(11)]
    public struct Array11<T> where T : unmanaged
    {
        private T e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, e10;

        /// <summary>An element.</summary>
        public T this[int index]
        {
            readonly get => Elements.Get(in e0, index, 11);
            set => Elements.Set(ref e0, index, 11, value);
        }
    }

    /// <summary>12 elements of type <typeparamref name="T"/>.</summary>
    [Elements(12)]
    public struct Array12<T> where T : unmanaged
    {
        private T e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, e10, e11;

        /// <summary>An element.</summary>
        public T this[int index]
        {
            readonly get => Elements.Get(in e0, index, 12);
            set => Elements.Set(ref e0, index, 12, value);
        }
    }

    /// <summary>13 elements of type <typeparamref name="T"/>.</summary>
    [Elements(13)]
    public struct Array13<T> where T : unmanaged
    {
        private T e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, e10, e11, e12;

        /// <summary>An element.</summary>
        public T this[int index]
        {
            readonly get => Elements.Get(in e0, index, 13);
            set => Elements.Set(ref e0, index, 13, value);
        }
    }

    /// <summary>14 elements of type <typeparamref name="T"/>.</summary>
    [Elements(14)]
    public struct Array14<T> where T : unmanaged
    {
        private T e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, e10, e11, e12, e13;

        /// <summary>An element.</summary>
        public T this[int index]
        {
            readonly get => Elements.Get(in e0, index, 14);
            set => Elements.Set(ref e0, index, 14, value);
        }
    }

    /// <summary>15 elements of type <typeparamref name="T"/>.</summary>
    [Elements(15)]
    public struct Array15<T> where T : unmanaged
    {
        private T e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, e10, e11, e12, e13, e14;

        /// <summary>An element.</summary>
        public T this[int index]
        {
            readonly get => Elements.Get(in e0, index, 15);
            set => Elements.Set(ref e0, index, 15, value);
        }
    }

    /// <summary>16 elements of type <typeparamref name="T"/>.</summary>
    [Elements(16)]
    public struct Array16<T> where T : unmanaged
    {
        private T e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, e10, e11, e12, e13, e14, e15;

        /// <summary>An element.</summary>
        public T this[int index]
        {
            readonly get => Elements.Get(in e0, index, 16);
            set => Elements.Set(ref e0, index, 16, value);
        }
    }
}
