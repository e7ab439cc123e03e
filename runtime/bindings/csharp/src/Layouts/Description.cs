// The text of a struct's layout, from its fields: once a struct, when the first topic of it is opened.
//
// The library parses the text, so what it refuses, bytes between two fields above all, it refuses in the same sentence as in other languages.
// Only what the text has no word for is told here.

using System;
using System.Collections.Generic;
using System.Globalization;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Text;

namespace Horus.Net
{
    internal sealed class Description
    {
        private static readonly Dictionary<Type, string> Numbers = new Dictionary<Type, string>
        {
            { typeof(byte), "u8" }, { typeof(sbyte), "i8" }, { typeof(ushort), "u16" }, { typeof(short), "i16" }, { typeof(uint), "u32" },
            { typeof(int), "i32" }, { typeof(ulong), "u64" }, { typeof(long), "i64" }, { typeof(float), "f32" }, { typeof(double), "f64" },
        };

        private readonly List<Type> messages = new List<Type>();

        /// <summary>The text of a message.</summary>
        internal static string Of(Type message)
        {
            var description = new Description();
            var text = new StringBuilder();
            description.messages.Add(message);
            for (int next = 0; next < description.messages.Count; next++) description.Add(description.messages[next], text);
            return text.ToString();
        }

        private void Add(Type message, StringBuilder text)
        {
            string name = message.GetCustomAttribute<MessageAttribute>()?.Name;
            if (name == null) throw Refused($"{message.Name} is no message: write [Message(\"package/{message.Name}\")] before the struct");
            if (!message.IsLayoutSequential)
                throw Refused($"the fields of {message.Name} are not in the order of its source: leave StructLayout out, or use LayoutKind.Sequential");
            text.Append(text.Length == 0 ? "" : "\n").Append("message ").Append(name);
            foreach (FieldInfo field in FieldsOf(message))
                text.Append("\n ").Append(NameOf(field)).Append(' ').Append(TypeOf(field));
        }

        private string TypeOf(FieldInfo field)
        {
            var buffer = field.GetCustomAttribute<FixedBufferAttribute>();
            return buffer == null ? TypeOf(field.FieldType, field) : Array(TypeOf(buffer.ElementType, field), buffer.Length);
        }

        private string TypeOf(Type type, FieldInfo field)
        {
            if (Numbers.TryGetValue(type, out string number)) return number;
            var elements = type.GetCustomAttribute<ElementsAttribute>();
            if (elements != null) return Array(TypeOf(FieldsOf(type)[0].FieldType, field), elements.Length);
            if (type.GetCustomAttribute<MessageAttribute>() is MessageAttribute message)
            {
                if (!messages.Contains(type)) messages.Add(type);
                return message.Name;
            }
            throw Refused($"the field {field.Name} of {field.DeclaringType.Name} is of type {type.Name}: {Instead(type)}");
        }

        private static string Instead(Type type)
        {
            if (type == typeof(bool) || type.IsEnum) return "a peer can write any byte, so use a number such as byte";
            if (type == typeof(char)) return "use ushort for its code, or a text of bytes";
            if (type == typeof(IntPtr) || type == typeof(UIntPtr) || type.IsPointer) return "an address means nothing in another process: use a number";
            return "use a number of fixed size, an array such as Array3<double>, or a struct with [Message]";
        }

        private static string Array(string element, int length)
        {
            return string.Format(CultureInfo.InvariantCulture, "[{0}; {1}]", element, length);
        }

        /// <summary>The fields in the order of the source.</summary>
        internal static List<FieldInfo> FieldsOf(Type type)
        {
            var fields = new List<FieldInfo>(type.GetFields(BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic));
            fields.Sort((one, other) => one.MetadataToken.CompareTo(other.MetadataToken));
            return fields;
        }

        /// <summary>What a field is called in the layout.</summary>
        internal static string NameOf(FieldInfo field)
        {
            string told = field.GetCustomAttribute<FieldAttribute>()?.Name;
            if (told != null) return told;
            string name = field.Name;
            if (name.StartsWith("<", StringComparison.Ordinal)) name = name.Substring(1, name.IndexOf('>') - 1); // of a property
            return Underscored(name);
        }

        /// <summary><c>LeftWheel</c> is <c>left_wheel</c>, and what is written so already stays.</summary>
        private static string Underscored(string name)
        {
            var text = new StringBuilder();
            for (int place = 0; place < name.Length; place++)
            {
                char letter = name[place];
                bool begins = place > 0 && letter >= 'A' && letter <= 'Z' && name[place - 1] != '_' && !(name[place - 1] >= 'A' && name[place - 1] <= 'Z');
                if (begins) text.Append('_');
                text.Append(char.ToLowerInvariant(letter));
            }
            return text.ToString();
        }

        internal static HorusException Refused(string why)
        {
            return new HorusException(HorusStatus.Misuse, why);
        }
    }
}
