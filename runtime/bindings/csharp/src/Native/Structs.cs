// The structs that cross to C and that no user sees; those that users see are declared where they belong.

using System;
using System.Runtime.InteropServices;

namespace Horus.Net.Native
{
    /// <summary><c>horus_options</c>.</summary>
    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct NativeOptions
    {
        // How many bytes it has, by which the library sees what its caller knows of.
        public UIntPtr Size;
        public uint DeliveryPolicy, Capacity, Publishers, History, WaitStrategy, Stamped;
        public byte* Directory;
        public byte* Group;
        public ulong WaitStrategyNs;
        public uint NeverWake, Latched, Shared, Spare;
    }

    /// <summary><c>horus_log_value</c>.</summary>
    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct NativeLogValue
    {
        internal const uint Signed = 1, Unsigned = 2, Double = 3, Float = 4, Bool = 5, Utf8 = 6;

        public uint Kind, Spare;
        public ulong Bits;
        public byte* Text;
    }

    /// <summary><c>horus_field</c>.</summary>
    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct NativeField
    {
        public byte* Name;
        public byte* Value;
    }
}
