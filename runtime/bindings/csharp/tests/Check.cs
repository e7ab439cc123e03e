// What the test programs have in common: a check that ends the program, and calls that have to be refused.

using System;
using System.Runtime.CompilerServices;

internal static class Check
{
    internal static void That(bool holds, [CallerFilePath] string file = "", [CallerLineNumber] int line = 0)
    {
        if (holds) return;
        Console.Error.WriteLine($"{file}:{line} does not hold");
        Environment.Exit(1);
    }

    /// <summary>The sentence that a call is refused with.</summary>
    internal static string Refused<E>(Action call, [CallerFilePath] string file = "", [CallerLineNumber] int line = 0) where E : Exception
    {
        return Refused<E>(call, error => error.Message, file, line);
    }

    /// <summary>What is asked of the exception that a call is refused with.</summary>
    internal static string Refused<E>(Action call, Func<E, string> ask, [CallerFilePath] string file = "", [CallerLineNumber] int line = 0)
        where E : Exception
    {
        try
        {
            call();
        }
        catch (E error)
        {
            return ask(error);
        }
        That(false, file, line);
        return null;
    }

    /// <summary>Bytes of the objects that this thread made; always the same where the runtime does not tell.</summary>
    internal static long Allocated()
    {
#if NETCOREAPP
        return GC.GetAllocatedBytesForCurrentThread();
#else
        return 0;
#endif
    }

    internal static int Done()
    {
        Console.WriteLine("all of it holds");
        return 0;
    }
}
