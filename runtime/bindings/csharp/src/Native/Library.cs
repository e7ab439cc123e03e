// Finds libhorus.so and loads it, once a process, before the first call: what it cannot do, it says with what to do about it.
//
// The file that is found is loaded by its path. The functions are then declared as of "libhorus.so.1", the name that the library carries
// inside, and the loader gives what it has loaded under that name. So both runtimes take the same file, and netstandard2.0 is enough.
//
// Mono looks for a function when it compiles the method that calls it. So the library is loaded in one method, and first called in another,
// which must not be compiled into the first: `Calls` says so.

using System;
using System.Collections.Generic;
using System.IO;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

// The folder of the assembly is not searched again: another file there would be a second library in the process.
[assembly: DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]

namespace Horus.Net.Native
{
    internal static unsafe class Library
    {
        /// <summary>The name that the library carries inside; its number is that of the interface.</summary>
        internal const string Name = "libhorus.so.1";
        private const uint AbiVersion = 1;
        private const string Variable = "HORUS_LIBRARY";
        private const int Now = 2, NoLoad = 4;

        private static readonly object Gate = new object();
        private static volatile bool isLoaded;

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate uint AbiVersionFunction();

        /// <summary>Loads the library, if that was not done before.</summary>
        internal static void Load()
        {
            if (isLoaded) return;
            lock (Gate)
            {
                if (isLoaded) return;
                Check(Open(out string path), path);
                isLoaded = true;
            }
        }

        private static IntPtr Open(out string path)
        {
            string told = Environment.GetEnvironmentVariable(Variable);
            if (!string.IsNullOrEmpty(told))
            {
                path = told;
                IntPtr library = Dl.Open(told, Now);
                if (library != IntPtr.Zero) return library;
                throw Unusable($"{Variable} names {told}, which cannot be loaded: {Dl.Error()}");
            }
            foreach (string place in Places())
            {
                if (!File.Exists(place)) continue;
                path = place;
                IntPtr library = Dl.Open(place, Now);
                if (library != IntPtr.Zero) return library;
                throw Unusable($"{place} cannot be loaded: {Dl.Error()}");
            }
            path = Name;
            IntPtr found = Dl.Open(Name, Now);
            if (found != IntPtr.Zero) return found;
            throw Unusable($"{Name} was not found: {Dl.Error()}");
        }

        /// <summary>Where the library is looked for, the first place first: as NuGet lays a package out, then beside the program.</summary>
        internal static IEnumerable<string> Places()
        {
            string machine = Dl.Machine() == "aarch64" ? "linux-arm64" : "linux-x64";
            string beside = Path.GetDirectoryName(typeof(Library).Assembly.Location);
            foreach (string folder in new[] { beside, AppContext.BaseDirectory })
            {
                if (string.IsNullOrEmpty(folder)) continue; // an assembly inside of a single file has no folder
                yield return Path.Combine(folder, "runtimes", machine, "native", "libhorus.so");
                yield return Path.Combine(folder, "libhorus.so");
                yield return Path.Combine(folder, Name);
            }
        }

        private static void Check(IntPtr library, string path)
        {
            if (IntPtr.Size != 8) throw Unusable("this process has 32 bits");
            IntPtr function = Dl.Symbol(library, "horus_abi_version");
            if (function == IntPtr.Zero) throw Unusable($"{path} is no libhorus: it has no horus_abi_version");
            uint version = Marshal.GetDelegateForFunctionPointer<AbiVersionFunction>(function)();
            if (version != AbiVersion)
                throw Unusable($"{path} has version {version} of the interface, and this Horus.Net is made for version {AbiVersion}");
            if (Dl.Open(Name, Now | NoLoad) != library)
                throw Unusable($"{path} does not carry the name {Name}, or another library of that name is loaded already");
        }

        private static HorusException Unusable(string why)
        {
            return new HorusException(HorusStatus.Failed, why + ". Install libhorus of the same release as Horus.Net "
                + "(./scripts/install-library), put it beside the program, or name its file in " + Variable + ".");
        }
    }

    /// <summary>Where the compiler may put the code of a method that calls the library.</summary>
    internal static class Calls
    {
        internal const MethodImplOptions Cold = MethodImplOptions.NoInlining;
#if NETCOREAPP
        internal const MethodImplOptions Hot = MethodImplOptions.AggressiveInlining;
#else
        internal const MethodImplOptions Hot = Cold;
#endif
    }

    /// <summary>The loader's functions.</summary>
    internal static unsafe class Dl
    {
        // Its functions have been in libc.so.6 since glibc 2.34; libdl.so.2 has them before, and leads there since.
        private const string Loader = "libdl.so.2";

        [DllImport(Loader)] private static extern IntPtr dlopen(byte* path, int flags);
        [DllImport(Loader)] private static extern IntPtr dlsym(IntPtr library, byte* name);
        [DllImport(Loader)] private static extern byte* dlerror();
        [DllImport("libc.so.6")] private static extern int uname(byte* names);

        internal static IntPtr Open(string path, int flags)
        {
            fixed (byte* text = Text.ToNative(path, nameof(path))) return dlopen(text, flags);
        }

        internal static IntPtr Symbol(IntPtr library, string name)
        {
            fixed (byte* text = Text.ToNative(name, nameof(name))) return dlsym(library, text);
        }

        /// <summary>The processor's name as the kernel has it: <c>x86_64</c>, <c>aarch64</c>.</summary>
        internal static string Machine()
        {
            const int length = 65, texts = 6; // struct utsname of Linux: texts of this length, of which the machine is the fifth
            byte* names = stackalloc byte[length * texts];
            return uname(names) == 0 ? Text.FromNative(names + 4 * length) : "";
        }

        internal static string Error()
        {
            byte* said = dlerror();
            return said == null ? "no reason was given" : Text.FromNative(said);
        }
    }
}
