// How a struct says that it is a message, and what its fields are called there.

using System;

namespace Horus.Net
{
    /// <summary>Makes a struct a message: <c>[Message("example/WheelSpeed")]</c>. Programs that use it agree by this name and by the fields.</summary>
    [AttributeUsage(AttributeTargets.Struct)]
    public sealed class MessageAttribute : Attribute
    {
        /// <summary>A message of this name.</summary>
        public MessageAttribute(string name)
        {
            Name = name;
        }

        /// <summary>Its name, with its package before it.</summary>
        public string Name { get; }

        /// <summary>The text of the layout that the struct was generated from; the fields are compared with it. See docs/layout-hash.md.</summary>
        public string Layout { get; set; }
    }

    /// <summary>The name that a field has in the layout, where it is not that of C# with underscores: <c>LeftWheel</c> is <c>left_wheel</c>.</summary>
    [AttributeUsage(AttributeTargets.Field)]
    public sealed class FieldAttribute : Attribute
    {
        /// <summary>A field of this name.</summary>
        public FieldAttribute(string name)
        {
            Name = name;
        }

        /// <summary>Its name in the layout.</summary>
        public string Name { get; }
    }

    /// <summary>Makes a struct an array: so many of what its first field is. Generated code uses it, and <see cref="Array2{T}"/> and its like do.</summary>
    [AttributeUsage(AttributeTargets.Struct)]
    public sealed class ElementsAttribute : Attribute
    {
        /// <summary>An array of this length.</summary>
        public ElementsAttribute(int length)
        {
            Length = length;
        }

        /// <summary>How many there are.</summary>
        public int Length { get; }
    }
}
