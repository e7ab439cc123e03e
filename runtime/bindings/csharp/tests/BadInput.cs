// What users get wrong: each is an error that says what to do, and none ends the process.

using System;
using System.IO;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using Horus.Net;
using Horus.Net.Messages;
using static Horus.Net.Times;

#pragma warning disable 0649, 0169 // no code looks into these structs

[Message("example/Wheels")]
public struct Wheels
{
    public double Left, Right;
}

[Message("example/Wheels")]
public struct OtherWheels
{
    public double Left, Rigth;
}

[Message("example/Bad")]
public struct GapInside
{
    public byte Flag;
    public double Speed;
}

[Message("example/Bad")]
public struct GapAtTheEnd
{
    public double Speed;
    public byte Flag;
}

[Message("example/Bad")]
[StructLayout(LayoutKind.Sequential, Pack = 1)]
public struct Packed
{
    public byte Flag;
    public double Speed;
}

[Message("example/Bad")]
[StructLayout(LayoutKind.Sequential, Size = 64)]
public struct TooLarge
{
    public double Speed;
}

[Message("example/Bad")]
[StructLayout(LayoutKind.Explicit)]
public struct Placed
{
    [FieldOffset(0)] public double Speed;
}

[Message("example/Bad")]
public struct WithBool
{
    public bool IsOn;
}

[Message("example/Bad")]
public struct WithChar
{
    public char Letter;
}

[Message("example/Bad")]
public struct WithEnum
{
    public DayOfWeek Day;
}

[Message("example/Bad")]
public struct WithAddress
{
    public IntPtr Where;
}

[Message("example/Bad")]
public struct WithDecimal
{
    public decimal Money;
}

[Message("example/Bad")]
public struct WithStranger
{
    public Stranger Inside;
}

public struct Stranger
{
    public double X;
}

[Message("no spaces here")]
public struct BadName
{
    public double X;
}

[Message("example/Bad", Layout = "message example/Bad\n left f64\n right f64")]
public struct ChangedByHand
{
    public double Left, Rigth;
}

internal static class BadInput
{
    private static int Main(string[] arguments)
    {
        if (arguments.Length > 0 && arguments[0] == "open") return Open();
        if (arguments.Length > 2 && arguments[0] == "another") return Another(arguments[1], arguments[2]);
        StructsThatAreNoMessages();
        AnotherLayout();
        NamesAndOptions();
        AfterDispose();
        AfterTheEndOfWhatWasLent();
        DisposedWhileAThreadWaits();
        HandlersThatFail();
        Collected();
        LoadedTwice(arguments[0]);
        ALotOfIt();
        return Check.Done();
    }

    /// <summary>Opens a topic and says what is wrong: with the library, mostly.</summary>
    private static int Open()
    {
        try
        {
            using var publisher = new Publisher<Wheels>("wheels");
            Console.WriteLine("opened");
            return 0;
        }
        catch (HorusException error)
        {
            Console.WriteLine(error.Message);
            return 3;
        }
    }

    private static string Said<T>() where T : unmanaged => Check.Refused<HorusException>(() => new Publisher<T>("bad"));

    private static void StructsThatAreNoMessages()
    {
        Check.That(Said<GapInside>().Contains("7 bytes before the field `speed` belong to no field"));
        Check.That(Said<GapAtTheEnd>().Contains("7 bytes at the end of the message `example/Bad` belong to no field"));
        Check.That(Said<Packed>().Contains("the struct Packed: ") && Said<TooLarge>().Contains("TooLarge has 64 bytes here, and its fields have 8"));
        Check.That(Said<Placed>().Contains("LayoutKind.Sequential"));
        Check.That(Said<WithBool>() == "the field IsOn of WithBool is of type Boolean: a peer can write any byte, so use a number such as byte");
        Check.That(Said<WithChar>().Contains("the field Letter of WithChar") && Said<WithEnum>().Contains("the field Day of WithEnum"));
        Check.That(Said<WithAddress>().Contains("the field Where of WithAddress") && Said<WithDecimal>().Contains("the field Money of WithDecimal"));
        Check.That(Said<WithStranger>().Contains("the field Inside of WithStranger") && Said<Stranger>().Contains("[Message(\"package/Stranger\")]"));
        Check.That(Said<BadName>().Contains("the first line is `message package/Name`"));
        Check.That(Said<ChangedByHand>().Contains("`right f64`") && Said<ChangedByHand>().Contains("`rigth f64`"));
        Check.That(Said<ChangedByHand>() == Said<ChangedByHand>()); // a second look finds the same
    }

    private static void AnotherLayout()
    {
        using var publisher = new Publisher<Wheels>("wheels");
        string said = Check.Refused<HorusException>(() => new Subscriber<OtherWheels>("wheels"));
        Check.That(said.Contains("right") && said.Contains("rigth"));
        Check.Refused<HorusException>(() => new Subscriber<byte>("wheels", 16));
        using var world = new World(app => app.Node("a", () => { }).Period(Ms(1)));
        world.Publish("wheels", default(Wheels));
        Check.That(Check.Refused<HorusException>(() => world.Publish("wheels", default(OtherWheels))).Contains("another type of message"));
        Check.Refused<HorusException>(() => world.Tally("absent"));
    }

    private static void NamesAndOptions()
    {
        Check.Refused<ArgumentNullException>(() => new Publisher<Wheels>(null));
        Check.Refused<ArgumentException>(() => new Publisher<Wheels>("whe\0els"));
        Check.Refused<HorusException>(() => new Publisher<Wheels>("../wheels"));
        Check.Refused<HorusException>(() => new Publisher<Wheels>(""));
        Check.Refused<HorusException>(() => new Publisher<Wheels>("\ud800"));
        Check.Refused<HorusException>(() => new Publisher<Wheels>("odd", Options.Latest(3)));
        Check.Refused<HorusException>(() => new Publisher<Wheels>("odd", Options.Reliable(-1)));
        Check.Refused<HorusException>(() => new Publisher<Wheels>("odd", Options.Reliable(4).Publishers(1000)));
        Check.Refused<HorusException>(() => new Publisher<Wheels>("odd", Options.Reliable(4).Group("a-group-that-is-not")));
        Check.Refused<ArgumentOutOfRangeException>(() => new Publisher<byte>("odd", -1));
        Check.That(Check.Refused<ArgumentException>(() => new Publisher<byte>("odd")).Contains("the most that a message may have"));
        Check.That(Check.Refused<ArgumentException>(() => new Subscriber<Wheels>("odd", 16)).Contains("Wheels has its size"));
        Check.Refused<HorusException>(() => new Publisher<Wheels>("odd", new Options().Poll(TimeSpan.Zero)));
        Check.Refused<ArgumentNullException>(() => new App(null));
        Check.Refused<ArgumentNullException>(() => new World(null));
        Check.Refused<ArgumentNullException>(() => new WaitSet(new AnySubscriber[] { null }));
        Check.Refused<HorusException>(() => new WaitSet().Wait(Ms(1)));
        using (var one = new Subscriber<Wheels>("twice"))
            Check.Refused<InvalidOperationException>(() => new WaitSet(one, one).Wait(Ms(1)));
        Check.Refused<HorusException>(() => Journal.Write((JournalPriority)9, "x"));
        Check.Refused<ArgumentNullException>(() => Journal.Write(JournalPriority.Info, null));
    }

    private static void AfterDispose()
    {
        var publisher = new Publisher<Wheels>("ended");
        var subscriber = new Subscriber<Wheels>("ended");
        var set = new WaitSet(subscriber);
        publisher.Dispose();
        publisher.Dispose();
        subscriber.Dispose();
        subscriber.Dispose();
        Check.That(Check.Refused<ObjectDisposedException>(() => publisher.TrySend(default)).Contains("Publisher"));
        Check.Refused<ObjectDisposedException>(() => publisher.Send(default));
        Check.Refused<ObjectDisposedException>(() => publisher.Loan());
        Check.Refused<ObjectDisposedException>(() => publisher.Check());
        Check.Refused<ObjectDisposedException>(() => subscriber.TryRecv(out _));
        Check.Refused<ObjectDisposedException>(() => subscriber.Recv());
        Check.Refused<ObjectDisposedException>(() => subscriber.Borrow());
        Check.Refused<ObjectDisposedException>(() => subscriber.Missed.ToString());
        Check.Refused<ObjectDisposedException>(() => set.Wait(Ms(1)));
    }

    private static void AfterTheEndOfWhatWasLent()
    {
        using var publisher = new Publisher<Wheels>("lent", Options.Reliable(4));
        var subscriber = new Subscriber<Wheels>("lent", Options.Reliable(4));
        Check.Refused<InvalidOperationException>(() =>
        {
            var loan = publisher.Loan();
            loan.Publish();
            loan.Value.Left = 1;
        });
        Check.Refused<InvalidOperationException>(() =>
        {
            var loan = publisher.Loan();
            var copy = loan;
            loan.Dispose();
            copy.Publish();
        });
        Check.That(Check.Refused<HorusException>(() =>
        {
            using var loan = publisher.Loan();
            publisher.TrySend(default);
        }).Contains("publish"));
        Check.Refused<InvalidOperationException>(() => default(Loan<Wheels>).Publish());
        Check.Refused<InvalidOperationException>(() => default(Sample<Wheels>).Value.ToString());
        Check.Refused<InvalidOperationException>(() =>
        {
            var sample = subscriber.Borrow();
            var copy = sample;
            sample.Dispose();
            sample.Dispose();
            copy.Value.ToString();
        });
        publisher.Send(default);
        Check.Refused<InvalidOperationException>(() =>
        {
            using var sample = subscriber.Borrow();
            subscriber.Dispose();
            sample.Value.ToString();
        });
        Check.Refused<HorusException>(() =>
        {
            using var bytes = new Publisher<byte>("lent.bytes", 8);
            using var loan = bytes.Loan(4);
            loan.Publish(5);
        });
    }

    private static void DisposedWhileAThreadWaits()
    {
        var subscriber = new Subscriber<Wheels>("waits");
        var began = new ManualResetEventSlim();
        var waiting = new Thread(() =>
        {
            began.Set();
            subscriber.Recv();
        });
        waiting.Start();
        began.Wait();
        while (waiting.ThreadState != ThreadState.WaitSleepJoin && waiting.IsAlive)
        {
            try
            {
                Check.That(!subscriber.TryRecv(out _)); // until the other one is inside
            }
            catch (InvalidOperationException)
            {
                break;
            }
        }
        Check.That(Check.Refused<InvalidOperationException>(subscriber.Dispose).Contains("is in use"));
        using (var publisher = new Publisher<Wheels>("waits")) publisher.Send(default);
        waiting.Join();
        subscriber.Dispose();
    }

    /// <summary>What a handler throws, the program is told; and a handler may end its listener.</summary>
    private static void HandlersThatFail()
    {
        Exception told = null;
        var ended = new ManualResetEventSlim();
        using var publisher = new Publisher<Wheels>("handled");
        using (var listener = new Listener<Wheels>("handled"))
        {
            listener.Message += (in Wheels wheels) => throw new InvalidOperationException("no road");
            listener.Failed += error =>
            {
                told = error;
                ended.Set();
            };
            listener.Start();
            publisher.Send(default);
            Check.That(ended.Wait(TimeSpan.FromSeconds(60)) && told is InvalidOperationException && told.Message == "no road");
        }
        var itself = new Listener<Wheels>("handled");
        ended.Reset();
        itself.Message += (in Wheels wheels) =>
        {
            itself.Dispose();
            ended.Set();
        };
        itself.Start();
        publisher.Send(default);
        Check.That(ended.Wait(TimeSpan.FromSeconds(60)));
        itself.Dispose();
        Check.Refused<ObjectDisposedException>(itself.Start);
        new Listener<Wheels>("handled").Dispose();
        Check.Refused<HorusException>(() => new Listener<OtherWheels>("handled"));
    }

    /// <summary>What was not disposed, the collector closes: the only publisher of a topic makes room for another one.</summary>
    private static void Collected()
    {
#if NETCOREAPP // Mono's collector takes for a reference what only looks like one
        Forget();
        GC.Collect();
        GC.WaitForPendingFinalizers();
        using var second = new Publisher<Wheels>("collected");
#endif
    }

#if NETCOREAPP
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Forget()
    {
        var first = new Publisher<Wheels>("collected");
        Check.Refused<HorusException>(() => new Publisher<Wheels>("collected"));
        first.Send(default);
    }
#endif

    /// <summary>A second copy of the assembly, as a program with plug-ins has it, uses the same library.</summary>
    private static void LoadedTwice(string folder)
    {
        Type type = SecondCopy(folder), message = type.GetGenericArguments()[0];
        using var subscriber = new Subscriber<CmdVel>("second");
        using var publisher = (IDisposable)Activator.CreateInstance(type, "second", null);
        Check.That((bool)type.GetMethod("TrySend").Invoke(publisher, new[] { Activator.CreateInstance(message) }) && subscriber.TryRecv(out _));
    }

    /// <summary>A second copy of the assembly that finds another file of the library.</summary>
    private static int Another(string folder, string library)
    {
        using var publisher = new Publisher<Wheels>("first");
        Environment.SetEnvironmentVariable("HORUS_LIBRARY", library);
        Type second = SecondCopy(folder);
        var said = Check.Refused<TargetInvocationException>(() => Activator.CreateInstance(second, "second", null), error => error.InnerException.Message);
        publisher.Send(default); // the first one goes on
        Console.WriteLine(said);
        return 3;
    }

    /// <summary>A publisher's type of a second copy.</summary>
    private static Type SecondCopy(string folder)
    {
        string copy = Path.Combine(folder, "Copy.dll");
        File.Copy(typeof(Publisher<>).Assembly.Location, copy, true);
        Assembly second = Assembly.LoadFile(copy);
        return second.GetType("Horus.Net.Publisher`1").MakeGenericType(second.GetType("Horus.Net.Messages.CmdVel"));
    }

    /// <summary>Errors leave nothing behind, however many there are.</summary>
    private static void ALotOfIt()
    {
        using var subscriber = new Subscriber<Wheels>("a.lot");
        using var bytes = new Publisher<byte>("a.lot.of.bytes", 8);
        var closed = new Publisher<Wheels>("a.lot");
        closed.Dispose();
        for (int round = 0; round < 2000; round++)
        {
            Check.Refused<ObjectDisposedException>(() => closed.TrySend(default));
            Check.Refused<HorusException>(() => bytes.TrySend(new byte[9]));
            Check.Refused<HorusException>(() => LayoutText.HashOf("message a/B\n x bool", out _));
            Check.Refused<HorusException>(() => LayoutText.HashOf("", out _));
            Check.That(!subscriber.TryRecv(out _));
        }
    }
}
