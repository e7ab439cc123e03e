// Nodes: in virtual time with their misses, on the machine's clock, and steps that fail.

using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;
using System.Threading;
using Horus.Net;
using Horus.Net.Messages;
using static Horus.Net.Times;

internal static class Nodes
{
    private static int Main(string[] arguments)
    {
        switch (arguments.Length > 0 ? arguments[0] : "")
        {
            case "world": return World();
            case "run": return App.Run("robot", app => { Balance(app); app.Releases(20); });
            case "allocates": return Allocates();
            case "throw": return App.Run("robot", app => Balance(app, throwsIn: 1));
            case "refuse": return App.Run("robot", app => throw new InvalidOperationException("no robot"));
            case "forever": return Forever();
            case "hang": return Hang(null);
            case "grace": return Hang(TimeSpan.Zero);
            case "outlive": return Outlive();
            case "left": return Left();
        }
        return 2;
    }

    private static void Balance(App app) => Balance(app, 0);

    /// <summary>The program of the guide, which may throw in one of its steps.</summary>
    private static void Balance(App app, int throwsIn)
    {
        Input<Imu> imu = app.Input<Imu>("imu");
        Output<CmdVel> cmd = app.Output<CmdVel>("base.cmd");
        app.Node("control", (in Cycle cycle) =>
            {
                if (imu.TryLatest(out Imu m)) cmd.Set(new CmdVel { Forward = 0.8 * m.AngularVelocity.Y });
                if (throwsIn > 0 && --throwsIn == 0) throw new InvalidOperationException("the wheel came off");
                Check.That(cycle.DeadlineNs > cycle.ReleaseNs);
            })
            .Period(Ms(1)).Deadline(Us(800)).Budget(Us(100)).StaleAfterOf("imu", Ms(5))
            .OnMiss(Reaction.SafeState, after: 3, within: 100)
            .SafeState(() => cmd.Set(default));
    }

    private static int World()
    {
        InVirtualTime();
        NewestAfterNext();
        OfBytes();
        Losses();
        Logs();
        Refused();
        Failed();
        AfterTheEnd();
        InPlace();
        return Check.Done();
    }

    private static void InVirtualTime()
    {
        using var world = new World(Balance);
        Imu tilted = default;
        tilted.AngularVelocity.Y = 0.5;
        Check.That(world.Last<CmdVel>("base.cmd") == null);
        world.Publish("imu", tilted);
        world.RunFor(Ms(10));
        Check.That(world.Last<CmdVel>("base.cmd").Value.Forward == 0.4 && world.Now == Ms(10));
        world.RunFor(Ms(-1));
        Check.That(world.Now == Ms(10) && world.Tally("control").Cycles == 10);
        Check.That(world.Journal().Any(entry => entry.Contains("input imu of node control is stale: nothing came for 5ms")));
        world.Takes("control", Us(900), 3);
        world.RunFor(Ms(10));
        Tally tally = world.Tally("control");
        Check.That(tally.Misses == 3 && tally.IsSafe && !tally.HasStopped && tally.MaxConsecutive == 3);
        Check.That(world.Last<CmdVel>("base.cmd").Value.Forward == 0 && world.Journal().Any(entry => entry.Contains("safe state")));
        using var late = new World(Balance);
        late.Delay("control", Ms(5), 3);
        late.Lose("imu", 1);
        late.Publish("imu", tilted);
        late.RunFor(Ms(30));
        Check.That(late.Tally("control").Misses >= 3 && late.Tally("control").IsSafe);
    }

    /// <summary>A step logs lines that the journal has, by their types, and makes no object for up to three values.</summary>
    private static void Logs()
    {
        long made = -1;
        string part = "left", longText = new string('ä', 100);
        using var world = new World(app => app.Node("wheels", (in Cycle cycle) =>
            {
                if (cycle.Number < 1 || cycle.Number > 3) return;
                long before = Check.Allocated();
                cycle.Log(Level.Info, "all is well");
                cycle.Log(Level.Warn, "wheel {} slips by {:.2} m of {}", part, 0.126, 7);
                made = Check.Allocated() - before;
                if (cycle.Number > 1) return;
                cycle.Log(Level.Debug, "{} {} {} {:x} {}", -3, ulong.MaxValue, 0.1f, 255, true);
                cycle.Log(Level.Info, "{}", longText);
                cycle.Log(Level.Error, "{} and {}", 7);
            }).Period(Ms(1)));
        world.RunFor(Ms(10));
        IReadOnlyList<string> said = world.Journal();
        Check.That(said[0] == "node wheels, cycle 1: all is well");
        Check.That(said[1] == "node wheels, cycle 1: wheel left slips by 0.13 m of 7");
        Check.That(said[2] == "node wheels, cycle 1: -3 18446744073709551615 0.1 ff true");
        Check.That(said[3] == "node wheels, cycle 1: " + new string('ä', 32) + "…");
        Check.That(said[4].Contains("cannot log \"{} and {}\": the text has not as many places"));
        Check.That(said.Count == 9 && made == 0);
    }

    /// <summary>The newest message is the newest however it was read, and an event releases a node.</summary>
    private static void NewestAfterNext()
    {
        int looks = 0, events = 0;
        using var world = new World(app =>
        {
            Input<CmdVel> input = app.Input<CmdVel>("in", Options.Latest(8));
            Output<CmdVel> output = app.Output<CmdVel>("out", Options.Latest(2));
            app.Node("a", () =>
            {
                if (!input.TryNext(out CmdVel first)) return;
                Check.That(first.Forward == 0 && input.TryFresh(out CmdVel newest) && newest.Forward == 2 && !input.TryFresh(out _));
                Check.That(input.TryLatest(out newest, out Received about) && newest.Forward == 2 && about.Sequence == 2);
                Check.That(!input.TryNext(out _) && input.Missed == 0 && output.Set(newest));
                looks++;
            }).Period(Ms(1)).Phase(Us(100));
            app.Input<CmdVel>("event");
            app.Node("b", () => events++).On("event").MinInterArrival(Ms(1)).Deadline(Ms(1));
            app.Chain(Ms(20), "a", "b");
        });
        for (int i = 0; i < 3; i++) world.Publish("in", new CmdVel { Forward = i });
        world.Publish("event", default(CmdVel));
        world.RunFor(Ms(5));
        Check.That(looks == 1 && events == 1 && world.Last<CmdVel>("out").Value.Forward == 2);
    }

    /// <summary>Bytes go through ports and worlds as messages do, and each keeps its length.</summary>
    private static void OfBytes()
    {
        var each = new List<string>();
        string newest = null, refused = null;
        int fresh = 0;
        var lost = default(Lost);
        using var world = new World(app =>
        {
            Input<byte> input = app.Input<byte>("log", 64, Options.Latest(8));
            Output<byte> output = app.Output<byte>("copy", 16);
            var room = new byte[64];
            app.Node("a", (in Cycle cycle) =>
            {
                int length;
                while (input.TryNext(room, out length, out Received about))
                {
                    Check.That(about.Bytes == (ulong)length && about.SentNs > 0);
                    each.Add(Encoding.UTF8.GetString(room, 0, length));
                    Check.That(output.Set(new ReadOnlySpan<byte>(room, 0, length)));
                }
                if (input.TryFresh(room, out length)) fresh++;
                if (input.TryLatest(room, out length)) newest = Encoding.UTF8.GetString(room, 0, length);
                Check.Refused<HorusException>(() => input.TryLatest(new Span<byte>(room, 0, 63), out _));
                if (cycle.Number == 5) refused = Check.Refused<HorusException>(() => output.Set(new byte[17]));
                Check.That(input.Missed == 0);
                lost = output.Lost;
            }).Period(Ms(1));
        });
        Check.That(world.Last("copy", 16) == null);
        foreach (string text in new[] { "left", "", "slips" }) world.Publish("log", 64, Encoding.UTF8.GetBytes(text));
        world.RunFor(Ms(10));
        Check.That(string.Join(",", each) == "left,,slips" && newest == "slips" && fresh <= 1);
        Check.That(Encoding.UTF8.GetString(world.Last("copy", 16)) == "slips");
        Check.That(refused.Contains("17 bytes is too long for this topic: it was made for at most 16"));
        Check.That(lost.Invalid == 1 && lost.Full + lost.Beyond + lost.Discarded + lost.Outside == 0);
        Check.That(Check.Refused<HorusException>(() => world.Last("copy", 8)).Contains("maximum before"));
        Check.That(Check.Refused<ArgumentException>(() => world.Last<byte>("copy")).Contains("the most that a message may have"));
        Check.That(Check.Refused<HorusException>(() => new World(app => app.Input<byte>("log"))).Contains("the most that a message may have"));
        Check.That(Check.Refused<HorusException>(() => new World(app => app.Output<CmdVel>("log", 16))).Contains("CmdVel has its size"));
    }

    /// <summary>On a full reliable topic a message is refused and counted, and all others come once, in order.</summary>
    private static void Losses()
    {
        double taken = 0, received = 0;
        ulong set = 0;
        long came = 0, missed = 0;
        var lost = default(Lost);
        using var world = new World(app =>
        {
            Output<CmdVel> output = app.Output<CmdVel>("full", Options.Reliable(4));
            Output<CmdVel> few = app.Output<CmdVel>("few", Options.Latest(4));
            app.Node("send", () =>
            {
                Check.That(few.Set(new CmdVel()));
                for (int i = 0; i < 3; i++, set++)
                {
                    if (output.Set(new CmdVel { Forward = taken })) taken++;
                }
                lost = output.Lost;
            }).Period(Ms(1));
            Input<CmdVel> input = app.Input<CmdVel>("full", Options.Reliable(4));
            app.Node("receive", () =>
            {
                while (input.TryNext(out CmdVel message)) Check.That(message.Forward == received++);
            }).Period(Ms(5));
            Input<CmdVel> late = app.Input<CmdVel>("few", Options.Latest(4));
            app.Node("late", () =>
            {
                while (late.TryNext(out CmdVel _)) came++;
                missed = late.Missed;
            }).Period(Ms(20));
        });
        world.RunFor(Ms(52));
        Check.That(received > 30 && lost.Full > 30 && lost.Beyond + lost.Discarded + lost.Outside == 0);
        Check.That(lost.Full + (ulong)taken == set && received <= taken && taken <= received + 4);
        Check.That(came > 0 && missed > 20 && came + missed <= 53);
        Check.That(world.Journal().Any(entry => entry.Contains("found the topic full")) && world.Journal().Any(entry => entry.Contains("node late missed ")));
    }

    private static void Refused()
    {
        Check.That(Check.Refused<HorusException>(() => new World(app => { })).Contains("the program has no nodes"));
        Check.That(Check.Refused<HorusException>(() => new World(app => throw new Exception("no robot"))) == "Exception: no robot");
        Check.That(Check.Refused<HorusException>(() => new World("/nowhere/node.toml", Balance)).Contains("/nowhere/node.toml"));
        string said = Check.Refused<HorusException>(() => new World(app => app.Node("a", () => { }).Period(Ms(1)).SchedulingPolicy("best")));
        Check.That(said.Contains("best"));
        said = Check.Refused<HorusException>(() => new World(app =>
            app.Node("a", () => { }).Period(Ms(10)).MonitorLimit(Ms(9)).OnMiss(Reaction.SafeState).SafeState(() => { })));
        Check.That(said.Contains("monitor_limit 9ms is out of range: choose 10ms"));
        said = Check.Refused<HorusException>(() => new World(app => app.Node("a", () => { }).Period(TimeSpan.FromDays(-1))));
        Check.That(said.Contains("period"));
        Check.That(Check.Refused<HorusException>(() => new World(app => app.Input<NoMessage>("x"))).Contains("NoMessage is no message"));
    }

    private struct NoMessage
    {
        public double X;

        public NoMessage(double x) => X = x;
    }

    /// <summary>What a step throws, its program ends with; and a reason may be any text.</summary>
    private static void Failed()
    {
        Check.That(SaidBy((in Cycle cycle) => throw new InvalidOperationException("wheel")) == "a node failed: InvalidOperationException: wheel");
        Check.That(SaidBy((in Cycle cycle) => cycle.Fail("no\0grip")) == "a node failed: no?grip");
        Check.That(SaidBy((in Cycle cycle) => cycle.Fail(null)) == "a node failed: without a reason");
        Check.That(SaidBy((in Cycle cycle) => ((string)null).Trim()).StartsWith("a node failed: NullReferenceException: "));
        Check.That(SaidBy((in Cycle cycle) => throw new NoWords()) == "a node failed: NoWords: ");
    }

    private sealed class NoWords : Exception
    {
        public override string Message => "";
    }

    private static string SaidBy(Step step)
    {
        using var world = new World(app => app.Node("a", step).Period(Ms(1)));
        return Check.Refused<HorusException>(() => world.RunFor(Ms(2)));
    }

    private static void AfterTheEnd()
    {
        App kept = null;
        Node node = null;
        Input<CmdVel> input = null;
        Output<CmdVel> output = null;
        var world = new World(app =>
        {
            kept = app;
            input = app.Input<CmdVel>("in");
            output = app.Output<CmdVel>("out");
            node = app.Node("a", () => { }).Period(Ms(1));
            Check.Refused<InvalidOperationException>(() => app.Run());
        });
        Check.Refused<ObjectDisposedException>(() => kept.Node("b", () => { }));
        Check.Refused<ObjectDisposedException>(() => node.Budget(Ms(1)));
        world.Dispose();
        world.Dispose();
        Check.Refused<ObjectDisposedException>(() => world.RunFor(Ms(1)));
        Check.Refused<ObjectDisposedException>(() => input.TryLatest(out _));
        Check.Refused<ObjectDisposedException>(() => output.Set(default));
        var app2 = new App("unused");
        app2.Dispose();
        app2.Dispose();
        Check.Refused<ObjectDisposedException>(() => app2.Run());
    }

    private static void InPlace()
    {
        long steps = 0;
        using var app = new App("in-place");
        app.Node("count", () => steps++).Period(Ms(1));
        app.RunInPlace(1000);
        Check.That(steps == 1000);
    }

    /// <summary>A step that reads and writes makes no objects. Mono does not count.</summary>
    private static int Allocates()
    {
        long steps = 0, before = 0, after = 0;
        using var app = new App("allocations");
        Input<Imu> imu = app.Input<Imu>("imu");
        Output<CmdVel> cmd = app.Output<CmdVel>("base.cmd");
        Input<byte> log = app.Input<byte>("log", 64);
        Output<byte> copy = app.Output<byte>("log", 64, Options.Latest(8));
        var room = new byte[64];
        app.Node("control", (in Cycle cycle) =>
        {
#if NETCOREAPP
            if (steps == 100) before = GC.GetAllocatedBytesForCurrentThread();
            if (steps == 1000) after = GC.GetAllocatedBytesForCurrentThread();
#endif
            steps++;
            imu.TryLatest(out Imu m);
            cmd.Set(new CmdVel { Forward = 0.8 * m.AngularVelocity.Y });
            log.TryLatest(room, out int length);
            copy.Set(new ReadOnlySpan<byte>(room, 0, Math.Max(length, 8)));
        }).Period(Ms(1));
        app.RunInPlace(1001);
        Check.That(steps == 1001 && after == before);
        return Check.Done();
    }

    /// <summary>Until the test ends it.</summary>
    private static int Forever()
    {
        bool isFirst = true;
        return App.Run("robot", app => app.Node("control", () =>
        {
            if (isFirst) Say("running");
            isFirst = false;
        }).Period(Ms(10)));
    }

    private static void Say(string word)
    {
        Console.WriteLine(word);
        Console.Out.Flush();
    }

    /// <summary>A step that never returns: a third SIGTERM ends the program all the same, or a second signal after the grace time.</summary>
    private static int Hang(TimeSpan? grace)
    {
        return App.Run("robot", app =>
        {
            if (grace.HasValue) app.Grace(grace.Value);
            app.Node("stuck", () =>
            {
                Say("stuck");
                Thread.Sleep(Timeout.Infinite);
            }).Period(Ms(1));
        });
    }

    /// <summary>Main returns while a thread waits for a message and another one sends.</summary>
    private static int Outlive()
    {
        var waiting = new Thread(() => new Subscriber<CmdVel>("never").Recv()) { IsBackground = true };
        var sending = new Thread(() =>
        {
            using var publisher = new Publisher<CmdVel>("always");
            while (true) publisher.TrySend(default);
        }) { IsBackground = true };
        waiting.Start();
        sending.Start();
        Thread.Sleep(100);
        return 0;
    }

    /// <summary>Main returns while nodes run.</summary>
    private static int Left()
    {
        var began = new ManualResetEventSlim(); // its nodes use it after Main
        var running = new Thread(() => App.Run("robot", app => app.Node("control", () => began.Set()).Period(Ms(1)))) { IsBackground = true };
        running.Start();
        began.Wait();
        return 0;
    }
}
