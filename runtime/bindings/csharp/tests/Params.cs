// Parameters: declared and read in a world, and set from beside the program that runs.

using System;
using System.Collections.Generic;
using System.Threading;
using Horus.Net;
using static Horus.Net.Times;

internal static class ParamsTest
{
    private static double gainSeen;
    private static long turnSeen;
    private static bool onSeen;
    private static string frameSeen = "";
    private static volatile bool isOver;

    private static int Main(string[] arguments)
    {
        return arguments.Length > 0 && arguments[0] == "beside" ? Beside() : InAWorld();
    }

    private static void Navigation(App app)
    {
        Param<double> gain = app.Param("gain", 0.8, new ParamOptions { Unit = "1/s", Least = 0, Greatest = 4, About = "speed for a metre of distance" });
        Param<long> turn = app.Param("turn", 2, new ParamOptions { Least = -5, Greatest = 5 });
        Param<bool> on = app.Param("on", true);
        Param<string> frame = app.Param("frame", "base", new ParamOptions { ReadOnly = true });
        app.Node("drive", () =>
        {
            gainSeen = gain.Value;
            turnSeen = turn.Value;
            onSeen = on.Value;
            frameSeen = frame.Value;
        }).Period(Ms(1));
    }

    private static int InAWorld()
    {
        using (var world = new World(Navigation))
        {
            world.RunFor(Ms(2));
            Check.That(gainSeen == 0.8 && turnSeen == 2 && onSeen && frameSeen == "base");
            world.SetParam("drive", "gain", 1.5);
            world.SetParam("drive", "turn", -3);
            world.SetParam("drive", "on", false);
            world.RunFor(Ms(2));
            Check.That(gainSeen == 1.5 && turnSeen == -3 && !onSeen);
            Check.That(Check.Refused<HorusException>(() => world.SetParam("drive", "gain", 9.0))
                == "gain may be 0 to 4 1/s (speed for a metre of distance); it stays 1.5");
            Check.That(Check.Refused<HorusException>(() => world.SetParam("drive", "gian", 1.0)).Contains("did you mean gain?"));
            Check.That(Check.Refused<HorusException>(() => world.SetParam("drive", "frame", "odom")).Contains("at the program's start alone"));
            Check.That(Check.Refused<ArgumentException>(() => world.SetParam("drive", "frame", new string('x', 80))).Contains("64 bytes"));
            Check.That(Check.Refused<ArgumentNullException>(() => world.SetParam("drive", "frame", null)) != null);
        }
        string wrong = Check.Refused<HorusException>(() => new World(app =>
        {
            app.Param("gain", 0.8, new ParamOptions { Least = "low", Greatest = "high" });
        }));
        Check.That(wrong.Contains("the range of parameter gain"));
        ParamValue value = 2;
        Check.That(value.Kind == ParamKind.Whole && (double)value == 2.0 && value.ToString() == "2" && value.Equals(2L));
        Check.That(Check.Refused<InvalidCastException>(() => { string text = (string)value; }).Contains("kind Whole"));
        Check.That(Check.Refused<HorusException>(() => new Params("nowhere")).Contains("no living program nowhere"));
        return Check.Done();
    }

    /// <summary>The program runs in a thread of this process, and another thread is what tunes it.</summary>
    private static int Beside()
    {
        int code = -1;
        var nav = new Thread(() => code = App.Run("nav", app =>
        {
            Navigation(app);
            app.Node("until", (in Cycle cycle) => { if (isOver) cycle.Fail("over"); }).Period(Ms(5));
        }));
        nav.Start();
        Params found = null;
        for (int tries = 0; found == null && tries < 3000; tries++)
        {
            try
            {
                found = new Params("nav/drive");
            }
            catch (HorusException)
            {
                Thread.Sleep(20);
            }
        }
        using (Params all = found)
        {
            IReadOnlyList<Parameter> list = all.List();
            Check.That(list.Count == 4 && list[0].Name == "gain" && (double)list[0].Value == 0.8 && (double)list[0].Greatest == 4.0);
            Check.That(list[0].Unit == "1/s" && list[0].Source == ParamSource.Program && list[0].User == null && list[0].SavedAt == null);
            Check.That(list[3].IsReadOnly && (string)list[3].Value == "base");
            Check.That(all.Watch(TimeSpan.Zero) == null);
            all.Set(new Dictionary<string, ParamValue> { ["gain"] = 1.5, ["turn"] = 3 });
            ParamChange change = all.Watch(TimeSpan.FromSeconds(60));
            Check.That((double)change.Before == 0.8 && (double)change.Now.Value == 1.5 && change.Now.Source == ParamSource.Command);
            Check.That((long)all.Watch(Limit.Forever).Now.Value == 3);
            Check.That((long)all["turn"] == 3 && all.Get("turn").SetAt != null);
            Check.That(Check.Refused<HorusException>(() => all["gain"] = 9.0).Contains("it stays 1.5"));
            all.Save("gain");
            Check.That(all.Get("gain").SavedAt != null);
            all["gain"] = 3.0;
            all.Load();
            Check.That((double)all["gain"] == 1.5 && all.Get("gain").Source == ParamSource.Saved);
            all.Forget();
            Check.That(all.Get("gain").SavedAt == null);
            for (int tries = 0; (gainSeen != 1.5 || turnSeen != 3) && tries < 3000; tries++) Thread.Sleep(20);
            Check.That(gainSeen == 1.5 && turnSeen == 3);
            isOver = true;
            nav.Join();
            Check.That(Check.Refused<HorusException>(() => all.List()).Contains("has ended"));
        }
        Check.That(code == 1);
        return Check.Done();
    }
}
