// How the library calls C#: by one static delegate for steps, one for safe states and one for declarations, which live as long as the process.
//
// Which node it is, a handle of the garbage collector says, which the program keeps until its nodes have ended. No exception leaves these
// functions: below them are frames of C and Rust, which do not know it. What a step throws, its node fails with, and the program ends.

using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Horus.Net.Native;

namespace Horus.Net
{
    /// <summary>The delegates of a node.</summary>
    internal sealed unsafe class Steps
    {
        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate void NativeStep(IntPtr context, Cycle* cycle);

        private static readonly NativeStep RunDelegate = Run, RunSafeDelegate = RunSafe;
        internal static readonly IntPtr RunFunction = Marshal.GetFunctionPointerForDelegate(RunDelegate);
        internal static readonly IntPtr RunSafeFunction = Marshal.GetFunctionPointerForDelegate(RunSafeDelegate);

        private readonly Step step;
        internal Step SafeState;

        internal Steps(Step step)
        {
            this.step = step ?? throw new ArgumentNullException(nameof(step));
            RuntimeHelpers.PrepareDelegate(step); // compiled here, so that the first cycle does not wait for it
        }

        private static void Run(IntPtr context, Cycle* cycle)
        {
            try
            {
                ((Steps)GCHandle.FromIntPtr(context).Target).step(in *cycle);
            }
            catch (Exception error)
            {
                Fail(cycle, error);
            }
        }

        private static void RunSafe(IntPtr context, Cycle* cycle)
        {
            try
            {
                ((Steps)GCHandle.FromIntPtr(context).Target).SafeState(in *cycle);
            }
            catch (Exception error)
            {
                Fail(cycle, error);
            }
        }

        private static void Fail(Cycle* cycle, Exception error)
        {
            cycle->Fail(Life.Sentence(error));
        }
    }

    /// <summary>How long what belongs to a program may be used: until its nodes have ended. It keeps the delegates until then.</summary>
    internal sealed class Life
    {
        private readonly List<GCHandle> steps = new List<GCHandle>();

        /// <summary>Whether the program has ended.</summary>
        internal volatile bool IsOver;

        internal IntPtr Keep(object target)
        {
            GCHandle handle = GCHandle.Alloc(target);
            steps.Add(handle);
            return GCHandle.ToIntPtr(handle);
        }

        internal void End()
        {
            IsOver = true;
            foreach (GCHandle handle in steps) handle.Free();
            steps.Clear();
        }

        /// <summary>What an exception says, for people who do not see it.</summary>
        internal static string Sentence(Exception error)
        {
            return error is HorusException ? error.Message : $"{error.GetType().Name}: {error.Message}";
        }
    }
}
