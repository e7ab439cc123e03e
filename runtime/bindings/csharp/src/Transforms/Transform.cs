// Frames: sent by a broadcaster, looked up at a time.

using System;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Horus.Net.Messages;
using Horus.Net.Native;

namespace Horus.Net
{
    /// <summary>How a frame is moved and turned in another one: it takes coordinates in the child to those in the parent.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct Transform
    {
        /// <summary>From the parent's origin to the child's, in metres along the parent's axes.</summary>
        public Vector3 Translation;
        /// <summary>How the child is turned in the parent: a unit quaternion.</summary>
        public Quaternion Rotation;

        /// <summary>Neither moved nor turned.</summary>
        public static Transform Identity => new Transform { Rotation = new Quaternion { W = 1 } };

        /// <summary>On a plane: metres along x and y, and an angle about z in radians.</summary>
        public static Transform Planar(double x, double y, double yaw)
        {
            return new Transform
            {
                Translation = new Vector3 { X = x, Y = y },
                Rotation = new Quaternion { Z = Math.Sin(yaw / 2), W = Math.Cos(yaw / 2) },
            };
        }

        /// <summary>Where a point of the child is in the parent.</summary>
        public Vector3 Apply(Vector3 point)
        {
            // p + 2 w (v × p) + 2 v × (v × p), with v the vector part of the quaternion.
            Vector3 v = new Vector3 { X = Rotation.X, Y = Rotation.Y, Z = Rotation.Z };
            Vector3 once = Cross(v, point), twice = Cross(v, once);
            return new Vector3
            {
                X = point.X + 2 * (Rotation.W * once.X + twice.X) + Translation.X,
                Y = point.Y + 2 * (Rotation.W * once.Y + twice.Y) + Translation.Y,
                Z = point.Z + 2 * (Rotation.W * once.Z + twice.Z) + Translation.Z,
            };
        }

        private static Vector3 Cross(Vector3 a, Vector3 b)
        {
            return new Vector3 { X = a.Y * b.Z - a.Z * b.Y, Y = a.Z * b.X - a.X * b.Z, Z = a.X * b.Y - a.Y * b.X };
        }
    }

    /// <summary>Sends a moving frame. One thread at a time uses it.</summary>
    public sealed unsafe class Broadcaster : Owned
    {
        /// <summary>Becomes the one that sends the frame <paramref name="child"/> in <paramref name="parent"/>.</summary>
        /// <exception cref="HorusException">Another program sends it, or the tree would have a loop; the sentence names both.</exception>
        public Broadcaster(string parent, string child, Options options = null) : base(Open(parent, child, options)) { }

        private static IntPtr Open(string parent, string child, Options options)
        {
            Library.Load();
            return Opened(parent, child, options);
        }

        [MethodImpl(Calls.Cold)]
        private static IntPtr Opened(string parent, string child, Options options)
        {
            fixed (byte* parentText = Text.ToNative(parent, nameof(parent)), childText = Text.ToNative(child, nameof(child)))
            {
                byte* of = parentText, named = childText;
                return Status.Made(Options.Lend(options, given => TransformFunctions.horus_broadcaster_open(of, named, given)));
            }
        }

        /// <summary>Sends where the frame was at a time, in nanoseconds on CLOCK_MONOTONIC, which is after that of the transform before.</summary>
        [MethodImpl(Calls.Cold)]
        public void Send(ulong timeNs, in Transform transform)
        {
            fixed (Transform* place = &transform)
            {
                int status = TransformFunctions.horus_broadcaster_send(Enter(), timeNs, place);
                Leave();
                Status.IsDone(status);
            }
        }

        [MethodImpl(Calls.Cold)]
        private protected override void Close(IntPtr ended) => TransformFunctions.horus_broadcaster_close(ended);
    }

    /// <summary>Sends static frames. One thread at a time uses it.</summary>
    public sealed unsafe class StaticBroadcaster : Owned
    {
        /// <summary>Opens what sends static frames, without any yet.</summary>
        public StaticBroadcaster(Options options = null) : base(Open(options)) { }

        private static IntPtr Open(Options options)
        {
            Library.Load();
            return Opened(options);
        }

        [MethodImpl(Calls.Cold)]
        private static IntPtr Opened(Options options)
        {
            return Status.Made(Options.Lend(options, given => TransformFunctions.horus_static_broadcaster_open(given)));
        }

        /// <summary>Adds the frame <paramref name="child"/> in <paramref name="parent"/>. When it is refused, the frames are as before.</summary>
        [MethodImpl(Calls.Cold)]
        public void Add(string parent, string child, in Transform transform)
        {
            fixed (byte* parentText = Text.ToNative(parent, nameof(parent)), childText = Text.ToNative(child, nameof(child)))
            fixed (Transform* place = &transform)
                Done(TransformFunctions.horus_static_broadcaster_add(Enter(), parentText, childText, place));
        }

        /// <summary>Adds the fixed joints of a URDF file, all of them or none.</summary>
        [MethodImpl(Calls.Cold)]
        public void AddUrdf(string path)
        {
            fixed (byte* text = Text.ToNative(path, nameof(path))) Done(TransformFunctions.horus_static_broadcaster_add_urdf(Enter(), text));
        }

        private void Done(int status)
        {
            Leave();
            Status.IsDone(status);
        }

        [MethodImpl(Calls.Cold)]
        private protected override void Close(IntPtr ended) => TransformFunctions.horus_static_broadcaster_close(ended);
    }

    /// <summary>All frames of a namespace, to be looked up. One thread at a time uses it.</summary>
    public sealed unsafe class Frames : Owned
    {
        /// <summary>Opens them.</summary>
        public Frames(Options options = null) : base(Open(options)) { }

        private static IntPtr Open(Options options)
        {
            Library.Load();
            return Opened(options);
        }

        [MethodImpl(Calls.Cold)]
        private static IntPtr Opened(Options options)
        {
            return Status.Made(Options.Lend(options, given => TransformFunctions.horus_frames_open(given)));
        }

        /// <summary>The frame <paramref name="source"/> in the frame <paramref name="target"/> at a time, in nanoseconds on CLOCK_MONOTONIC.</summary>
        /// <exception cref="HorusException">It is not known there and then: the sentence says which frame is in the way, and by how much the time is
        /// outside of what is held.</exception>
        [MethodImpl(Calls.Cold)]
        public Transform At(string target, string source, ulong timeNs)
        {
            Transform found = default;
            byte* targetText = stackalloc byte[MostBytes], sourceText = stackalloc byte[MostBytes];
            byte* of = Name(target, targetText), named = Name(source, sourceText);
            Done(TransformFunctions.horus_frames_at(Enter(), of, named, timeNs, &found));
            return found;
        }

        /// <summary>As <see cref="At"/>, at the latest time for which every frame between the two is known; 0 where all of them are static.</summary>
        [MethodImpl(Calls.Cold)]
        public Transform Newest(string target, string source, out ulong timeNs)
        {
            Transform found = default;
            ulong time = 0;
            byte* targetText = stackalloc byte[MostBytes], sourceText = stackalloc byte[MostBytes];
            byte* of = Name(target, targetText), named = Name(source, sourceText);
            Done(TransformFunctions.horus_frames_newest(Enter(), of, named, &time, &found));
            timeNs = time;
            return found;
        }

        /// <summary>As the other one, without its time.</summary>
        public Transform Newest(string target, string source) => Newest(target, source, out _);

        /// <summary>As <see cref="At"/>, but waits at most so long until the transform is known. Not for a step of a node.</summary>
        [MethodImpl(Calls.Cold)]
        public Transform Wait(string target, string source, ulong timeNs, TimeSpan limit)
        {
            Transform found = default;
            byte* targetText = stackalloc byte[MostBytes], sourceText = stackalloc byte[MostBytes];
            byte* of = Name(target, targetText), named = Name(source, sourceText);
            IntPtr frames = Enter();
            long left = Limit.Nanoseconds(limit);
            int status;
            var clock = new Stopwatch();
            long slice;
            do
            {
                slice = Limit.Slice(ref left);
                clock.Restart();
                status = TransformFunctions.horus_frames_wait(frames, of, named, timeNs, slice, &found);
            }
            // It comes back before its time is up where waiting cannot help.
            while (status == (int)HorusStatus.Failed && left != 0 && Limit.Nanoseconds(clock.Elapsed) >= slice);
            Done(status);
            return found;
        }

        // The longest name of a frame, and a letter more, so that the library refuses what is longer.
        private const int MostBytes = 68;

        /// <summary>A name as C has it, without an object: a step looks frames up.</summary>
        private static byte* Name(string name, byte* room)
        {
            if (name == null) throw new ArgumentNullException(nameof(name));
            room[LogLine.Put(name.Replace('\0', '?'), room, MostBytes - 1)] = 0;
            return room;
        }

        private void Done(int status)
        {
            Leave();
            Status.IsDone(status);
        }

        [MethodImpl(Calls.Cold)]
        private protected override void Close(IntPtr ended) => TransformFunctions.horus_frames_close(ended);
    }
}
