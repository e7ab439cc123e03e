// The functions of horus.h for parameters, and the structs that they take; every argument is blittable.

using System;
using System.Runtime.InteropServices;

namespace Horus.Net.Native
{
    /// <summary><c>horus_value</c>.</summary>
    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct NativeValue
    {
        internal const int TextBytes = 72;

        public uint Kind, IsTrue;
        public long Whole;
        public double Number;
        public fixed byte Text[TextBytes];
    }

    /// <summary><c>horus_parameter</c>.</summary>
    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct NativeParameter
    {
        public fixed byte Node[72];
        public fixed byte Name[72];
        public NativeValue Value, Default, Least, Greatest;
        public uint ReadOnly, From, User, Reserved;
        public ulong SetAt, SavedAt;
        public fixed byte Unit[24];
        public fixed byte About[208];
        public fixed byte Settings[256];
    }

    /// <summary><c>horus_param_wishes</c>.</summary>
    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct NativeWishes
    {
        public byte* Unit;
        public byte* About;
        public NativeValue* Least;
        public NativeValue* Greatest;
        public uint ReadOnly, Reserved;
    }

    /// <summary><c>horus_assignment</c>.</summary>
    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct NativeAssignment
    {
        public byte* Name;
        public NativeValue Value;
    }

    internal static unsafe class ParamFunctions
    {
        private const string Name = Library.Name;

        [DllImport(Name)] internal static extern IntPtr horus_app_param(IntPtr app, byte* name, NativeValue* value, NativeWishes* wishes);
        [DllImport(Name)] internal static extern int horus_app_param_group(IntPtr app, byte* group);
        [DllImport(Name)] internal static extern double horus_param_number(IntPtr param);
        [DllImport(Name)] internal static extern long horus_param_whole(IntPtr param);
        [DllImport(Name)] internal static extern int horus_param_is_true(IntPtr param);
        [DllImport(Name)] internal static extern int horus_param_text(IntPtr param, byte* into, ulong bytes);
        [DllImport(Name)] internal static extern int horus_param_close(IntPtr param);
        [DllImport(Name)] internal static extern int horus_world_set_param(IntPtr world, byte* node, byte* name, NativeValue* value);

        [DllImport(Name)] internal static extern IntPtr horus_params_open(byte* name);
        [DllImport(Name)] internal static extern int horus_params_list(IntPtr all, ulong index, NativeParameter* about);
        [DllImport(Name)] internal static extern int horus_params_get(IntPtr all, byte* name, NativeParameter* about);
        [DllImport(Name)] internal static extern int horus_params_set(IntPtr all, NativeAssignment* values, ulong count);
        [DllImport(Name)]
        internal static extern int horus_params_watch(IntPtr all, long timeoutNs, NativeValue* before, NativeParameter* now);
        [DllImport(Name)] internal static extern int horus_params_save(IntPtr all, byte** names, ulong count);
        [DllImport(Name)] internal static extern int horus_params_load(IntPtr all, byte** names, ulong count);
        [DllImport(Name)] internal static extern int horus_params_forget(IntPtr all, byte** names, ulong count);
        [DllImport(Name)] internal static extern int horus_params_close(IntPtr all);
    }
}
