// The functions of horus.h for frames; as in TopicFunctions, every argument is blittable.

using System;
using System.Runtime.InteropServices;

namespace Horus.Net.Native
{
    internal static unsafe class TransformFunctions
    {
        private const string Name = Library.Name;

        [DllImport(Name)] internal static extern IntPtr horus_broadcaster_open(byte* parent, byte* child, NativeOptions* options);
        [DllImport(Name)] internal static extern int horus_broadcaster_send(IntPtr broadcaster, ulong timeNs, Transform* transform);
        [DllImport(Name)] internal static extern int horus_broadcaster_close(IntPtr broadcaster);
        [DllImport(Name)] internal static extern IntPtr horus_static_broadcaster_open(NativeOptions* options);
        [DllImport(Name)]
        internal static extern int horus_static_broadcaster_add(IntPtr broadcaster, byte* parent, byte* child, Transform* transform);
        [DllImport(Name)] internal static extern int horus_static_broadcaster_add_urdf(IntPtr broadcaster, byte* path);
        [DllImport(Name)] internal static extern int horus_static_broadcaster_close(IntPtr broadcaster);
        [DllImport(Name)] internal static extern IntPtr horus_frames_open(NativeOptions* options);
        [DllImport(Name)]
        internal static extern int horus_frames_at(IntPtr frames, byte* target, byte* source, ulong timeNs, Transform* found);
        [DllImport(Name)]
        internal static extern int horus_frames_newest(IntPtr frames, byte* target, byte* source, ulong* timeNs, Transform* found);
        [DllImport(Name)]
        internal static extern int horus_frames_wait(IntPtr frames, byte* target, byte* source, ulong timeNs, long timeoutNs, Transform* found);
        [DllImport(Name)] internal static extern int horus_frames_close(IntPtr frames);
    }
}
